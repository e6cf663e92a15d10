"""Requests that cannot be met are refused before they take memory; ``ulimit -v`` is honoured."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HELPER = Path(__file__).parents[1] / "helpers" / "absurd_requests.py"
ROOM = 4 * 10**9

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are read as Linux has them"
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """All of them in one process, one after the other, in 4 GB of address space."""
    folder = tmp_path_factory.mktemp("absurd")
    command = [sys.executable, HELPER, folder]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith('{"kind"')]
    assert run.returncode == 0, f"ended after {found[-1:]}: {run.stderr[-2000:]}"
    return {
        kind: [each for each in found if each["kind"] == kind] for kind in ("absurd", "possible")
    }


def test_what_is_absurd_is_refused_by_one_clear_error_and_little_memory(results):
    assert len(results["absurd"]) >= 30
    assert not [each for each in results["absurd"] if each["outcome"] != "InputError"]
    assert not [each for each in results["absurd"] if each["bytes"] > 0.2 * ROOM]


def test_what_is_offered_is_named(results):
    messages = {each["name"]: each["message"] for each in results["absurd"]}
    assert "storage='recompute'" in messages["factors of degree 1024"]
    assert "n_walks" in messages["a million walks"]
    assert "project(n_components" in messages["full features"]
    assert "fewer columns" in messages["a million columns"]


def test_what_fits_is_done(results):
    assert [each["outcome"] for each in results["possible"]] == ["met"] * len(results["possible"])
    assert max(each["bytes"] for each in results["possible"]) < 0.8 * ROOM
