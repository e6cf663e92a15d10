"""Fixtures that tests of several parts of the laboratory share."""

import json

import pytest
from bench_helpers import TINY
from experiment_cases import forget_loaded

from grfpp_lab.benchmark import suite
from grfpp_lab.benchmark.settings import SETS


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """No data but what is generated; the folder in which some would be looked for."""
    forget_loaded()
    monkeypatch.delenv("GRFPP_DATA", raising=False)
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path))
    yield tmp_path
    forget_loaded()


@pytest.fixture
def quickly(monkeypatch, no_data, tmp_path):
    """Benchmarks that measure next to nothing, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(SETS, "smoke", TINY)

    def call_here(function, request, *, timeout, threads):
        # Through JSON, as between processes.
        request = json.loads(json.dumps(request))
        return json.loads(json.dumps(suite.TASKS[request["task"]](request)))

    monkeypatch.setattr(suite, "call", call_here)
