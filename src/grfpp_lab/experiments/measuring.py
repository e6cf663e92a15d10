"""What the experiments measure: errors of estimates on named graphs, over repeats."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels.registry import kernel_from_spec
from grfpp.sampling import sample
from grfpp.termination import termination_from_spec
from grfpp.typing import FloatArray
from grfpp_lab.experiments.graphs import load, n_nodes_of
from grfpp_lab.harness.experiment import but

Mask = npt.NDArray[np.bool_]

#: `sample` as in the paper: walks that know nothing of each other; on one thread.
paper_sample = partial(sample, walks="independent", n_jobs=1, check_error=False)


def weights(graph: str, scale: float) -> Graph:
    """``scale · D^-1/2 A D^-1/2`` of a named graph."""
    return load(graph).normalized("sym", scale)


@lru_cache(maxsize=3)
def exact_kernel(graph: str, scale: float, kernel: str) -> FloatArray:
    """The kernel that estimates are measured against, kept for the next cell."""
    return kernel_from_spec(kernel).exact(weights(graph, scale))


@lru_cache(maxsize=3)
def distances(graph: str) -> FloatArray:
    """Edges on the shortest path between any two nodes; infinite where there is none."""
    from scipy.sparse.csgraph import shortest_path

    return np.asarray(shortest_path(load(graph).adjacency, directed=False, unweighted=True))


def diameter(graph: str) -> int:
    """The longest of the shortest paths that exist."""
    found = distances(graph)
    return int(found[np.isfinite(found)].max())


def seeds(repeats: int, **identity: Any) -> list[int]:
    """Seeds of the repeats: different ones wherever anything of the identity differs.

    Examples
    --------
    >>> seeds(2, graph="karate", seed=0)[:1] == seeds(1, graph="karate", seed=0)
    True
    """
    # The name that the weight factor once had: its seeds, and so all numbers, stay what they were.
    named = {"sigma2" if name == "scale" else name: each for name, each in identity.items()}
    text = json.dumps(named, sort_keys=True)
    return [
        int.from_bytes(hashlib.sha256(f"{text} {repeat}".encode()).digest()[:7])
        for repeat in range(repeats)
    ]


def pick(cell: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Some of the values of a cell."""
    return {name: cell[name] for name in names}


def relative_error(estimate: FloatArray, exact: FloatArray, mask: Mask | None = None) -> float:
    """``‖K̂ − K‖_F / ‖K‖_F``, of all entries or of the chosen ones."""
    if mask is not None:
        estimate, exact = estimate[mask], exact[mask]
    return float(np.linalg.norm(estimate - exact) / np.linalg.norm(exact))


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean of the repeats and its standard error (zero for a single one).

    Examples
    --------
    >>> mean_and_error([1.0, 2.0, 3.0])
    (2.0, 0.5773502691896258)
    """
    spread = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return float(np.mean(values)), float(spread)


def error_row(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Sample a kernel several times and say how far off it is.

    The cell names `graph`, `scale`, `kernel`, `degree`, `n_walks`, `termination`, `repeats`,
    `seed`, and with `distance` only pairs that are at least so far apart count. Walks are the
    paper's unless it has `walks`.
    """
    graph, scale = cell["graph"], cell["scale"]
    W, kernel = weights(graph, scale), kernel_from_spec(cell["kernel"])
    law = termination_from_spec(cell["termination"])
    exact = exact_kernel(graph, scale, cell["kernel"])
    mask = distances(graph) >= cell["distance"] if "distance" in cell else None
    if mask is not None and not exact[mask].any():
        raise InputError(f"{graph} has no connected nodes at distance {cell['distance']} or more")
    walks = pick(cell, "walks") if "walks" in cell else {}
    errors, steps = [], 0.0
    for seed in seeds(cell["repeats"], **but(cell, "repeats")):
        K = paper_sample(W, kernel, cell["degree"], cell["n_walks"], law, seed, **walks)
        errors.append(relative_error(K.toarray(), exact, mask))
        steps = K.meta["steps_per_node"]
    row = {
        **{"graph": graph, "n_nodes": W.n_nodes},
        **pick(cell, "kernel", "scale", "termination", "degree", "n_walks"),
        **walks,
        "steps_per_node": steps,
        **error_columns(errors),
    }
    if mask is not None:
        far = {"diameter": diameter(graph), "n_pairs": int(mask.sum())}
        row |= {"distance": cell["distance"], **far}
    return row


def error_columns(errors: Sequence[float]) -> dict[str, float]:
    """Number, mean and standard error of the repeats."""
    error, standard_error = mean_and_error(errors)
    return {"repeats": len(errors), "error": error, "standard_error": standard_error}


def cost(cell: Mapping[str, Any]) -> float:
    """A guess of the seconds that `error_row` takes."""
    n = n_nodes_of(cell["graph"])
    steps = cell["n_walks"] * termination_from_spec(cell["termination"]).mean
    per_row = min(n / 3, 1 + 0.55 * steps)
    one = 3e-3 + 6e-10 * cell["degree"] * n * n * per_row
    return float(cell["repeats"] * one + 1e-10 * n**3)
