"""Accuracies from rows of single folds."""

import pytest
from laboratory.classification_rows import rows_of

from grfpp_lab.experiments.classification.scores import GRF, scores


def test_the_choice_among_walks_is_made_by_the_other_folds():
    few = rows_of("MUTAG", GRF, 90, n_walks=4, inner=0.4)
    many = rows_of("MUTAG", GRF, 70, n_walks=16, inner=0.6)
    assert scores([*few, *many], method=GRF).mean == pytest.approx(70)
    assert scores([*few, *many], n_walks=4).mean == pytest.approx(90)
    assert scores([], method=GRF) is None
    gap = scores(few).above(scores(many))
    assert (gap.mean, gap.standard_error) == (pytest.approx(20), pytest.approx(0, abs=1e-9))
