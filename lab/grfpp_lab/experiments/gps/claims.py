"""Positional encodings: paired differences, charts, tables and verdicts."""

from collections.abc import Mapping, Sequence

from grfpp_lab.experiments import claims
from grfpp_lab.experiments.gps.data import TASKS
from grfpp_lab.experiments.gps.encodings import (
    ENCODINGS,
    GRF,
    GRF_PP,
    LAPLACIAN,
    NOISE,
    NONE,
    OURS,
    WALK,
)
from grfpp_lab.harness.experiment import Holds, Rows, Verdict
from grfpp_lab.report.page import Table, TableGroup
from grfpp_lab.report.panels import Curve, Panel


def differences(rows: Rows, first: str, second: str) -> dict[str, claims.Difference]:
    """By how much the first encoding is better than the second, by data set.

    Test metric of the first less that of the second; the other way round where it is an error.

    Examples
    --------
    >>> rows = [
    ...     {"dataset": "mnist", "encoding": e, "repeat": r, "test": t}
    ...     for e, r, t in [("GRF", 0, 0.5), ("GRF", 1, 0.75), ("none", 0, 0.25), ("none", 1, 0.25)]
    ... ]
    >>> differences(rows, "GRF", "none")
    {'mnist': Difference(values=[0.25, 0.5])}
    """
    found = {}
    for name in claims.distinct(rows, "dataset"):
        ours, theirs = (
            {row["repeat"]: row["test"] for row in claims.select(rows, dataset=name, encoding=each)}
            for each in (first, second)
        )
        found[name] = (
            claims.paired(theirs, ours) if TASKS[name].is_error else claims.paired(ours, theirs)
        )
    return {name: each for name, each in found.items() if each.n}


def sign_test(found: Mapping[str, claims.Difference]) -> tuple[int, int, float]:
    """How many of all pairs the first wins, how many are no tie, and how likely that is by chance.

    Examples
    --------
    >>> n_won, n_pairs, p = sign_test({"mnist": claims.Difference([0.1, 0.2, -0.1, 0.0, 0.3])})
    >>> n_won, n_pairs, round(p, 3)
    (3, 4, 0.312)
    """
    values = [value for each in found.values() for value in each.values if value != 0]
    if not values:
        return 0, 0, 1.0
    from scipy.stats import binomtest

    n_won = sum(value > 0 for value in values)
    return n_won, len(values), float(binomtest(n_won, len(values), alternative="greater").pvalue)


_COLUMNS = (NONE, GRF, GRF_PP)
#: By data set and encoding. The table's Peptides rows carry their names, and the arrow, the wrong
#: way round: an average precision of 64 per cent is what models reach on Peptides-func (to be
#: maximised), an error of 0.27 what they have on Peptides-struct (to be minimised).
PAPER: dict[str, dict[str, float]] = {
    name: dict(zip(_COLUMNS, values, strict=True))
    for name, values in {
        "pattern": (84.91, 85.20, 85.39),
        "cluster": (75.75, 76.08, 76.28),
        "mnist": (97.02, 97.14, 97.38),
        "cifar10": (69.96, 70.10, 70.21),
        "peptides-func": (62.93, 64.17, 64.33),
        "peptides-struct": (27.84, 26.88, 26.61),
    }.items()
}
#: How the table names what is meant.
PRINTED = {"peptides-func": "Peptides-struct", "peptides-struct": "Peptides-func ↓"}


#: Columns of the paper's table.
_MAIN = {NONE: "Performer", GRF: "+ GRF", GRF_PP: "+ GRF++"}
#: Errors below this are drawn as this.
_LEAST_ERROR = 1e-3
_PAIRS = ((GRF_PP, NONE), (GRF_PP, GRF), (GRF, NONE))
#: What the paper's table calls a data set whose targets are others here.
_QUOTED = {"peptides-struct": "Peptides-struct"}


def error_panels(rows: Rows) -> list[Panel]:
    """Errors with an encoding over those without, seed by seed, one chart a data set."""
    panels = []
    for name in claims.distinct(rows, "dataset"):
        own = claims.select(rows, dataset=name)
        without = _errors(own, NONE)
        curves = []
        for style, encoding in enumerate((GRF, GRF_PP)):
            ratios = {
                repeat: error / without[repeat]
                for repeat, error in _errors(own, encoding).items()
                if repeat in without
            }
            curves.append(_points(_MAIN[encoding], ratios, style))
        ends = [1, max(2, *(row["repeat"] + 1 for row in own))]
        curves.append(Curve("no difference", ends, [1.0, 1.0], (), 4, True))
        if name in PAPER:
            quoted = PAPER[name]
            missing = {e: v if TASKS[name].is_error else 100 - v for e, v in quoted.items()}
            ratio = missing[GRF_PP] / missing[NONE]
            curves.append(Curve("paper, + GRF++", ends, [ratio, ratio], (), 1, True))
        panels.append(_panel(name, own, curves, "error, relative to no encoding"))
    return panels


def all_error_panels(rows: Rows) -> list[Panel]:
    """Errors with every encoding, seed by seed, one chart a data set."""
    panels = []
    for name in claims.distinct(rows, "dataset"):
        own = claims.select(rows, dataset=name)
        curves = [
            _points(encoding, _errors(own, encoding), style)
            for style, encoding in enumerate(ENCODINGS)
        ]
        metric = TASKS[name].metric
        panels.append(
            _panel(name, own, curves, metric if TASKS[name].is_error else f"1 − {metric}")
        )
    return panels


def _errors(own: Rows, encoding: str) -> dict[int, float]:
    """What is missing of a perfect metric, by seed; never quite zero, so that it can divide."""
    return {
        row["repeat"]: max(
            row["test"] if TASKS[row["dataset"]].is_error else 1 - row["test"], _LEAST_ERROR
        )
        for row in claims.select(own, encoding=encoding)
    }


def _points(name: str, by_seed: dict[int, float], style: int) -> Curve:
    numbers = [repeat + 1 for repeat in by_seed]
    return Curve(name, numbers, list(by_seed.values()), (), style, joined=False)


def _panel(name: str, own: Rows, curves: Sequence[Curve], y_label: str) -> Panel:
    note = f"{own[0]['n_train']:,} graphs, {own[0]['n_test']:,} to test on"
    return claims.chart(TASKS[name].title, curves, "seed", y_label, note=note, log_x=False)


def paper_table(rows: Rows) -> Table:
    """The paper's columns, measured here and quoted."""
    measured = [
        [TASKS[name].title, _metric(name), *_cells(rows, name, tuple(_MAIN))]
        for name in claims.distinct(rows, "dataset")
    ]
    quoted = []
    for name, values in PAPER.items():
        title = _QUOTED.get(name, TASKS[name].title)
        if name in PRINTED:
            title += f" (printed as {PRINTED[name]})"
        quoted.append([title, _metric(name), *(f"{values[each]:.2f}" for each in _MAIN)])
    return Table(
        ["data", "metric", *_MAIN.values()],
        [
            TableGroup("measured here, small data and models", measured),
            TableGroup("quoted from the paper, not comparable", quoted),
        ],
        "Test metric in per cent, mean and standard error over the seeds. In the paper the "
        "rows of the two Peptides sets carry their names, and the arrow, the wrong way round; they "
        "are put right here. The targets of Peptides-struct are not at hand: those measured are "
        "shapes of other conformers, of small molecules, and not comparable.",
        words=(0, 1),
        wraps=(0, 1),
    )


def _metric(name: str) -> str:
    task = TASKS[name]
    return f"{task.metric} × 100, lower is better" if task.is_error else task.metric


def pairs_table(rows: Rows) -> Table:
    """Differences seed by seed, and whether they are more than chance."""
    return _differences_table(rows, _PAIRS)


def kinds_table(rows: Rows) -> Table:
    """As `pairs_table`, for encodings without random numbers against none."""
    return _differences_table(rows, [(each, NONE) for each in OURS])


def _differences_table(rows: Rows, pairs: Sequence[tuple[str, str]]) -> Table:
    groups = []
    for first, second in pairs:
        lines = [
            [
                TASKS[name].title,
                each.words(2, 100),
                f"{sum(value > 0 for value in each.values)} of {each.n}",
                "" if each.n < 2 else f"{each.p:.3f}",
                _quoted_gain(name, first, second),
            ]
            for name, each in differences(rows, first, second).items()
        ]
        titles = [_MAIN.get(each, f"+ {each}") for each in (first, second)]
        groups.append(TableGroup(" against ".join(titles), lines))
    return Table(
        ["data", "difference", "seeds above", "p", "paper"],
        groups,
        "Difference of the test metric in points, paired by seed, mean and standard error; of "
        "errors, by how much they are lower. p of a paired t-test.",
    )


def _quoted_gain(name: str, first: str, second: str) -> str:
    quoted = PAPER.get(name, {})
    if first not in quoted or second not in quoted:
        return ""
    gain = quoted[first] - quoted[second]
    return f"{-gain if TASKS[name].is_error else gain:+.2f}"


def reference_table(rows: Rows) -> Table:
    """All encodings beside each other."""
    present = [each for each in ENCODINGS if claims.select(rows, encoding=each)]
    lines = [
        [TASKS[name].title, *_cells(rows, name, present)]
        for name in claims.distinct(rows, "dataset")
    ]
    caption = (
        "Test metric in per cent (MAE × 100 of Peptides-struct, where less is better), mean and "
        "standard error over the seeds."
    )
    return claims.table(["data", *present], lines, caption)


def _cells(rows: Rows, name: str, encodings: Sequence[str]) -> list[str]:
    return [
        claims.mean_text(
            [100 * row["test"] for row in claims.select(rows, dataset=name, encoding=encoding)]
        )
        for encoding in encodings
    ]


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
    # Half a claim that is not significant leaves all of it open, unless the other half is wrong.
    undecided = Holds.OPEN in answers and Holds.NO not in answers
    facts = [words for _, words in found]
    return claims.verdict(paper, facts, Holds.OPEN if undecided else claims.worst(answers))


def judge_reference(rows: Rows) -> Verdict:
    """Whether GRF++ is better than random numbers that do not depend on the graph."""
    paper = "GRF++ generates highly effective positional node representations"
    holds, words = _compared(rows, NOISE)
    others = [_gain_words(differences(rows, GRF_PP, each), each) for each in (WALK, LAPLACIAN)]
    return claims.verdict(paper, [words, *filter(None, others)], holds)


def judge_kinds(rows: Rows) -> Verdict:
    """Whether an encoding without random numbers is above no encoding on most data sets."""
    paper = (
        "nothing of encodings without random numbers; our bar: at least one kind above no encoding "
        f"on {_MOST_SETS} of {len(TASKS)} data sets, in the mean of at least {_SEEDS} seeds"
    )
    facts, reached, complete = [], [], []
    for kind in OURS:
        found = differences(rows, kind, NONE)
        if words := _gain_words(found, NONE, kind):
            facts.append(words)
        reached.append(sum(each.mean > 0 for each in found.values()) >= _MOST_SETS)
        complete.append(sum(each.n >= _SEEDS for each in found.values()) == len(TASKS))
    if not any(complete):
        return claims.verdict(paper, facts, Holds.OPEN)
    is_reached = any(good and whole for good, whole in zip(reached, complete, strict=True))
    return claims.verdict(paper, facts, Holds.YES if is_reached else Holds.NO)


def _compared(rows: Rows, other: str) -> tuple[Holds, str]:
    found = differences(rows, GRF_PP, other)
    return holds(found), _gain_words(found, other) or f"nothing to compare with {_name(other)}"


def holds(found: Mapping[str, claims.Difference]) -> Holds:
    """Whether the first of two encodings is better everywhere.

    No: on some data set it is below by more than chance (allowing for their number), or it loses
    so many of all pairs. Yes: above on every data set, and it wins so many pairs. Within noise:
    above on most. Otherwise it is open, as with a single seed.
    """
    if min((each.n for each in found.values()), default=0) < 2:
        return Holds.OPEN
    opposite = {name: claims.Difference([-v for v in each.values]) for name, each in found.items()}
    if any(each.mean < 0 and each.p < claims.LEVEL / len(found) for each in found.values()):
        return Holds.NO
    if sign_test(opposite)[-1] < claims.LEVEL:
        return Holds.NO
    n_above = sum(each.mean > 0 for each in found.values())
    if n_above == len(found) and sign_test(found)[-1] < claims.LEVEL:
        return Holds.YES
    return Holds.NOISE if 2 * n_above > len(found) else Holds.OPEN


def _gain_words(found: Mapping[str, claims.Difference], other: str, first: str = GRF_PP) -> str:
    """How often, by how much in percentage points, and where not; significant ones are marked."""
    if not found:
        return ""
    n_above = sum(each.mean > 0 for each in found.values())
    n_won, n_pairs, p_value = sign_test(found)
    parts = ", ".join(
        f"{TASKS[name].title} {each.words(times=100)}{'*' if each.is_sure else ''}"
        for name, each in found.items()
    )
    any_sure = any(each.is_sure for each in found.values())
    sure = f"* p < {claims.LEVEL}" if any_sure else "none more than chance"
    return (
        f"{first} above {_name(other)} on {n_above} of {len(found)} data sets (points: {parts}; "
        f"{sure}), in {n_won} of {n_pairs} pairs (sign test p = {p_value:.2g})"
    )


def _name(encoding: str) -> str:
    return _NAMES.get(encoding, encoding)
