"""Kernels of graphs that are not normalised yet, and the words of their errors."""

import pickle

import networkx as nx
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import irregular, weighted

import grfpp
from grfpp.exact_kernel import ExactKernel
from grfpp.operators import (
    KernelChoice,
    advice_by_parameters,
    kernel_and_method,
    scale_of,
)

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
    assert isinstance(K, ExactKernel)
    W = grfpp.Graph(weighted()).normalized(kind, 0.25)
    assert_allclose(K.toarray(), grfpp.Diffusion(1.0).exact(W), rtol=1e-12)


def test_a_choice_checks_without_walking(monkeypatch):
    monkeypatch.setattr("grfpp.operators.sample_estimate", None)
    monkeypatch.setattr("grfpp.operators.ExactKernel", None)
    for estimate in ("walks", "exact"):
        choice = KernelChoice(kernel="inverse-power:2", estimate=estimate, options=OPTIONS)
        with pytest.raises(grfpp.DivergentSeriesError):
            choice.check(irregular())
        KernelChoice(kernel="diffusion", estimate=estimate, options=OPTIONS).check(irregular())
    bounded = KernelChoice(options=OPTIONS.changed(termination="fixed:3"))
    with pytest.raises(grfpp.TruncationError):
        bounded.check(irregular())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"kernel": "diffussion"}, "there is no kernel 'diffussion'"),
        ({"kernel": 3}, "kernel must be a Kernel or text"),
        ({"estimate": "guess"}, "estimate must be 'walks' or 'exact'"),
        ({"scale": 0.0}, "scale must be a positive"),
        ({"scale": float("nan")}, "scale must be a positive"),
        ({"scale": "wide"}, "scale must be a positive"),
        ({"normalization": "both"}, "normalization must be 'sym', 'rw' or None"),
    ],
)
def test_what_cannot_be_used_is_refused_before_a_graph_is_seen(options, told):
    with pytest.raises(grfpp.InputError, match=told):
        KernelChoice(**options, options=OPTIONS)


def divergent():
    return grfpp.DivergentSeriesError("it diverges", scale=0.81, factor=0.1, truncate=True)


@pytest.mark.parametrize(
    ("normalization", "told"),
    [
        ("sym", "it diverges; use scale=0.81"),
        (None, "it diverges; use normalization='sym' with scale=0.81"),
    ],
)
def test_errors_advise_what_parameters_can_do(normalization, told):
    """No advice about weights that are not at hand or about options that there are not."""
    error = divergent()
    with pytest.raises(grfpp.DivergentSeriesError) as raised, advice_by_parameters(normalization):
        raise error
    assert raised.value is error
    assert str(error) == told
    # Others may word it anew: the fields are still there.
    assert error.remedies["factor"] == 0.1
    assert error.worded({"scale": lambda scale: f"--scale {scale}"}) == "it diverges; --scale 0.81"
    assert isinstance(pickle.loads(pickle.dumps(error)), grfpp.DivergentSeriesError)


def test_advice_about_weights_is_about_the_scale():
    with pytest.raises(grfpp.InputError) as error, advice_by_parameters():
        raise grfpp.InputError("too wide", **{"smaller weights": "nothing helps"}, truncate=True)
    assert str(error.value) == "too wide; nothing helps: use a smaller scale"


def test_advice_can_be_followed():
    choice = KernelChoice(kernel="inverse-power", normalization=None, options=OPTIONS)
    with pytest.raises(grfpp.DivergentSeriesError) as error:
        choice.operator(nx.complete_graph(5))
    assert f"normalization='sym' with scale={error.value.scale:g}" in str(error.value)
    geometric = OPTIONS.changed(termination=None)
    better = KernelChoice(kernel="inverse-power", scale=error.value.scale, options=geometric)
    better.check(nx.complete_graph(5))


def test_symmetrised_kernels_of_directed_graphs_are_refused_without_walking():
    choice = KernelChoice.of(symmetrize=True, normalization="rw")
    with pytest.raises(grfpp.InputError, match="symmetrize needs symmetric weights"):
        choice.check(irregular())
    KernelChoice.of(symmetrize=True).check(irregular())


def test_the_old_spelling_of_exact():
    with pytest.warns(DeprecationWarning, match="estimate='exact'"):
        assert kernel_and_method("exact") == (grfpp.Diffusion(1.0), True)
    assert kernel_and_method(grfpp.Diffusion(2.0), "walks") == (grfpp.Diffusion(2.0), False)


def test_sigma_is_the_root_of_the_scale():
    with pytest.warns(DeprecationWarning, match="sigma=0.9 is now scale=0.81") as seen:
        assert scale_of(1.0, 0.9) == 0.9 * 0.9
    assert seen[0].filename == __file__
    assert scale_of(0.3, None) == 0.3
    with (
        pytest.warns(DeprecationWarning),
        pytest.raises(grfpp.InputError, match="give scale alone"),
    ):
        scale_of(0.5, 0.9)


@pytest.mark.parametrize("sigma", [1e200, 1e-200, 0.0, float("nan"), "wide"])
def test_sigmas_without_a_square_are_refused(sigma):
    with pytest.raises(grfpp.InputError, match="sigma must"):
        scale_of(1.0, sigma)
