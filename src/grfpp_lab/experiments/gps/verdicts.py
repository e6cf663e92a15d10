"""What becomes of the paper's claims on graph transformers."""

from __future__ import annotations

from collections.abc import Mapping

from grfpp_lab.experiments.gps.data import TASKS
from grfpp_lab.experiments.gps.encodings import GRF, GRF_PP, LAPLACIAN, NOISE, NONE, OURS, WALK
from grfpp_lab.experiments.gps.pairs import differences, sign_test
from grfpp_lab.experiments.paired import LEVEL, Difference
from grfpp_lab.experiments.verdicts import verdict, worst
from grfpp_lab.harness.experiment import Holds, Rows, Verdict

_NAMES = {NONE: "no encoding"}
#: Our bar for encodings without random numbers.
_MOST_SETS, _SEEDS = 4, 3


def judge(rows: Rows) -> Verdict:
    """GRF++ above no encoding and above GRF, on every data set."""
    paper = (
        "GRF++ as positional encoding consistently improves on the Performer without one, and is "
        "better than GRF, on all data sets"
    )
    found = [_compared(rows, NONE), _compared(rows, GRF)]
    answers = [answer for answer, _ in found]
    # Half a claim that cannot be told from chance leaves all of it open, unless the other is wrong.
    undecided = Holds.OPEN in answers and Holds.NO not in answers
    told = [words for _, words in found]
    return verdict(paper, told, Holds.OPEN if undecided else worst(answers))


def judge_reference(rows: Rows) -> Verdict:
    """Whether GRF++ tells more than numbers that know nothing of the graph."""
    paper = "GRF++ generates highly effective positional node representations"
    holds, words = _compared(rows, NOISE)
    others = [_told(differences(rows, GRF_PP, each), each) for each in (WALK, LAPLACIAN)]
    return verdict(paper, [words, *filter(None, others)], holds)


def judge_kinds(rows: Rows) -> Verdict:
    """Whether an encoding without random numbers is above no encoding on most data sets."""
    paper = (
        "nothing of encodings without random numbers; our bar: at least one kind above no encoding "
        f"on {_MOST_SETS} of {len(TASKS)} data sets, in the mean of at least {_SEEDS} seeds"
    )
    told, reached, complete = [], [], []
    for kind in OURS:
        found = differences(rows, kind, NONE)
        if words := _told(found, NONE, kind):
            told.append(words)
        reached.append(sum(each.mean > 0 for each in found.values()) >= _MOST_SETS)
        complete.append(sum(each.n >= _SEEDS for each in found.values()) == len(TASKS))
    if not any(complete):
        return verdict(paper, told, Holds.OPEN)
    is_reached = any(good and whole for good, whole in zip(reached, complete, strict=True))
    return verdict(paper, told, Holds.YES if is_reached else Holds.NO)


def _compared(rows: Rows, other: str) -> tuple[Holds, str]:
    found = differences(rows, GRF_PP, other)
    return holds(found), _told(found, other) or f"nothing to compare with {_name(other)}"


def holds(found: Mapping[str, Difference]) -> Holds:
    """Whether the first of two encodings is better everywhere.

    No: on some data set it is below by more than chance (allowing for their number), or it loses
    so many of all pairs. Yes: above on every data set, and it wins so many pairs. Within noise:
    above on most. Else nothing can be told, nor with a single seed.
    """
    if min((each.n for each in found.values()), default=0) < 2:
        return Holds.OPEN
    opposite = {name: Difference([-v for v in each.values]) for name, each in found.items()}
    if any(each.mean < 0 and each.p < LEVEL / len(found) for each in found.values()):
        return Holds.NO
    if sign_test(opposite)[-1] < LEVEL:
        return Holds.NO
    n_above = sum(each.mean > 0 for each in found.values())
    if n_above == len(found) and sign_test(found)[-1] < LEVEL:
        return Holds.YES
    return Holds.NOISE if 2 * n_above > len(found) else Holds.OPEN


def _told(found: Mapping[str, Difference], other: str, first: str = GRF_PP) -> str:
    """How often, by how much in percentage points, and where not; a mark on what is no chance."""
    if not found:
        return ""
    n_above = sum(each.mean > 0 for each in found.values())
    n_won, n_pairs, p_value = sign_test(found)
    parts = ", ".join(
        f"{TASKS[name].title} {each.words(times=100)}{'*' if each.is_sure else ''}"
        for name, each in found.items()
    )
    any_sure = any(each.is_sure for each in found.values())
    sure = f"* p < {LEVEL}" if any_sure else "none more than chance"
    return (
        f"{first} above {_name(other)} on {n_above} of {len(found)} data sets (points: {parts}; "
        f"{sure}), in {n_won} of {n_pairs} pairs (sign test p = {p_value:.2g})"
    )


def _name(encoding: str) -> str:
    return _NAMES.get(encoding, encoding)
