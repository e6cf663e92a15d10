"""Clustering: the paper's numbers, rival methods, charts, tables and verdicts."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from grfpp._imports import how_to_install, missing_packages
from grfpp_lab.experiments import claims
from grfpp_lab.harness.experiment import Row, Rows, Verdict
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel

GRF, GRF_PP = "GRF", "GRF++ degree 2"
PROPAGATION, K_CENTERS, SPECTRAL, LOUVAIN = "Propagation", "KCenters", "Spectral", "Louvain"

#: Pair errors of Tab. node_clustering (the last two columns) and of Tab. node_cluster_extend, by
#: graph and method. Cora is in neither.
_COLUMNS = (PROPAGATION, K_CENTERS, SPECTRAL, LOUVAIN, GRF, GRF_PP)
PAPER: dict[str, dict[str, float]] = {
    graph: dict(zip(_COLUMNS, errors, strict=True))
    for graph, errors in {
        "karate": (0.4011, 0.2585, 0.2585, 0.4367, 0.2995, 0.2585),
        "dolphins": (0.0936, 0.0323, 0.0408, 0.3432, 0.0635, 0.0323),
        "polbooks": (0.0621, 0.0621, 0.0692, 0.1154, 0.1060, 0.1033),
        "football": (0.1986, 0.0477, 0.0551, 0.0174, 0.0731, 0.0362),
        "databases": (0.4762, 0.4918, 0.3214, 0.5298, 0.3528, 0.3001),
        "eurosis": (0.7418, 0.1891, 0.1295, 0.1599, 0.2248, 0.1304),
    }.items()
}


RIVALS = (LOUVAIN, SPECTRAL, K_CENTERS, PROPAGATION)
#: Those whose result depends on a seed.
SEEDED = (SPECTRAL, K_CENTERS)


def why_no_rivals() -> str | None:
    """Why the rivals cannot be run here, if they cannot."""
    missing = missing_packages("sknetwork")
    return how_to_install(missing) if missing else None


def rival_labels(method: str, adjacency: Any, n_clusters: int, seed: int) -> Any:
    """The cluster of each node by one of the rivals; two of them choose how many there are.

    Spectral is scikit-network's embedding of as many dimensions as clusters, on the sphere, then
    k-means with ten starts.
    """
    import scipy.sparse as sp

    matrix = sp.csr_matrix(adjacency)  # it knows no sparse arrays
    if method == LOUVAIN:
        from sknetwork.clustering import Louvain

        return Louvain().fit_predict(matrix)
    if method == PROPAGATION:
        from sknetwork.clustering import PropagationClustering

        return PropagationClustering().fit_predict(matrix)
    if method == K_CENTERS:
        from sknetwork.clustering import KCenters

        np.random.seed(seed % 2**32)  # noqa: NPY002 - it draws from numpy's global generator
        with threads_for_processes():
            return KCenters(n_clusters).fit_predict(matrix)
    from sklearn.cluster import KMeans
    from sknetwork.embedding import Spectral

    points = Spectral(n_clusters).fit_transform(matrix)
    return KMeans(n_clusters, n_init=10, random_state=seed % 2**32).fit_predict(points)


@contextmanager
def threads_for_processes() -> Iterator[None]:
    """Keep scikit-network from forking, which it does for every ranking.

    A fork of a process whose other threads hold locks, as ours that read requests do, can wait
    for them for ever. The numbers are the same.
    """
    from multiprocessing.pool import ThreadPool

    from sknetwork.classification import base_rank

    forking = base_rank.Pool
    base_rank.Pool = lambda n_jobs: ThreadPool(1)
    try:
        yield
    finally:
        base_rank.Pool = forking


EXACT = "exact diffusion"
#: The paper's methods that walk.
DEGREES = {GRF: 1, GRF_PP: 2}
#: Ours, beside them.
POOLED_PP = f"{claims.POOLED}, degree 2"
REGULARIZED = "regularised"
MAIN_WALKS = 16
EQUAL = "no difference"
#: Errors below are drawn here: the axes are logarithmic.
LEAST = 0.005
_STYLES = {GRF: 0, GRF_PP: 1, POOLED_PP: 4}


def main_rows(rows: Rows) -> Rows:
    """The rows of the tables: walks as the paper has them, and methods without walks."""
    return [row for row in rows if row["n_walks"] in (None, MAIN_WALKS)]


def by_graph(rows: Rows, method: str) -> dict[str, Row]:
    """The row of a method on each graph."""
    return {row["graph"]: row for row in claims.select(rows, method=method)}


def title_of(graph: str) -> str:
    """The title of a graph."""
    return graph.capitalize()


def walk_panels(rows: Rows) -> list[Panel]:
    """Pair error against walks, one chart a graph; the exact kernel has none."""
    panels = []
    for graph in claims.distinct(rows, "graph"):
        own = claims.select(rows, graph=graph)
        curves = [
            claims.error_curve(method, claims.select(own, method=method), "n_walks", style)
            for method, style in _STYLES.items()
        ]
        walks, exact = claims.values(own, "n_walks"), claims.select(own, method=EXACT)
        if exact and walks:
            error = exact[0]["error"]
            curves.append(Curve(EXACT, [walks[0], walks[-1]], [error, error], (), 2, True))
        note = f"{own[0]['n_nodes']:,} nodes, {own[0]['n_clusters']} clusters"
        panels.append(
            claims.chart(title_of(graph), curves, "walks", "pair error", note=note, log_y=False)
        )
    return panels


def pooled_panels(rows: Rows) -> list[Panel]:
    """Differences to the error of the exact kernel, a point a graph."""
    main = main_rows(rows)
    exact = by_graph(main, EXACT)
    curves = []
    for method, style in _STYLES.items():
        own = [row for graph, row in by_graph(main, method).items() if graph in exact]
        gaps = [abs(row["error"] - exact[row["graph"]]["error"]) for row in own]
        nodes = [row["n_nodes"] for row in own]
        curves.append(Curve(method, nodes, gaps, (), style, joined=False))
    return [claims.chart("Beside the exact kernel", curves, "nodes", "difference", log_y=False)]


def best_rival(rows: Rows) -> str | None:
    """The method of scikit-network with the least mean error over the graphs that all have."""
    errors = {
        method: [row["error"] for row in claims.select(rows, method=method)]
        for method in RIVALS
        if claims.select(rows, method=method)
    }
    return min(errors, key=lambda method: sum(errors[method]), default=None)


def regularized_panels(rows: Rows) -> list[Panel]:
    """Errors of the default, the paper's method and the best other method, a point a graph."""
    best = best_rival(rows)
    curves = []
    for style, method in enumerate([REGULARIZED, EXACT, *([best] if best else [])]):
        own = by_graph(rows, method).values()
        nodes, errors = ([row[key] for row in own] for key in ("n_nodes", "error"))
        curves.append(Curve(method, nodes, errors, (), style, joined=False))
    return [claims.chart("The default", curves, "nodes", "pair error", log_y=False)]


def rival_panels(rows: Rows) -> list[Panel]:
    """Pair errors measured here against those of the paper, one chart a graph."""
    main = main_rows(rows)
    panels = []
    for graph in claims.distinct(main, "graph"):
        if graph not in PAPER:
            continue
        own = {row["method"]: row for row in claims.select(main, graph=graph)}
        points = [
            Curve(method, [PAPER[graph][method]], [max(row["error"], LEAST)], (), style)
            for style, method in enumerate((*DEGREES, *RIVALS))
            if (row := own.get(method)) is not None
        ]
        drawn = [value for point in points for value in (*point.x, *point.y)]
        ends = [min(drawn), max(drawn)]
        equal = Curve(EQUAL, ends, ends, (), len(DEGREES) + len(RIVALS), True)
        panels.append(
            Panel(title_of(graph), [*points, equal], "pair error in the paper", "measured here")
        )
    return panels


def degree_table(rows: Rows) -> Table:
    """Our errors beside those of the paper's first table."""
    main = main_rows(rows)
    lines = []
    for graph in claims.distinct(main, "graph"):
        own = {row["method"]: row for row in claims.select(main, graph=graph)}
        paper = PAPER.get(graph, {})
        any_row = next(iter(own.values()))
        lines.append(
            [
                title_of(graph),
                f"{any_row['n_nodes']:,}",
                str(any_row["n_clusters"]),
                *(_measured(own.get(method)) for method in (GRF, GRF_PP, POOLED_PP, EXACT)),
                *(claims.number(paper.get(method)) for method in (GRF, GRF_PP)),
            ]
        )
    measured = [GRF, GRF_PP, POOLED_PP, EXACT]
    return claims.table(
        ["graph", "nodes", "clusters", *measured, f"paper, {GRF}", f"paper, {GRF_PP}"],
        lines,
        f"Pair error at {MAIN_WALKS} walks, mean and standard error over the repeats. Cora is "
        "not in the paper.",
    )


def rival_table(rows: Rows) -> Table:
    """All methods, ours measured here, and what the paper says about the same."""
    main = main_rows(rows)
    ours = (*_STYLES, EXACT, REGULARIZED)
    methods = [method for method in (*ours, *RIVALS) if by_graph(main, method)]
    measured, quoted = [], []
    for graph in claims.distinct(main, "graph"):
        own = {row["method"]: row for row in claims.select(main, graph=graph)}
        measured.append([title_of(graph), *(_measured(own.get(method)) for method in methods)])
        if graph in PAPER:
            paper = PAPER[graph]
            quoted.append(
                [title_of(graph), *(claims.number(paper.get(method)) for method in methods)]
            )
    return Table(
        ["graph", *methods],
        [TableGroup("measured here", measured), TableGroup("quoted from the paper", quoted)],
        "Pair error, mean and standard error over the repeats; Louvain and Propagation choose "
        "the number of clusters themselves and have no seed.",
    )


def _measured(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{row['error']:.4f}" + (f" ± {row['standard_error']:.4f}" if row["repeats"] > 1 else "")


#: Largest acceptable excess error of an estimate over the exact kernel.
TOLERANCE = 0.02
#: Largest excess error of the default over the best other method on one graph.
ASTRAY = 0.1
#: Largest difference between pooled walks and the exact kernel.
NEAR = 0.005


def judge_degrees(rows: Rows) -> Verdict:
    """Degree 2 at most degree 1 on every graph; and how far both are from the exact kernel."""
    paper = "GRF++ of degree 2 has a lower clustering error than GRF on all graphs"
    main = main_rows(rows)
    ours, theirs = by_graph(main, GRF_PP), by_graph(main, GRF)
    if not ours or set(ours) - set(theirs):
        return claims.verdict(paper)
    above = {
        graph: claims.Pair(row, theirs[graph])
        for graph, row in ours.items()
        if row["error"] > theirs[graph]["error"]
    }
    facts = [
        f"{GRF_PP} has at most the error of {GRF} on {len(ours) - len(above)} of {len(ours)} graphs"
        + _not_in_paper(ours)
    ]
    if above:
        facts[0] += f" (not on {'; '.join(f'{title_of(g)}: {pair}' for g, pair in above.items())})"
    facts += _with_other_walks(rows) + _beside_exact(main)
    holds = claims.mostly(len(ours), [pair.is_noise for pair in above.values()])
    return claims.verdict(paper, facts, holds, len(ours))


def _not_in_paper(graphs: Iterable[str]) -> str:
    """Words for graphs that the paper has no numbers of."""
    ours = [title_of(graph) for graph in graphs if graph not in PAPER]
    return f", with {', '.join(ours)}, which the paper does not have" if ours else ""


def _with_other_walks(rows: Rows) -> list[str]:
    """The same comparison at every number of walks that was measured."""
    ours, theirs = (
        {(row["graph"], row["n_walks"]): row["error"] for row in claims.select(rows, method=method)}
        for method in (GRF_PP, GRF)
    )
    common = sorted(set(ours) & set(theirs))
    walks = sorted({n_walks for _, n_walks in common})
    if len(walks) < 2:
        return []
    below = sum(ours[key] <= theirs[key] for key in common)
    return [
        f"with {', '.join(map(str, walks[:-1]))} and {walks[-1]} walks, on {below} of {len(common)}"
    ]


def _beside_exact(rows: Rows) -> list[str]:
    """How much clustering loses by estimating the kernel."""
    exact = by_graph(rows, EXACT)
    facts = []
    for method in (GRF_PP, GRF):
        own = by_graph(rows, method)
        losses = {
            graph: own[graph]["error"] - exact[graph]["error"] for graph in own if graph in exact
        }
        if losses:
            worst = max(losses, key=lambda graph: losses[graph])
            within = sum(loss <= TOLERANCE for loss in losses.values())
            facts.append(
                f"{method} is at most {TOLERANCE:g} above {EXACT} on {within} of {len(losses)} "
                f"(worst: {losses[worst]:+.3f}, {title_of(worst)})"
            )
    return facts


def judge_pooled(rows: Rows) -> Verdict:
    """Pooled walks near the exact kernel on every graph."""
    main = main_rows(rows)
    exact, pooled = by_graph(main, EXACT), by_graph(main, POOLED_PP)
    gaps = {
        title_of(graph): row["error"] - exact[graph]["error"]
        for graph, row in pooled.items()
        if graph in exact
    }
    words = {graph: f"{gap:+.4f}" for graph, gap in gaps.items()}
    largest = max(gaps, key=lambda graph: abs(gaps[graph]), default="")
    return claims.judge_gaps(
        f"within {NEAR:g} of the error of the exact kernel on all graphs, at {MAIN_WALKS} walks",
        gaps,
        words,
        NEAR,
        more=f"the largest difference is {words[largest]}, {largest}" if gaps else "",
    )


def judge_rivals(rows: Rows) -> Verdict:
    """On how many graphs GRF++ has the lowest error of all."""
    paper = "GRF++ is competitive on all graphs and better than all other methods on 3"
    main = [row for row in main_rows(rows) if row["method"] not in (EXACT, POOLED_PP, REGULARIZED)]
    best, gaps = [], {}
    for graph in claims.distinct(main, "graph"):
        errors = {row["method"]: row["error"] for row in claims.select(main, graph=graph)}
        others = [error for method, error in errors.items() if method != GRF_PP]
        if GRF_PP not in errors or not set(errors) & set(RIVALS):
            continue
        gaps[graph] = errors[GRF_PP] - min(others)
        if gaps[graph] <= 0:
            best.append(title_of(graph))
    if not gaps:
        return claims.verdict(paper, "no other methods to compare with")
    worst = max(gaps, key=lambda graph: gaps[graph])
    facts = (
        f"{GRF_PP} has the lowest error on {len(best)} of {len(gaps)} graphs{_not_in_paper(gaps)}"
        + (f" ({', '.join(best)})" if best else "")
        + f"; elsewhere it is at most {max(0.0, gaps[worst]):.3f} above the best "
        f"({title_of(worst)})"
    )
    facts += _beside_the_paper(main)
    # The paper has three of six.
    return claims.verdict(paper, facts, 2 * len(best) >= len(gaps), len(gaps))


def judge_regularized(rows: Rows) -> Verdict:
    """The default at most the best other method in the mean, and not far above it anywhere."""
    claim = (
        "ours: the default has no larger mean error than the best method of scikit-network, and "
        f"is never more than {ASTRAY:g} above it"
    )
    best, ours = best_rival(rows), by_graph(rows, REGULARIZED)
    if best is None or not ours:
        return claims.verdict(claim, "no other methods to compare with")
    theirs, paper = by_graph(rows, best), by_graph(rows, EXACT)
    gaps = {graph: ours[graph]["error"] - theirs[graph]["error"] for graph in ours}
    worst = max(gaps, key=lambda graph: gaps[graph])
    means = {
        name: sum(row["error"] for row in own.values()) / len(own)
        for name, own in ((REGULARIZED, ours), (best, theirs), (EXACT, paper))
        if own
    }
    facts = (
        "mean errors: "
        + ", ".join(f"{name} {mean:.4f}" for name, mean in means.items())
        + f"; at most {gaps[worst]:+.3f} from {best} ({title_of(worst)})"
    )
    holds = means[REGULARIZED] <= means[best] and gaps[worst] <= ASTRAY
    return claims.verdict(claim, facts, holds, len(gaps))


def _beside_the_paper(rows: Rows) -> str:
    """How far methods that are the same package in both places are apart."""
    differences = [
        abs(row["error"] - PAPER[row["graph"]][row["method"]])
        for row in rows
        if row["method"] in RIVALS and row["graph"] in PAPER
    ]
    if not differences:
        return ""
    return (
        f"; the other methods' own errors are {sum(differences) / len(differences):.2f} away from "
        "the paper's on average, so its graphs, classes or settings are not quite ours"
    )
