"""Errors carry fields, and words are made of them."""

import pickle
import warnings

import networkx as nx
import pytest

import grfpp
from grfpp.errors import (
    IN_PYTHON,
    DivergentSeriesError,
    InfiniteVarianceError,
    InputError,
    InputWarning,
    TruncationError,
    warn_user,
)
from grfpp.imports.optional import MissingPackageError

CIRCLE = grfpp.Graph(nx.cycle_graph(20)).normalized("sym", 0.8)


def raised(kind, function, *arguments, **options):
    with pytest.raises(kind) as caught:
        function(*arguments, **options)
    return caught.value


def test_names_of_arguments_can_be_said_otherwise():
    error = InputError("must be smaller", argument="n_walks")
    assert str(error) == "n_walks must be smaller"
    assert error.worded(IN_PYTHON, {"n_walks": "--walks"}) == "--walks must be smaller"
    assert error.worded(IN_PYTHON, {"degree": "--degree"}) == "n_walks must be smaller"


def test_remedies_follow_in_their_order():
    error = InputError("it fails", other="wait", degree=4, truncate=True)
    assert str(error) == (
        "it fails; wait, or a degree that makes the series finite (degree=4 does), or pass "
        "truncate=True to accept the bias"
    )
    assert error.worded({"truncate": lambda _: "--truncate"}) == "it fails; --truncate"
    assert error.worded({"other": lambda _: None}) == "it fails"


def test_a_problem_in_sentences_is_followed_by_one():
    assert str(InputError("It fails.", other="wait")) == "It fails. Wait."
    assert InputError("It fails.", other="wait").worded({}) == "It fails."


@pytest.mark.parametrize(
    "error",
    [
        InputError("must be smaller", argument="n_walks"),
        DivergentSeriesError("it diverges.", radius=1.0, spectral_radius=2.0, scale=0.9),
        MissingPackageError("torch is missing", other="install it"),
        InputWarning("it is noisy", law=grfpp.Geometric(0.2)),
    ],
)
def test_processes_hand_them_on_whole(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_other_words_leave_the_fields():
    error = DivergentSeriesError("it diverges", scale=0.9)
    error.args = (error.worded({"scale": lambda scale: f"scale={scale}"}),)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == "it diverges; scale=0.9"
    assert again.worded(IN_PYTHON) == "it diverges; use graph.normalized('sym', scale=0.9)"


def test_what_diverges_tells_where_and_what_would_not():
    graph = grfpp.Graph(nx.cycle_graph(20))  # of spectral radius 2
    error = raised(DivergentSeriesError, grfpp.InversePower(4).check_converges, graph)
    assert error.radius == 1
    assert error.spectral_radius == pytest.approx(2)
    assert (error.scale, error.factor) == (0.9, 0.45)
    grfpp.InversePower(4).check_converges(graph.normalized("sym", error.scale))
    grfpp.InversePower(4).check_converges(graph.normalized(None, error.factor))


def test_a_degree_that_makes_the_series_finite():
    error = raised(DivergentSeriesError, grfpp.PStep(4, 1.0).check_converges, nx.cycle_graph(5), 3)
    assert error.remedies["degree"] == 2
    assert error.remedies["other"] == "a larger a"
    grfpp.PStep(4, 1.0).check_converges(nx.cycle_graph(5), error.remedies["degree"])


def test_infinite_variance_names_a_law_that_does():
    kernel, law = grfpp.InversePower(2), grfpp.Poisson(4)
    error = raised(InfiniteVarianceError, grfpp.sample, CIRCLE, kernel, termination=law)
    assert set(error.remedies) == {"law"}
    grfpp.sample(CIRCLE, kernel, termination=error.remedies["law"], seed=0)
    with pytest.warns(InputWarning) as caught:
        grfpp.sample(
            *(CIRCLE, kernel),
            termination=law,
            truncate=True,
            on_infinite_variance="warn",
            seed=0,
        )
    (warning,) = caught
    assert warning.message.remedies == error.remedies
    assert str(warning.message) == str(error)
    assert warning.filename == __file__


def test_truncation_names_a_law_and_the_switch():
    kernel, law = grfpp.Diffusion(1.0), grfpp.FixedLength(3)
    error = raised(TruncationError, grfpp.sample, CIRCLE, kernel, termination=law)
    assert set(error.remedies) == {"law", "truncate"}
    grfpp.sample(CIRCLE, kernel, termination=error.remedies["law"], seed=0)


@pytest.mark.parametrize("message", ["plain words", InputWarning("words", other="wait")])
def test_warnings_point_at_the_user(message):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user(message)
    (warning,) = caught
    assert warning.filename == __file__
    assert issubclass(warning.category, RuntimeWarning)
    assert str(warning.message) == str(message)
