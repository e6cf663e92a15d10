"""The graphs of the experiments, by name, and which of them are at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from grfpp import datasets
from grfpp.errors import InputError, MissingDataError
from grfpp.graph import Graph


@dataclass(frozen=True)
class Source:
    """Where a graph comes from."""

    #: What people call it.
    title: str
    #: About how many nodes it has, to guess how long it takes.
    n_nodes: int
    #: Reads or makes it, without a download.
    load: Callable[[], Graph]


def _labelled(name: str) -> Callable[[], Graph]:
    return lambda: datasets.load_graph(name, download=False).graph


def _reddit() -> Graph:
    threads = datasets.load_tudataset("REDDIT-BINARY", download=False)
    return threads.graphs[datasets.LONG_REDDIT_GRAPH]


def _shape() -> Graph:
    return datasets.load_shapes(download=False)[datasets.LONG_SHAPE].graph


def _superpixels() -> Graph:
    images = datasets.load_cifar10(download=False).images
    return datasets.superpixel_graph(images[LONG_IMAGE]).graph


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
    "peptides": Source("Peptides", 434, lambda: datasets.longest_peptide(download=False)),
    "cifar": Source("CIFAR-10 superpixels", 115, _superpixels),
    "reddit": Source("Reddit-Binary", 436, _reddit),
    "shapes": Source("GeometricShapes", 864, _shape),
    "infection": Source("Infection", 500, lambda: datasets.infection_graph().graph),
}

#: Those of the paper's Fig. 2.
EIGHT = (
    *("er-20", "er-100", "binary-tree", "regular"),
    *("karate", "dolphins", "football", "eurosis"),
)


@dataclass(frozen=True)
class FarPairs:
    """A line of the paper's table of walk thresholds."""

    #: Pairs count that are at least so far apart.
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
    """What people call a graph."""
    return _SOURCES[name].title if name in _SOURCES else name


def n_nodes_of(name: str) -> int:
    """About how many nodes a graph has, without reading it."""
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
        # The long form tells where to get it; `grfpp datasets` does so too.
        return f"{str(error).partition(' is ')[0].partition(': ')[2]} is not at hand"
    return str(error)
