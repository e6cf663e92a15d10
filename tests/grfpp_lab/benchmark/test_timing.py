"""Seconds and bytes are those of the work."""

import subprocess
import sys
import time

import pytest

from grfpp_lab.benchmark.timing import best_seconds, timed


def test_best_of_several_runs():
    naps = iter([0.03, 0.001, 0.02])
    assert best_seconds(lambda: time.sleep(next(naps)), budget=10, most=3) < 0.02


def test_runs_once_at_least_and_so_often_at_most():
    calls = []
    best_seconds(lambda: calls.append(1), budget=0)
    assert len(calls) == 1
    best_seconds(lambda: calls.append(1), budget=100, most=4)
    assert len(calls) == 5


def test_timed():
    result, seconds = timed(lambda: time.sleep(0.01) or "done")
    assert result == "done"
    assert seconds >= 0.01


def test_peak_memory_forgets_what_was_before_and_sees_what_is_freed():
    # In a process of its own, as benchmarks measure: here, other tests' memory comes and goes.
    code = """
import numpy as np
from grfpp_lab.benchmark.timing import peak_memory
np.ones(10_000_000)  # 80 MB, gone
with peak_memory() as peak:
    np.ones(5_000_000)
with peak_memory() as nothing:
    pass
print(peak.n_bytes, nothing.n_bytes)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    peak, nothing = map(int, told.stdout.split())
    assert peak == pytest.approx(40e6, rel=0.2)
    assert nothing < 5e6
