"""Verdicts on encodings."""

from laboratory.gps_rows import ALL, made_rows

from grfpp_lab.experiments.gps.encodings import (
    GRF,
    GRF_PP,
    LAPLACIAN,
    NOISE,
    NONE,
    OURS,
    RETURN,
    SMOOTH,
    WALK,
)
from grfpp_lab.experiments.gps.pairs import differences
from grfpp_lab.experiments.gps.verdicts import holds, judge, judge_kinds, judge_reference
from grfpp_lab.experiments.paired import Difference
from grfpp_lab.harness.experiment import Holds


def test_the_claim_holds_where_it_is_true():
    rows = made_rows({name: {GRF: 0.01, GRF_PP: 0.03} for name in ALL})
    verdict = judge(rows)
    assert verdict.holds is Holds.YES
    assert "GRF++ above no encoding on 6 of 6 data sets" in verdict.measured
    assert "* p < 0.05" in verdict.measured


def test_the_claim_does_not_hold_where_it_is_false():
    rows = made_rows({name: {GRF: -0.01, GRF_PP: -0.03} for name in ALL})
    verdict = judge(rows)
    assert verdict.holds is Holds.NO
    assert "GRF++ above no encoding on 0 of 6 data sets" in verdict.measured


def test_one_data_set_where_it_is_clearly_worse_is_enough():
    gains = {name: {GRF: 0.01, GRF_PP: 0.03} for name in ALL}
    gains["mnist"] = {GRF: 0.01, GRF_PP: -0.03}
    assert judge(made_rows(gains)).holds is Holds.NO


def test_better_than_none_but_not_than_grf_does_not_hold():
    rows = made_rows({name: {GRF: 0.05, GRF_PP: 0.03} for name in ALL})
    verdict = judge(rows)
    assert verdict.holds is Holds.NO
    assert "GRF++ above GRF on 0 of 6" in verdict.measured


def test_gains_within_noise_are_told_as_such():
    values = {
        "pattern": [0.01, -0.005, 0.004],
        "cluster": [0.02, -0.01, 0.001],
        "mnist": [-0.01, 0.008, 0.004],
    }
    found = {name: Difference(each) for name, each in values.items()}
    assert holds(found) is Holds.NOISE
    # The other way round nothing can be told: no loss is more than chance either.
    opposite = {name: Difference([-v for v in each]) for name, each in values.items()}
    assert holds(opposite) is Holds.OPEN
    rows = [
        {"dataset": name, "encoding": encoding, "repeat": repeat, "test": test}
        for name, each in values.items()
        for repeat, gain in enumerate(each)
        for encoding, test in ((NONE, 0.5), (GRF, 0.5), (GRF_PP, 0.5 + gain))
    ]
    verdict = judge(rows)
    assert verdict.holds is Holds.NOISE
    assert "none more than chance" in verdict.measured


def test_nothing_is_said_of_nothing():
    assert judge([]).holds is Holds.OPEN
    assert judge_reference([]).holds is Holds.OPEN
    single = made_rows({name: {GRF: 0.01, GRF_PP: 0.03} for name in ALL}, n_seeds=1)
    assert judge(single).holds is Holds.OPEN
    assert judge(single).measured


def test_many_small_losses_are_a_loss():
    """On no data set more than chance, but on all of them together."""
    losses = {name: Difference([-0.01, -0.02, -0.001]) for name in ALL}
    assert min(each.p for each in losses.values()) > 0.05
    assert holds(losses) is Holds.NO
    gains = {name: Difference([0.01, 0.02, 0.001]) for name in ALL}
    assert holds(gains) is Holds.YES
    assert holds({**gains, "mnist": Difference([-0.01, 0.001, -0.001])}) is Holds.NOISE


def test_half_a_claim_that_is_open_leaves_it_open():
    gains = {name: {GRF: 0.1, GRF_PP: 0.1} for name in ("mnist", "pattern")}
    rows = made_rows(gains, noise=0.0)
    assert judge(rows).holds is Holds.OPEN
    assert holds(differences(rows, GRF_PP, NONE)) is Holds.YES


def test_beside_other_encodings():
    gains = {GRF_PP: 0.03, NOISE: 0.0, WALK: 0.05, LAPLACIAN: 0.01}
    verdict = judge_reference(made_rows(dict.fromkeys(ALL, gains)))
    assert verdict.holds is Holds.YES
    assert "above random numbers on 6 of 6" in verdict.measured
    assert "above random walk on 0 of 6" in verdict.measured
    worse = judge_reference(made_rows({name: {GRF_PP: -0.02, NOISE: 0.02} for name in ALL}))
    assert worse.holds is Holds.NO


def test_one_kind_without_random_numbers_has_to_be_above_none_on_four_of_six():
    gains = {name: dict.fromkeys(OURS, -0.03) for name in ALL}
    assert judge_kinds(made_rows(gains)).holds is Holds.NO
    for name in ALL[:3]:
        gains[name] = {**gains[name], SMOOTH: 0.03}
    gains[ALL[5]] = {**gains[ALL[5]], RETURN: 0.03}
    assert judge_kinds(made_rows(gains)).holds is Holds.NO
    gains[ALL[5]] = {**gains[ALL[5]], SMOOTH: 0.03}
    verdict = judge_kinds(made_rows(gains))
    assert verdict.holds is Holds.YES
    assert "smooth above no encoding on 4 of 6 data sets" in verdict.measured
    assert judge_kinds(made_rows(gains, n_seeds=2)).holds is Holds.OPEN
    assert judge_kinds(made_rows({name: gains[name] for name in ALL[:5]})).holds is Holds.OPEN
    assert judge_kinds([]).holds is Holds.OPEN
