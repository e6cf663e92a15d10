"""Pointer chases."""

import numpy as np
import pytest

from grfpp_lab.benchmark.limits import chases_per_second, random_cycle


@pytest.mark.parametrize("n", [2, 3, 1000])
def test_one_cycle_through_the_whole_table(n):
    table = random_cycle(n)
    seen, place = set(), 0
    while place not in seen:
        seen.add(place)
        place = int(table[place])
    assert place == 0
    assert len(seen) == n


def test_the_cycle_is_random():
    steps = np.abs(np.diff(random_cycle(100_000).astype(float)))
    assert steps.mean() == pytest.approx(100_000 / 3, rel=0.05)


def test_rate():
    assert 1e6 < chases_per_second(4096, threads=2, seconds=0.001) < 1e12
