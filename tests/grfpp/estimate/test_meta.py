import copy
import gc
import json
import pickle
import weakref

import pytest
from small_graphs import karate

import grfpp
from grfpp.estimate.meta import MEASURED, EstimateMeta

KERNEL = grfpp.Diffusion(1.0)


def test_measured_once_and_only_when_asked_for():
    calls = []

    def measure():
        calls.append(1)
        return dict.fromkeys(MEASURED, 0.5)

    meta = EstimateMeta({"seed": 3}, measure)
    assert meta["seed"] == 3 and "other" not in meta and not calls
    assert meta.get("relative_error") == meta["off_diagonal_error_std"] == 0.5
    assert len(calls) == 1
    assert json.loads(json.dumps(meta))["relative_error"] == 0.5


def test_what_cannot_be_measured_is_not_there():
    meta = EstimateMeta({}, lambda: None)
    assert "relative_error" not in meta and meta.get("relative_error", 7) == 7
    with pytest.raises(KeyError):
        meta["relative_error"]


@pytest.mark.parametrize("again", [lambda K: pickle.loads(pickle.dumps(K)), copy.copy])
def test_estimates_can_be_copied_and_still_know_themselves(again):
    K = again(grfpp.sample(karate(), KERNEL, seed=0))
    assert K.meta["relative_error"] == pytest.approx(
        grfpp.relative_error(K, KERNEL, karate()), rel=1e-3
    )
    assert K.entry(0, 1, return_std=True)[1] > 0


def test_estimates_are_freed_at_once():
    K = grfpp.sample(karate(), KERNEL, seed=0)
    assert K.meta["relative_error"] > 0
    gone = weakref.ref(K)
    gc.disable()
    try:
        del K
        assert gone() is None
    finally:
        gc.enable()


def test_a_transpose_is_measured_for_itself():
    W = grfpp.Graph([[0, 1, 1], [0, 0, 1], [0, 0, 0]], directed=True)
    K = grfpp.sample(W, KERNEL, seed=0, n_walks=1, termination="fixed:6", walks="independent")
    assert K.T.meta["relative_error"] == pytest.approx(K.meta["relative_error"], rel=1e-6)
