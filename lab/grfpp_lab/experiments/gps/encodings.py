"""The encodings that the graph transformer is given, by name.

All have as many numbers a node, but for those that smooth features, which have some for every one.
"""

import warnings
from collections.abc import Sequence
from typing import Any

#: The method without any, the paper's two, ours without random numbers, and others for reference.
NONE, GRF, GRF_PP = "none", "GRF", "GRF++"
RETURN, SMOOTH, LANDMARK = "return", "smooth", "landmark"
CONTRAST, PROFILE = "contrast", "profile"
WALK, LAPLACIAN, NOISE = "random walk", "Laplacian", "random numbers"
OURS = (RETURN, SMOOTH, CONTRAST, PROFILE, LANDMARK)
ENCODINGS = (NONE, GRF, GRF_PP, *OURS, WALK, LAPLACIAN, NOISE)
#: Encodings whose columns have a sign of no meaning: it is drawn anew for every batch to learn.
SIGNLESS = (LAPLACIAN,)
DIM = 8
_DEGREES = {GRF: 1, GRF_PP: 2}


def encode(
    graphs: Sequence[Any],
    encoding: str,
    *,
    n_walks: int,
    scale: float,
    termination: str,
    seed: int,
) -> list[Any]:
    """Copies of PyG graphs with their encodings as ``pe`` (or without, for ``none``).

    Parameters
    ----------
    graphs
        ``Data``, undirected and without weights.
    encoding
        One of `ENCODINGS`.
    n_walks, scale, termination
        Walks a node and factor, scale of the weights and law of the lengths, for those that walk.
    seed
        Of the walks and the projections, or of the numbers.
    """
    if encoding == NONE:
        return [graph.clone() for graph in graphs]
    if encoding in _DEGREES:
        from grfpp.torch import AddGRFPE

        transform = AddGRFPE(
            *(DIM, _DEGREES[encoding], n_walks),
            kind="projected",
            attr_name="pe",
            termination=termination,
            walks="independent",
            scale=scale,
            seed=seed,
            cache_mb=0,
        )
        return transform.transform_all(graphs, n_jobs=1)
    if encoding in OURS:
        from grfpp.torch import AddGRFPE

        kind = AddGRFPE(kind=encoding, attr_name="pe", cache_mb=0)
        return kind.transform_all(graphs, n_jobs=1)
    if encoding == NOISE:
        return _with_noise(graphs, seed)
    transforms = _geometric().transforms
    if encoding == WALK:
        walk = transforms.AddRandomWalkPE(DIM, attr_name="pe")
        return [walk(graph) for graph in graphs]
    return _with_eigenvectors(graphs, transforms, seed)


def _geometric() -> Any:
    from grfpp._imports import require

    return require("torch_geometric")


def _with_noise(graphs: Sequence[Any], seed: int) -> list[Any]:
    """Random numbers that do not depend on the graph."""
    import torch

    generator = torch.Generator().manual_seed(seed % 2**63)
    found = []
    for graph in graphs:
        made = graph.clone()
        made.pe = torch.randn(graph.num_nodes, DIM, generator=generator)
        found.append(made)
    return found


def _with_eigenvectors(graphs: Sequence[Any], transforms: Any, seed: int) -> list[Any]:
    """PyG's encoding; columns that a small graph does not have are zero."""
    import torch

    found = []
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        torch.manual_seed(seed % 2**63)  # it draws the signs
        warnings.simplefilter("ignore")  # it goes through numpy's matrix class
        for graph in graphs:
            n_known = min(DIM, graph.num_nodes - 1)
            laplacian = transforms.AddLaplacianEigenvectorPE(
                n_known, attr_name="pe", is_undirected=True
            )
            # Dense for all: the sparse solver starts from a vector that no seed determines.
            laplacian.SPARSE_THRESHOLD = graph.num_nodes + 1
            made = laplacian(graph)
            made.pe = torch.nn.functional.pad(made.pe.float(), (0, DIM - n_known))
            found.append(made)
    return found
