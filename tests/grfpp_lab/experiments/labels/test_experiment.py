"""The experiment on node labels: its cells and rows."""

import numpy as np
import pytest

from grfpp.imports import optional
from grfpp_lab.experiments.labels import experiment as labels
from grfpp_lab.experiments.labels.data import GENERATED, RANDOM, label_task, largest_component
from grfpp_lab.experiments.labels.rivals import OF_NETWORK, RIVALS, rival_scores
from grfpp_lab.experiments.labels.views import FOLDS, OURS
from grfpp_lab.harness.experiment import Settings, Size


def test_cells_say_everything(no_data):
    plan = labels.plan(Settings(size=Size.FULL))
    assert set(plan.skipped) >= {"cora", "pubmed"}
    assert not plan.cells
    tiny = labels.plan(Settings(size=Size.TINY, seed=3))
    assert {cell["method"] for cell in tiny.cells} >= {OURS, FOLDS}
    assert {cell["seed"] for cell in tiny.cells} == {3}


def test_without_scikit_network(no_data, monkeypatch):
    monkeypatch.setattr(optional, "find_spec", lambda name: None)
    plan = labels.plan(Settings(size=Size.TINY))
    assert ", ".join(OF_NETWORK) in plan.skipped
    assert not {cell["method"] for cell in plan.cells} & set(OF_NETWORK)


@pytest.mark.parametrize("method", [OURS, FOLDS, *RIVALS])
def test_rows(no_data, method):
    pytest.importorskip("sknetwork", reason="needs scikit-network")
    cells = {cell["method"]: cell for cell in labels.plan(Settings(size=Size.TINY)).cells}
    (row,) = labels.run(cells[method])
    assert row["accuracy"] > 0.6  # chance: a third
    assert (row["calibration_error"] is None) is (method in RIVALS)
    assert row["n_train"] == 60
    assert row["n_test"] + row["n_train"] + 170 == row["n_nodes"]


@pytest.mark.parametrize("method", RIVALS)
def test_others_see_the_training_labels_alone(no_data, method):
    pytest.importorskip("sknetwork", reason="needs scikit-network")
    task = label_task(GENERATED, RANDOM, 1)
    hidden = task.labels.copy()
    rest = np.setdiff1d(np.arange(len(hidden)), task.split.train)
    hidden[rest] = 0
    np.testing.assert_array_equal(
        rival_scores(method, task), rival_scores(method, task._replace(labels=hidden))
    )


def test_the_largest_component():
    import networkx as nx

    import grfpp

    graph = grfpp.Graph(nx.disjoint_union(nx.path_graph(3), nx.cycle_graph(5)))
    part, nodes = largest_component(graph)
    assert nodes.tolist() == [3, 4, 5, 6, 7]
    assert (part.n_nodes, part.n_edges) == (5, 5)
