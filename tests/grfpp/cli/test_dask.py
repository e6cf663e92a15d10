"""``--dask``: the same answers on a cluster, and places where there is none."""

import json
import warnings

import pytest
from cli_helpers import accepted, refused, write_karate

from grfpp.cli import dask as option

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    dask = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def address():
    """A scheduler with two workers, threads of this process; real ones are in tests/distributed."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "protocol": "tcp"}
    with dask.LocalCluster(**options, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def karate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_karate(tmp_path)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (["query", "karate.txt", "--node", "3", "--node", "7", "--std"], "nodes"),
        (["query", "karate.txt", "--node", "3", "-k", "personalized-pagerank"], "nodes"),
        (["estimate", "karate.txt", "--degree", "1", "--rows", "3"], "rows"),
    ],
)
def test_answers_are_those_of_one_machine(capsys, karate, address, command, answer):
    here = json.loads(accepted(capsys, *command, "--json"))
    there = json.loads(accepted(capsys, *command, "--json", "--dask", address))
    assert there[answer] == here[answer] and there[answer]
    assert there["cluster"] == {"n_workers": 2, "n_threads": 2}
    assert here["cluster"] is None


def test_the_cluster_is_told(capsys, karate, address):
    told = accepted(capsys, "query", "karate.txt", "--node", "3", "--dask", address)
    assert "cluster  2 workers with 2 threads in all" in told


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("local:0", "needs a number of processes from 1 to 1024, found 'local:0'"),
        ("local:", "needs a number of processes"),
        ("local:-1", "needs a number of processes"),
        ("local:2.5", "needs a number of processes"),
        ("local:99999999999", "needs a number of processes"),
        ("tcp://127.0.0.1:1", "no scheduler answers there"),
        ("nonsense://x", "no scheduler answers there"),
        ("127.0.0.1:port", "no scheduler answers there"),
        ("nonsense", "no scheduler answers there (missing port number in address 'nonsense')"),
        ("", "no scheduler answers there"),
    ],
)
def test_places_without_a_cluster(capsys, karate, monkeypatch, place, message):
    monkeypatch.setattr(option, "_PATIENCE", 0.5)
    # One that cannot connect tries on for long, and says so at the end of the program.
    monkeypatch.setattr(dask, "Client", lambda *_, **__: pytest.fail("a client was made"))
    told = refused(capsys, "query", "karate.txt", "--node", "3", "--dask", place)
    assert message in told


def test_a_cluster_without_workers(capsys, karate):
    with dask.LocalCluster(
        n_workers=0, processes=False, protocol="tcp", dashboard_address=":0"
    ) as empty:
        place = empty.scheduler_address
        told = refused(capsys, "query", "karate.txt", "--node", "3", "--dask", place)
    assert "has no workers; start some" in told
