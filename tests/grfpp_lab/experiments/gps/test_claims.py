"""Encodings compared seed by seed."""

import numpy as np
import pytest
from scipy.stats import ttest_rel
from verdict_case import NO, NOISE, OPEN, YES, verdicts

from grfpp_lab.experiments.claims import Difference
from grfpp_lab.experiments.gps import claims, encodings
from grfpp_lab.experiments.gps import data as gps_data
from grfpp_lab.experiments.gps.encodings import ENCODINGS, GRF, GRF_PP, LAPLACIAN, NONE, OURS, WALK


def made_rows(gains, *, n_seeds=5, noise=0.002, seed=0):
    """Rows in which encodings have these gains over none, by data set."""
    rng = np.random.default_rng(seed)
    rows = []
    for dataset, by_encoding in gains.items():
        sign = -1 if gps_data.TASKS[dataset].is_error else 1
        for repeat in range(n_seeds):
            base = 0.6 + 0.05 * rng.normal()
            for encoding, gain in {NONE: 0.0, **by_encoding}.items():
                row = {"dataset": dataset, "encoding": encoding, "repeat": repeat}
                score = base + sign * gain + noise * rng.normal()
                rows.append({**row, "test": score, "n_train": 10, "n_test": 5})
    return rows


ALL = tuple(gps_data.TASKS)


def test_paired_tests_are_those_of_scipy():
    rows = made_rows({"mnist": {GRF_PP: 0.001}}, n_seeds=6)
    (found,) = claims.differences(rows, GRF_PP, NONE).values()
    columns = [[row["test"] for row in rows if row["encoding"] == e] for e in (GRF_PP, NONE)]
    expected = ttest_rel(*columns)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.mean / found.standard_error == pytest.approx(expected.statistic)
    assert claims.sign_test({"mnist": Difference([1.0] * 5)})[2] == pytest.approx(1 / 32)
    assert claims.sign_test({}) == (0, 0, 1.0)


def test_pairs_are_made_seed_by_seed_whatever_the_order():
    rows = made_rows({"mnist": {GRF: 0.01}, "pattern": {GRF: 0.02}})
    shuffled = [rows[number] for number in np.random.default_rng(0).permutation(len(rows))]
    found = claims.differences(rows, GRF, NONE)
    assert found.keys() == {"mnist", "pattern"}
    assert dict(sorted(claims.differences(shuffled, GRF, NONE).items())) == found
    lost = [row for row in rows if (row["encoding"], row["repeat"]) != (NONE, 2)]
    assert {each.n for each in claims.differences(lost, GRF, NONE).values()} == {4}


def same(gains, **others):
    """Rows with one set of gains on all data sets, but for some."""
    return made_rows({**dict.fromkeys(ALL, gains), **others})


TRUE, WORSE_THAN_GRF = {GRF: 0.01, GRF_PP: 0.03}, {GRF: 0.05, GRF_PP: 0.03}
WORSE_THAN_NONE = {GRF: -0.01, GRF_PP: -0.03}
HALF = made_rows({key: {GRF: 0.1, GRF_PP: 0.1} for key in ("mnist", "pattern")}, noise=0.0)
SMALL_GAINS = {
    "pattern": [0.01, -0.005, 0.004],
    "cluster": [0.02, -0.01, 0.001],
    "mnist": [-0.01, 0.008, 0.004],
}
CHANCE = [
    {"dataset": name, "encoding": encoding, "repeat": repeat, "test": test}
    for name, each in SMALL_GAINS.items()
    for repeat, gain in enumerate(each)
    for encoding, test in ((NONE, 0.5), (GRF, 0.5), (GRF_PP, 0.5 + gain))
]
SINGLE = made_rows(dict.fromkeys(ALL, TRUE), n_seeds=1)
OTHERS = {GRF_PP: 0.03, encodings.NOISE: 0.0, WALK: 0.05, LAPLACIAN: 0.01}


def kinds(*smooth, **options):
    """Kinds without random numbers are below none, but for smooth ones on some data sets."""
    gains = {name: dict.fromkeys(OURS, -0.03) for name in ALL}
    gains[ALL[5]][encodings.RETURN] = 0.03
    for place in smooth:
        gains[ALL[place]][encodings.SMOOTH] = 0.03
    return made_rows(gains, **options)


FIVE = [row for row in kinds(0, 1, 2) if row["dataset"] != ALL[5]]

test_verdicts = verdicts(
    [
        (claims.judge, same(TRUE), YES, "above no encoding on 6 of 6 data sets", "* p < 0.05"),
        (claims.judge, same(WORSE_THAN_GRF), NO, "GRF++ above GRF on 0 of 6"),
        (claims.judge, same(WORSE_THAN_NONE), NO, "above no encoding on 0 of 6 data sets"),
        # One data set where it is clearly worse is enough.
        (claims.judge, same(TRUE, mnist=WORSE_THAN_GRF), NO),
        (claims.judge, same(TRUE, mnist=WORSE_THAN_NONE), NO),
        (claims.judge, HALF, OPEN),
        (claims.judge, CHANCE, NOISE, "none more than chance"),
        (claims.judge, SINGLE, OPEN, " "),
        (claims.judge_reference, same(OTHERS), YES, "above random numbers on 6 of 6"),
        (claims.judge_reference, same(OTHERS), YES, "above random walk on 0 of 6"),
        (claims.judge_reference, same({GRF_PP: -0.02, encodings.NOISE: 0.02}), NO),
        # One kind has to be above none on four of six data sets.
        (claims.judge_kinds, kinds(), NO),
        (claims.judge_kinds, kinds(0, 1, 2), NO),
        (
            claims.judge_kinds,
            kinds(0, 1, 2, 5),
            YES,
            "smooth above no encoding on 4 of 6",
        ),
        (claims.judge_kinds, kinds(0, 1, 2, 5, n_seeds=2), OPEN),
        (claims.judge_kinds, FIVE, OPEN),
    ]
)


def test_gains_and_losses_of_all_data_sets_together():
    def holds(values):
        return claims.holds({name: Difference(each) for name, each in values.items()})

    assert claims.holds(claims.differences(HALF, GRF_PP, NONE)) is YES
    assert holds(SMALL_GAINS) is NOISE
    # The other way round nothing can be told: no loss is more than chance either.
    assert holds({name: [-v for v in each] for name, each in SMALL_GAINS.items()}) is OPEN
    # On no data set more than chance, but on all of them together.
    assert Difference([-0.01, -0.02, -0.001]).p > 0.05
    assert holds({key: [-0.01, -0.02, -0.001] for key in ALL}) is NO
    gains = {key: [0.01, 0.02, 0.001] for key in ALL}
    assert holds(gains) is YES
    assert holds({**gains, "mnist": [-0.01, 0.001, -0.001]}) is NOISE


def test_the_papers_table_is_quoted_and_put_right():
    rows = made_rows({name: {GRF: 0.01, GRF_PP: 0.03} for name in ALL})
    table = claims.paper_table(rows)
    measured, quoted = (group.rows for group in table.groups)
    assert [line[0] for line in measured] == [gps_data.TASKS[name].title for name in ALL]
    assert all("±" in cell for line in measured for cell in line[2:])
    peptides = next(line for line in quoted if line[0].startswith("Peptides-func"))
    assert peptides[0] == "Peptides-func (printed as Peptides-struct)"
    assert peptides[2:] == ["62.93", "64.17", "64.33"]
    assert claims.PAPER["pattern"] == {NONE: 84.91, GRF: 85.20, GRF_PP: 85.39}
    assert "wrong way round" in table.caption


def test_tables_and_charts_have_every_data_set_and_encoding():
    gains = {GRF: 0.01, GRF_PP: 0.03, WALK: 0.0, LAPLACIAN: 0.0, encodings.NOISE: 0.0}
    gains |= dict.fromkeys(OURS, 0.02)
    rows = made_rows(dict.fromkeys(ALL, gains), n_seeds=3)
    assert [len(group.rows) for group in claims.pairs_table(rows).groups] == [6, 6, 6]
    assert claims.pairs_table(rows).groups[0].rows[0][-1] == "+0.48"
    assert claims.pairs_table(rows).groups[0].rows[-1][-1] == "+1.23"  # of an error that falls
    assert [len(group.rows) for group in claims.kinds_table(rows).groups] == [6] * len(OURS)
    assert claims.kinds_table(rows).groups[1].rows[0][-1] == ""
    assert claims.reference_table(rows).columns == ["data", *ENCODINGS]
    panels = claims.error_panels(rows)
    assert [panel.title for panel in panels] == [gps_data.TASKS[name].title for name in ALL]
    assert all(len(panel.curves) == 4 for panel in panels)
    assert all(len(panel.curves) == len(ENCODINGS) for panel in claims.all_error_panels(rows))
    one = made_rows({"mnist": {GRF: 0.01, GRF_PP: 0.03}}, n_seeds=1)
    assert claims.pairs_table(one).groups[0].rows[0][3] == ""
    assert claims.error_panels(one)


@pytest.mark.parametrize(
    ("name", "ratio"),
    [("mnist", (100 - 97.38) / (100 - 97.02)), ("peptides-struct", 26.61 / 27.84)],
)
def test_charts_show_losses_too(name, ratio):
    rows = made_rows({name: {GRF: -0.1, GRF_PP: 0.1}}, n_seeds=3, noise=0.0)
    (panel,) = claims.error_panels(rows)
    worse, better, same, paper = panel.curves
    assert min(worse.y) > 1 > max(better.y)
    assert same.y == [1.0, 1.0]
    assert paper.y[0] == pytest.approx(ratio)
    assert claims.pairs_table(rows).groups[0].rows[0][1:3] == ["+10.00 ± 0.00", "3 of 3"]
    perfect = [{**row, "test": 1.0} for row in rows]
    assert all(
        y > 0 for each in claims.all_error_panels(perfect) for curve in each.curves for y in curve.y
    )


def test_an_error_is_shown_as_it_is():
    rows = made_rows({"peptides-struct": {GRF: -0.1, GRF_PP: 0.1}}, n_seeds=3, noise=0.0)
    measured, quoted = (group.rows for group in claims.paper_table(rows).groups)
    assert measured[0][1] == "MAE × 100, lower is better"
    assert quoted[-1][0] == "Peptides-struct (printed as Peptides-func ↓)"
