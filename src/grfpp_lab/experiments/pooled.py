"""Our bars for pooled walks: how near to the exact kernel a task comes with them."""

from __future__ import annotations

from collections.abc import Mapping

from grfpp_lab.experiments.verdicts import verdict
from grfpp_lab.harness.experiment import Verdict


def our_bar(text: str, what: str = "pooled walks, which are ours") -> str:
    """What stands in the place of the paper's claim.

    Examples
    --------
    >>> our_bar("no error")
    'nothing of pooled walks, which are ours; our bar: no error'
    """
    return f"nothing of {what}; our bar: {text}"


def judge_gaps(
    bar: str,
    gaps: Mapping[str, float],
    words: Mapping[str, str],
    most: float,
    *,
    share: float = 1.0,
    unit: str = "",
    more: str = "",
) -> Verdict:
    """Whether pooled walks are within `most` of the exact kernel, in enough cases.

    Parameters
    ----------
    bar
        What is asked for.
    gaps, words
        By how much pooled walks are above the exact kernel, or below it, in each case, as a
        number and in words.
    most
        The largest gap, in either direction.
    share
        Of the cases in which that must be so.
    unit
        Of the gaps.
    more
        What else is told.

    Examples
    --------
    >>> judge_gaps("near", {"A": 0.1, "B": 2.0}, {"A": "+0.1", "B": "+2.0"}, 1.0).measured
    'pooled walks within 1 of exact on 1 of 2 (not on B +2.0)'
    """
    if not gaps:
        return verdict(our_bar(bar))
    missed = [name for name, gap in gaps.items() if not abs(gap) <= most]
    told = (
        f"pooled walks within {most:g}{unit} of exact on {len(gaps) - len(missed)} of {len(gaps)}"
    )
    if missed:
        told += f" (not on {'; '.join(f'{name} {words[name]}' for name in missed)})"
    holds = len(gaps) - len(missed) >= share * len(gaps)
    return verdict(our_bar(bar), [told, more] if more else told, holds)
