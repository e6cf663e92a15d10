"""``tol=``: the error that is asked for, at no more steps than needed."""

import math
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
from grfpp.estimate import tolerance
from grfpp.estimate.batches import LOCAL_BACKEND, Backend
from grfpp.estimate.deflation import deflation_of
from grfpp.estimate.tolerance import NoiseCurve
from grfpp.options import WalkOptions

BARABASI = grfpp.Graph(nx.barabasi_albert_graph(300, 3, seed=0)).normalized("sym")
KERNEL = grfpp.Diffusion(2.0)


def true_error(K, kernel, W):
    return float(grfpp.relative_error(K, kernel, W, method="exact"))


@pytest.mark.parametrize("tol", [0.03, 0.004])
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


def test_entries():
    K = grfpp.sample(BARABASI, KERNEL, tol=0.01, tol_kind="entry", seed=0)
    exact = KERNEL.exact(BARABASI)
    # Not all rows were compared.
    assert np.abs(K.toarray() - exact).max() <= 0.02 * exact.max()
    assert K.meta["tol"] == 0.01


def test_the_same_for_any_number_of_threads():
    one, two = (grfpp.sample(BARABASI, KERNEL, tol=0.02, seed=1, n_jobs=n) for n in (1, 2))
    assert_array_equal(one.toarray(), two.toarray())


def test_all_batches_are_used_and_give_error_bars():
    K = grfpp.sample(karate(), KERNEL, tol=0.04, seed=2, walks="independent")
    assert len(K.origin.batches) > 1 and sum(K.origin.weights) == pytest.approx(1)
    assert min(K.origin.weights) > 0
    parts = [LOCAL_BACKEND.factors(each.walks(), each.options, False) for each in K.origin.batches]
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
    found = [grfpp.sample(karate(), KERNEL, tol=0.1, seed=s).toarray() for s in range(100)]
    mean = np.mean(found, axis=0)
    assert np.linalg.norm(mean - exact) < 0.02 * np.linalg.norm(exact)


@pytest.mark.parametrize("cap", [{"max_steps": 200}, {"max_seconds": 0.01}], ids=str)
def test_caps_say_what_was_reached(cap):
    (name,) = cap
    with pytest.warns(InputWarning, match=rf"tol is not reached; raise {name}, or use") as caught:
        K = grfpp.sample(BARABASI, grfpp.Diffusion(5.0), tol=1e-5, seed=0, **cap)
    assert caught[0].message.details["error"] == pytest.approx(K.meta["relative_error"], rel=0.2)
    assert caught[0].message.details["tol"] == 1e-5
    assert K.meta["relative_error"] > 1e-5
    assert K.meta["steps_per_node"] <= cap.get("max_steps", np.inf)
    with pytest.raises(InputError, match=r"max_steps must be at least 36, the steps of one walk"):
        grfpp.sample(karate(), KERNEL, tol=0.01, max_steps=1)


def test_memory_is_a_cap(monkeypatch):
    factors = Backend.factors

    def refuse(backend, plans, options, progress):
        if options.n_walks > 3:
            raise InputError("there is no room")
        return factors(backend, plans, options, progress)

    monkeypatch.setattr(Backend, "factors", refuse)
    with pytest.warns(InputWarning, match="not reached for want of memory"):
        K = grfpp.sample(BARABASI, KERNEL, tol=1e-4, seed=0)
    assert K.meta["relative_error"] > 1e-4


def test_tolerances_out_of_reach_are_refused_by_forecast():
    W = grfpp.Graph(nx.barabasi_albert_graph(300, 3, seed=0)).normalized("sym", 0.99)
    with pytest.raises(InputError, match=r"needs about .*kernel_operator") as caught:
        grfpp.sample(W, grfpp.InversePower(1), tol=0.001, degree=1, seed=0)
    steps = re.search(r"\(([\d.e+]+) steps gave", str(caught.value)).group(1)
    assert float(steps) < 1000


def test_no_batch_grows_without_bound(monkeypatch):
    """Noise that hardly falls between one walk and two forecasts any number of them."""
    n_walks = []
    sample = tolerance._Search.sample

    def counting(search, batch, progress):
        n_walks.append(batch.options.n_walks)
        return sample(search, batch, progress)

    monkeypatch.setattr(tolerance._Search, "sample", counting)
    monkeypatch.setattr(NoiseCurve, "walks_for", lambda *_: 2.0**60)
    grfpp.sample(BARABASI, KERNEL, tol=0.003, max_steps=100_000, seed=0)
    assert n_walks[0] == 1 and len(n_walks) > 2
    assert all(after <= 16 * before for before, after in pairwise(n_walks))


def test_what_rounding_and_float64_do_not_allow():
    with pytest.warns(InputWarning, match="exceed the range of float64"):
        grfpp.sample(karate(), grfpp.Diffusion(720.0), seed=0)
    with pytest.warns(InputWarning, match="tol is not reached because of rounding"):
        K = grfpp.sample(karate(), grfpp.Diffusion(1.0), tol=1e-11, dtype="float32", seed=0)
    assert 1e-11 < K.meta["relative_error"] < 1e-6


def test_replicates_are_sampled_once(monkeypatch):
    keys = []
    factors = Backend.factors

    def counting(backend, plans, options, progress):
        keys.append(tuple(plan.key for plan in plans))
        return factors(backend, plans, options, progress)

    monkeypatch.setattr(Backend, "factors", counting)
    K = grfpp.sample(BARABASI, KERNEL, tol=0.01, n_groups=3, seed=0)
    assert len(K.replicates) == 3
    assert len(keys) == len(set(keys))
    value, std = K.entry(0, 1, return_std=True)
    assert abs(value - KERNEL.exact(BARABASI)[0, 1]) < 5 * std


WEIGHTS = grfpp.Graph(nx.barabasi_albert_graph(400, 4, seed=3)).normalized("sym")
ARCS = grfpp.Graph(
    nx.to_numpy_array(nx.gnp_random_graph(150, 0.05, seed=1, directed=True)), directed=True
).normalized("rw")


def error(graph, n_walks, **options):
    estimates = [grfpp.sample(graph, KERNEL, 2, n_walks, seed=seed, **options) for seed in range(2)]
    return np.mean([true_error(K, KERNEL, graph) for K in estimates])


@pytest.mark.parametrize(("graph", "deflate"), [(WEIGHTS, 0), (WEIGHTS, 3), (ARCS, 0)])
def test_the_noise_curve_falls_as_the_error_does(graph, deflate):
    options = WalkOptions.of(seed=9, n_walks=1)
    noise = NoiseCurve(graph, KERNEL, options, deflation_of(graph, KERNEL, deflate))
    true = error(graph, 24, deflate=deflate) / error(graph, 4, deflate=deflate)
    assert 0.8 < noise.size(24) / noise.size(4) / true < 1.25
    assert 0.8 < noise.walks_for(4, true) / 24 < 1.25


def test_walks_for_is_the_inverse_of_size_and_samples_few_doublings():
    noise = NoiseCurve(WEIGHTS, KERNEL, WalkOptions.of(seed=0, n_walks=1))
    for start in (1, 3, 8):
        for end in (9, 20):
            assert noise.walks_for(start, noise.size(end) / noise.size(start)) == pytest.approx(end)
    assert noise.walks_for(1, 1e-200) == 2.0**60
    assert noise.steps < 2 * 2 * 32 * 25 / 400 * 9 + 1  # twice, 1 + 2 + … + 32 walks of 25 rows


def test_no_noise_at_all():
    pair = grfpp.Graph(nx.path_graph(2)).normalized("sym")
    noise = NoiseCurve(pair, grfpp.Diffusion(0.1), WalkOptions.of(seed=0, n_walks=64))
    assert math.isfinite(noise.size(64)) and noise.walks_for(64, 0.5) >= 64
