"""What becomes of the paper's claims on graph transformers."""

from __future__ import annotations

from collections.abc import Sequence

from grfpp.experiments.experiment import Holds, Rows, Verdict
from grfpp.experiments.gps_data import TASKS
from grfpp.experiments.gps_encodings import GRF, GRF_PP, LAPLACIAN, NOISE, NONE, WALK
from grfpp.experiments.gps_pairs import SIGNIFICANT, Difference, differences, sign_test
from grfpp.experiments.verdicts import worst

_NAMES = {NONE: "no encoding"}


def judge(rows: Rows) -> Verdict:
    """GRF++ above no encoding and above GRF, on every data set."""
    paper = (
        "GRF++ as positional encoding consistently improves on the Performer without one, and is "
        "better than GRF, on all data sets"
    )
    found = [_compared(rows, NONE), _compared(rows, GRF)]
    return Verdict(paper, "; ".join(words for _, words in found), worst([h for h, _ in found]))


def judge_reference(rows: Rows) -> Verdict:
    """Whether GRF++ tells more than numbers that know nothing of the graph."""
    paper = "GRF++ generates highly effective positional node representations"
    holds, words = _compared(rows, NOISE)
    others = [_told(differences(rows, GRF_PP, each), each) for each in (WALK, LAPLACIAN)]
    return Verdict(paper, "; ".join([words, *filter(None, others)]), holds)


def _compared(rows: Rows, other: str) -> tuple[Holds, str]:
    found = differences(rows, GRF_PP, other)
    return holds(found), _told(found, other) or f"nothing to compare with {_name(other)}"


def holds(found: Sequence[Difference]) -> Holds:
    """Whether the first of two encodings is better everywhere.

    Yes: its mean is above on every data set, and it wins so many of all pairs that chance would
    not. Within noise: above on most data sets, on none below by more than chance. No: all else,
    and the words tell whether that is more than chance. With a single seed nothing can be told.
    """
    if not found or min(len(each.values) for each in found) < 2:
        return Holds.OPEN
    below = [each for each in found if each.mean <= 0]
    *_, p_value = sign_test(found)
    if not below and p_value < SIGNIFICANT:
        return Holds.YES
    if 2 * len(below) < len(found) and not any(each.is_loss for each in found):
        return Holds.NOISE
    return Holds.NO


def _told(found: Sequence[Difference], other: str) -> str:
    """How often, by how much, and where not."""
    if not found:
        return ""
    n_above = sum(each.mean > 0 for each in found)
    n_won, n_pairs, p_value = sign_test(found)
    parts = ", ".join(f"{TASKS[each.dataset].title} {_points(each)}" for each in found)
    n_sure = sum(each.is_gain or each.is_loss for each in found)
    sure = f"* p < {SIGNIFICANT}" if n_sure else "none more than chance"
    return (
        f"{GRF_PP} above {_name(other)} on {n_above} of {len(found)} data sets (points: {parts}; "
        f"{sure}), in {n_won} of {n_pairs} pairs (sign test p = {p_value:.2g})"
    )


def _points(each: Difference) -> str:
    """A difference in percentage points, with its standard error and a mark if it is no chance."""
    if len(each.values) < 2:
        return f"{100 * each.mean:+.1f}"
    mark = "*" if each.is_gain or each.is_loss else ""
    return f"{100 * each.mean:+.1f} ± {100 * each.standard_error:.1f}{mark}"


def _name(encoding: str) -> str:
    return _NAMES.get(encoding, encoding)
