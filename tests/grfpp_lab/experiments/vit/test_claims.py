"""The verdict on masks."""

from verdict_case import NO, NOISE, OPEN, YES, verdicts

from grfpp_lab.experiments.vit import claims
from grfpp_lab.experiments.vit.data import LEARNED, MASKED, METHODS, PLAIN


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
                row = {"dataset": name, "method": method, "repeat": repeat, "epochs": 2}
                row |= {"n_train": 100, "n_tokens": 65, "lam": 0.4 if method == LEARNED else None}
                found += [{**row, "epoch": 1, "accuracy": 0.1}]
                found += [{**row, "epoch": 2, "accuracy": accuracy / 100}]
    return found


CLEAR, FAINT = [1.0, 1.2, 0.8, 1.1, 0.9], [1.0, -0.8, 0.9, -0.7, 0.6]


#: p = 0.035: chance, when one of two data sets is as far off.
LIKELY = [1.0, 1.3, 0.2, 0.5, 0.3]
LESS_CLEAR, LESS_FAINT, LESS_LIKELY = ([-v for v in each] for each in (CLEAR, FAINT, LIKELY))


def both(first, second):
    return rows({"mnist": first, "cifar10": second})


WITH_LEARNED = rows({"mnist": CLEAR}, learned=-3.0)
LEARNED_TEXTS = ("with λ learned: MNIST -3.00", "λ ends between 0.40 and 0.40")
CHANCE = "none of this can be told from chance"

test_verdicts = verdicts(
    [
        (claims.judge, both(CLEAR, CLEAR), YES, "+1.00 ± 0.07"),
        (claims.judge, both(CLEAR, FAINT), NOISE, "noise on CIFAR-10"),
        (claims.judge, both(FAINT, FAINT), NOISE, CHANCE),
        (claims.judge, both(CLEAR, LESS_FAINT), OPEN, "noise on CIFAR-10"),
        (claims.judge, both(LESS_FAINT, LESS_FAINT), OPEN, CHANCE),
        (claims.judge, both(CLEAR, LESS_LIKELY), OPEN, "p = 0.035"),
        (claims.judge, both(CLEAR, LESS_CLEAR), NO, "-1.00 ± 0.07"),
        (claims.judge, both(FAINT, LESS_CLEAR), NO, "noise on MNIST"),
        (claims.judge, both(LESS_CLEAR, LESS_CLEAR), NO, "-1.00 ± 0.07"),
        (claims.judge, rows({"mnist": CLEAR}, n=2), OPEN),
        (claims.judge, WITH_LEARNED, YES, *LEARNED_TEXTS),  # learned strengths are not judged
    ]
)


def test_charts_end_with_the_last_epoch():
    curve = claims.panels(rows({"mnist": CLEAR}))[0].curves[0]
    assert (curve.name, curve.x, curve.y) == (PLAIN, [1, 2], [90.0, 28.0])


def test_the_table_stands_beside_the_paper():
    assert "80.31" in claims.judge(both(CLEAR, CLEAR)).paper
    made = claims.table(rows({"mnist": CLEAR, "cifar10": FAINT}, learned=0.5))
    assert len(made.columns) == 1 + len(METHODS) + 5
    assert all(len(line) == len(made.columns) for group in made.groups for line in group.rows)
    assert made.groups[0].rows[0][1:3] == ["72.00 ± 1.58", "73.00 ± 1.54"]
    assert made.groups[0].rows[0][4] == "+1.00 ± 0.07"
    assert made.groups[1].rows[1][:3] == ["Places365", "55.78", "56.03"]
    assert "not comparable" in made.groups[1].title
