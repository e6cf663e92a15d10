"""One place for the options about walks, and what commands receive of them."""

import pytest
import typer
from typer.testing import CliRunner

from grfpp import Poisson
from grfpp.cli import options
from grfpp.errors import InputError
from grfpp.options import WalkOptions


def run(decorate, *arguments):
    """What a command receives."""
    received = []

    @decorate
    def command(name: str, *, walks: WalkOptions, last: bool = False) -> None:
        """Do nothing."""
        received.append((name, walks, last))

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(command)
    done = CliRunner().invoke(app, list(arguments))
    return (received or [None])[0], done


def test_a_command_receives_one_value():
    (name, walks, last), _ = run(
        options.with_walks(),
        *("here", "--last", "-l", "3", "-m", "5", "-t", "poisson:4", "--seed", "7"),
        *("--reuse-walks", "-j", "1"),
    )
    assert (name, last) == ("here", True)
    assert walks == WalkOptions.of(
        degree=3, n_walks=5, termination=Poisson(4), seed=7, reuse_walks=True, n_jobs=1
    )


def test_without_options_it_is_what_the_library_does_but_for_the_seed():
    (_, walks, _), _ = run(options.with_walks(sampling=True), "here")
    assert walks == WalkOptions(seed=0)


def test_options_of_sampling():
    arguments = ("here", "--truncate", "--on-infinite-variance", "warn", "--float32")
    (_, walks, _), _ = run(options.with_walks(sampling=True), *arguments)
    assert walks == WalkOptions.of(
        seed=0, truncate=True, on_infinite_variance="warn", dtype="float32"
    )
    assert run(options.with_walks(), *arguments)[1].exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "wanted"), [([], None), (["--symmetrize"], True), (["--no-symmetrize"], False)]
)
def test_symmetrised_or_not_or_as_it_suits(arguments, wanted):
    (_, walks, _), _ = run(options.with_walks(sampling=True), "here", *arguments)
    assert walks.symmetrize is wanted


@pytest.mark.parametrize(
    ("arguments", "wanted"), [([], 0), (["--deflate", "12"], 12), (["--deflate", "auto"], "auto")]
)
def test_numbers_of_eigenvectors(arguments, wanted):
    (_, walks, _), _ = run(options.with_walks(sampling=True), "here", *arguments)
    assert walks.deflate == wanted


@pytest.mark.parametrize("bad", ["-1", "1.5", "many"])
def test_numbers_of_eigenvectors_that_are_none(bad):
    received, done = run(options.with_walks(sampling=True), "here", "--deflate", bad)
    assert received is None
    assert "deflate must be a whole number >= 0" in str(done.exception)


def test_some_can_be_left_out_and_have_other_words():
    _, done = run(options.with_walks(without=("n_walks",), seed="Of it all."), "--help")
    assert "-m, --walks" not in done.output
    assert "Of it all." in done.output
    _, done = run(options.with_walks(), "--help")
    assert "Of the walks." in done.output
    assert "Do nothing." in done.output
    order = ["--degree", "--walks", "--termination", "--seed", "--jobs", "--last"]
    assert sorted(order, key=done.output.index) == order


def test_what_cannot_be_used_is_refused_before_the_command_begins():
    received, done = run(options.with_walks(), "here", "--termination", "never")
    assert received is None
    assert isinstance(done.exception, InputError)


def test_estimators_call_the_seed_otherwise():
    walks = WalkOptions(seed=3, degree=4)
    keywords = options.for_estimators(walks, without=("reuse_walks",))
    assert keywords == {
        "degree": 4, "n_walks": 16, "termination": walks.termination, "random_state": 3,
        "walks": walks.walks, "n_jobs": -1,
    }  # fmt: skip


def test_the_factor_of_the_weights():
    assert options.scale_of(0.25, None) == options.scale_of(1.0, 0.5) == 0.25
    for scale, sigma, told in [
        (0.0, None, "--scale must be"),
        (1.0, -1.0, "--sigma must be"),
        (1.0, 1e200, "the square of --sigma must be a positive, finite number"),
    ]:
        with pytest.raises(InputError, match=told):
            options.scale_of(scale, sigma)
