"""Encodings compared seed by seed."""

import numpy as np
import pytest
from laboratory.gps_rows import made_rows
from scipy.stats import ttest_rel

from grfpp_lab.experiments.gps.encodings import GRF, GRF_PP, NONE
from grfpp_lab.experiments.gps.pairs import differences, sign_test
from grfpp_lab.experiments.paired import Difference


def test_paired_tests_are_those_of_scipy():
    rows = made_rows({"mnist": {GRF_PP: 0.001}}, n_seeds=6)
    (found,) = differences(rows, GRF_PP, NONE).values()
    columns = [[row["test"] for row in rows if row["encoding"] == e] for e in (GRF_PP, NONE)]
    expected = ttest_rel(*columns)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.mean / found.standard_error == pytest.approx(expected.statistic)
    assert sign_test({"mnist": Difference([1.0] * 5)})[2] == pytest.approx(1 / 32)
    assert sign_test({}) == (0, 0, 1.0)


def test_pairs_are_made_seed_by_seed_whatever_the_order():
    rows = made_rows({"mnist": {GRF: 0.01}, "pattern": {GRF: 0.02}})
    shuffled = [rows[number] for number in np.random.default_rng(0).permutation(len(rows))]
    assert differences(rows, GRF, NONE).keys() == {"mnist", "pattern"}
    assert dict(sorted(differences(shuffled, GRF, NONE).items())) == differences(rows, GRF, NONE)
    lost = [row for row in rows if (row["encoding"], row["repeat"]) != (NONE, 2)]
    assert {each.n for each in differences(lost, GRF, NONE).values()} == {4}
