"""Compile all loops ahead of use."""

from __future__ import annotations

from itertools import product
from typing import get_args

import numpy as np

from grfpp.graph import Graph


def warmup() -> None:
    """Compile every loop by a run on a tiny graph; the compiled code is cached on disk.

    Examples
    --------
    >>> from grfpp.warmup import warmup
    >>> warmup()
    """
    from grfpp import Diffusion, sample, sample_submatrix
    from grfpp.linalg.chebyshev import ChebyshevTerms, power_diagonals
    from grfpp.options import Storage, Walks

    graph = Graph([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 1.0]]).normalized("sym")
    for walks, dtype, storage in product(
        get_args(Walks), (np.float64, np.float32), get_args(Storage)
    ):
        options = {"dtype": dtype, "storage": storage, "walks": walks}
        K = sample(graph, Diffusion(1.0), n_walks=2, seed=0, **options)
        K @ np.ones((3, 2))
        K.features()
        K.rows([0])
    sample_submatrix(graph, Diffusion(1.0), [0], n_walks=2, seed=0)
    terms, nodes = ChebyshevTerms(graph), np.arange(3)
    terms.diagonals(np.ones((1, 3)), nodes)
    for n_polynomials in (1, 2):
        terms.entries(np.ones((n_polynomials, 3)), nodes, nodes)
    terms.products(np.ones((1, 3)), np.ones((3, 1)))
    power_diagonals(graph.adjacency, np.array([0, 3]), 2)
    _compile_recurrences(graph)
    _compile_lengths(graph)
    _compile_local(graph)


def _compile_recurrences(graph: Graph) -> None:
    from grfpp.linalg import loops
    from grfpp.linalg.csr import times

    block, factors = np.ones((3, 2)), np.ones(2)
    times(graph.adjacency, block)
    loops.combine(block, factors, block, factors, block, factors, 0, 3)


def _compile_lengths(graph: Graph) -> None:
    from grfpp.options import WalkOptions, Walks
    from grfpp.walks.by_length import plan_by_length, sample_by_length

    for walks in get_args(Walks):
        sample_by_length(plan_by_length(graph, 3, WalkOptions.of(walks=walks, n_walks=2, seed=0)))


def _compile_local(graph: Graph) -> None:
    from grfpp import Diffusion, LocalKernel, PersonalizedPageRank

    pair = Graph([[0.0, 1.0], [1.0, 0.0]])
    walk, updated = pair.normalized("rw"), pair.updated(add=[(0, 0)])
    graphs = [(graph, Diffusion(1.0)), (walk, PersonalizedPageRank(0.5))]
    graphs += [(updated.normalized("sym"), Diffusion(1.0))]
    graphs += [(updated.normalized("rw"), PersonalizedPageRank(0.5))]
    for W, kernel in graphs:
        near = LocalKernel(W, kernel, budget=8.0)
        near.rows([0])
        near.top_k([0], 1, return_std=True)
        near.top_k([0], 1, confidence=0.9)
        near.entry(0, 1)
        near.block([0], [1])
