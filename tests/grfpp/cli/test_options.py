"""Groups of options, and the values that commands receive of them."""

import warnings
from dataclasses import fields

import click
import pytest
from cli_helpers import accepted, document, refused
from click.testing import CliRunner

from grfpp import Poisson
from grfpp.cli import options
from grfpp.errors import InputError
from grfpp.options import WalkOptions

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    dask = pytest.importorskip("distributed")


def run(decorate, *arguments):
    """What a command receives, and how it ended."""
    received = []

    @options.command
    @click.argument("name")
    @decorate
    @click.option("--last", is_flag=True)
    def command(name, walks, last):
        """Do nothing.

        Parameters
        ----------
        seed
            Of it
            all.
        """
        received.append((name, walks, last))

    done = CliRunner().invoke(command, list(arguments))
    return (received or [None])[0], done


def test_a_command_receives_one_value():
    (name, walks, last), _ = run(
        options.walk_options(),
        *("here", "--last", "-l", "3", "-m", "5", "-t", "poisson:4", "--seed", "7"),
        *("--reuse-walks", "-j", "1"),
    )
    assert (name, last) == ("here", True)
    assert walks == WalkOptions.of(
        degree=3, n_walks=5, termination=Poisson(4), seed=7, reuse_walks=True, n_jobs=1
    )


def test_defaults_are_those_of_the_library_but_for_the_seed():
    (_, walks, _), _ = run(options.walk_options(sampling=True), "here")
    assert walks == WalkOptions(seed=0)
    assert run(options.walk_options(), "here", "--truncate")[1].exit_code == 2  # of sampling only


@pytest.mark.parametrize(
    ("arguments", "changes"),
    [
        (["--truncate", "--float32"], {"truncate": True, "dtype": "float32"}),
        (["--on-infinite-variance", "warn"], {"on_infinite_variance": "warn"}),
        (["--symmetrize"], {"symmetrize": True}),
        (["--no-symmetrize"], {"symmetrize": False}),
        (["--deflate", "12"], {"deflate": 12}),
        (["--deflate", "auto"], {"deflate": "auto"}),
        (["--tol", "0.1", "--max-steps", "9"], {"tol": 0.1, "max_steps": 9.0}),
        (["--groups", "4"], {"n_groups": 4}),
        (["--walks-kind", "independent"], {"walks": "independent"}),
    ],
)
def test_options_of_sampling(arguments, changes):
    (_, walks, _), _ = run(options.walk_options(sampling=True), "here", *arguments)
    assert walks == WalkOptions.of(seed=0, **changes)


@pytest.mark.parametrize("arguments", [["--deflate", "-1"], ["--deflate", "x"], ["-t", "never"]])
def test_bad_values_are_refused_before_the_command_begins(arguments):
    received, done = run(options.walk_options(sampling=True), "here", *arguments)
    assert received is None
    assert isinstance(done.exception, InputError)


def test_some_can_be_left_out_and_have_other_help():
    _, done = run(options.walk_options(without=("n_walks",)), "--help")
    assert "-m, --walks" not in done.output
    assert "Of it all." in done.output and "Do nothing.\n\n" in done.output
    assert "Parameters" not in done.output
    order = ["--degree", "--termination", "--seed", "--jobs", "--last"]
    assert sorted(order, key=done.output.index) == order


def test_every_option_about_walks_has_the_help_of_its_docstring():
    help = options.walk_options(sampling=True)(lambda **_: None)
    texts = {each.name: each.help for each in help.__click_params__}
    assert set(texts) == {item.name for item in fields(WalkOptions) if item.metadata["flags"]}
    assert all(text.endswith(".") and "`" not in text for text in texts.values())
    assert texts["tol_kind"] == "Norm of --tol: of the whole matrix, or of single entries."


def test_estimators_call_the_seed_random_state():
    walks = WalkOptions(seed=3, degree=4)
    keywords = options.estimator_parameters(walks, without=("reuse_walks",))
    assert keywords.pop("random_state") == 3
    assert keywords == {name: getattr(walks, name) for name in keywords}
    assert set(keywords) == {"degree", "n_walks", "termination", "walks", "n_jobs"}


#: Two workers, threads of this process; real ones are in tests/distributed.
IN_THREADS = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "protocol": "tcp"}
IN_THREADS["dashboard_address"] = ":0"


@pytest.fixture(scope="module")
def address():
    with dask.LocalCluster(**IN_THREADS) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (["query", "karate.txt", "--node", "3", "--node", "7", "--std"], "nodes"),
        (["estimate", "karate.txt", "--degree", "1", "--rows", "3"], "rows"),
    ],
)
def test_answers_of_a_cluster_are_those_of_one_machine(capsys, karate, address, command, answer):
    here = document(capsys, *command)
    there = document(capsys, *command, "--dask", address)
    assert there[answer] == here[answer] and there[answer]
    assert there["cluster"] == {"n_workers": 2, "n_threads": 2}
    assert here["cluster"] is None
    text = accepted(capsys, *command, "--dask", address)
    assert "2 workers with 2 threads in all" in text


@pytest.mark.parametrize(
    "place",
    [
        *("local:0", "local:", "local:-1", "local:2.5", "local:99999999999", "nonsense", ""),
        *("tcp://127.0.0.1:1", "nonsense://x", "127.0.0.1:port"),
    ],
)
def test_addresses_without_a_cluster(capsys, karate, monkeypatch, place):
    monkeypatch.setattr(options, "_DASK_TIMEOUT", 0.5)
    # A client that cannot connect tries on for long, and says so at the end of the program.
    monkeypatch.setattr(dask, "Client", lambda *_, **__: pytest.fail("a client was made"))
    assert "--dask" in refused(capsys, "query", "karate.txt", "--node", "3", "--dask", place)


def test_a_cluster_without_workers(capsys, karate):
    with dask.LocalCluster(**{**IN_THREADS, "n_workers": 0}) as empty:
        place = empty.scheduler_address
        assert "workers" in refused(capsys, "query", "karate.txt", "--node", "3", "--dask", place)
