import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from small_graphs import GRAPHS, karate

from grfpp import FixedLength, Geometric
from grfpp.walks import WalkPlan, sample_rows
from grfpp.walks.streams import factor_key


def test_a_plan_ends_where_law_or_modulation_does():
    short_law = WalkPlan.of(karate(), np.ones(50), FixedLength(4), n_walks=2, seed=0)
    assert len(short_law.modulation) == 5 and short_law.lengths.max_length == 4
    short_table = WalkPlan.of(karate(), np.ones(3), FixedLength(4), n_walks=2, seed=0)
    assert len(short_table.modulation) == 3 and short_table.lengths.max_length == 2


def test_deposits_are_modulation_over_survival_over_walks():
    f = np.array([1.0, -0.5, 0.25, 4.0])
    plan = WalkPlan.of(karate(), f, Geometric(0.5), n_walks=4, seed=0)
    assert_array_equal(plan.deposits, [0.25, -0.25, 0.25, 8.0])
    assert plan.expected_steps == 4 * (0.5 + 0.25 + 0.125)


def test_another_factor_has_other_streams_and_nothing_else():
    plan = WalkPlan.of(karate(), np.ones(5), Geometric(0.5), n_walks=4, seed=9)
    other = plan.with_factor(3)
    assert other.key == factor_key(9, 3) != plan.key == factor_key(9, 0)
    assert (
        other.graph is plan.graph and other.lengths is plan.lengths and other.layout is plan.layout
    )


def test_plans_do_not_change():
    plan = WalkPlan.of(karate(), np.ones(5), Geometric(0.5), n_walks=4, seed=9)
    with pytest.raises(FrozenInstanceError):
        plan.seed = 3


@pytest.mark.parametrize("name", ["weighted, sym", "unweighted, sym", "directed, None"])
def test_a_plan_that_travelled_gives_the_same_bits(name):
    plan = WalkPlan.of(GRAPHS[name], 0.7 ** np.arange(90), Geometric(0.2), 7, seed=5, factor=2)
    copy = pickle.loads(pickle.dumps(plan))
    rows = range(plan.graph.n_nodes)
    here, there = sample_rows(plan, rows), sample_rows(copy, rows)
    for part in ("indptr", "indices", "data"):
        assert_array_equal(getattr(here, part), getattr(there, part))
