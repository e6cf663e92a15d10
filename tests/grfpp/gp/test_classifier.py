"""`NodeGPClassifier`: labels, probabilities, and that these are calibrated."""

from time import process_time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from grfpp.datasets import grid
from grfpp.errors import InputError
from grfpp.gp import NodeGPClassifier
from grfpp.tasks import calibration_error
from grfpp_lab.graphs import block_model, split_of


@pytest.mark.parametrize("n_classes", [2, 5])
def test_probabilities_are_calibrated(n_classes):
    errors = []
    for seed in range(2):
        made = block_model(600, n_classes, 10.0, 0.75, n_parts=2, seed=seed)
        connected = np.diff(made.graph.indptr) > 0
        split = split_of(made.labels, seed)
        test = split.test[connected[split.test]]
        model = NodeGPClassifier(made.graph).fit(split.train, made.labels[split.train])
        probabilities = model.predict_proba(test)
        assert_allclose(probabilities.sum(axis=1), 1)
        shares = np.bincount(made.labels[test]) / len(test)
        assert model.score(test, made.labels[test]) > shares.max() + 0.05
        errors.append(calibration_error(probabilities, made.labels[test]))
    assert np.mean(errors) < 0.08


def test_boundaries_are_less_certain_than_interiors():
    columns = np.arange(400) % 20
    labels = np.where(columns < 10, "left", "right")
    known = np.random.default_rng(0).choice(400, 40, replace=False)
    model = NodeGPClassifier(grid(20, 20)).fit(known, labels[known])
    assert model.classes_.tolist() == ["left", "right"]
    assert model.score(np.arange(400), labels) > 0.9
    sure = model.predict_proba().max(axis=1)
    assert sure[(columns - 9.5) ** 2 < 1].mean() < sure[(columns - 9.5) ** 2 > 30].mean() - 0.05
    again = NodeGPClassifier(grid(20, 20)).fit(known, labels[known])
    np.testing.assert_array_equal(again.predict_proba([3, 5]), model.predict_proba([3, 5]))


def test_nodes_may_repeat_with_other_labels():
    rng = np.random.default_rng(0)
    halves = (np.arange(400) % 20 < 10).astype(int)
    nodes = np.repeat(rng.choice(400, 40, replace=False), 3)
    labels = halves[nodes] ^ (rng.random(120) < 0.2)
    model = NodeGPClassifier(grid(20, 20)).fit(nodes, labels)
    assert model.score(np.arange(400), halves) > 0.9
    order = rng.permutation(120)
    other = NodeGPClassifier(grid(20, 20)).fit(nodes[order], labels[order])
    assert_allclose(other.predict_proba(), model.predict_proba(), atol=1e-6)


def test_one_label_a_class_is_enough_where_communities_are_clear():
    made = block_model(400, 4, 20.0, 0.95, n_parts=1, tail=50.0, seed=0)
    known = [int(np.flatnonzero(made.labels == label)[0]) for label in range(4)]
    model = NodeGPClassifier(made.graph).fit(known, made.labels[known])
    assert model.score(np.arange(400), made.labels) > 0.95


def test_more_labels_than_parameters_are_chosen_on(monkeypatch):
    columns = np.arange(400) % 20
    known = np.random.default_rng(0).choice(400, 120, replace=False)
    labels = np.digitize(columns, [7, 14])
    exact = NodeGPClassifier(grid(20, 20)).fit(known, labels[known])
    monkeypatch.setattr("grfpp.gp.classifier._MAX_CHOOSING", 60)
    model = NodeGPClassifier(grid(20, 20)).fit(known, labels[known])
    assert len(model.components_) == 1 < len(exact.components_)
    assert_allclose(model.predict_proba(), exact.predict_proba(), atol=0.3)
    assert model.score(np.arange(400), labels) > 0.9


def test_long_grids_are_left_to_factorisations():
    labels = (np.arange(6000) % 3000 > 1500).astype(int)
    known = np.arange(0, 6000, 250)
    model = NodeGPClassifier(grid(2, 3000)).fit(known, labels[known])
    assert {row.power for row in model.components_} == {2}
    assert model.score(np.arange(6000), labels) > 0.9


def test_given_parameters_are_kept():
    known, labels = np.arange(0, 100, 7), (np.arange(0, 100, 7) % 10 > 4).astype(int)
    model = NodeGPClassifier(grid(10, 10), power=2, width=8.0, outputscale=20.0)
    model.fit(known, labels)
    (component,) = model.components_
    assert component[:3] == pytest.approx((2, 8.0, 20.0))
    other = NodeGPClassifier(grid(10, 10), kernel="regularized-laplacian:2:8", outputscale=20.0)
    assert_allclose(other.fit(known, labels).predict_proba(), model.predict_proba(), atol=1e-6)
    assert other.width_ is None


def test_scikit_learn_protocol():
    model = NodeGPClassifier(grid(5, 5), power=1)
    assert clone(model).get_params()["power"] == 1
    with pytest.raises(NotFittedError):
        model.predict([0])
    with pytest.raises(InputError, match="at least two classes, found only 'a'"):
        model.fit([0, 1], ["a", "a"])
    for labels in ([], ["a", None]):
        with pytest.raises(InputError, match="with None or no label"):
            model.fit(range(len(labels)), labels)
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit([0, 1], [0.5, 1.5])


def test_powers_of_expanders_are_planned_without_dense_factorisations():
    made = block_model(6000, 3, 4.5, 0.8, n_parts=25, seed=0)
    began = process_time()
    model = NodeGPClassifier(made.graph, power=4, width=9.0, n_jobs=1)
    model.fit(np.arange(30), made.labels[:30])
    assert process_time() - began < 15
