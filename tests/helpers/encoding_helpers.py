"""Graphs of PyTorch Geometric."""

import numpy as np
import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

import torch
from torch_geometric.data import Data

EDGE = torch.tensor([[0, 1], [1, 0]])


def data(matrix, **more):
    """A PyG graph of a dense symmetric matrix, its weights where they are not all one."""
    matrix = np.asarray(matrix, dtype=float)
    rows, columns = np.nonzero(matrix)
    weights = matrix[rows, columns]
    if (weights != 1).any():
        more["edge_weight"] = torch.from_numpy(weights)
    return Data(
        edge_index=torch.from_numpy(np.stack([rows, columns])), num_nodes=len(matrix), **more
    )


def molecules(n_graphs, seed=0):
    """Trees with some rings, of several sizes."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(n_graphs):
        n = 3 + (7 * number) % 23
        matrix = np.zeros((n, n))
        for child in range(1, n):
            parent = rng.integers(max(0, child - 3), child)
            matrix[child, parent] = matrix[parent, child] = 1
        a, b = rng.choice(n, 2, replace=False)
        matrix[a, b] = matrix[b, a] = 1
        found.append(data(matrix))
    return found


def equal(ours, theirs):
    return len(ours) == len(theirs) and all(
        torch.equal(a, b) for a, b in zip(ours, theirs, strict=True)
    )
