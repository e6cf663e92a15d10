"""What the library says, in options of a command."""

import pytest

from grfpp.cli.wording import in_options, law_text
from grfpp.errors import InputError, InputWarning
from grfpp.termination import Geometric, termination_from_spec
from grfpp.termination.registry import LAWS

ESTIMATE = ["GRAPH", "--normalize", "--scale", "--truncate", "--walks", "-m", "--jobs", "--seed"]
CLUSTER = ["GRAPH", "--scale", "--walks", "-m", "--jobs", "--seed", "--labels-from"]


@pytest.mark.parametrize(
    ("argument", "name"),
    [
        ("n_walks", "--walks"),
        ("n_jobs", "--jobs"),
        ("seed", "--seed"),
        ("random_state", "--seed"),
        ("labels_from", "--labels-from"),
        ("p_halt", "p_halt"),
        ("n_halts", "n_halts"),
    ],
)
def test_arguments_that_are_options(argument, name):
    error = InputError("must be smaller", argument=argument)
    assert in_options(error, CLUSTER) == f"{name} must be smaller"


def test_advice_is_given_where_the_command_has_an_option_for_it():
    error = InputError("it diverges", scale=0.81, factor=0.5, other="a smaller lam", degree=4)
    more = "a smaller lam, or a degree that makes the series finite (--degree 4 does)"
    assert in_options(error, ESTIMATE) == (
        f"it diverges; use --normalize sym --scale 0.81, or multiply the weights by 0.5, or {more}"
    )
    assert in_options(error, CLUSTER) == f"it diverges; use --scale 0.81, or {more}"


def test_laws_weights_and_truncation():
    error = InputError("It is biased.", law=Geometric(0.2), truncate=True)
    advice = "It is biased. Use --termination geometric:0.2 or longer walks"
    assert in_options(error, ESTIMATE) == f"{advice}, or pass --truncate to accept the bias."
    assert in_options(error, CLUSTER) == f"{advice}."
    warning = InputWarning("It is noisy.", **{"smaller weights": "no law helps"})
    told = "It is noisy. No law helps: scale the weights down ({}--scale)."
    assert in_options(warning, ESTIMATE) == told.format("--normalize sym ")
    assert in_options(warning, CLUSTER) == told.format("")


def test_other_warnings_are_left_as_they_are():
    assert in_options(UserWarning("n_walks must be read"), CLUSTER) == "n_walks must be read"
    assert in_options("text", CLUSTER) == "text"


@pytest.mark.parametrize(
    "spec",
    [
        "geometric:0.1", "poisson:4", "negative-binomial:2:0.2", "first-step:0.25", "fixed:3",
        "uniform:5", "custom:0.5:0.25:0.25", "geometric:0.123456789012",
    ],
)  # fmt: skip
def test_laws_are_written_as_they_are_read(spec):
    assert law_text(termination_from_spec(spec)) == spec
    assert spec.partition(":")[0] in LAWS


def test_options_about_edge_lists():
    reading = ["--header", "--columns", "--separator"]
    for option, words in [
        (("header", True, False), "; use --header or --no-header"),
        (("columns", ("a", "b c"), ...), "; use --columns 'a,b c' or the like"),
        (("separator", "\t"), "; use --separator '\t'"),
        (("encoding", "latin-1"), ""),
        ((), ""),
    ]:
        assert in_options(InputError("no", option=option), reading) == f"no{words}"
    assert str(InputError("no", option=("header", True, False))) == (
        "no; pass header=True or header=False"
    )


def test_other_options_are_named_as_the_command_has_them():
    both = InputError("is one too many", argument="tol", without="reuse_walks")
    assert str(both) == "tol is one too many; leave out reuse_walks"
    assert in_options(both, ["--tol", "--reuse-walks"]) == (
        "--tol is one too many; leave out --reuse-walks"
    )
    short = InputWarning("of 0.1 is not reached", argument="tol", cap="max_steps", operator=True)
    assert str(short).startswith("tol of 0.1 is not reached; raise max_steps, or use grfpp.kernel_")
    assert in_options(short, ["--tol", "--max-steps"]) == (
        "--tol of 0.1 is not reached; raise --max-steps"
    )
    far = InputError("of 0.1 takes long", argument="tol", operator=True, capped="max_steps")
    assert in_options(far, ["--tol", "--max-steps"]) == (
        "--tol of 0.1 takes long; give --max-steps to see how far walks come"
    )


def test_smaller_errors_by_the_options_that_there_are():
    warning = InputWarning("it is off", finer=(1, True, 16))
    assert "(degree='auto'), deflate='auto', more walks than 16, or grfpp." in str(warning)
    assert in_options(warning, ["--degree", "--deflate", "--walks"]) == (
        "it is off; take a higher degree than 1 (--degree auto), or use --deflate auto, or take "
        "more walks than 16 (--walks)"
    )
    assert in_options(warning, ["GRAPH"]) == "it is off"


def test_no_scale_is_offered_where_there_is_none():
    error = InputError("it diverges", scale=0.9, factor=0.9)
    assert in_options(error, ["--kernel", "--labels"]) == "it diverges"


def test_the_direction_of_sources_and_of_estimates():
    error = InputError("is not for lists", argument="symmetrize")
    assert in_options(error, ["--undirected"]) == "--undirected is not for lists"
    assert in_options(error, ["--undirected", "--symmetrize"]) == "--symmetrize is not for lists"
