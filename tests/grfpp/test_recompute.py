"""Factors that are walked again give the same numbers as stored ones."""

import numpy as np
import pytest
from independent_walks import sample
from numpy.testing import assert_array_equal
from operator_case import LinearOperatorCase
from small_graphs import directed, karate, weighted

import grfpp
from grfpp import Diffusion, Graph
from grfpp.errors import InputError
from grfpp.walks.planning import plan_walks

SOURCES = {
    "unweighted": karate(),
    "weighted": Graph(weighted()).normalized("sym"),
    "directed": Graph(directed()).normalized("rw", 0.9),
}


def _both(graph, **options):
    return [
        grfpp.sample(graph, Diffusion(1.0), n_walks=8, seed=2, storage=storage, **options)
        for storage in ("memory", "recompute")
    ]


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_same_bits_as_stored(monkeypatch, name, dtype, n_jobs):
    monkeypatch.setattr(grfpp.walks.sampler, "TASK_STEPS", 300)
    stored, walked = _both(SOURCES[name], degree=2, dtype=dtype, n_jobs=n_jobs)
    V = np.random.default_rng(0).normal(size=(stored.n_nodes, 3))
    assert_array_equal(stored @ V, walked @ V)
    assert_array_equal(stored.T @ V[:, 0], walked.T @ V[:, 0])
    assert_array_equal(stored.toarray(), walked.toarray())
    assert_array_equal(stored.rows([1, 4]), walked.rows([1, 4]))
    assert_array_equal(stored.diagonal(), walked.diagonal())
    assert stored.entry(2, 3) == walked.entry(2, 3)
    for a, b in zip(stored.project(5, seed=0), walked.project(5, seed=0), strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("options", [{"symmetrize": True}, {"deflate": 2, "symmetrize": True}])
def test_same_bits_as_stored_when_averaged(monkeypatch, degree, n_jobs, options):
    monkeypatch.setattr(grfpp.walks.sampler, "TASK_STEPS", 300)
    stored, walked = _both(SOURCES["weighted"], degree=degree, n_jobs=n_jobs, **options)
    V = np.random.default_rng(0).normal(size=(stored.n_nodes, 3))
    assert_array_equal(stored @ V, walked @ V)
    assert_array_equal(stored.toarray(), walked.toarray())
    assert_array_equal(stored.rows([1, 4]), walked.rows([1, 4]))
    assert_array_equal(stored.diagonal(), walked.diagonal())
    assert stored.entry(2, 3) == walked.entry(2, 3)
    for a, b in zip(stored.project(5, seed=0), walked.project(5, seed=0), strict=True):
        assert_array_equal(a, b)


class TestWalkedEstimate(LinearOperatorCase):
    @pytest.fixture(params=list(SOURCES))
    def pair(self, request):
        return _both(SOURCES[request.param], degree=2)

    @pytest.fixture
    def operator(self, pair):
        return pair[1]

    @pytest.fixture
    def expected(self, pair):
        return pair[0].toarray()


def test_it_is_saved_as_the_stored_one(tmp_path):
    stored, walked = _both(SOURCES["weighted"], degree=1)
    walked.save(tmp_path / "k.npz")
    loaded = grfpp.KernelEstimate.load(tmp_path / "k.npz")
    assert_array_equal(loaded.toarray(), stored.toarray())


def test_sampling_walks_nothing_yet(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("walked")

    monkeypatch.setattr(grfpp.walks.walker.Walker, "walk", refuse)
    sample(karate(), Diffusion(1.0), storage="recompute")
    sample(karate(), Diffusion(1.0), storage="recompute", deflate=3)


def test_unknown_storage():
    with pytest.raises(InputError, match="storage must be"):
        grfpp.sample(karate(), Diffusion(1.0), storage="disk")


@pytest.mark.parametrize("name", SOURCES)
def test_full_walks_change_no_number(name):
    short, full = (
        sample(SOURCES[name], Diffusion(1.0), 1, 8, seed=0, full_walks=full)
        for full in (False, True)
    )
    assert_array_equal(short.toarray(), full.toarray())
    plans = [
        plan_walks(
            SOURCES[name],
            Diffusion(1.0),
            grfpp.WalkOptions.of(
                degree=1,
                n_walks=8,
                termination=grfpp.Geometric(0.01),
                full_walks=full,
                walks="independent",
            ),
        )
        for full in (False, True)
    ]
    assert plans[0].forward.expected_steps < plans[1].forward.expected_steps
    assert plans[1].forward.expected_steps == pytest.approx(8 * 99, rel=1e-6)
