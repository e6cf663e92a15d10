"""The clustering experiment: its cells and rows."""

from grfpp import _imports as optional
from grfpp_lab.experiments.clustering import claims
from grfpp_lab.experiments.clustering import experiment as clustering
from grfpp_lab.harness.experiment import Settings, Size


def test_cells_say_everything(no_data):
    plan = clustering.plan(Settings(size=Size.QUICK, seed=5, scale=0.5, p_halt=0.2))
    assert "dolphins" in plan.skipped
    assert {cell["graph"] for cell in plan.cells} == {"karate"}
    assert {cell["seed"] for cell in plan.cells} == {5}
    walks = [cell for cell in plan.cells if cell["method"] == claims.GRF_PP]
    assert {cell["n_walks"] for cell in walks} == {4, 16}
    assert all((cell["termination"], cell["scale"]) == ("geometric:0.2", 0.5) for cell in walks)
    pools = [cell for cell in plan.cells if cell["method"] == claims.POOLED_PP]
    assert [cell["n_walks"] for cell in pools] == [cell["n_walks"] for cell in walks]
    assert {(cell["termination"], cell["walks"]) for cell in pools} == {("matched:4", "pooled")}
    assert "scale" not in next(cell for cell in plan.cells if cell["method"] == claims.LOUVAIN)


def test_without_scikit_network(no_data, monkeypatch):
    monkeypatch.setattr(optional, "find_spec", lambda name: None)
    plan = clustering.plan(Settings(size=Size.TINY))
    assert "pip install './lab[all]' in a clone of grfpp" in plan.skipped[", ".join(claims.RIVALS)]
    assert not {cell["method"] for cell in plan.cells} & set(claims.RIVALS)


def test_rows_are_a_function_of_the_cell(no_data):
    plan = clustering.plan(Settings(size=Size.TINY))
    for cell in plan.cells:
        (row,) = clustering.run(cell)
        assert [row] == clustering.run(cell)
        assert 0 <= row["error"] < 0.5
        assert row["n_nodes"] == 34
        assert row["paper_error"] == claims.PAPER["karate"].get(row["method"])


def test_rows_of_pooled_walks_say_so(no_data):
    cells = {cell["method"]: cell for cell in clustering.plan(Settings(size=Size.TINY)).cells}
    (pooled,), (stitched,), (exact,) = (
        clustering.run(cells[method]) for method in (claims.POOLED_PP, claims.GRF_PP, claims.EXACT)
    )
    assert pooled["walks"] == "pooled"
    assert "walks" not in stitched
    assert pooled["error"] == exact["error"]


def test_the_default_is_run_as_it_is(no_data):
    from grfpp.tasks import SpectralKernelClustering, pair_error

    cells = clustering.plan(Settings(size=Size.TINY, scale=0.3)).cells
    (cell,) = [cell for cell in cells if cell["method"] == claims.REGULARIZED]
    assert not {"scale", "n_walks", "termination"} & set(cell)
    (row,) = clustering.run(cell)
    data = clustering.unweighted("karate")
    labels = SpectralKernelClustering(2, random_state=0).fit_predict(data.graph)
    assert row["error"] == pair_error(labels, data.labels)
