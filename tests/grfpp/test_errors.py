"""Errors carry fields, and words are made of them."""

import contextlib
import pickle
import warnings

import networkx as nx
import pytest

import grfpp
from grfpp._imports import MissingPackageError
from grfpp.errors import (
    DivergentSeriesError,
    InfiniteVarianceError,
    InputError,
    InputWarning,
    TruncationError,
    UnknownOptionError,
    warn_user,
)

CIRCLE = grfpp.Graph(nx.cycle_graph(20)).normalized("sym", 0.8)


def test_the_message_has_argument_problem_and_advice():
    error = InputError("must be smaller", argument="n_walks", advice="pass n_walks=4")
    assert str(error) == "n_walks must be smaller; pass n_walks=4"
    assert (error.argument, error.advice) == ("n_walks", "pass n_walks=4")
    assert str(InputError("it fails")) == "it fails"


@pytest.mark.parametrize(
    "error",
    [
        InputError("must be smaller", argument="n_walks"),
        DivergentSeriesError("it diverges.", radius=1.0, spectral_radius=2.0, scale=0.9),
        MissingPackageError("torch is missing", advice="install it"),
        InputWarning("it is noisy", advice="walk more", relative_error=0.7),
    ],
)
def test_processes_hand_them_on_whole(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_functions_and_estimators_name_the_seed_differently():
    with pytest.raises(UnknownOptionError) as error:
        grfpp.sample(CIRCLE, "diffusion:1", random_state=0)
    assert (error.value.argument, error.value.advice) == ("random_state", "did you mean 'seed'?")


def test_infinite_variance_and_truncation_advise_a_law():
    kernel, law = grfpp.InversePower(2), grfpp.Poisson(4)
    with pytest.raises(InfiniteVarianceError) as error:
        grfpp.sample(CIRCLE, kernel, termination=law)
    assert "geometric" in error.value.advice.lower()
    with pytest.warns(InputWarning) as caught:
        grfpp.sample(
            *(CIRCLE, kernel), termination=law, truncate=True, on_infinite_variance="warn", seed=0
        )
    (warning,) = caught
    assert warning.message.advice == error.value.advice
    assert warning.filename == __file__
    with pytest.raises(TruncationError) as error:
        grfpp.sample(CIRCLE, grfpp.Diffusion(1), termination=grfpp.FixedLength(3))
    assert "truncate" in error.value.advice


def test_warnings_of_different_numbers_are_shown_once():
    """Python shows a text once a line: the measured numbers are no part of it."""
    graphs = [nx.barabasi_albert_graph(300, 3, seed=seed) for seed in range(4)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for graph in graphs:
            W = grfpp.Graph(graph).normalized("sym")
            grfpp.sample(W, grfpp.Diffusion(50.0), 1, 1, seed=0)
            with contextlib.suppress(InputError):
                grfpp.sample(W, grfpp.Diffusion(2.0), tol=1e-6, max_steps=200, seed=0)
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == len(set(texts)) and 2 <= len(texts) <= 3


@pytest.mark.parametrize("message", ["plain words", InputWarning("words", advice="wait")])
def test_warnings_point_at_the_user(message):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user(message)
    (warning,) = caught
    assert warning.filename == __file__
    assert issubclass(warning.category, RuntimeWarning)
    assert str(warning.message) == str(message)
