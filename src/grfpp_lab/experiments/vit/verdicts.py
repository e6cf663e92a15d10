"""What becomes of the paper's claim on masked vision transformers."""

from __future__ import annotations

from grfpp_lab.experiments.paired import LEVEL, Difference
from grfpp_lab.experiments.verdicts import verdict
from grfpp_lab.experiments.views import distinct, select
from grfpp_lab.experiments.vit.data import TITLES
from grfpp_lab.experiments.vit.paper import LAM, LEARNED, MASKED, PAPER, PLAIN
from grfpp_lab.experiments.vit.scores import final, gain
from grfpp_lab.harness.experiment import Holds, Rows, Verdict

#: With fewer seeds nothing is said.
FEWEST = 3


def judge(rows: Rows) -> Verdict:
    """Whether the mask adds to accuracy on every data set, and by more than chance."""
    quoted = (f"{TITLES[n]} {own[PLAIN]:.2f} → {own[MASKED]:.2f}" for n, own in PAPER.items())
    paper = (
        f"the mask (λ = {LAM:g}) consistently gains over the plain ViT: {', '.join(quoted)} "
        "(larger models and other data than here)"
    )
    gains = _gains(rows, MASKED)
    if not gains:
        return verdict(paper, f"fewer than {FEWEST} seeds to compare")
    told = ["points that the mask adds: " + _told(gains)]
    noise = [name for name, each in gains.items() if not each.is_sure]
    if len(noise) == len(gains):
        told.append(f"none of this can be told from chance (paired t-test, level {LEVEL:g})")
    elif noise:
        told.append(f"noise on {', '.join(TITLES[name] for name in noise)}")
    learned = _gains(rows, LEARNED)
    if learned:
        told.append(f"with λ learned: {_told(learned)}; {_strengths(rows)}")
    return verdict(paper, told, _holds(gains))


def _holds(gains: dict[str, Difference]) -> Holds:
    """Yes: above everywhere by more than chance; no: somewhere below by more than chance.

    The second allows for the number of data sets. Above everywhere, but not by more: within noise.
    Otherwise nothing can be said.
    """
    if any(each.mean < 0 and each.p < LEVEL / len(gains) for each in gains.values()):
        return Holds.NO
    if all(each.mean > 0 for each in gains.values()):
        return Holds.YES if all(each.is_sure for each in gains.values()) else Holds.NOISE
    return Holds.OPEN


def _gains(rows: Rows, method: str) -> dict[str, Difference]:
    found = {name: gain(rows, name, method, PLAIN) for name in distinct(rows, "dataset")}
    return {name: each for name, each in found.items() if each.n >= FEWEST}


def _told(gains: dict[str, Difference]) -> str:
    return ", ".join(
        f"{TITLES[name]} {each.words(2)}, p = {each.p:.2g} ({each.n} seeds)"
        for name, each in gains.items()
    )


def _strengths(rows: Rows) -> str:
    own = [row["lam"] for row in select(final(rows), method=LEARNED)]
    return f"λ ends between {min(own):.2f} and {max(own):.2f}"
