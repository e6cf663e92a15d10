"""Whether Gaussian processes choose well by default: fields on graphs beside an oracle.

``python -m grfpp_lab.studies.gp_fields`` prints, for each method, the share of cases with an error
of at most 1.10 times the oracle's, the worst ratio, and the coverage of 95 % intervals of the
function. Cases are fields of four correlation lengths (from three edges to half the diameter),
with noise of 0, 0.3 and 1 of their deviation, known at 1, 5 and 20 % of the nodes of a grid, a
triangulated sphere, a road-like nearest-neighbour graph of clustered points, and a block model.

Fields are smooth random functions of the coordinates: random Fourier features of a
squared-exponential or a Matérn-3/2 process. Those of block models are levels of nested communities
and smooth spectral noise. The oracle is the exact process with the covariance
``(I + t L)^-2 D^-1`` and the best width and noise of a grid, chosen with the truth at the test
nodes. Settings are chosen with ``--seed 100`` and more, and judged with others.
"""

import argparse
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from grfpp.datasets import grid, triangulated_sphere
from grfpp.gp import GraphGP
from grfpp.graph import Graph
from grfpp.tasks import KernelInterpolator
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.harness.processes import run_command

#: A method: graph, known nodes, values there, test nodes -> means and deviations of the function,
#: and the seconds of a peer.
Method = Callable[[Graph, IntArray, FloatArray, IntArray], tuple[Any, ...]]

N_LENGTHS = 4
#: Standard deviations of the noise; fields have 1.
NOISES = (0.0, 0.3, 1.0)
SHARES = (0.01, 0.05, 0.2)
#: The shortest correlation length, in mean edges.
SHORTEST = 3.0
N_TEST = 400
#: Widths ``t`` of the oracle: below one edge to far above the squared diameter.
WIDTHS = np.geomspace(0.3, 1e5, 20)
#: Noise variances of the oracle, over the mean variance of the process.
RATIOS = np.geomspace(1e-9, 1e2, 23)
#: Bars: the ratio of errors that most cases keep.
GOOD_RATIO = 1.10


class Place(NamedTuple):
    """A graph, and how to draw a field of each correlation length on it."""

    graph: Graph
    draw: Callable[[int, np.random.Generator], FloatArray]


class Case(NamedTuple):
    """One field, known with noise at some nodes."""

    place: str
    length: int
    noise: float
    share: float
    graph: Graph
    field: FloatArray
    known: IntArray
    values: FloatArray
    test: IntArray


class Answer(NamedTuple):
    """The result of one method in one case."""

    rmse: float
    coverage: float
    #: Of the processor.
    seconds: float


def grid_place(brief: bool, rng: np.random.Generator) -> Place:
    """A grid of 60 × 60 nodes."""
    side = 30 if brief else 60
    where = np.stack(np.divmod(np.arange(side * side), side), axis=1).astype(float)
    return _smooth(grid(side, side), where)


def sphere_place(brief: bool, rng: np.random.Generator) -> Place:
    """A triangulated sphere of 2,562 nodes."""
    mesh = triangulated_sphere(3 if brief else 4)
    return _smooth(mesh.graph, mesh.vertices)


def road_place(brief: bool, rng: np.random.Generator) -> Place:
    """Points in clusters and between them, each joined to its two to eight nearest."""
    n = 800 if brief else 3000
    centres, spread = rng.uniform(0, 1, (25, 2)), np.exp(rng.uniform(np.log(0.01), np.log(0.1), 25))
    cluster = rng.integers(25, size=n)
    points = centres[cluster] + spread[cluster, None] * rng.standard_normal((n, 2))
    points = np.where(rng.random((n, 1)) < 0.4, rng.uniform(0, 1, (n, 2)), points)
    near = KDTree(points).query(points, 9)[1][:, 1:]
    chosen = np.arange(8) < rng.integers(2, 9, (n, 1))
    rows, columns = np.nonzero(chosen)[0], near[chosen]
    graph, inside = _largest_component(rows, columns, n)
    return _smooth(graph, points[inside])


def block_place(brief: bool, rng: np.random.Generator) -> Place:
    """Communities in groups of two, four and eight, with uneven degrees."""
    n, n_blocks = (700, 16) if brief else (2400, 32)
    block = rng.integers(n_blocks, size=n)
    weight = rng.pareto(2.5, n) + 1
    n_edges = 6 * n
    source = rng.choice(n, n_edges, p=weight / weight.sum())
    level = rng.choice(5, n_edges, p=[0.6, 0.15, 0.1, 0.08, 0.07])
    target = rng.choice(n, n_edges, p=weight / weight.sum())
    for depth in range(4):
        for group in range(n_blocks >> depth):
            members = np.flatnonzero(block >> depth == group)
            ours = np.flatnonzero((level == depth) & (block[source] >> depth == group))
            chances = weight[members] / weight[members].sum()
            target[ours] = rng.choice(members, len(ours), p=chances)
    graph, inside = _largest_component(source, target, n)
    block = block[inside]
    walk = graph.normalized("rw").adjacency

    def draw(length: int, rng: np.random.Generator) -> FloatArray:
        levels = rng.standard_normal(n_blocks)[block >> length]
        smooth = rng.standard_normal(len(block))
        for _ in range(4**length):
            smooth = 0.5 * smooth + 0.5 * (walk @ smooth)
        return np.asarray(levels + 0.5 * (smooth - smooth.mean()) / smooth.std())

    return Place(graph, draw)


PLACES: dict[str, Callable[[bool, np.random.Generator], Place]] = {
    "grid": grid_place,
    "sphere": sphere_place,
    "road": road_place,
    "blocks": block_place,
}


def _largest_component(rows: IntArray, columns: IntArray, n: int) -> tuple[Graph, IntArray]:
    """The largest component of some edges, with weights of 1, and its nodes."""
    rows, columns = rows[rows != columns], columns[rows != columns]
    A = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)).tocsr()
    A = ((A + A.T) > 0).astype(float)
    component = connected_components(A)[1]
    inside = np.flatnonzero(component == np.bincount(component).argmax())
    return Graph(A[inside][:, inside]), inside


def _smooth(graph: Graph, where: FloatArray) -> Place:
    """Smooth functions of coordinates, by random Fourier features."""
    rows, columns = graph.adjacency.nonzero()
    edge = np.linalg.norm(where[rows] - where[columns], axis=1).mean()
    lengths = np.geomspace(SHORTEST * edge, np.ptp(where, axis=0).max() / 2, N_LENGTHS)

    def draw(length: int, rng: np.random.Generator) -> FloatArray:
        omega = rng.standard_normal((where.shape[1], 500)) / lengths[length]
        if rng.random() < 0.5:  # Matérn-3/2: Student's t with three degrees of freedom
            omega /= np.sqrt(rng.chisquare(3, 500) / 3)
        waves = np.cos(where @ omega + rng.uniform(0, 2 * np.pi, 500))
        return np.asarray(waves @ rng.standard_normal(500))

    return Place(graph, draw)


def cases(
    seed: int, names: Sequence[str], shares: Sequence[float], brief: bool
) -> Iterator[list[Case]]:
    """All cases, in lists that share graph, known and test nodes."""
    for name in names:
        rng = np.random.default_rng([seed, list(PLACES).index(name)])
        graph, draw = PLACES[name](brief, rng)
        for share in shares:
            order, n_known = rng.permutation(graph.n_nodes), round(share * graph.n_nodes)
            known, test = np.sort(order[:n_known]), np.sort(order[n_known : n_known + N_TEST])
            group = []
            for length, noise in product(range(N_LENGTHS), NOISES):
                field = draw(length, rng)
                field = 5.0 + (field - field.mean()) / field.std()
                values = field[known] + noise * rng.standard_normal(n_known)
                group.append(Case(name, length, noise, share, graph, field, known, values, test))
            yield group


class Grid(NamedTuple):
    """The exact process at all widths, ratios and cases: arrays of shape (20, 23, n_cases)."""

    rmse: FloatArray
    coverage: FloatArray
    #: Restricted likelihood: mean and size are integrated and profiled out.
    log_likelihood: FloatArray


def exact_processes(group: Sequence[Case], spectrum: tuple[FloatArray, FloatArray]) -> Grid:
    """The process with every width and noise of the grid, by dense algebra."""
    values, vectors = spectrum
    known, test = group[0].known, group[0].test
    y = np.stack([case.values for case in group], axis=1)
    truth = np.stack([case.field[test] for case in group], axis=1)
    results = np.empty((3, len(WIDTHS), len(RATIOS), len(group)))
    for i, width in enumerate(WIDTHS):
        eigenvalues = (1 + width * values) ** -2.0
        eigenvalues *= len(vectors) / eigenvalues.sum()
        rows = (vectors[np.concatenate([known, test])] * eigenvalues) @ vectors[known].T
        spread, Q = np.linalg.eigh(rows[: len(known)])
        one, b, across = Q.sum(axis=0), Q.T @ y, rows[len(known) :] @ Q
        prior = np.square(vectors[test]) @ eigenvalues
        for j, ratio in enumerate(RATIOS):
            A = np.maximum(spread, 0) + ratio
            precision = one @ (one / A)
            mean = (one / A) @ b / precision  # generalised least squares
            residual = b - np.outer(one, mean)
            size = np.square(residual / np.sqrt(A)[:, None]).sum(axis=0) / (len(A) - 1)
            error = mean + across @ (residual / A[:, None]) - truth
            unexplained = prior - np.square(across) @ (1 / A)
            unexplained += (1 - across @ (one / A)) ** 2 / precision
            std = np.sqrt(np.maximum(unexplained, 0)[:, None] * size)
            results[0, i, j] = np.sqrt(np.square(error).mean(axis=0))
            results[1, i, j] = (np.abs(error) <= 1.96 * std).mean(axis=0)
            normaliser = np.log(A).sum() + np.log(precision) + (len(A) - 1) * np.log(size)
            results[2, i, j] = -normaliser / 2
    return Grid(*results)


def spectrum_of(graph: Graph) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of ``L``, and eigenvectors of ``D^-1/2 A D^-1/2`` times ``D^-1/2``."""
    values, vectors = np.linalg.eigh(
        np.eye(graph.n_nodes) - graph.normalized("sym").adjacency.toarray()
    )
    degrees = np.asarray(graph.adjacency.sum(axis=1)).ravel()
    return np.maximum(values, 0), vectors / np.sqrt(degrees / degrees.mean())[:, None]


def _graph_gp(graph: Graph, known: IntArray, y: FloatArray, test: IntArray) -> Any:
    return GraphGP(graph, n_jobs=1).fit(known, y).predict(test, return_std=True)


def _kriging(graph: Graph, known: IntArray, y: FloatArray, test: IntArray) -> Any:
    return KernelInterpolator(graph, n_jobs=1).fit(known, y).predict(test, return_std=True)


def _node_gp(graph: Graph, known: IntArray, y: FloatArray, test: IntArray) -> Any:
    from grfpp.torch import NodeGP

    model = NodeGP(known, y, graph.normalized("sym"))
    model.fit(seed=0)
    posterior = model.posterior(test, seed=0)
    return posterior.mean.numpy(), posterior.std.numpy()


#: The exact process, with the width and the noise of the grid that are likeliest.
EXACT = "exact, by likelihood"
METHODS: dict[str, Method] = {"GraphGP": _graph_gp, "kriging": _kriging, "NodeGP": _node_gp}


#: What peers are asked for: their file, their kernel, and the steps that they are trained with.
PEERS = {
    "fast-graph-gp": {"peer": "fast-graph-gp regression", "kernel": "diffusion", "n_steps": 100},
    "gpytorch exact": {"peer": "dense GP", "kernel": "diffusion", "n_steps": 100},
    "GeometricKernels": {"peer": "dense GP", "kernel": "GeometricKernels", "n_steps": 100},
}
#: Walks of fast-graph-gp, as many as its own examples have.
_WALKS = {"n_walks": 1000, "n_lengths": 10, "p_halt": 0.1, "n_samples": 64}


def peer(name: str, command: str) -> Method:
    """A peer in its own environment; it is trained on the centred values."""

    def ask(graph: Graph, known: IntArray, y: FloatArray, test: IntArray) -> Any:
        is_walks = name == "fast-graph-gp"
        offset, scale = y.mean(), y.std() or 1.0
        with TemporaryDirectory() as folder:
            names = ("graph", "data", "answer")
            files = {part: str(Path(folder, f"{part}.npz")) for part in names}
            (graph.normalized("sym") if is_walks else graph).save(files["graph"])
            np.savez(files["data"], train=known, targets=(y - offset) / scale, test=test)
            settings: Any = {"lr": 0.1, "seed": 0, "threads": 1, **_WALKS, **PEERS[name]}
            answer = run_command(
                shlex.split(command), {**files, **settings}, timeout=1800, threads=1
            )
            with np.load(files["answer"]) as found:
                mean, std = found["mean"], np.sqrt(np.maximum(found["variance"], 0))
        parts = ("seconds", "walk_seconds", "train_seconds", "predict_seconds")
        seconds = sum(answer.get(part, 0.0) for part in parts)
        return offset + scale * mean, scale * std, seconds

    return ask


def measure(method: Method, case: Case) -> Answer:
    """Error and coverage at the test nodes, and processor time."""
    began = process_time()
    mean, std, *of_peer = method(case.graph, case.known, case.values, case.test)
    seconds = of_peer[0] if of_peer else process_time() - began
    error = np.abs(mean - case.field[case.test])
    rmse = float(np.sqrt(np.mean(error**2)))
    return Answer(rmse, float(np.mean(error <= 1.96 * std)), seconds)


def summary(name: str, cases: Sequence[Case], best: FloatArray, answers: Sequence[Answer]) -> None:
    """Print what the bars are about."""
    ratios = np.array([answer.rmse for answer in answers]) / best
    coverage = np.array([answer.coverage for answer in answers])
    seconds = [answer.seconds for answer in answers]
    worst = cases[int(ratios.argmax())]
    print(
        f"{name}: error at most × {GOOD_RATIO:.2f} in {100 * np.mean(ratios <= GOOD_RATIO):.1f} % "
        f"of {len(cases)} cases, median × {np.median(ratios):.3f}, worst × {ratios.max():.2f} "
        f"({worst.place}, length {worst.length}, noise {worst.noise:g}, {100 * worst.share:g} %); "
        f"intervals hold {100 * coverage.mean():.1f} %; {np.mean(seconds):.2f} s a case"
    )
    noisy, dense = np.array([(case.noise > 0, case.share > SHARES[0]) for case in cases]).T
    for is_noisy, is_dense in product((False, True), repeat=2):
        part = (noisy == is_noisy) & (dense == is_dense)
        if not part.any():
            continue
        label = f"{'noise' if is_noisy else 'no noise'}, {'5 and 20' if is_dense else '1'} % known"
        good = 100 * np.mean(ratios[part] <= GOOD_RATIO)
        print(
            f"  {label:26s} at most × {GOOD_RATIO:.2f} in {good:5.1f} %, worst × "
            f"{ratios[part].max():.2f}, intervals hold {100 * coverage[part].mean():.1f} %"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="gp_fields", description=__doc__)
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=["GraphGP"])
    parser.add_argument("--graphs", nargs="+", choices=list(PLACES), default=list(PLACES))
    parser.add_argument("--shares", type=float, nargs="+", default=list(SHARES))
    parser.add_argument(
        "--peers", metavar="COMMAND", help="of benchmarks/peers, which are asked too"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--brief", action="store_true", help="graphs of a quarter of the nodes")
    parser.add_argument("--cases", action="store_true", help="a line for every case")
    options = parser.parse_args(arguments)
    done: list[Case] = []
    best: list[float] = []
    methods = {name: METHODS[name] for name in options.methods}
    if options.peers:
        methods |= {name: peer(name, options.peers) for name in PEERS}
    answers: dict[str, list[Answer]] = {name: [] for name in [*methods, EXACT]}
    graph = None
    for group in cases(options.seed, options.graphs, options.shares, options.brief):
        if graph is not group[0].graph:
            graph = group[0].graph
            spectrum = spectrum_of(graph)
        began, exact = process_time(), exact_processes(group, spectrum)
        seconds = (process_time() - began) / len(group)
        for k, case in enumerate(group):
            i, j = np.unravel_index(exact.log_likelihood[..., k].argmax(), exact.rmse.shape[:2])
            found = {name: measure(method, case) for name, method in methods.items()}
            found[EXACT] = Answer(exact.rmse[i, j, k], exact.coverage[i, j, k], seconds)
            done.append(case)
            best.append(exact.rmse[..., k].min())
            for name, answer in found.items():
                answers[name].append(answer)
            if options.cases:
                parts = (
                    f"{name} × {answer.rmse / best[-1]:.3f}, {100 * answer.coverage:.0f} %, "
                    f"{answer.seconds:.1f} s"
                    for name, answer in found.items()
                )
                label = f"{case.place:7s} length {case.length} noise {case.noise:<4g}"
                print(
                    f"{label} {100 * case.share:3g} %: {best[-1]:.4f}", *parts, sep="  ", flush=True
                )
    for name, of_method in answers.items():
        summary(name, done, np.array(best), of_method)


if __name__ == "__main__":
    main()
