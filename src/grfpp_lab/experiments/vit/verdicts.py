"""What becomes of the paper's claim on masked vision transformers."""

from __future__ import annotations

from grfpp_lab.experiments.experiment import Holds, Rows, Verdict
from grfpp_lab.experiments.paired import LEVEL
from grfpp_lab.experiments.vit.data import TITLES
from grfpp_lab.experiments.vit.paper import LEARNED, MASKED, PLAIN
from grfpp_lab.experiments.vit.scores import PairedDifference, data_sets, final, gain

#: With fewer seeds nothing is said.
FEWEST = 3


def judge(rows: Rows) -> Verdict:
    """Whether the mask adds to accuracy on every data set, and by more than chance."""
    paper = (
        "the mask (λ = 0.5) consistently gains over the plain ViT: ImageNet 80.10 → 80.31, "
        "Places365 55.78 → 56.03 (larger models and other data than here)"
    )
    gains = _gains(rows, MASKED)
    if not gains:
        return Verdict(paper, f"fewer than {FEWEST} seeds to compare", Holds.OPEN)
    told = ["points that the mask adds: " + _told(gains)]
    noise = [name for name, each in gains.items() if each.is_noise]
    if len(noise) == len(gains):
        told.append(f"none of this can be told from chance (paired t-test, level {LEVEL:g})")
    elif noise:
        told.append(f"noise on {', '.join(TITLES[name] for name in noise)}")
    learned = _gains(rows, LEARNED)
    if learned:
        told.append(f"with λ learned: {_told(learned)}; {_strengths(rows)}")
    return Verdict(paper, "; ".join(told), _holds(gains))


def _holds(gains: dict[str, PairedDifference]) -> Holds:
    """Yes: above everywhere by more than chance; no: somewhere below by more than chance.

    The second allows for the number of data sets. Above everywhere, but not by more: within noise.
    Otherwise nothing can be said.
    """
    if any(each.mean < 0 and each.p < LEVEL / len(gains) for each in gains.values()):
        return Holds.NO
    if all(each.mean > 0 for each in gains.values()):
        return Holds.NOISE if any(each.is_noise for each in gains.values()) else Holds.YES
    return Holds.OPEN


def _gains(rows: Rows, method: str) -> dict[str, PairedDifference]:
    found = {name: gain(rows, name, method, PLAIN) for name in data_sets(rows)}
    return {name: each for name, each in found.items() if each is not None and each.n >= FEWEST}


def _told(gains: dict[str, PairedDifference]) -> str:
    return ", ".join(f"{TITLES[name]} {each} ({each.n} seeds)" for name, each in gains.items())


def _strengths(rows: Rows) -> str:
    own = [row["lam"] for row in final(rows) if row["method"] == LEARNED]
    return f"λ ends between {min(own):.2f} and {max(own):.2f}"
