"""Verdicts on node labels."""

import pytest
from laboratory.label_rows import random_rows, row

from grfpp_lab.experiments.labels.data import RANDOM
from grfpp_lab.experiments.labels.rivals import PROPAGATION, SPREADING
from grfpp_lab.experiments.labels.verdicts import judge_planetoid, judge_random, judge_rivals
from grfpp_lab.experiments.labels.views import FOLDS
from grfpp_lab.harness.experiment import Holds


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({}, Holds.YES),
        ({"accuracy": 0.72}, Holds.YES),
        ({"accuracy": 0.719}, Holds.NO),
        ({"seconds": 10.1}, Holds.NO),
        ({"calibration_error": 0.051}, Holds.NO),
    ],
)
def test_the_public_split(changes, holds):
    found = judge_planetoid([row(), row("pubmed", **changes)])
    assert found.holds is holds
    assert "Cora: 73.0 %, calibration error 0.030, 2.0 s, by Diffusion(lam=20.0)" in found.measured
    assert judge_planetoid([row(**changes)]).holds is Holds.OPEN


def test_random_splits():
    good, bad = random_rows([0.775] * 10), random_rows([0.774] * 10)
    found = judge_random([*good, *random_rows([0.7] * 10, method=FOLDS)])
    assert found.holds is Holds.YES
    assert "Cora: 77.5 ± 0.0 % over 10 splits, without a validation set 70.0" in found.measured
    assert judge_random(bad).holds is Holds.NO
    assert judge_random(good[:9]).holds is Holds.OPEN
    assert judge_random(random_rows([0.9] * 10, data="pubmed")).holds is Holds.OPEN


def test_other_methods():
    others = [row(method=PROPAGATION, accuracy=0.68), row(method=SPREADING, accuracy=0.7)]
    found = judge_rivals([row(), *others])
    assert found.holds is Holds.YES
    assert f"Cora, Planetoid: 73.0 against 70.0 % ({SPREADING})" in found.measured
    below = [row(split=RANDOM, accuracy=0.6), row(split=RANDOM, method=SPREADING, accuracy=0.7)]
    assert judge_rivals([row(), *others, *below]).holds is Holds.NO
    assert judge_rivals([row()]).holds is Holds.OPEN
