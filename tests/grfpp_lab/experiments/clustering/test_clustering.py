"""Clustering: plans, rows, and verdicts on rows made by hand."""

import pytest
from verdict_case import NO, NOISE, OPEN, YES, verdicts

from grfpp import _imports as optional
from grfpp.tasks import SpectralKernelClustering, pair_error
from grfpp_lab.experiments.clustering import claims
from grfpp_lab.experiments.clustering import experiment as clustering
from grfpp_lab.experiments.clustering.claims import EXACT, GRF, GRF_PP, LOUVAIN, POOLED_PP
from grfpp_lab.experiments.labels import experiment as labels
from grfpp_lab.harness.experiment import Settings, Size


def test_cells_say_everything(no_data):
    plan = clustering.plan(Settings(size=Size.QUICK))
    assert "dolphins" in plan.skipped
    assert {cell["graph"] for cell in plan.cells} == {"karate"}
    walks, pools = (
        [cell["n_walks"] for cell in plan.cells if cell["method"] == method]
        for method in (GRF_PP, POOLED_PP)
    )
    assert walks == pools and set(walks) == {4, 16}
    assert "scale" not in next(cell for cell in plan.cells if cell["method"] == LOUVAIN)


@pytest.mark.parametrize(
    ("experiment", "rivals"), [(clustering, claims.RIVALS), (labels, labels.OF_NETWORK)]
)
def test_without_scikit_network(no_data, monkeypatch, experiment, rivals):
    monkeypatch.setattr(optional, "find_spec", lambda name: None)
    plan = experiment.plan(Settings(size=Size.TINY))
    assert "pip install './lab[all]' in a clone of grfpp" in plan.skipped[", ".join(rivals)]
    assert not {cell["method"] for cell in plan.cells} & set(rivals)


def test_rows_are_a_function_of_the_cell(no_data):
    found = {}
    for cell in clustering.plan(Settings(size=Size.TINY, scale=0.3)).cells:
        (row,) = clustering.run(cell)
        assert [row] == clustering.run(cell)
        assert 0 <= row["error"] < 0.5
        assert row["n_nodes"] == 34
        assert row["paper_error"] == claims.PAPER["karate"].get(row["method"])
        assert (row.get("walks") == "pooled") is (row["method"] == POOLED_PP)
        found[row["method"]] = cell, row["error"]
    assert found[POOLED_PP][1] == found[EXACT][1]
    # The default is run as it is.
    cell, error = found[claims.REGULARIZED]
    assert not {"scale", "n_walks", "termination"} & set(cell)
    data = clustering.unweighted("karate")
    labels = SpectralKernelClustering(2, random_state=0).fit_predict(data.graph)
    assert error == pair_error(labels, data.labels)


def rows(**errors):
    """Rows of methods on graphs, by ``graph=(GRF, GRF++, exact, Louvain)``."""
    return [
        {
            **{"graph": graph, "n_nodes": 10 * (place + 1), "n_clusters": 2, "method": method},
            **{"n_walks": 16 if method in (GRF, GRF_PP) else None, "repeats": 10},
            **{"error": error, "standard_error": 0.01, "deviation": 0.03},
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
    like["method"] = claims.REGULARIZED
    return [{**like, "graph": graph, "error": error} for graph, error in errors.items()]


@pytest.mark.parametrize("method", claims.RIVALS)
def test_rivals_find_what_is_plain_to_see(method):
    pytest.importorskip("sknetwork", reason="needs scikit-network")
    import networkx as nx

    graph = nx.connected_caveman_graph(3, 8)
    labels = claims.rival_labels(method, nx.to_scipy_sparse_array(graph), 3, seed=1)
    assert pair_error(labels, [node // 8 for node in graph]) < 0.3  # all in one: 0.7


def three(cora):
    return rows(karate=(0.3, 0.2, 0.2, 0.4), cora=cora, eurosis=(0.3, 0.1, 0.2, 0.4))


BOTH = rows(karate=(0.3, 0.2, 0.2, 0), cora=(0.3, 0.3, 0.25, 0))


def with_pooled(karate, cora):
    others = pooled_rows(n_walks=2, karate=0.4, cora=0.4)  # not what tables are about
    return [*BOTH, *pooled_rows(karate=karate, cora=cora), *others]


def with_default(**errors):
    made = rows(karate=(0, 0, 0.2, 0.4), cora=(0, 0, 0.2, 0.15))
    return [*made, *regularized_rows(**errors)]


ONE = rows(karate=(0.3, 0.2, 0.2, 0.4))
FEW = [{**row, "n_walks": 4, "error": 0.5} for row in rows(karate=(0.3, 0.2, 0.1, 0))[:2]]
ABOVE = f"{GRF_PP} is at most 0.02 above {EXACT} on 1 of 2 (worst: +0.050, Cora)"
TWO = rows(karate=(0.3, 0.2, 0.0, 0.4), cora=(0.3, 0.3, 0.0, 0.1))
# Louvain: 0.4 against the paper's 0.4367; Cora is not in it.
RIVAL_TEXTS = (
    "lowest error on 1 of 2 graphs, with Cora, which the paper does not have (Karate)",
    "at most 0.200 above the best (Cora)",
)
RIVAL_TEXTS += ("errors are 0.04 away from the paper's",)
OF_THREE = "on 2 of 3 graphs, with Cora, which the paper does not have (not on Cora: 0."
NOISY = f"{OF_THREE}31 ± 0.01 against 0.30 ± 0.01, noise)"

degrees, pooled, rivals, default = (claim.judge for claim in clustering.EXPERIMENT.claims)
test_verdicts = verdicts(
    [
        (degrees, ONE, YES, "1 of 1"),
        (degrees, rows(karate=(0.2, 0.2, 0.2, 0.4)), YES, "1 of 1"),
        (degrees, three((0.3, 0.31, 0.3, 0.4)), NOISE, NOISY),
        (degrees, three((0.3, 0.4, 0.3, 0.4)), NO, f"{OF_THREE}40"),
        (degrees, rows(karate=(0.2, 0.21, 0.2, 0.4)), NO, "on 0 of 1"),
        (degrees, rows(karate=(0.3, 0.2, 0.19, 0), cora=(0.3, 0.25, 0.2, 0)), YES, ABOVE),
        (degrees, [*rows(karate=(0.2, 0.3, 0.19, 0)), *FEW], NO, "4 and 16 walks, on 1 of 2"),
        (rivals, TWO, YES, *RIVAL_TEXTS),
        (rivals, rows(cora=(0.3, 0.3, 0.0, 0.1)), NO),
        (rivals, [row for row in ONE if row["method"] != LOUVAIN], OPEN),
        (pooled, with_pooled(0.2, 0.249), YES, "on 2 of 2", "difference is -0.0010, Cora"),
        (pooled, with_pooled(0.204, 0.25), YES, "on 2 of 2", "is +0.0040, Karate"),
        (pooled, with_pooled(0.2, 0.256), NO, "on 1 of 2 (not on Cora +0.0060)"),
        (pooled, with_pooled(0.19, 0.25), NO, "on 1 of 2 (not on Karate -0.0100)"),
        (pooled, ONE, OPEN),
        (pooled, pooled_rows(karate=0.2), OPEN),
        (default, with_default(karate=0.3, cora=0.2), YES, "+0.050 from Louvain (Cora)"),
        (default, with_default(karate=0.3, cora=0.27), NO, "+0.120 from Louvain (Cora)"),
        (default, with_default(karate=0.41, cora=0.16), NO, "0.2850, Louvain 0.2750"),
        (default, ONE, OPEN),
        (default, regularized_rows(karate=0.1), OPEN),
    ]
)


def test_pooled_walks_and_the_default_are_no_part_of_what_the_paper_claims():
    pools, own = pooled_rows(karate=0.1, cora=0.05), regularized_rows(karate=0.3, cora=0.2)
    assert degrees([*BOTH, *pools]) == degrees(BOTH)
    assert rivals([*BOTH, *pools, *own]) == rivals(BOTH)


def test_tables_and_panels():
    made = rows(karate=(0.3, 0.2, 0.2, 0.4), cora=(0.3, 0.3, 0.2, 0.1))
    first = claims.degree_table(made)
    assert first.groups[0].rows[0][:4] == ["Karate", "10", "2", "0.3000 ± 0.0100"]
    assert first.groups[0].rows[0][-2:] == ["0.2995", "0.2585"]
    assert first.groups[0].rows[1][-2:] == ["", ""]
    second = claims.rival_table(made)
    assert second.columns == ["graph", GRF, GRF_PP, EXACT, LOUVAIN]
    assert [len(group.rows) for group in second.groups] == [2, 1]
    assert second.groups[1].rows[0] == ["Karate", "0.2995", "0.2585", "", "0.4367"]
    assert [panel.title for panel in claims.walk_panels(made)] == ["Karate", "Cora"]
    (panel,) = claims.rival_panels(made)  # the paper has no Cora
    assert [curve.name for curve in panel.curves] == [GRF, GRF_PP, LOUVAIN, claims.EQUAL]
    assert (panel.curves[1].x, panel.curves[1].y) == ([0.2585], [0.2])


def test_the_default_beside_the_best_other_method():
    made = [*ONE, *regularized_rows(karate=0.1)]
    (panel,) = claims.regularized_panels(made)
    shown = {curve.name: curve.y for curve in panel.curves}
    assert shown == {claims.REGULARIZED: [0.1], EXACT: [0.2], LOUVAIN: [0.4]}
    assert claims.REGULARIZED in claims.rival_table(made).columns


def test_pooled_walks_are_a_further_curve_and_column():
    made = [*ONE, *pooled_rows(karate=0.19)]
    (panel,) = claims.walk_panels(made)
    assert [curve.name for curve in panel.curves] == [GRF, GRF_PP, POOLED_PP, EXACT]
    assert len({curve.style for curve in panel.curves}) == 4
    (beside,) = claims.pooled_panels(made)
    assert [curve.y for curve in beside.curves] == [pytest.approx([y]) for y in (0.1, 0.0, 0.01)]
    table = claims.degree_table(made)
    line = dict(zip(table.columns, table.groups[0].rows[0], strict=True))
    assert (line[POOLED_PP], line[EXACT]) == ("0.1900 ± 0.0100", "0.2000 ± 0.0100")
    assert POOLED_PP in claims.rival_table(made).columns
    drawn = [curve.name for curve in claims.rival_panels(made)[0].curves]
    assert drawn == [GRF, GRF_PP, LOUVAIN, claims.EQUAL]
