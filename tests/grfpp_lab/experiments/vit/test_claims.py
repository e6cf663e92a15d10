"""The verdict on masks."""

import pytest

from grfpp_lab.experiments.vit import claims
from grfpp_lab.experiments.vit.data import LEARNED, MASKED, METHODS, PLAIN
from grfpp_lab.harness.experiment import Holds


def rows(gains, n=5, learned=None):
    """Rows whose mask adds so many points, one list of gains a data set."""
    found = []
    for name, own in gains.items():
        for repeat in range(n):
            base = 70 + repeat
            methods = {PLAIN: base, MASKED: base + own[repeat]}
            if learned is not None:
                methods[LEARNED] = base + learned
            for method, accuracy in methods.items():
                for epoch, score in ((1, 10.0), (2, accuracy)):
                    found.append(
                        {
                            "dataset": name,
                            "method": method,
                            "repeat": repeat,
                            "epoch": epoch,
                            "epochs": 2,
                            "n_train": 100,
                            "n_tokens": 65,
                            "accuracy": score / 100,
                            "lam": 0.4 if method == LEARNED else None,
                        }
                    )
    return found


CLEAR, FAINT = [1.0, 1.2, 0.8, 1.1, 0.9], [1.0, -0.8, 0.9, -0.7, 0.6]


pytest.importorskip("torch", reason="torch is not installed")


#: p = 0.035: chance, when one of two data sets is as far off.
LIKELY = [1.0, 1.3, 0.2, 0.5, 0.3]


def minus(gains):
    return [-each for each in gains]


@pytest.mark.parametrize(
    "first, second, holds, word",
    [
        (CLEAR, CLEAR, Holds.YES, "+1.00 ± 0.07"),
        (CLEAR, FAINT, Holds.NOISE, "noise on CIFAR-10"),
        (FAINT, FAINT, Holds.NOISE, "none of this can be told from chance"),
        (CLEAR, minus(FAINT), Holds.OPEN, "noise on CIFAR-10"),
        (minus(FAINT), minus(FAINT), Holds.OPEN, "none of this can be told from chance"),
        (CLEAR, minus(LIKELY), Holds.OPEN, "p = 0.035"),
        (CLEAR, minus(CLEAR), Holds.NO, "-1.00 ± 0.07"),
        (FAINT, minus(CLEAR), Holds.NO, "noise on MNIST"),
        (minus(CLEAR), minus(CLEAR), Holds.NO, "-1.00 ± 0.07"),
    ],
)
def test_the_verdict(first, second, holds, word):
    verdict = claims.judge(rows({"mnist": first, "cifar10": second}))
    assert verdict.holds is holds
    assert word in verdict.measured
    assert "80.31" in verdict.paper


def test_few_seeds_are_no_verdict():
    assert claims.judge(rows({"mnist": CLEAR}, n=2)).holds is Holds.OPEN
    assert claims.judge([]).holds is Holds.OPEN


def test_learned_strengths_are_told_but_not_judged():
    verdict = claims.judge(rows({"mnist": CLEAR}, learned=-3.0))
    assert verdict.holds is Holds.YES
    assert "with λ learned: MNIST -3.00" in verdict.measured
    assert "λ ends between 0.40 and 0.40" in verdict.measured


def test_charts_end_with_the_last_epoch():
    curve = claims.panels(rows({"mnist": CLEAR}))[0].curves[0]
    assert (curve.name, curve.x, curve.y) == (PLAIN, [1, 2], [90.0, 28.0])


def test_the_table_stands_beside_the_paper():
    made = claims.table(rows({"mnist": CLEAR, "cifar10": FAINT}, learned=0.5))
    assert len(made.columns) == 1 + len(METHODS) + 5
    assert all(len(line) == len(made.columns) for group in made.groups for line in group.rows)
    assert made.groups[0].rows[0][1:3] == ["72.00 ± 1.58", "73.00 ± 1.54"]
    assert made.groups[0].rows[0][4] == "+1.00 ± 0.07"
    assert made.groups[1].rows[1][:3] == ["Places365", "55.78", "56.03"]
    assert "not comparable" in made.groups[1].title
