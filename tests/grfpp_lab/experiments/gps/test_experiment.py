"""The graph-transformer experiment: its plan, its training, its verdicts."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import ttest_rel
from sklearn.metrics import balanced_accuracy_score

from grfpp_lab.experiments.experiment import Holds, Settings, Size
from grfpp_lab.experiments.gps import data as gps_data
from grfpp_lab.experiments.gps import experiment as gps
from grfpp_lab.experiments.gps.encodings import (
    DIM,
    ENCODINGS,
    GRF,
    GRF_PP,
    LAPLACIAN,
    NOISE,
    NONE,
    WALK,
    encode,
)
from grfpp_lab.experiments.gps.pairs import Difference, differences, sign_test
from grfpp_lab.experiments.gps.paper import PAPER
from grfpp_lab.experiments.gps.verdicts import holds, judge, judge_reference
from grfpp_lab.experiments.gps.views import (
    all_error_panels,
    error_panels,
    pairs_table,
    paper_table,
    reference_table,
)
from grfpp_lab.harness.worker import answer

TINY = Settings(Size.TINY)
WALKS = {"n_walks": 4, "sigma2": 1.0, "termination": "geometric:0.1"}


# --- plan ---------------------------------------------------------------------------------------


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("GRFPP_DATA", str(tmp_path))
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path / "cache"))


def test_the_small_plan_needs_no_data(no_data):
    plan = gps.plan(TINY)
    assert len(plan.cells) == 8
    assert {cell["dataset"] for cell in plan.cells} == {"pattern"}
    assert plan.skipped == {}
    assert json.loads(json.dumps([dict(cell) for cell in plan.cells])) == plan.cells


@pytest.mark.parametrize("size", [Size.QUICK, Size.FULL])
def test_every_data_set_and_encoding_has_at_least_three_seeds(size, monkeypatch):
    monkeypatch.setattr(gps, "why_absent", lambda name: None)
    plan = gps.plan(Settings(size, seed=7))
    places = {(cell["dataset"], cell["encoding"]) for cell in plan.cells}
    assert len(places) == 5 * len(ENCODINGS)
    assert len(plan.cells) >= 3 * len(places)
    assert len({json.dumps(dict(cell), sort_keys=True) for cell in plan.cells}) == len(plan.cells)
    assert all(cell["seed"] == 7 for cell in plan.cells)
    # What the guess of the time says: 40 minutes on two cores, and 3 for the short form.
    minutes = sum(gps.cost(cell) for cell in plan.cells) / 60 / 2
    assert minutes < (40 if size is Size.FULL else 3)


def test_settings_reach_the_cells():
    plan = gps.plan(Settings(Size.TINY, sigma2=0.5, p_halt=0.2))
    assert {(cell["sigma2"], cell["termination"]) for cell in plan.cells} == {
        (0.5, "geometric:0.2")
    }
    assert "σ² = 0.5" in plan.parameters["walks"]


def test_without_torch_it_is_left_out_and_says_why(monkeypatch):
    monkeypatch.setattr(gps, "find_spec", lambda name: None)
    plan = gps.plan(Settings(Size.FULL))
    assert plan.cells == []
    assert plan.skipped == {
        "graph transformers": "torch and torch_geometric not installed: pip install 'grfpp[torch]'"
    }
    assert all(claim.judge([]).holds is Holds.OPEN for claim in gps.EXPERIMENT.claims)


def test_data_and_packages_that_are_absent_are_named(monkeypatch, no_data):
    plan = gps.plan(Settings(Size.QUICK))
    assert {cell["dataset"] for cell in plan.cells} == {"pattern", "cluster"}
    assert plan.skipped["MNIST"] == "mnist is not at hand"
    assert plan.skipped["Peptides-func"] == "peptides, peptide-splits is not at hand"
    monkeypatch.setattr(gps_data, "find_spec", lambda name: None)
    assert gps_data.why_absent("cifar10") == (
        "skimage is not installed: pip install 'grfpp[image]'"
    )
    assert gps_data.why_absent("pattern") is None


def test_the_registry_does_not_import_torch():
    code = (
        "import sys; from grfpp_lab.experiments.registry import EXPERIMENTS; "
        "from grfpp_lab.experiments.experiment import Settings, Size; "
        "EXPERIMENTS['gps'].plan(Settings(Size.FULL)); "
        "assert not {'torch', 'torch_geometric', 'skimage', 'rdkit'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- data and encodings -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pattern():
    return gps_data.load("pattern", 6, 3, 3)


def test_block_models_as_pyg_graphs(pattern):
    assert [len(part) for part in (pattern.train, pattern.val, pattern.test)] == [6, 3, 3]
    for graph in pattern.everything:
        assert graph.x.shape == (graph.num_nodes, 3)
        assert (graph.x.sum(dim=1) == 1).all()
        assert set(graph.y.tolist()) == {0, 1}
        assert graph.is_undirected()
    cluster = gps_data.load("cluster", 2, 1, 1).train[0]
    assert cluster.x.shape[1] == 7
    assert set(cluster.y.tolist()) == set(range(6))


@pytest.mark.parametrize("name", ["mnist", "cifar10", "peptides-func"])
def test_real_data_as_pyg_graphs(name):
    if (why := gps_data.why_absent(name)) is not None:
        pytest.skip(why)
    splits = gps_data.load(name, 3, 2, 2)
    assert [len(part) for part in (splits.train, splits.val, splits.test)] == [3, 2, 2]
    for graph in splits.everything:
        assert graph.x.shape[0] == graph.num_nodes > 10
        assert graph.x.min() >= -1e-6
        assert graph.x.max() <= 1 + 1e-6
        assert graph.is_undirected()
        assert tuple(graph.y.shape) == ((1, 10) if name == "peptides-func" else (1,))
    widths = {"mnist": 3, "cifar10": 5, "peptides-func": 19}
    assert {graph.x.shape[1] for graph in splits.everything} == {widths[name]}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_has_the_same_width_and_repeats(encoding, pattern):
    graphs = pattern.everything[:3]
    first, again = (encode(graphs, encoding, seed=5, **WALKS) for _ in range(2))
    assert not any("pe" in graph for graph in graphs)
    if encoding == NONE:
        assert not any("pe" in graph for graph in first)
        return
    for graph, made, same in zip(graphs, first, again, strict=True):
        assert made.pe.shape == (graph.num_nodes, DIM)
        assert made.pe.dtype == made.x.dtype
        assert made.pe.isfinite().all()
        assert (made.pe == same.pe).all()
    other = encode(graphs, encoding, seed=6, **WALKS)
    if encoding in (GRF, GRF_PP, NOISE):
        assert not (first[0].pe == other[0].pe).any()


def test_the_papers_encodings_are_those_of_the_library(pattern):
    from grfpp.torch import grf_pe

    graphs = pattern.everything[:2]
    for encoding, degree in ((GRF, 1), (GRF_PP, 2)):
        made = encode(graphs, encoding, seed=5, **WALKS)
        expected = grf_pe(graphs, 8, degree, 4, seed=5)
        assert all((a.pe == b).all() for a, b in zip(made, expected, strict=True))


def test_eigenvectors_of_a_small_graph_are_padded():
    import torch

    edge = gps_data.load("pattern", 1, 1, 1).train[0].clone()
    edge.x, edge.edge_index = torch.eye(3), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    (made,) = encode([edge], LAPLACIAN, seed=0, **WALKS)
    assert made.pe.shape == (3, DIM)
    assert (made.pe[:, 2:] == 0).all()
    assert (made.pe[:, :2].norm(dim=0) - 1).abs().max() < 1e-6


# --- training -----------------------------------------------------------------------------------


def test_a_cell_gives_the_same_row_again_and_in_any_order():
    cells = gps.plan(TINY).cells
    rows = [gps.run(cell) for cell in (cells[2], cells[4], cells[2])]
    assert rows[0] == rows[2]
    assert rows[0] != rows[1]
    told = answer({"run": "grfpp_lab.experiments.gps.experiment:run", "cell": dict(cells[2])})
    (row,) = told["rows"]
    assert row["encoding"] == GRF
    assert row["n_parameters"] > 1000
    assert 0 <= row["test"] <= 1


@pytest.fixture(scope="module")
def easy():
    """Graphs whose class is seen in their encodings, up to a sign, and nowhere else."""
    import torch

    from grfpp.optional import require

    generator = torch.Generator().manual_seed(0)
    found = []
    for number in range(120):
        pe = torch.randn(6, 2, generator=generator) * (0.1 if number % 2 else 3.0)
        ends = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])
        found.append(
            require("torch_geometric").data.Data(
                x=torch.ones(6, 1),
                edge_index=torch.cat([ends, ends.flip(0)], dim=1),
                y=torch.tensor([number % 2]),
                pe=pe,
            )
        )
    return found


def learned(graphs, **changes):
    from grfpp_lab.experiments.gps.training import Learning, learn

    learning = Learning(channels=16, n_layers=1, n_heads=2, epochs=6, batch_size=8, rate=1e-2)
    task = gps_data.Task("easy", "accuracy", 2)
    options = {"flip_signs": False, "seed": 0, **changes}
    return learn(task, graphs[:60], graphs[60:90], graphs[90:], learning, **options)


def test_what_stands_in_the_encoding_is_learned_and_only_from_there(easy):
    assert learned(easy).test >= 0.9
    assert learned(easy, flip_signs=True).test >= 0.9
    without = []
    for graph in easy:
        without.append(graph.clone())
        del without[-1].pe
    assert learned(without).test == 0.5


def test_models_of_one_seed_have_the_same_first_weights():
    """With and without an encoding: only what reads the inputs differs, by its shape."""
    import torch

    from grfpp_lab.experiments.gps.model import GraphTransformer

    options = {"channels": 16, "n_layers": 2, "n_heads": 2, "of_nodes": True}
    states = []
    for pe_dim in (0, 8):
        torch.manual_seed(3)
        states.append(GraphTransformer(4, 3, pe_dim=pe_dim, **options).state_dict())
    plain, encoded = states
    shared = [name for name in plain if name.startswith(("layers.", "head."))]
    assert len(shared) > 20
    for name in shared:
        assert torch.equal(plain[name], encoded[name]), name


def test_training_leaves_torch_as_it_was(easy):
    import torch

    threads, state = torch.get_num_threads(), torch.get_rng_state()
    learned(easy, seed=1)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_seeds_and_signs_count_in_training(easy):
    plain = learned(easy)
    assert learned(easy) == plain
    assert learned(easy, seed=1).train_loss != plain.train_loss
    assert learned(easy, flip_signs=True).train_loss != plain.train_loss


def test_the_metrics():
    from grfpp_lab.experiments.gps.training import score

    rng = np.random.default_rng(0)
    scores, truth = rng.normal(size=(50, 4)), rng.integers(4, size=50)
    found = scores.argmax(axis=1)
    assert score(scores, truth, "accuracy") == pytest.approx(np.mean(found == truth))
    assert score(scores, truth, "weighted accuracy") == pytest.approx(
        balanced_accuracy_score(truth, found)
    )
    # A question that all or none answer with yes is not asked.
    asked = np.array([[1, 1, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0]])
    ranked = np.array([[4.0, 0, 0], [3, 0, 0], [2, 0, 0], [1, 0, 0]])
    assert score(ranked, asked, "AP") == pytest.approx((1 + 2 / 3) / 2)


# --- verdicts -----------------------------------------------------------------------------------


def made_rows(gains, *, n_seeds=5, noise=0.002, seed=0):
    """Rows in which encodings have these gains over none, by data set."""
    rng = np.random.default_rng(seed)
    rows = []
    for dataset, by_encoding in gains.items():
        for repeat in range(n_seeds):
            base = 0.6 + 0.05 * rng.normal()
            for encoding, gain in {NONE: 0.0, **by_encoding}.items():
                rows.append(
                    {
                        "dataset": dataset,
                        "encoding": encoding,
                        "repeat": repeat,
                        "test": base + gain + noise * rng.normal(),
                        "n_train": 10,
                        "n_test": 5,
                    }
                )
    return rows


ALL = tuple(gps_data.TASKS)


def test_the_claim_holds_where_it_is_true():
    rows = made_rows({name: {GRF: 0.01, GRF_PP: 0.03} for name in ALL})
    verdict = judge(rows)
    assert verdict.holds is Holds.YES
    assert "GRF++ above no encoding on 5 of 5 data sets" in verdict.measured
    assert "* p < 0.05" in verdict.measured


def test_the_claim_does_not_hold_where_it_is_false():
    rows = made_rows({name: {GRF: -0.01, GRF_PP: -0.03} for name in ALL})
    verdict = judge(rows)
    assert verdict.holds is Holds.NO
    assert "GRF++ above no encoding on 0 of 5 data sets" in verdict.measured


def test_one_data_set_where_it_is_clearly_worse_is_enough():
    gains = {name: {GRF: 0.01, GRF_PP: 0.03} for name in ALL}
    gains["mnist"] = {GRF: 0.01, GRF_PP: -0.03}
    assert judge(made_rows(gains)).holds is Holds.NO


def test_better_than_none_but_not_than_grf_does_not_hold():
    rows = made_rows({name: {GRF: 0.05, GRF_PP: 0.03} for name in ALL})
    verdict = judge(rows)
    assert verdict.holds is Holds.NO
    assert "GRF++ above GRF on 0 of 5" in verdict.measured


def test_gains_within_noise_are_told_as_such():
    values = {
        "pattern": [0.01, -0.005, 0.004],
        "cluster": [0.02, -0.01, 0.001],
        "mnist": [-0.01, 0.008, 0.004],
    }
    found = [Difference(name, each) for name, each in values.items()]
    assert holds(found) is Holds.NOISE
    # The other way round nothing can be told: no loss is more than chance either.
    opposite = [Difference(each.dataset, [-value for value in each.values]) for each in found]
    assert holds(opposite) is Holds.OPEN
    rows = [
        {"dataset": name, "encoding": encoding, "repeat": repeat, "test": test}
        for name, each in values.items()
        for repeat, gain in enumerate(each)
        for encoding, test in ((NONE, 0.5), (GRF, 0.5), (GRF_PP, 0.5 + gain))
    ]
    verdict = judge(rows)
    assert verdict.holds is Holds.NOISE
    assert "none more than chance" in verdict.measured


def test_nothing_is_said_of_nothing():
    assert judge([]).holds is Holds.OPEN
    assert judge_reference([]).holds is Holds.OPEN
    single = made_rows({name: {GRF: 0.01, GRF_PP: 0.03} for name in ALL}, n_seeds=1)
    assert judge(single).holds is Holds.OPEN
    assert judge(single).measured


def test_many_small_losses_are_a_loss():
    """On no data set more than chance, but on all of them together."""
    losses = [Difference(name, [-0.01, -0.02, -0.001]) for name in ALL]
    assert min(each.p_value for each in losses) > 0.05
    assert holds(losses) is Holds.NO
    gains = [Difference(name, [0.01, 0.02, 0.001]) for name in ALL]
    assert holds(gains) is Holds.YES
    assert holds([*gains[:4], Difference("mnist", [-0.01, 0.001, -0.001])]) is Holds.NOISE


def test_half_a_claim_that_is_open_leaves_it_open():
    gains = {name: {GRF: 0.1, GRF_PP: 0.1} for name in ("mnist", "pattern")}
    rows = made_rows(gains, noise=0.0)
    assert judge(rows).holds is Holds.OPEN
    assert holds(differences(rows, GRF_PP, NONE)) is Holds.YES


def test_beside_other_encodings():
    gains = {GRF_PP: 0.03, NOISE: 0.0, WALK: 0.05, LAPLACIAN: 0.01}
    verdict = judge_reference(made_rows(dict.fromkeys(ALL, gains)))
    assert verdict.holds is Holds.YES
    assert "above random numbers on 5 of 5" in verdict.measured
    assert "above random walk on 0 of 5" in verdict.measured
    worse = judge_reference(made_rows({name: {GRF_PP: -0.02, NOISE: 0.02} for name in ALL}))
    assert worse.holds is Holds.NO


def test_paired_tests_are_those_of_scipy():
    rows = made_rows({"mnist": {GRF_PP: 0.001}}, n_seeds=6)
    (found,) = differences(rows, GRF_PP, NONE)
    columns = [[row["test"] for row in rows if row["encoding"] == e] for e in (GRF_PP, NONE)]
    expected = ttest_rel(*columns)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.mean / found.standard_error == pytest.approx(expected.statistic)
    assert Difference("mnist", [0.1, 0.1]).p_value == 0
    assert Difference("mnist", [0.0, 0.0]).p_value == 1
    assert np.isnan(Difference("mnist", [0.1]).p_value)
    assert sign_test([Difference("mnist", [1.0] * 5)])[2] == pytest.approx(1 / 32)
    assert sign_test([]) == (0, 0, 1.0)


def test_pairs_are_made_seed_by_seed_whatever_the_order():
    rows = made_rows({"mnist": {GRF: 0.01}, "pattern": {GRF: 0.02}})
    shuffled = [rows[number] for number in np.random.default_rng(0).permutation(len(rows))]
    for one in differences(rows, GRF, NONE):
        (other,) = [
            each for each in differences(shuffled, GRF, NONE) if each.dataset == one.dataset
        ]
        assert sorted(one.values) == pytest.approx(sorted(other.values))
    lost = [row for row in rows if (row["encoding"], row["repeat"]) != (NONE, 2)]
    assert {len(each.values) for each in differences(lost, GRF, NONE)} == {4}


# --- the page -----------------------------------------------------------------------------------


def test_the_papers_table_is_quoted_and_put_right():
    rows = made_rows({name: {GRF: 0.01, GRF_PP: 0.03} for name in ALL})
    table = paper_table(rows)
    measured, quoted = (group.rows for group in table.groups)
    assert [line[0] for line in measured] == [gps_data.TASKS[name].title for name in ALL]
    assert all("±" in cell for line in measured for cell in line[2:])
    peptides = next(line for line in quoted if line[0].startswith("Peptides-func"))
    assert peptides[0] == "Peptides-func (printed as Peptides-struct)"
    assert peptides[2:] == ["62.93", "64.17", "64.33"]
    assert PAPER["pattern"] == {NONE: 84.91, GRF: 85.20, GRF_PP: 85.39}
    assert "wrong way round" in table.caption


def test_tables_and_charts_have_every_data_set_and_encoding():
    gains = {GRF: 0.01, GRF_PP: 0.03, WALK: 0.0, LAPLACIAN: 0.0, NOISE: 0.0}
    rows = made_rows(dict.fromkeys(ALL, gains), n_seeds=3)
    assert [len(group.rows) for group in pairs_table(rows).groups] == [5, 5, 5]
    assert pairs_table(rows).groups[0].rows[0][-1] == "+0.48"
    assert reference_table(rows).columns == ["data", *ENCODINGS]
    panels = error_panels(rows)
    assert [panel.title for panel in panels] == [gps_data.TASKS[name].title for name in ALL]
    assert all(len(panel.curves) == 4 for panel in panels)
    assert all(len(panel.curves) == len(ENCODINGS) for panel in all_error_panels(rows))
    one = made_rows({"mnist": {GRF: 0.01, GRF_PP: 0.03}}, n_seeds=1)
    assert pairs_table(one).groups[0].rows[0][3] == ""
    assert error_panels(one)


def test_charts_show_losses_too():
    rows = made_rows({"mnist": {GRF: -0.1, GRF_PP: 0.1}}, n_seeds=3, noise=0.0)
    (panel,) = error_panels(rows)
    worse, better, same, paper = panel.curves
    assert min(worse.y) > 1 > max(better.y)
    assert same.y == [1.0, 1.0]
    assert paper.y[0] == pytest.approx((100 - 97.38) / (100 - 97.02))
    perfect = [{**row, "test": 1.0} for row in rows]
    assert all(
        y > 0 for each in all_error_panels(perfect) for curve in each.curves for y in curve.y
    )
