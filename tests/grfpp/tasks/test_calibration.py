"""Probabilities that mean what they say."""

from functools import partial

import numpy as np
import pytest
from refusal_case import refused
from scipy.special import softmax

from grfpp.tasks import calibration_error
from grfpp.tasks.calibration import calibrate as fit


def probabilities(calibration, logits, reached=None):
    reached = np.ones(len(logits), bool) if reached is None else reached
    return np.exp(calibration.log_probabilities(logits, reached))


def loss(calibration, logits, labels):
    return -np.log(probabilities(calibration, logits)[np.arange(len(labels)), labels]).mean()


def calibrate(logits, labels, reached=None, **options):
    reached = np.ones(len(labels), bool) if reached is None else reached
    return fit(logits, labels, reached, **options)


def drawn(n, temperature, bias=(0.0, 0.0, 0.0), seed=0):
    """Logits, and labels that have the probabilities which the true temperature gives."""
    rng = np.random.default_rng(seed)
    logits = 3 * rng.standard_normal((n, 3))
    given = softmax(logits / temperature + np.array(bias), axis=1)
    labels = (given.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return logits, labels


@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
def test_the_temperature_is_found(temperature):
    logits, labels = drawn(20_000, temperature)
    found = calibrate(logits, labels)
    assert 1 / found.slope == pytest.approx(temperature, rel=0.05)
    assert calibration_error(probabilities(found, logits), labels) < 0.02
    assert loss(found, logits, labels) < loss(calibrate(logits / 9, labels[::-1]), logits, labels)


def test_shares_of_classes_are_found():
    logits, labels = drawn(20_000, 2.0, (1.0, 0.0, -1.0))
    found = calibrate(logits, labels, with_shares=True)
    bias = found.bias - found.bias.mean()
    np.testing.assert_allclose(bias, [1, 0, -1], atol=0.1)
    assert loss(found, logits, labels) < loss(calibrate(logits, labels), logits, labels)


@pytest.mark.parametrize("lapse", [0.0, 0.05, 0.2])
def test_lapses_are_distinguished_from_a_high_temperature(lapse):
    rng = np.random.default_rng(1)
    logits, labels = drawn(20_000, 1.0)
    is_any = rng.random(len(labels)) < lapse
    # Lapses have labels as all have them, and that is what they are taken to have.
    labels = np.where(is_any, rng.permutation(labels), labels)
    found = calibrate(logits, labels, with_shares=True)
    assert found.lapse == pytest.approx(lapse, abs=0.02)
    assert 1 / found.slope == pytest.approx(1.0, rel=0.07)
    assert calibration_error(probabilities(found, logits), labels) < 0.02
    if lapse == 0.2:
        alone = calibrate(logits, labels)
        assert calibration_error(probabilities(alone, logits), labels) > 0.02
        assert loss(found, logits, labels) < loss(alone, logits, labels) - 0.02


def test_nodes_that_no_label_reaches_have_shares_of_their_own():
    logits, labels = drawn(2_000, 2.0)
    is_reached = np.arange(len(labels)) < 1_000
    labels[~is_reached] = 2
    found = calibrate(logits, labels, is_reached, with_shares=True)
    given = probabilities(found, logits, is_reached)
    assert (given[~is_reached, 2] > 0.99).all()
    # The others are calibrated as if these were not there.
    apart = calibrate(logits[is_reached], labels[is_reached], with_shares=True)
    np.testing.assert_allclose(given[is_reached], probabilities(apart, logits[is_reached]))
    np.testing.assert_allclose(given.sum(axis=1), 1)
    none = calibrate(logits, labels, np.zeros(len(labels), bool), with_shares=True)
    shares = np.bincount(labels) / len(labels)
    given = probabilities(none, logits[:2], np.zeros(2, bool))
    np.testing.assert_allclose(given, [shares, shares], atol=0.01)


def test_few_labels_make_nothing_sure():
    logits = np.array([[1.0, 0.0], [0.0, 1.0]])
    found = calibrate(logits, np.array([0, 1]))
    assert 0.7 < probabilities(found, logits)[0, 0] < 0.95
    assert np.isfinite(calibrate(np.zeros((4, 3)), np.array([0, 1, 2, 0])).slope)


def test_the_error_by_hand():
    given = np.array([[0.95, 0.05], [0.95, 0.05], [0.65, 0.35], [0.35, 0.65]])
    # Two bins: (0.5 right, 0.95 sure) and (1 right, 0.65 sure).
    assert calibration_error(given, [0, 1, 0, 1], n_bins=10) == pytest.approx(0.4)
    assert calibration_error(given, list("abab"), ["a", "b"], 10) == pytest.approx(0.4)
    assert calibration_error([[1.0, 0.0]], [0]) == 0


TABLES = ([0.5, 0.5], [[1.5, -0.5]], [[np.nan, 0.5]], [["a", "b"]])
EVEN = partial(calibration_error, [[0.5, 0.5]])
test_bad_arguments_are_refused = refused(
    probabilities=[partial(calibration_error, table, [0]) for table in TABLES],
    labels=[partial(EVEN, [0, 1]), partial(EVEN, [0], [1, 2, 3])],
    n_bins=partial(EVEN, [0], None, 0),
)
