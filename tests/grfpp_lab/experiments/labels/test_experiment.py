"""The experiment on node labels: its cells and rows."""

import networkx as nx
import numpy as np
import pytest
from verdict_case import NO, OPEN, YES, verdicts

import grfpp
from grfpp_lab.experiments.labels import experiment as labels
from grfpp_lab.experiments.labels.experiment import OURS, PLANETOID, PROPAGATION, RANDOM, SPREADING
from grfpp_lab.harness.experiment import Settings, Size


def row(data="cora", split=PLANETOID, method=OURS, accuracy=0.73, repeat=0, **more):
    return {
        **{"data": data, "split": split, "repeat": repeat, "method": method},
        **{"n_nodes": 100, "n_train": 20, "n_test": 50, "accuracy": accuracy},
        **{"calibration_error": 0.03, "seconds": 2.0, "chosen": "Diffusion(lam=20.0), svm (1)"},
        **more,
    }


def random_rows(accuracies, **more):
    return [
        row(split=RANDOM, accuracy=accuracy, repeat=repeat, **more)
        for repeat, accuracy in enumerate(accuracies)
    ]


def test_cells_say_everything(no_data):
    plan = labels.plan(Settings(size=Size.FULL))
    assert set(plan.skipped) >= {"cora", "pubmed"} and not plan.cells
    tiny = labels.plan(Settings(size=Size.TINY))
    assert {cell["method"] for cell in tiny.cells} >= {OURS, labels.FOLDS}


@pytest.mark.parametrize("method", [OURS, labels.FOLDS, *labels.RIVALS])
def test_rows(no_data, method):
    pytest.importorskip("sknetwork", reason="needs scikit-network")
    cells = {cell["method"]: cell for cell in labels.plan(Settings(size=Size.TINY)).cells}
    (row,) = labels.run(cells[method])
    assert row["accuracy"] > 0.6  # chance: a third
    assert (row["calibration_error"] is None) is (method in labels.RIVALS)
    assert row["n_train"] == 60
    assert row["n_test"] + row["n_train"] + 170 == row["n_nodes"]


@pytest.mark.parametrize("method", labels.RIVALS)
def test_others_see_the_training_labels_alone(no_data, method):
    pytest.importorskip("sknetwork", reason="needs scikit-network")
    task = labels.label_task(labels.GENERATED, RANDOM, 1)
    hidden = task.labels.copy()
    rest = np.setdiff1d(np.arange(len(hidden)), task.split.train)
    hidden[rest] = 0
    np.testing.assert_array_equal(
        labels.rival_scores(method, task), labels.rival_scores(method, task._replace(labels=hidden))
    )


def test_the_largest_component():
    graph = grfpp.Graph(nx.disjoint_union(nx.path_graph(3), nx.cycle_graph(5)))
    part, nodes = labels.largest_component(graph)
    assert nodes.tolist() == [3, 4, 5, 6, 7]
    assert (part.n_nodes, part.n_edges) == (5, 5)


def planetoid(**changes):
    return [row(), row("pubmed", **changes)]


GOOD, FOLD_ROWS = random_rows([0.775] * 10), random_rows([0.7] * 10, method=labels.FOLDS)
OTHERS = [row(method=PROPAGATION, accuracy=0.68), row(method=SPREADING, accuracy=0.7)]
BELOW = [row(split=RANDOM, accuracy=0.6), row(split=RANDOM, method=SPREADING, accuracy=0.7)]
CORA = "Cora: 73.0 %, calibration error 0.030, 2.0 s, by Diffusion(lam=20.0)"
SPLITS = "Cora: 77.5 ± 0.0 % over 10 splits, without a validation set 70.0"

test_verdicts = verdicts(
    [
        (labels.judge_planetoid, planetoid(), YES, CORA),
        (labels.judge_planetoid, planetoid(accuracy=0.72), YES, CORA),
        (labels.judge_planetoid, planetoid(accuracy=0.719), NO, CORA),
        (labels.judge_planetoid, planetoid(seconds=10.1), NO, CORA),
        (labels.judge_planetoid, planetoid(calibration_error=0.051), NO, CORA),
        (labels.judge_planetoid, [row()], OPEN),
        (labels.judge_planetoid, [row(accuracy=0.719)], OPEN),
        (labels.judge_random, [*GOOD, *FOLD_ROWS], YES, SPLITS),
        (labels.judge_random, random_rows([0.774] * 10), NO),
        (labels.judge_random, GOOD[:9], OPEN),
        (labels.judge_random, random_rows([0.9] * 10, data="pubmed"), OPEN),
        (labels.judge_rivals, [row(), *OTHERS], YES, f"73.0 against 70.0 % ({SPREADING})"),
        (labels.judge_rivals, [row(), *OTHERS, *BELOW], NO),
        (labels.judge_rivals, [row()], OPEN),
    ]
)


def test_tables_and_panels():
    other = row(method=PROPAGATION, accuracy=0.68, calibration_error=None, chosen=None)
    made = [row(), other, *random_rows([0.7, 0.8]), row("pubmed")]
    found = labels.table(made)
    assert [group.title for group in found.groups] == ["Cora", "Pubmed"]
    ours, theirs = found.groups[0].rows
    assert ours == [
        *(OURS, "73.0", "0.030", "2", "Diffusion(lam=20.0), svm (1)"),
        *("75.0 ± 5.0", "0.030", "2"),
    ]
    assert theirs == [PROPAGATION, "68.0", "", "2", "", "", "", ""]
    first, second = labels.accuracy_panels(made)
    assert (first.title, second.title) == ("Cora", "Pubmed")
    assert [(curve.name, list(curve.x)) for curve in first.curves] == [
        (OURS, [0, 1, 2]),
        (PROPAGATION, [0]),
    ]
    assert [curve.name for curve in labels.calibration_panels(made)[0].curves] == [OURS]
