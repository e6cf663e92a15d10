"""Kernels of graphs that are not normalised yet."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import irregular, weighted

import grfpp
from grfpp.operators import KernelOperator
from grfpp.operators.kernel_choice import KernelChoice, method_used

OPTIONS = grfpp.WalkOptions(degree=3, n_walks=5, termination=grfpp.Poisson(3), seed=7)


def test_walks_are_those_of_the_library():
    choice = KernelChoice(kernel="diffusion:0.5", scale=0.64, options=OPTIONS)
    K = choice.operator(irregular())
    W = grfpp.Graph(irregular()).normalized("sym", 0.64)
    wanted = grfpp.sample(W, grfpp.Diffusion(0.5), 3, 5, grfpp.Poisson(3), 7)
    assert_array_equal(K.toarray(), wanted.toarray())


@pytest.mark.parametrize("kind", ["sym", "rw", None])
def test_exact_kernels_of_scaled_weights(kind):
    choice = KernelChoice(estimate="exact", scale=0.25, normalization=kind, options=OPTIONS)
    K = choice.operator(weighted())
    assert isinstance(K, KernelOperator)
    W = grfpp.Graph(weighted()).normalized(kind, 0.25)
    assert_allclose(K.toarray(), grfpp.Diffusion(1.0).exact(W), rtol=1e-12)


def test_a_choice_checks_without_walking(monkeypatch):
    monkeypatch.setattr("grfpp.operators.kernel_choice.sample_estimate", None)
    monkeypatch.setattr("grfpp.operators.kernel_choice.KernelOperator", None)
    for estimate in ("walks", "exact"):
        choice = KernelChoice(kernel="inverse-power:2", estimate=estimate, options=OPTIONS)
        with pytest.raises(grfpp.DivergentSeriesError):
            choice.check(irregular())
        KernelChoice(kernel="diffusion", estimate=estimate, options=OPTIONS).check(irregular())
    bounded = KernelChoice(options=OPTIONS.changed(termination="fixed:3"))
    with pytest.raises(grfpp.TruncationError):
        bounded.check(irregular())


def test_bad_arguments_are_refused_before_a_graph_is_read():
    several = {"kernel": [3], "estimate": ["guess"], "method": ["magic"], "normalization": ["both"]}
    for argument, values in {**several, "scale": [0.0, float("nan"), "wide"]}.items():
        for value in values:
            with pytest.raises(grfpp.InputError) as error:
                KernelChoice(**{argument: value}, options=OPTIONS)
            assert error.value.argument == argument


def test_advice_can_be_followed():
    choice = KernelChoice.of(kernel="inverse-power", normalization=None)
    with pytest.raises(grfpp.DivergentSeriesError) as error:
        choice.operator(nx.complete_graph(5))
    better = KernelChoice.of(kernel="inverse-power", scale=error.value.scale, estimate="exact")
    better.operator(nx.complete_graph(5))


def test_symmetrized_estimates_need_symmetric_weights():
    choice = KernelChoice.of(symmetrize=True, normalization="rw")
    with pytest.raises(grfpp.InputError):
        choice.check(irregular())
    KernelChoice.of(symmetrize=True).check(irregular())


@pytest.mark.parametrize("method", ["auto", "dense", "chebyshev", "lanczos"])
def test_a_method_takes_the_place_of_the_estimate(method):
    choice = KernelChoice.of(method=method)
    assert choice.is_exact
    K = choice.operator(irregular())
    wanted = grfpp.Diffusion(1.0).exact(choice.weights(irregular()))
    assert_allclose(K @ np.eye(len(wanted)), wanted, atol=1e-5)
    assert method_used(K).split(":")[0] in ("dense", method)
    assert not KernelChoice.of(method="walks", estimate="exact").is_exact
    assert method_used(KernelChoice.of(seed=0).operator(irregular())) == "walks"
