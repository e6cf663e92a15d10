"""How the defaults of `SpectralKernelClustering` were chosen, and how good they are elsewhere.

``python -m grfpp_lab.studies.clustering choose`` compares settings on generated graphs of seven
families; what it picks is the default. ``… judge`` runs the default on 30 generated graphs with
hubs and whiskers from other seeds and on the seven graphs of the data folder, beside the methods
of scikit-network. ``… sure`` prints the calibration error of the probabilities by temperature, on
the graphs that it was chosen on and on others. ``… dominated`` judges it on graphs of few, uneven,
overlapping classes with many small components. ``… large`` times a block model of a million nodes,
``… auto`` one whose number of clusters is to be found.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from grfpp.tasks import calibration_error
from grfpp.tasks.clustering import NEARLY_ALL, SpectralKernelClustering, pair_error
from grfpp.tasks.spectral import TEMPERATURE
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.experiments.clustering.claims import RIVALS, SEEDED, SPECTRAL, rival_labels
from grfpp_lab.experiments.clustering.experiment import GRAPHS, unweighted


def print_means(errors: Mapping[str, Mapping[str, float]]) -> None:
    """Print a line for each method, with a column for each kind of graph and one for their mean."""
    columns = list(next(iter(errors.values())))
    width = max(map(len, errors))
    print(" " * width, *(f"{column[:9]:>9}" for column in columns), f"{'mean':>9}")
    for name, own in errors.items():
        values = [own[column] for column in columns]
        print(f"{name:<{width}}", *(f"{value:9.4f}" for value in [*values, np.mean(values)]))


#: Seeds of the graphs on which defaults are chosen, and of those on which they are judged.
CHOOSING_SEEDS = range(1000, 1010)
JUDGING_SEEDS = range(30)

Generator = np.random.Generator


class Planted(NamedTuple):
    """A graph with a true cluster for each node."""

    family: str
    seed: int
    adjacency: sp.csr_array
    truth: IntArray

    @property
    def n_clusters(self) -> int:
        """How many true clusters there are."""
        return len(np.unique(self.truth))


def block_model(
    sizes: IntArray, mean_degree: float, mixing: float, spread: float, rng: Generator
) -> tuple[IntArray, IntArray]:
    """Edges of a degree-corrected block model, and the block of each node.

    A share `mixing` of the edges joins nodes of any blocks, the others nodes of one. Weights of
    nodes are log-normal with the deviation `spread`.
    """
    truth = np.repeat(np.arange(len(sizes)), sizes)
    n = len(truth)
    weight = np.exp(spread * rng.standard_normal(n))
    n_edges = int(0.5 * mean_degree * n)
    anywhere = rng.random(n_edges) < mixing
    one = rng.choice(n, n_edges, p=weight / weight.sum())
    other = rng.choice(n, n_edges, p=weight / weight.sum())
    # A node of the block of the first: a place in the running sum of the block's weights.
    running = np.concatenate([[0.0], np.cumsum(weight)])
    first = np.concatenate([[0], np.cumsum(sizes)])
    low, high = running[first[truth[one]]], running[first[truth[one] + 1]]
    inside = np.searchsorted(running, low + (high - low) * rng.random(n_edges), "right") - 1
    return np.stack([one, np.where(anywhere, other, np.clip(inside, 0, n - 1))]), truth


def uneven_sizes(n: int, n_blocks: int, evenness: float, rng: Generator) -> IntArray:
    """Sizes of blocks with at least 2 % of all nodes and four of them."""
    shares = rng.dirichlet(np.full(n_blocks, evenness))
    least = max(4, n // 50)
    return np.asarray(least + np.floor(shares * (n - least * n_blocks)), np.int64)


def with_hubs(
    edges: IntArray, truth: IntArray, number: int, reach: float, rng: Generator
) -> IntArray:
    """Join some nodes with a share `reach` of all others, whatever their block."""
    n = len(truth)
    hubs = rng.choice(n, number, replace=False)
    more = [
        np.stack([np.full(n_more, hub), rng.choice(n, n_more, replace=False)])
        for hub in hubs
        for n_more in [max(1, int(reach * n * rng.uniform(0.5, 1.0)))]
    ]
    return np.hstack([edges, *more])


def with_whiskers(
    edges: IntArray, truth: IntArray, share: float, largest: int, rng: Generator
) -> tuple[IntArray, IntArray]:
    """Hang trees and cliques of up to `largest` nodes on single nodes; they belong to its block."""
    n, more, labels = len(truth), [edges], [truth]
    added = 0
    while added < share * n:
        size, anchor = int(rng.integers(1, largest + 1)), int(rng.integers(n))
        places = n + added + np.arange(size)
        more.append(np.array([[anchor], [places[0]]]))
        if rng.random() < 0.3:
            pairs = np.array(np.triu_indices(size, 1))
            more.append(places[pairs])
        elif size > 1:
            parents = np.array([rng.integers(max(0, i - 2), i) for i in range(1, size)])
            more.append(np.stack([places[1:], places[parents]]))
        labels.append(np.full(size, truth[anchor]))
        added += size
    return np.hstack(more), np.concatenate(labels)


def planted(
    family: str, seed: int, edges: IntArray, truth: IntArray, rng: Generator, *, whole: bool = False
) -> Planted:
    """The largest component of a simple graph, or the `whole` of it, its nodes shuffled."""
    from scipy.sparse.csgraph import connected_components

    n = len(truth)
    matrix = sp.coo_array((np.ones(edges.shape[1]), tuple(edges)), (n, n)).tocsr()
    matrix = ((matrix + matrix.T) > 0).astype(np.float64).tocsr()
    matrix = sp.csr_array(matrix - sp.diags_array(matrix.diagonal()))
    matrix.eliminate_zeros()
    _, component = connected_components(matrix, directed=False)
    is_largest = component == np.bincount(component).argmax()
    kept = rng.permutation(np.flatnonzero(is_largest | whole))
    return Planted(family, seed, sp.csr_array(matrix[kept][:, kept]), truth[kept])


def dominated(seed: int) -> Planted:
    """Few classes that overlap, one with most of the nodes, and many small components."""
    rng = np.random.default_rng([seed, 31])
    n, n_blocks, largest = (
        int(rng.integers(300, 900)),
        int(rng.integers(2, 5)),
        rng.uniform(0.5, 0.85),
    )
    shares = np.append(largest, rng.dirichlet(np.full(n_blocks - 1, 2.0)) * (1 - largest))
    sizes = np.maximum(8, (n * shares).astype(np.int64))
    mixing, spread = rng.uniform(0.2, 0.7), rng.uniform(0.3, 1.0)
    edges, truth = block_model(sizes, rng.uniform(2, 6), mixing, spread, rng)
    edges, truth = with_whiskers(edges, truth, rng.uniform(0, 0.15), 5, rng)
    truth = np.where(rng.random(len(truth)) < rng.uniform(0, 0.2), rng.permutation(truth), truth)
    n, (more, labels) = len(truth), with_whiskers(edges, truth, rng.uniform(0, 0.25), 7, rng)
    is_cut = (more < n).any(axis=0) & (more >= n).any(axis=0)  # from what they hang on
    return planted("dominated", seed, more[:, ~is_cut], labels, rng, whole=True)


def hubs_and_whiskers(seed: int) -> Planted:
    """Blocks of uneven sizes with hubs and whiskers."""
    rng = np.random.default_rng(seed)
    n, n_blocks = int(rng.integers(300, 2000)), int(rng.integers(2, 11))
    sizes = uneven_sizes(n, n_blocks, rng.uniform(1.5, 6.0), rng)
    edges, truth = block_model(sizes, rng.uniform(8, 20), rng.uniform(0.1, 0.45), 0.7, rng)
    edges = with_hubs(edges, truth, int(rng.integers(1, 8)), rng.uniform(0.05, 0.3), rng)
    edges, truth = with_whiskers(edges, truth, rng.uniform(0.05, 0.3), 12, rng)
    return planted("hubs and whiskers", seed, edges, truth, rng)


def uneven(seed: int) -> Planted:
    """Blocks of very uneven sizes, weights of nodes far apart, neither hubs nor whiskers."""
    rng = np.random.default_rng(seed)
    n, n_blocks = int(rng.integers(200, 2500)), int(rng.integers(3, 15))
    sizes = uneven_sizes(n, n_blocks, rng.uniform(0.7, 2.0), rng)
    edges, truth = block_model(sizes, rng.uniform(5, 15), rng.uniform(0.1, 0.4), 1.0, rng)
    return planted("uneven", seed, edges, truth, rng)


def small(seed: int) -> Planted:
    """Few nodes, as in the networks of people and animals that everybody knows."""
    rng = np.random.default_rng(seed)
    n, n_blocks = int(rng.integers(30, 130)), int(rng.integers(2, 5))
    sizes = uneven_sizes(n, n_blocks, rng.uniform(1.5, 6.0), rng)
    edges, truth = block_model(sizes, rng.uniform(4, 9), rng.uniform(0.1, 0.35), 0.7, rng)
    edges, truth = with_whiskers(edges, truth, rng.uniform(0, 0.1), 3, rng)
    return planted("small", seed, edges, truth, rng)


def many(seed: int) -> Planted:
    """Many small clusters of about one size and degree, as the teams of a league."""
    rng = np.random.default_rng(seed)
    n_blocks = int(rng.integers(8, 16))
    sizes = rng.integers(6, 16, n_blocks)
    edges, truth = block_model(sizes, rng.uniform(8, 12), rng.uniform(0.25, 0.45), 0.1, rng)
    return planted("many", seed, edges, truth, rng)


def sparse_citations(seed: int) -> Planted:
    """Few edges a node, and classes that hold several communities each, as subjects of papers."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(1000, 2500)), int(rng.integers(5, 9))
    n_blocks = n_classes * int(rng.integers(3, 9))
    sizes = uneven_sizes(n, n_blocks, rng.uniform(1.0, 3.0), rng)
    classes = np.concatenate(
        [np.arange(n_classes), rng.integers(0, n_classes, n_blocks - n_classes)]
    )
    within, blocks = block_model(sizes, rng.uniform(2.5, 3.5), 0.05, 1.0, rng)
    truth = classes[blocks]
    order = np.argsort(truth, kind="stable")
    across, _ = block_model(np.bincount(truth), 1.0, rng.uniform(0.2, 0.5), 1.0, rng)
    edges, truth = with_whiskers(np.hstack([within, order[across]]), truth, 0.1, 4, rng)
    return planted("citations", seed, edges, truth, rng)


def weak(seed: int) -> Planted:
    """Classes that edges reveal only in part: many nodes are linked like those of another class."""
    rng = np.random.default_rng(seed)
    n, n_blocks = int(rng.integers(500, 1500)), int(rng.integers(5, 14))
    sizes = uneven_sizes(n, n_blocks, rng.uniform(1.0, 4.0), rng)
    edges, truth = block_model(sizes, rng.uniform(6, 14), rng.uniform(0.3, 0.6), 1.0, rng)
    edges = with_hubs(edges, truth, int(rng.integers(0, 10)), 0.1, rng)
    edges, truth = with_whiskers(edges, truth, rng.uniform(0, 0.15), 6, rng)
    other = rng.random(len(truth)) < rng.uniform(0.05, 0.3)
    truth = np.where(other, rng.permutation(truth), truth)
    return planted("weak", seed, edges, truth, rng)


def lfr(seed: int) -> Planted:
    """The benchmark of Lancichinetti, Fortunato and Radicchi, by networkx."""
    import networkx as nx

    rng = np.random.default_rng(seed)
    n = int(rng.integers(250, 1000))
    while True:
        degree, mixing = rng.uniform(6, 12), rng.uniform(0.1, 0.45)
        try:
            graph = nx.LFR_benchmark_graph(
                n,
                rng.uniform(2.2, 3.0),
                rng.uniform(1.2, 2.0),
                mixing,
                average_degree=degree,
                max_degree=n // 8,
                min_community=n // 25,
                max_community=n // 4,
                max_iters=300,
                seed=int(rng.integers(2**31)),
            )
        except nx.ExceededMaxIterations:
            continue
        break
    smallest = [min(graph.nodes[node]["community"]) for node in graph]
    truth = np.unique(smallest, return_inverse=True)[1]
    return planted("LFR", seed, np.array(graph.edges).T, truth, rng)


FAMILIES: dict[str, Callable[[int], Planted]] = {
    "hubs and whiskers": hubs_and_whiskers,
    "uneven": uneven,
    "small": small,
    "many": many,
    "citations": sparse_citations,
    "weak": weak,
    "LFR": lfr,
}


#: Of k-means and walks.
SEED = 0
#: What is compared with the default, one change at a time; `beyond` is the number of eigenvectors
#: less that of clusters.
REGULARIZATIONS = (0.05, 0.1, 0.25)
KERNELS = ("diffusion:1", "diffusion:10", "diffusion:30")
BEYOND = (-1, 0, 1)
#: What the default is, and what it is without one of its parts.
DEFAULT = {"trim": True, "regularization": 0.1, "kernel": "diffusion:10", "beyond": 1}
WITHOUT = {"trim": False, "regularization": 0.0}


def named(chosen: dict[str, Any]) -> str:
    """Settings in words."""
    tau, trimmed = chosen["regularization"], "" if chosen["trim"] else ", untrimmed"
    return f"τ {tau:g}, k{chosen['beyond']:+d}, {chosen['kernel']}{trimmed}"


def settings() -> Iterator[tuple[str, dict[str, Any]]]:
    """All settings that are compared, by name."""
    for regularization, kernel, beyond in product(REGULARIZATIONS, KERNELS, BEYOND):
        chosen = {"regularization": regularization, "kernel": kernel, "beyond": beyond}
        yield named(chosen := {**DEFAULT, **chosen}), chosen
    for part, value in WITHOUT.items():
        yield named(chosen := {**DEFAULT, part: value}), chosen


def fitted(adjacency: Any, k: int, seed: int = SEED, **how: Any) -> SpectralKernelClustering:
    """Clusters of a graph, without a warning where one has nearly all nodes: they are counted."""
    with warnings.catch_warnings(action="ignore"):
        return SpectralKernelClustering(k, random_state=seed, n_jobs=1, **how).fit(adjacency)


def error_of(graph: Planted, **chosen: Any) -> float:
    """The pair error of some settings on one graph, given the true number of clusters."""
    n_components = max(1, graph.n_clusters + chosen.pop("beyond"))
    found = fitted(graph.adjacency, graph.n_clusters, n_components=n_components, **chosen)
    return pair_error(found.labels_, graph.truth)


def means_of(errors: Mapping[str, Mapping[str, list[float]]]) -> dict[str, dict[str, float]]:
    """The mean of each family, by setting."""
    return {
        name: {family: float(np.mean(each)) for family, each in own.items()}
        for name, own in errors.items()
    }


def choose(n_seeds: int = len(CHOOSING_SEEDS)) -> str:
    """Print the mean error of each setting on each family, the best last; give its name."""
    errors: dict[str, dict[str, list[float]]] = {name: {} for name, _ in settings()}
    for family, make in FAMILIES.items():
        for seed in CHOOSING_SEEDS[:n_seeds]:
            graph = make(seed)
            for name, chosen in settings():
                errors[name].setdefault(family, []).append(error_of(graph, **chosen))
    means = means_of(errors)
    ranked = sorted(means, key=lambda name: -np.mean(list(means[name].values())))
    print_means({name: means[name] for name in ranked})
    return ranked[-1]


JUDGING_DEFAULT, PAPER = "default", "paper"
#: Of k-means: the mean over all.
SEEDS = range(5)


def labels_of(method: str, adjacency: Any, n_clusters: int, seed: int) -> Any:
    """The clusters of one method, given the number of classes."""
    if method in RIVALS:
        return rival_labels(method, adjacency, n_clusters, seed)
    how = {"method": "paper", "estimate": "exact"} if method == PAPER else {}
    return fitted(sp.csr_array(adjacency), n_clusters, seed, **how).labels_


def judge_generated(seeds: range = JUDGING_SEEDS) -> dict[str, float]:
    """Mean errors on block models with hubs and whiskers, and how often clusters collapse."""
    errors: dict[str, list[float]] = {}
    collapsed: dict[str, int] = {}
    for graph in map(hubs_and_whiskers, seeds):
        for method in (JUDGING_DEFAULT, PAPER, *RIVALS):
            labels = labels_of(method, graph.adjacency, graph.n_clusters, 0)
            errors.setdefault(method, []).append(pair_error(labels, graph.truth))
            share = np.bincount(labels).max() / len(labels)
            collapsed[method] = collapsed.get(method, 0) + int(share > NEARLY_ALL)
    print(f"{len(seeds)} generated graphs with hubs and whiskers, mean pair error:")
    for method, own in errors.items():
        print(f"  {method:<12} {np.mean(own):.4f}, in one cluster {collapsed[method]} times")
    ours, theirs = np.array(errors[JUDGING_DEFAULT]), np.array(errors[SPECTRAL])
    print(f"  the default is below {SPECTRAL} on {np.count_nonzero(ours < theirs)} graphs")
    return {method: float(np.mean(own)) for method, own in errors.items()}


def judge_seven(names: Sequence[str] = tuple(GRAPHS)) -> dict[str, dict[str, float]]:
    """Errors on the graphs of the data folder, with as many clusters as classes."""
    means: dict[str, dict[str, float]] = {}
    for name in names:
        data = unweighted(name)
        for method in (JUDGING_DEFAULT, PAPER, *RIVALS):
            seeds = SEEDS if method in (JUDGING_DEFAULT, PAPER, *SEEDED) else SEEDS[:1]
            own = [
                pair_error(
                    labels_of(method, data.graph.adjacency, len(data.classes), seed), data.labels
                )
                for seed in seeds
            ]
            means.setdefault(method, {})[name] = float(np.mean(own))
    print_means(means)
    best = min(RIVALS, key=lambda method: np.mean(list(means[method].values())))
    gaps = {name: means[JUDGING_DEFAULT][name] - means[best][name] for name in names}
    worst = max(gaps, key=lambda name: gaps[name])
    print(
        f"best of scikit-network in the mean: {best}; the default is "
        f"{np.mean(list(gaps.values())):+.4f} from it, at most {gaps[worst]:+.4f} ({worst})"
    )
    return means


def judge_dominated(seeds: range = JUDGING_SEEDS) -> dict[str, float]:
    """Mean errors and adjusted Rand indices where one class has most of the nodes."""
    from sklearn.metrics import adjusted_rand_score

    scores: dict[str, list[tuple[float, float]]] = {}
    for graph in map(dominated, seeds):
        found = {
            m: labels_of(m, graph.adjacency, graph.n_clusters, 0)
            for m in (JUDGING_DEFAULT, SPECTRAL)
        }
        for method, labels in {**found, "one cluster": np.zeros(len(graph.truth), int)}.items():
            row = pair_error(labels, graph.truth), adjusted_rand_score(graph.truth, labels)
            scores.setdefault(method, []).append(row)
    for method, rows in scores.items():
        error, index = np.mean(rows, axis=0)
        print(f"{method:<12} pair error {error:.4f}, adjusted Rand index {index:.4f}")
    losses = np.array(scores[JUDGING_DEFAULT])[:, 0] - np.array(scores[SPECTRAL])[:, 0]
    print(f"the default is below {SPECTRAL} on {(losses < 0).sum()}, at most {losses.max():+.4f}")
    return {method: float(np.mean(rows, axis=0)[0]) for method, rows in scores.items()}


#: Widths of the clouds that are compared.
WIDTHS = (1.0, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0)
#: Graphs that no width was chosen on.
OTHER_SEEDS = range(2000, 2010)


def calibration(n_seeds: int = len(CHOOSING_SEEDS)) -> dict[str, dict[str, float]]:
    """Print calibration errors by width and family; give those on graphs of other seeds."""
    found: dict[str, dict[str, float]] = {}
    for title, seeds in (("chosen on", CHOOSING_SEEDS), ("others", OTHER_SEEDS)):
        errors: dict[str, dict[str, list[float]]] = {f"{width:g}": {} for width in WIDTHS}
        for family, make in FAMILIES.items():
            for seed in seeds[:n_seeds]:
                given, classes = _given(make(seed))
                for width in WIDTHS:
                    wider = _tempered(given, TEMPERATURE / width)
                    own = errors[f"{width:g}"].setdefault(family, [])
                    own.append(calibration_error(wider, classes))
        found = means_of(errors)
        print(f"{title}: calibration error by width of the clouds; {TEMPERATURE:g} is the default")
        print_means(found)
    return found


def _given(graph: Planted) -> tuple[FloatArray, IntArray]:
    """Probabilities of clusters, and the cluster that each node's class is best matched with."""
    clustering = fitted(graph.adjacency, graph.n_clusters)
    labels = clustering.labels_
    classes = np.unique(graph.truth, return_inverse=True)[1]
    together = np.zeros((graph.n_clusters, graph.n_clusters))
    np.add.at(together, (labels, classes), 1)
    clusters, own = linear_sum_assignment(-together)
    match = np.empty(graph.n_clusters, np.int64)
    match[own] = clusters
    return clustering.predict_proba(graph.adjacency), match[classes]


def _tempered(probabilities: FloatArray, power: float) -> FloatArray:
    """What clouds of another width would give."""
    raised = np.maximum(probabilities, 1e-300) ** power
    tempered: FloatArray = raised / raised.sum(axis=1, keepdims=True)
    return tempered


def large(
    n_nodes: int = 1_000_000, n_blocks: int = 10, seed: int = 0, n_clusters: int | str = 10
) -> float:
    """Cluster a block model with hubs and whiskers; print seconds and the pair error."""
    rng = np.random.default_rng(seed)
    sizes = np.full(n_blocks, n_nodes // n_blocks)
    edges, truth = block_model(sizes, 12.0, 0.3, 0.7, rng)
    edges = with_hubs(edges, truth, 20, 0.01, rng)
    edges, truth = with_whiskers(edges, truth, 0.02, 12, rng)
    graph = planted("large", seed, edges, truth, rng)
    start, processor = time.perf_counter(), time.process_time()
    clustering = SpectralKernelClustering(n_clusters, random_state=seed).fit(graph.adjacency)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    n, m = graph.adjacency.shape[0], graph.adjacency.nnz // 2
    error = pair_error(clustering.labels_, graph.truth)
    print(f"{n:,} nodes, {m:,} edges, {clustering.n_clusters_} clusters: ", end="")
    print(f"{seconds:.0f} s, of the processor {processor:.0f} s, pair error {error:.4f}")
    return seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one part and print it."""
    parser = argparse.ArgumentParser(prog="clustering", description=__doc__)
    parser.add_argument("part", choices=("choose", "judge", "sure", "dominated", "large", "auto"))
    parser.add_argument("--seeds", type=int, default=10, help="choose, sure: graphs a family")
    parser.add_argument("--nodes", type=int, default=1_000_000, help="large, auto: nodes")
    options = parser.parse_args(arguments)
    if options.part == "choose":
        choose(options.seeds)
    elif options.part == "judge":
        judge_generated()
        judge_seven()
    elif options.part == "dominated":
        judge_dominated()
    elif options.part == "sure":
        calibration(options.seeds)
    else:
        large(options.nodes, n_clusters="auto" if options.part == "auto" else 10)


if __name__ == "__main__":
    main()
