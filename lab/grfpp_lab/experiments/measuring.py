"""Graphs of the experiments by name, and errors of estimates on them over repeats."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp import datasets
from grfpp.errors import InputError, MissingDataError
from grfpp.estimate.chain import Chain
from grfpp.estimate.sampling import sample
from grfpp.graph import Graph
from grfpp.kernels.registry import kernel_from_spec
from grfpp.termination import termination_from_spec
from grfpp.typing import FloatArray
from grfpp_lab.datasets.graphs import LONG_REDDIT_GRAPH, LONG_SHAPE, infection_graph, load_shapes
from grfpp_lab.datasets.images import load_cifar10, superpixel_graph
from grfpp_lab.datasets.peptides import longest_peptide
from grfpp_lab.harness.experiment import but


@dataclass(frozen=True)
class Source:
    """Where a graph comes from."""

    #: Its title.
    title: str
    #: Approximate number of nodes.
    n_nodes: int
    #: Reads or makes it, without a download.
    load: Callable[[], Graph]


def _labelled(name: str) -> Callable[[], Graph]:
    return lambda: datasets.load_graph(name, download=False).graph


def _reddit() -> Graph:
    threads = datasets.load_tudataset("REDDIT-BINARY", download=False)
    return threads.graphs[LONG_REDDIT_GRAPH]


def _shape() -> Graph:
    return load_shapes(download=False)[LONG_SHAPE].graph


def _superpixels() -> Graph:
    images = load_cifar10(download=False).images
    return superpixel_graph(images[LONG_IMAGE]).graph


#: An image whose superpixels have the diameter of the paper's graph, 11, and nearly as many nodes.
LONG_IMAGE = 31

_SOURCES: dict[str, Source] = {
    "er-20": Source("ER(20, 0.2)", 20, lambda: datasets.erdos_renyi(20, 0.2)),
    "er-100": Source("ER(100, 0.04)", 100, lambda: datasets.erdos_renyi(100, 0.04)),
    "binary-tree": Source("Binary tree", 127, datasets.binary_tree),
    "regular": Source("10-regular", 100, lambda: datasets.random_regular(100, 10)),
    "karate": Source("Karate", 34, _labelled("karate")),
    "dolphins": Source("Dolphins", 62, _labelled("dolphins")),
    "football": Source("Football", 115, _labelled("football")),
    "eurosis": Source("Eurosis", 1272, _labelled("eurosis")),
    "peptides": Source("Peptides", 434, lambda: longest_peptide(download=False)),
    "cifar": Source("CIFAR-10 superpixels", 115, _superpixels),
    "reddit": Source("Reddit-Binary", 436, _reddit),
    "shapes": Source("GeometricShapes", 864, _shape),
    "infection": Source("Infection", 500, infection_graph),
}

#: Those of the paper's Fig. 2.
EIGHT = (
    *("er-20", "er-100", "binary-tree", "regular"),
    *("karate", "dolphins", "football", "eurosis"),
)


@dataclass(frozen=True)
class FarPairs:
    """A line of the paper's table of walk thresholds."""

    #: Smallest distance of the pairs that count.
    distance: int
    #: Of the paper's graph.
    diameter: int
    n_nodes: int


FAR = {
    "peptides": FarPairs(3, 159, 434),
    "cifar": FarPairs(4, 11, 128),
    "reddit": FarPairs(5, 19, 436),
    "shapes": FarPairs(5, 28, 864),
    "infection": FarPairs(4, 4, 500),
    "binary-tree": FarPairs(3, 12, 127),
    "dolphins": FarPairs(4, 8, 62),
    "eurosis": FarPairs(4, 10, 1272),
}


@cache
def load(name: str) -> Graph:
    """Read or make a graph; all its edges have weight one."""
    graph = _SOURCES[name].load()
    return Graph((graph.adjacency > 0).astype(np.float64))


def title_of(name: str) -> str:
    """The title of a graph."""
    return _SOURCES[name].title if name in _SOURCES else name


def n_nodes_of(name: str) -> int:
    """Approximate number of nodes of a graph, without reading it."""
    return _SOURCES[name].n_nodes


def at_hand(
    names: Iterable[str], why_not: Callable[[str], str | None] | None = None
) -> tuple[list[str], dict[str, str]]:
    """The data that can be had without a download, and why the rest cannot; graphs by default."""
    reasons = {name: (why_not or why_absent)(name) for name in names}
    found = [name for name, why in reasons.items() if why is None]
    return found, {name: why for name, why in reasons.items() if why is not None}


def why_absent(name: str, read: Callable[[str], object] | None = None) -> str | None:
    """Why something cannot be read, a graph by default, or ``None`` when it can."""
    try:
        (read or load)(name)
    except InputError as error:
        return why_missing(error)
    return None


def why_missing(error: InputError) -> str:
    """Why some data cannot be had, in a few words."""
    if isinstance(error, MissingDataError):
        # The long form says where to get it; so does `grfpp datasets`.
        return f"{str(error).partition(' is ')[0].partition(': ')[2]} is not at hand"
    return str(error)


def copies(graph: Graph, n_copies: int) -> Graph:
    """Disjoint copies of a graph as one graph.

    Examples
    --------
    >>> copies(Graph([[0, 1], [1, 0]]), 3)
    Graph(n_nodes=6, n_edges=3, undirected)
    """
    return Graph(sp.block_diag([graph.adjacency] * n_copies, format="csr"))


def blocks(chain: Chain, n: int) -> FloatArray:
    """The diagonal blocks of a chain on copies of `n` nodes, of shape ``(copies, n, n)``."""
    # A block-diagonal matrix times identities, one below the other: its blocks, likewise.
    return (chain @ np.tile(np.eye(n), (chain.n_nodes // n, 1))).reshape(-1, n, n)


Mask = npt.NDArray[np.bool_]

#: `sample` as in the paper: independent walks; on one thread.
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
    """Sample a kernel several times and return the mean relative error.

    The cell names `graph`, `scale`, `kernel`, `degree`, `n_walks`, `termination`, `repeats`,
    `seed`, and with `distance` only pairs of at least that distance count. Walks are the
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
