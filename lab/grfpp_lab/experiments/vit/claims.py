"""The small vision transformer: paired differences, charts, tables and verdicts."""

import numpy as np

from grfpp_lab.experiments import claims
from grfpp_lab.experiments.vit.data import LAM, LEARNED, MASKED, METHODS, PAPER, PLAIN, TITLES
from grfpp_lab.harness.experiment import FEWEST, Holds, Row, Rows, Verdict
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Panel


def final(rows: Rows) -> list[Row]:
    """The rows after the last epoch."""
    return [row for row in rows if row["epoch"] == row["epochs"]]


def accuracies(rows: Rows, dataset: str, method: str) -> dict[int, float]:
    """Accuracy in per cent after training, by repeat."""
    own = claims.select(final(rows), dataset=dataset, method=method)
    return {row["repeat"]: 100 * row["accuracy"] for row in own}


def gain(rows: Rows, dataset: str, method: str, over: str) -> claims.Difference:
    """By how many points a method is above another on a data set, seed by seed."""
    return claims.paired(accuracies(rows, dataset, method), accuracies(rows, dataset, over))


def panels(rows: Rows) -> list[Panel]:
    """Test error against epochs, a chart a data set."""
    found = []
    for name in claims.distinct(rows, "dataset"):
        own = claims.select(rows, dataset=name)
        curves = [
            claims.mean_curve(
                method,
                claims.select(own, method=method),
                "epoch",
                lambda row: 100 * (1 - float(row["accuracy"])),
                style,
            )
            for style, method in enumerate(METHODS)
        ]
        axes = {"log_x": False, "log_y": False}
        note = f"{own[0]['n_train']:,} pictures, {own[0]['n_tokens']} tokens"
        found.append(
            claims.chart(TITLES[name], curves, "epochs", "test error, %", note=note, **axes)
        )
    return found


def table(rows: Rows) -> Table:
    """Accuracies after training, paired differences, and what the paper has."""
    measured = []
    for name in claims.distinct(rows, "dataset"):
        found = [accuracies(rows, name, method) for method in METHODS]
        measured.append(
            [
                TITLES[name],
                *(claims.mean_text(list(each.values())) for each in found),
                *_columns(gain(rows, name, MASKED, PLAIN)),
                *_columns(gain(rows, name, LEARNED, PLAIN)),
                str(max(len(each) for each in found)),
            ]
        )
    quoted = [
        [
            TITLES[name],
            f"{own[PLAIN]:.2f}",
            f"{own[MASKED]:.2f}",
            "",
            f"{own[MASKED] - own[PLAIN]:+.2f}",
            *("", "", "", ""),
        ]
        for name, own in PAPER.items()
    ]
    learned = [row["lam"] for row in claims.select(final(rows), method=LEARNED)]
    strength = f" Learned λ: {np.mean(learned):.2f} on average." if learned else ""
    return Table(
        ["data", *METHODS, "mask − ViT", "p", "learned − ViT", "p", "seeds"],
        [
            TableGroup("measured here", measured),
            TableGroup(
                "quoted from the paper: other data, far larger models, not comparable", quoted
            ),
        ],
        "Top-1 accuracy in per cent on test pictures, mean ± standard error over seeds; "
        "differences seed by seed, mean ± standard error, with the p-value of the paired "
        f"t-test.{strength}",
    )


def _columns(difference: claims.Difference) -> tuple[str, str]:
    if difference.n < 2:
        return "", ""
    return difference.words(2), f"{difference.p:.2g}"


def judge(rows: Rows) -> Verdict:
    """Whether the mask adds to accuracy on every data set, and by more than chance."""
    quoted = (f"{TITLES[n]} {own[PLAIN]:.2f} → {own[MASKED]:.2f}" for n, own in PAPER.items())
    paper = (
        f"the mask (λ = {LAM:g}) consistently gains over the plain ViT: {', '.join(quoted)} "
        "(larger models and other data than here)"
    )
    gains = _gains(rows, MASKED)
    if not gains:
        return claims.verdict(
            paper, f"fewer than {FEWEST} seeds to compare", None, 0 if rows else None
        )
    facts = ["points that the mask adds: " + _gain_words(gains)]
    noise = [name for name, each in gains.items() if not each.is_sure]
    if len(noise) == len(gains):
        facts.append(
            f"none of this can be told from chance (paired t-test, level {claims.LEVEL:g})"
        )
    elif noise:
        facts.append(f"noise on {', '.join(TITLES[name] for name in noise)}")
    learned = _gains(rows, LEARNED)
    if learned:
        facts.append(f"with λ learned: {_gain_words(learned)}; {_strengths(rows)}")
    return claims.verdict(paper, facts, _holds(gains))


def _holds(gains: dict[str, claims.Difference]) -> Holds:
    """Yes: above everywhere by more than chance; no: somewhere below by more than chance.

    The second allows for the number of data sets. Above everywhere, but not by more: within noise.
    Otherwise nothing can be said.
    """
    if any(each.mean < 0 and each.p < claims.LEVEL / len(gains) for each in gains.values()):
        return Holds.NO
    if all(each.mean > 0 for each in gains.values()):
        return Holds.YES if all(each.is_sure for each in gains.values()) else Holds.NOISE
    return Holds.OPEN


def _gains(rows: Rows, method: str) -> dict[str, claims.Difference]:
    found = {name: gain(rows, name, method, PLAIN) for name in claims.distinct(rows, "dataset")}
    return {name: each for name, each in found.items() if each.n >= FEWEST}


def _gain_words(gains: dict[str, claims.Difference]) -> str:
    return ", ".join(
        f"{TITLES[name]} {each.words(2)}, p = {each.p:.2g} ({each.n} seeds)"
        for name, each in gains.items()
    )


def _strengths(rows: Rows) -> str:
    own = [row["lam"] for row in claims.select(final(rows), method=LEARNED)]
    return f"λ ends between {min(own):.2f} and {max(own):.2f}"
