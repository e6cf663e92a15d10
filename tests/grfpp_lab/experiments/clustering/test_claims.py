"""Clusterings of others."""

import pytest

from grfpp.tasks.clustering import pair_error
from grfpp_lab.experiments.clustering.claims import (
    EQUAL,
    EXACT,
    GRF,
    GRF_PP,
    LOUVAIN,
    POOLED_PP,
    REGULARIZED,
    RIVALS,
    degree_table,
    judge_degrees,
    judge_pooled,
    judge_regularized,
    judge_rivals,
    pooled_panels,
    regularized_panels,
    rival_labels,
    rival_panels,
    rival_table,
    walk_panels,
)
from grfpp_lab.harness.experiment import Holds


def rows(**errors):
    """Rows of methods on graphs, by ``graph=(GRF, GRF++, exact, Louvain)``."""
    return [
        {
            "graph": graph,
            "n_nodes": 10 * (place + 1),
            "n_clusters": 2,
            "method": method,
            "n_walks": 16 if method in (GRF, GRF_PP) else None,
            "repeats": 10,
            "error": error,
            "standard_error": 0.01,
            "deviation": 0.03,
        }
        for place, (graph, values) in enumerate(errors.items())
        for method, error in zip((GRF, GRF_PP, EXACT, LOUVAIN), values, strict=True)
    ]


def pooled_rows(n_walks=16, **errors):
    """Rows of pooled walks, by ``graph=error``."""
    (like,) = [row for row in rows(karate=(0, 0, 0, 0)) if row["method"] == GRF_PP]
    own = {**like, "method": POOLED_PP, "walks": "pooled", "n_walks": n_walks}
    return [{**own, "graph": graph, "error": error} for graph, error in errors.items()]


def regularized_rows(**errors):
    """Rows of the default, by ``graph=error``."""
    (like,) = [row for row in rows(karate=(0, 0, 0, 0)) if row["method"] == EXACT]
    return [
        {**like, "method": REGULARIZED, "graph": graph, "error": error}
        for graph, error in errors.items()
    ]


@pytest.mark.parametrize("method", RIVALS)
def test_rivals_find_what_is_plain_to_see(method):
    pytest.importorskip("sknetwork", reason="needs scikit-network")
    import networkx as nx

    graph = nx.connected_caveman_graph(3, 8)
    labels = rival_labels(method, nx.to_scipy_sparse_array(graph), 3, seed=1)
    assert pair_error(labels, [node // 8 for node in graph]) < 0.3  # all in one: 0.7


@pytest.mark.parametrize(
    ("errors", "holds", "told"),
    [
        ({"karate": (0.3, 0.2, 0.2, 0.4)}, Holds.YES, "1 of 1"),
        ({"karate": (0.2, 0.2, 0.2, 0.4)}, Holds.YES, "1 of 1"),
        (
            {
                "karate": (0.3, 0.2, 0.2, 0.4),
                "cora": (0.3, 0.31, 0.3, 0.4),
                "eurosis": (0.3, 0.1, 0.2, 0.4),
            },
            Holds.NOISE,
            "on 2 of 3 graphs (not on Cora: 0.31 ± 0.01 against 0.30 ± 0.01, noise)",
        ),
        (
            {
                "karate": (0.3, 0.2, 0.2, 0.4),
                "cora": (0.3, 0.4, 0.3, 0.4),
                "eurosis": (0.3, 0.1, 0.2, 0.4),
            },
            Holds.NO,
            "on 2 of 3 graphs (not on Cora: 0.40",
        ),
        ({"karate": (0.2, 0.21, 0.2, 0.4)}, Holds.NO, "on 0 of 1"),
    ],
)
def test_verdict_on_degrees(errors, holds, told):
    verdict = judge_degrees(rows(**errors))
    assert verdict.holds is holds
    assert told in verdict.measured


def test_verdict_tells_the_distance_to_the_exact_kernel():
    told = judge_degrees(rows(karate=(0.3, 0.2, 0.19, 0), cora=(0.3, 0.25, 0.2, 0))).measured
    assert f"{GRF_PP} is at most 0.02 above {EXACT} on 1 of 2 (worst: +0.050, Cora)" in told


def test_nothing_to_judge():
    assert judge_degrees([]).holds is Holds.OPEN
    assert judge_rivals([]).holds is Holds.OPEN
    alone = [row for row in rows(karate=(0.3, 0.2, 0.2, 0.1)) if row["method"] != LOUVAIN]
    assert judge_rivals(alone).holds is Holds.OPEN
    alone = rows(karate=(0.3, 0.2, 0.2, 0.4))
    assert judge_pooled(alone).holds is judge_regularized(alone).holds is Holds.OPEN
    assert judge_pooled(pooled_rows(karate=0.2)).holds is Holds.OPEN
    assert judge_regularized(regularized_rows(karate=0.1)).holds is Holds.OPEN


def test_the_verdict_on_degrees_counts_other_numbers_of_walks():
    few = [{**row, "n_walks": 4, "error": 0.5} for row in rows(karate=(0.3, 0.2, 0.1, 0))[:2]]
    found = judge_degrees([*rows(karate=(0.2, 0.3, 0.19, 0)), *few])
    assert "with 4 and 16 walks, on 1 of 2" in found.measured


def test_verdict_on_rivals():
    found = judge_rivals(rows(karate=(0.3, 0.2, 0.0, 0.4), cora=(0.3, 0.3, 0.0, 0.1)))
    assert found.holds is Holds.YES
    assert "lowest error on 1 of 2 graphs (Karate)" in found.measured
    assert "at most 0.200 above the best (Cora)" in found.measured
    # Louvain: 0.4 against the paper's 0.4367; Cora is not in it.
    assert "errors are 0.04 away from the paper's" in found.measured
    assert judge_rivals(rows(cora=(0.3, 0.3, 0.0, 0.1))).holds is Holds.NO


@pytest.mark.parametrize(
    ("karate", "cora", "holds", "told"),
    [
        (0.2, 0.249, Holds.YES, "exact on 2 of 2; the largest difference is -0.0010, Cora"),
        (0.204, 0.25, Holds.YES, "exact on 2 of 2; the largest difference is +0.0040, Karate"),
        (0.2, 0.256, Holds.NO, "within 0.005 of exact on 1 of 2 (not on Cora +0.0060)"),
        (0.19, 0.25, Holds.NO, "within 0.005 of exact on 1 of 2 (not on Karate -0.0100)"),
    ],
)
def test_verdict_on_pooled_walks(karate, cora, holds, told):
    made = rows(karate=(0.3, 0.2, 0.2, 0), cora=(0.3, 0.3, 0.25, 0))
    others = pooled_rows(n_walks=2, karate=0.4, cora=0.4)  # not what tables are about
    found = judge_pooled([*made, *pooled_rows(karate=karate, cora=cora), *others])
    assert found.holds is holds
    assert told in found.measured
    both = [*made, *pooled_rows(karate=0.1, cora=0.05)]
    for judge in (judge_degrees, judge_rivals):
        assert judge(both) == judge(made)


@pytest.mark.parametrize(
    ("ours", "holds", "told"),
    [
        ({"karate": 0.3, "cora": 0.2}, Holds.YES, "at most +0.050 from Louvain (Cora)"),
        ({"karate": 0.3, "cora": 0.27}, Holds.NO, "at most +0.120 from Louvain (Cora)"),
        ({"karate": 0.41, "cora": 0.16}, Holds.NO, "regularised 0.2850, Louvain 0.2750"),
    ],
)
def test_verdict_on_the_default(ours, holds, told):
    made = [*rows(karate=(0, 0, 0.2, 0.4), cora=(0, 0, 0.2, 0.15)), *regularized_rows(**ours)]
    verdict = judge_regularized(made)
    assert verdict.holds is holds
    assert told in verdict.measured
    # It is no part of what the paper claims.
    assert judge_rivals(made) == judge_rivals(made[:-2])


def test_tables_and_panels():
    made = rows(karate=(0.3, 0.2, 0.2, 0.4), cora=(0.3, 0.3, 0.2, 0.1))
    first = degree_table(made)
    assert first.groups[0].rows[0][:4] == ["Karate", "10", "2", "0.3000 ± 0.0300"]
    assert first.groups[0].rows[0][-2:] == ["0.2995", "0.2585"]
    assert first.groups[0].rows[1][-2:] == ["", ""]
    second = rival_table(made)
    assert second.columns == ["graph", GRF, GRF_PP, EXACT, LOUVAIN]
    assert [len(group.rows) for group in second.groups] == [2, 1]
    assert second.groups[1].rows[0] == ["Karate", "0.2995", "0.2585", "", "0.4367"]
    assert [panel.title for panel in walk_panels(made)] == ["Karate", "Cora"]
    (panel,) = rival_panels(made)  # the paper has no Cora
    assert [curve.name for curve in panel.curves] == [GRF, GRF_PP, LOUVAIN, EQUAL]
    assert (panel.curves[1].x, panel.curves[1].y) == ([0.2585], [0.2])


def test_the_default_beside_the_best_other_method():
    made = [*rows(karate=(0.3, 0.2, 0.2, 0.4)), *regularized_rows(karate=0.1)]
    (panel,) = regularized_panels(made)
    assert [curve.name for curve in panel.curves] == [REGULARIZED, EXACT, LOUVAIN]
    assert [curve.y for curve in panel.curves] == [[0.1], [0.2], [0.4]]
    assert REGULARIZED in rival_table(made).columns


def test_pooled_walks_are_a_further_curve_and_column():
    made = [*rows(karate=(0.3, 0.2, 0.2, 0.4)), *pooled_rows(karate=0.19)]
    (panel,) = walk_panels(made)
    assert [curve.name for curve in panel.curves] == [GRF, GRF_PP, POOLED_PP, EXACT]
    assert len({curve.style for curve in panel.curves}) == 4
    (beside,) = pooled_panels(made)
    assert [curve.y for curve in beside.curves] == [pytest.approx([y]) for y in (0.1, 0.0, 0.01)]
    table = degree_table(made)
    line = dict(zip(table.columns, table.groups[0].rows[0], strict=True))
    assert (line[POOLED_PP], line[EXACT]) == ("0.1900 ± 0.0300", "0.2000 ± 0.0300")
    assert POOLED_PP in rival_table(made).columns
    assert [curve.name for curve in rival_panels(made)[0].curves] == [GRF, GRF_PP, LOUVAIN, EQUAL]
