"""Pairs and the paired t-test."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")
from scipy.stats import ttest_rel

from grfpp_lab.experiments.paired import paired


def test_the_paired_test_is_that_of_scipy():
    rng = np.random.default_rng(0)
    for n in (3, 5, 8):
        ours, theirs = rng.normal(80, 1, n), rng.normal(79.5, 1, n)
        found = paired(dict(enumerate(ours)), dict(enumerate(theirs)))
        expected = ttest_rel(ours, theirs)
        assert found.p == pytest.approx(expected.pvalue)
        assert found.mean / found.standard_error == pytest.approx(expected.statistic)
        assert found.n == n


def test_pairs_are_made_by_seed():
    assert paired({0: 1.0, 1: 2.0, 7: 9.0}, {1: 1.0, 0: 0.0, 8: 3.0}).mean == 1.0
    assert np.isnan(paired({0: 1.0}, {0: 2.0}).p)
    assert paired({0: 1.0, 1: 1.0}, {0: 1.0, 1: 1.0}).p == 1.0
    assert paired({0: 2.0, 1: 2.0}, {0: 1.0, 1: 1.0}).p == 0.0
