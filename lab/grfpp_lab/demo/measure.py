"""What the demo measures, and on which graphs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10
from time import perf_counter

import networkx as nx
import numpy as np

from grfpp.datasets.meshes import icosphere
from grfpp.estimate import KernelEstimate
from grfpp.estimate.sampling import sample
from grfpp.graph import Graph
from grfpp.kernels import Diffusion
from grfpp.options import Walks
from grfpp.termination import Geometric
from grfpp.typing import FloatArray, IntArray

_TREE_DEPTH = 6


@dataclass(frozen=True)
class DemoGraph:
    """A graph and how to draw it."""

    #: Name in files, and title.
    name: str
    title: str
    #: The graph, weights not yet normalised.
    graph: Graph
    #: Coordinates of the nodes, two each, or three when there are `faces`.
    positions: FloatArray
    #: Triangles of the surface to draw, where it is one.
    faces: IntArray | None
    #: The node whose kernel row is shown.
    start: int
    #: A sentence on where it comes from.
    about: str


def demo_graphs() -> list[DemoGraph]:
    """Make all four."""
    return [karate_club(), binary_tree(), erdos_renyi(), sphere()]


def karate_club() -> DemoGraph:
    """Zachary's karate club, from networkx."""
    source = nx.karate_club_graph()
    return DemoGraph(
        "karate",
        "Karate club",
        Graph(source),
        _layout(source),
        None,
        0,
        "Friendships in a karate club, weighted by what two members do together (Zachary 1977).",
    )


def binary_tree() -> DemoGraph:
    """A complete binary tree of 127 nodes, drawn in circles around its root."""
    source = nx.balanced_tree(2, _TREE_DEPTH)
    # Nodes are numbered level by level: level d holds 2^d - 1 ... 2^(d+1) - 2.
    number = np.arange(1, source.number_of_nodes() + 1)
    depth = np.floor(np.log2(number)).astype(int)
    turn = 2 * np.pi * (number - 2**depth + 0.5) / 2**depth
    positions = depth[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return DemoGraph(
        "tree",
        "Binary tree",
        Graph(source),
        positions,
        None,
        3,
        f"A complete binary tree of depth {_TREE_DEPTH}; the root is in the middle.",
    )


def erdos_renyi() -> DemoGraph:
    """A random graph of 100 nodes, connected."""
    n, p = 100, 0.06
    source = nx.fast_gnp_random_graph(n, p, seed=1)
    return DemoGraph(
        "erdos-renyi",
        "Erdős–Rényi graph",
        Graph(source),
        _layout(source),
        None,
        0,
        f"Every two nodes are joined with probability {p}.",
    )


def sphere(n_subdivisions: int = 3) -> DemoGraph:
    """A triangulated sphere."""
    vertices, faces = icosphere(n_subdivisions)
    return DemoGraph(
        "sphere",
        "Triangulated sphere",
        Graph((vertices, faces)),
        vertices,
        faces,
        0,
        f"An icosahedron whose triangles were cut into four {n_subdivisions} times.",
    )


def _layout(source: nx.Graph) -> FloatArray:
    """Positions by a force-directed layout with a fixed seed."""
    places = nx.spring_layout(source, weight=None, iterations=200, seed=5)
    return np.array([places[node] for node in source])


KERNEL = Diffusion(5.0)
LAW = Geometric(0.1)
WALKS: Walks = "independent"
DEGREES = (1, 2, 4)
#: The library's default: its walks, at this degree.
POOLED: Walks = "pooled"
DEFAULT_DEGREE = 2
#: What is compared.
METHODS: tuple[tuple[Walks, int], ...] = (
    *((WALKS, degree) for degree in DEGREES),
    (POOLED, DEFAULT_DEGREE),
)
#: Costs to compare the degrees at: what these numbers of walks take at degree 1. Degree ``l`` has
#: ``2 l`` factors, and so it gets the ``l``-th part of the walks for the same number of steps.
BUDGETS = (16, 32, 64)
#: All degrees are compared at this number of walks too.
MAIN_WALKS = 16
N_REPEATS = 5

#: Called with the number of measurements done and of all.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Measurement:
    """One graph, one method, one number of walks, several seeds."""

    graph: str
    n_nodes: int
    walks: Walks
    degree: int
    n_walks: int
    steps_per_node: float
    #: Mean over the seeds of ``‖K̂ − K‖_F / ‖K‖_F``, and the standard error of that mean.
    error: float
    standard_error: float
    #: Mean time to sample one estimate.
    seconds: float

    @property
    def method(self) -> str:
        """Its title."""
        return method_name(self.walks, self.degree)


@dataclass(frozen=True)
class KernelRow:
    """The row of one node: exact, or estimated with one seed."""

    #: The method, and its cost and error in words.
    title: str
    note: str
    #: The row, and its estimated standard errors.
    values: FloatArray
    std: FloatArray

    @property
    def n_missed(self) -> int:
        """Number of nodes that no walk from this one reached."""
        return int(np.count_nonzero(self.values == 0))


def method_name(walks: Walks, degree: int) -> str:
    """Name a method; independent walks of degree 1 are GRFs without stitching."""
    if walks == POOLED:
        return f"pooled degree {degree}"
    return "GRF" if degree == 1 else f"GRF++ degree {degree}"


def sampled(W: Graph, walks: Walks, degree: int, n_walks: int, seed: int) -> KernelEstimate:
    """An estimate; that of pooled walks as by default, with as many steps."""
    law = LAW if walks == WALKS else None
    return sample(W, KERNEL, degree, n_walks, law, seed, walks=walks, check_error=False)


def walks_of(degree: int) -> list[int]:
    """Numbers of walks at which a degree is measured."""
    return [budget // degree for budget in BUDGETS]


def warm_up() -> float:
    """Compile all code, or load it from the cache; return the seconds."""
    began = perf_counter()
    path = Graph([[0, 1], [1, 0]])
    for graph in (path, path.normalized("sym")):
        for walks in (WALKS, POOLED):
            sampled(graph, walks, DEFAULT_DEGREE, 2, 0).toarray()
    return perf_counter() - began


def measure_all(
    graphs: Sequence[DemoGraph], seed: int, progress: Progress = lambda done, n: None
) -> list[Measurement]:
    """Measure every graph with every method at every cost."""
    settings = [
        (g, walks, degree, m) for g in graphs for walks, degree in METHODS for m in walks_of(degree)
    ]
    # To ten digits, and faster than the eigenvectors that KERNEL.exact needs.
    exact = {
        each.name: KERNEL.apply(each.graph.normalized("sym"), np.eye(each.graph.n_nodes))
        for each in graphs
    }
    results = []
    for number, (each, walks, degree, n_walks) in enumerate(settings):
        results.append(measure(each, exact[each.name], walks, degree, n_walks, seed))
        progress(number + 1, len(settings))
    return results


def measure(
    each: DemoGraph, exact: FloatArray, walks: Walks, degree: int, n_walks: int, seed: int
) -> Measurement:
    """Sample `N_REPEATS` estimates and compare them with the exact kernel."""
    W = each.graph.normalized("sym")
    errors, seconds, steps = [], 0.0, 0.0
    for walk_seed in seeds(seed):
        began = perf_counter()
        K = sampled(W, walks, degree, n_walks, walk_seed)
        seconds += perf_counter() - began
        errors.append(np.linalg.norm(K.toarray() - exact) / np.linalg.norm(exact))
        steps = K.meta["steps_per_node"]
    return Measurement(
        graph=each.title,
        n_nodes=W.n_nodes,
        walks=walks,
        degree=degree,
        n_walks=n_walks,
        steps_per_node=steps,
        error=float(np.mean(errors)),
        standard_error=float(np.std(errors, ddof=1) / np.sqrt(N_REPEATS)),
        seconds=seconds / N_REPEATS,
    )


def seeds(seed: int) -> range:
    """Seeds of the repeats; those of different demos do not overlap."""
    return range(seed * N_REPEATS, (seed + 1) * N_REPEATS)


def worth_a_line(results: Sequence[Measurement]) -> Iterator[Measurement]:
    """What the table shows: every degree at equal walks, and every degree at equal steps."""
    for result in results:
        if result.n_walks == MAIN_WALKS or has_equal_steps(result):
            yield result


def has_equal_steps(result: Measurement) -> bool:
    """Whether it has the highest cost, which all degrees are compared at."""
    return result.degree * result.n_walks == max(BUDGETS)


def table_cells(result: Measurement) -> list[str]:
    """What a line of the table says, without the graph."""
    digits = max(3, 2 - floor(log10(result.error)))
    return [
        result.method,
        str(result.n_walks),
        f"{result.steps_per_node:,.0f}",
        f"{result.error:.{digits}f} ± {result.standard_error:.{digits}f}",
        f"{result.seconds:.3f}",
    ]


def kernel_rows(each: DemoGraph, seed: int) -> list[KernelRow]:
    """The row of the start node: exact, GRF at equal walks; GRF, GRF++, pooled at equal steps."""
    W = each.graph.normalized("sym")
    unit = np.zeros(W.n_nodes)
    unit[each.start] = 1.0
    exact = KERNEL.apply(W, unit)
    rows = [KernelRow("exact", "", exact, np.zeros_like(exact))]
    top, most = max(DEGREES), max(BUDGETS)
    for walks, degree, n_walks in (
        (WALKS, 1, MAIN_WALKS),
        (WALKS, 1, most),
        (WALKS, top, most // top),
        (POOLED, DEFAULT_DEGREE, most // DEFAULT_DEGREE),
    ):
        K = sampled(W, walks, degree, n_walks, seeds(seed)[0])
        (values,), (std,) = K.rows([each.start], return_std=True)
        error = np.linalg.norm(values - exact) / np.linalg.norm(exact)
        note = f"{n_walks} walks, {K.meta['steps_per_node']:,.0f} steps, error {error:.2g}"
        rows.append(KernelRow(method_name(walks, degree), note, values, std))
    return rows
