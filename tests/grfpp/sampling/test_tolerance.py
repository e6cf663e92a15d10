import re
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import QUICK, karate

import grfpp
from grfpp.errors import InputError, InputWarning
from grfpp.options import WalkOptions
from grfpp.sampling import tolerance
from grfpp.sampling.backend import HERE
from grfpp.sampling.batches import Batch
from grfpp.sampling.falling_noise import FallingNoise

BARABASI = grfpp.Graph(nx.barabasi_albert_graph(300, 3, seed=0)).normalized("sym")
KERNEL = grfpp.Diffusion(2.0)


def true_error(K, kernel, W):
    return float(grfpp.relative_error(K, kernel, W, method="exact"))


@pytest.mark.parametrize("tol", [0.2, 0.03, 0.004])
@pytest.mark.parametrize(
    "options",
    [{}, {"walks": "independent"}, {"degree": 1}, {"degree": "auto"}, {"deflate": 2}],
    ids=str,
)
def test_the_error_asked_for(tol, options):
    if options.get("walks") == "independent" and tol < 0.01:
        tol = 0.02
    for seed in range(3):
        K = grfpp.sample(BARABASI, KERNEL, tol=tol, seed=seed, **options)
        assert true_error(K, KERNEL, BARABASI) <= 1.03 * tol
        assert K.meta["relative_error"] <= tol == K.meta["tol"]


@QUICK
@given(st.floats(0.002, 0.5), st.integers(0, 99))
def test_any_tolerance_on_small_graphs(tol, seed):
    K = grfpp.sample(karate(), grfpp.Diffusion(1.0), tol=tol, seed=seed)
    assert true_error(K, grfpp.Diffusion(1.0), karate()) <= tol


def test_steps_are_not_many_more_than_needed():
    """`grfpp_lab.studies.tolerance` does this for more."""
    tol, kernel = 0.01, grfpp.Diffusion(1.0)
    steps = [
        grfpp.sample(BARABASI, kernel, tol=tol, seed=seed).meta["steps_per_node"]
        for seed in range(5)
    ]
    fixed = next(
        36 * n_walks
        for n_walks in range(1, 100)
        if max(
            true_error(grfpp.sample(BARABASI, kernel, 2, n_walks, seed=seed), kernel, BARABASI)
            for seed in range(5)
        )
        <= tol
    )
    assert np.median(steps) <= 2 * fixed


def test_a_directed_graph():
    arcs = nx.gnp_random_graph(200, 0.03, seed=1, directed=True)
    W = grfpp.Graph(nx.to_numpy_array(arcs), directed=True).normalized("rw")
    K = grfpp.sample(W, KERNEL, tol=0.02, seed=0)
    assert true_error(K, KERNEL, W) <= 0.02


def test_entries():
    K = grfpp.sample(BARABASI, KERNEL, tol=0.01, tol_kind="entry", seed=0)
    exact = KERNEL.exact(BARABASI)
    # Not all rows were looked at.
    assert np.abs(K.toarray() - exact).max() <= 0.02 * exact.max()
    assert K.meta["tol"] == 0.01


def test_the_same_for_any_number_of_threads():
    one, two = (grfpp.sample(BARABASI, KERNEL, tol=0.02, seed=1, n_jobs=n) for n in (1, 2))
    assert_array_equal(one.toarray(), two.toarray())


def test_all_batches_are_used_and_give_error_bars():
    K = grfpp.sample(karate(), KERNEL, tol=0.04, seed=2, walks="independent")
    assert len(K.origin.batches) > 1 and sum(K.origin.weights) == pytest.approx(1)
    assert min(K.origin.weights) > 0
    parts = [each.factors() for each in K.origin.batches]
    for number, factor in enumerate(K._factors):
        wanted = sum(
            weight * part[number].to_csr().toarray()
            for weight, part in zip(K.origin.weights, parts, strict=True)
        )
        assert_allclose(factor.to_csr().toarray(), wanted)
    value, std = K.rows([0], return_std=True)
    assert np.abs(value - KERNEL.exact(karate())[0]).max() < 5 * std.max() < 0.5


def test_estimates_to_a_tolerance_are_unbiased_beside_it():
    exact = KERNEL.exact(karate())
    mean = np.mean(
        [grfpp.sample(karate(), KERNEL, tol=0.1, seed=s).toarray() for s in range(100)], axis=0
    )
    assert np.linalg.norm(mean - exact) < 0.02 * np.linalg.norm(exact)


@pytest.mark.parametrize(
    ("cap", "name"), [({"max_steps": 200}, "max_steps"), ({"max_seconds": 0.01}, "max_seconds")]
)
def test_caps_say_what_was_reached(cap, name):
    with pytest.warns(
        InputWarning, match=rf"tol of 1e-05 is not reached: .*; raise {name}, or use"
    ):
        K = grfpp.sample(BARABASI, grfpp.Diffusion(5.0), tol=1e-5, seed=0, **cap)
    assert K.meta["relative_error"] > 1e-5
    assert K.meta["steps_per_node"] <= cap.get("max_steps", np.inf)


def test_memory_is_a_cap(monkeypatch):
    from grfpp.sampling import backend

    original = backend._require_factors

    def require(plans, options):
        if options.n_walks > 3:
            raise InputError("there is no room")
        original(plans, options)

    monkeypatch.setattr(backend, "_require_factors", require)
    with pytest.warns(InputWarning, match="not reached for want of memory"):
        K = grfpp.sample(BARABASI, KERNEL, tol=1e-4, seed=0)
    assert K.meta["relative_error"] > 1e-4


def test_what_walks_cannot_reach_is_told_before_they_are_walked():
    W = grfpp.Graph(nx.barabasi_albert_graph(300, 3, seed=0)).normalized("sym", 0.99)
    with pytest.raises(InputError, match=r"reaches too far .*kernel_operator") as caught:
        grfpp.sample(W, grfpp.InversePower(1), tol=0.001, degree=1, seed=0)
    walked = re.search(r"\(([\d.e+]+) steps gave", str(caught.value)).group(1)
    assert float(walked) < 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tol": 0}, "tol must be a positive"),
        ({"tol": 1.0}, "tol must be at least 1e-12 and below 1, found 1"),
        ({"tol": float("nan")}, "tol must be a positive"),
        ({"tol": "small"}, "tol must be a positive"),
        ({"max_steps": 100}, "max_steps is for walks to a tol, and there is none"),
        ({"tol": 0.1, "max_steps": -1}, "max_steps must be a positive"),
        (
            {"tol": 0.1, "storage": "recompute"},
            "storage must be 'memory' for walks to a relative error; leave out tol",
        ),
        (
            {"tol": 0.1, "reuse_walks": True},
            "reuse_walks is not for walks to a relative error; leave out tol",
        ),
        ({"tol": 0.1, "tol_kind": "max"}, "tol_kind must be"),
        ({"n_groups": -1}, "n_groups must be a whole number"),
        ({"n_groups": 10**9}, "n_groups must be"),
        ({"check_error": "no"}, "check_error must be"),
    ],
)
def test_refused_at_the_door(options, message):
    with pytest.raises(InputError, match=message):
        grfpp.sample(karate(), KERNEL, **options)


def test_kernels_beyond_float64_are_told():
    with pytest.warns(InputWarning, match=r"Diffusion\(lam=720\.0\) exceed the range of float64"):
        grfpp.sample(karate(), grfpp.Diffusion(720.0), seed=0)


def test_no_batch_grows_without_bound(monkeypatch):
    """Noise that hardly falls between one walk and two foretells any number of them."""
    walked = []
    walk = tolerance._Search.walk

    def noted(search, batch, progress):
        walked.append(batch.options.n_walks)
        return walk(search, batch, progress)

    monkeypatch.setattr(tolerance._Search, "walk", noted)
    monkeypatch.setattr(FallingNoise, "walks_for", lambda *_: 2.0**60)
    grfpp.sample(BARABASI, KERNEL, tol=0.003, max_steps=100_000, seed=0)
    assert walked[0] == 1
    assert len(walked) > 2
    assert all(after <= 16 * before for before, after in pairwise(walked))


def test_errors_fall_faster_than_noise_where_noises_multiply():
    search = tolerance._Search(BARABASI, KERNEL, WalkOptions(n_walks=1), None, HERE)
    search.noise._logs = [np.log(each) for each in (1.0, 0.7, 0.5)]
    assert search._power() == 1
    search.batches = [search._planned(n_walks) for n_walks in (1, 4)]
    for last, power in [(0.4, 1.0), (0.2, 1.5), (0.01, 2.0), (0.7, 1.0)]:
        search.errors = [0.8, last]
        assert search._power() == pytest.approx(power)


def test_tolerances_that_rounding_does_not_allow():
    for tol in (1e-300, 1e-13, 1.0):
        with pytest.raises(InputError, match="tol must be at least 1e-12 and below 1, found"):
            grfpp.sample(karate(), KERNEL, tol=tol)
    with pytest.warns(InputWarning, match=r"tol of 1e-11 is not reached \(rounding is more\):"):
        K = grfpp.sample(karate(), grfpp.Diffusion(1.0), tol=1e-11, dtype="float32", seed=0)
    assert 1e-11 < K.meta["relative_error"] < 1e-6


def test_a_cap_below_one_walk_is_refused():
    with pytest.raises(InputError, match=r"max_steps must be at least 36, which one walk takes"):
        grfpp.sample(karate(), KERNEL, tol=0.01, max_steps=1)


def test_replicates_are_walked_once(monkeypatch):
    groups = []
    factors = Batch.factors

    def noted(batch, group=0, progress=False):
        groups.append((batch.number, group))
        return factors(batch, group, progress)

    monkeypatch.setattr(Batch, "factors", noted)
    K = grfpp.sample(BARABASI, KERNEL, tol=0.01, n_groups=3, seed=0)
    assert len(K.replicates) == 3
    assert len(groups) == len(set(groups))
    value, std = K.entry(0, 1, return_std=True)
    assert abs(value - KERNEL.exact(BARABASI)[0, 1]) < 5 * std
