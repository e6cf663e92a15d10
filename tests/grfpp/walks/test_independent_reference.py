import numpy as np
import pytest
from numpy.testing import assert_allclose

from grfpp import FixedLength, Geometric, Graph, UniformLength
from grfpp.walks import WalkPlan
from grfpp.walks.reference import draw_length, feature_vector, reference_rows
from grfpp.walks.streams import walk_state

MODULATION = np.array([1.0, -0.5, 0.25, 2.0, 0.125])


def cycle(weights):
    n = len(weights)
    matrix = np.zeros((n, n))
    matrix[np.arange(n), (np.arange(n) + 1) % n] = weights
    return matrix


def series(matrix, coefficients):
    return sum(f * np.linalg.matrix_power(matrix, k) for k, f in enumerate(coefficients))


@pytest.mark.parametrize(
    ("matrix", "law"),
    [
        # One way out of every node: nothing is random, so the deposit at k = s must be there too.
        (cycle([0.5, 2.0, 1.0, 3.0]), FixedLength(4)),
        (np.diag([2.0, 3.0], 1), FixedLength(4)),  # a dead end: nothing is lost
        (np.zeros((2, 2)), Geometric(0.1)),  # isolated nodes keep their first deposits
    ],
)
def test_without_a_choice_a_walk_gives_the_series_itself(matrix, law):
    plan = WalkPlan.of(Graph(matrix), MODULATION, law, n_walks=3, seed=0)
    rows = reference_rows(plan, range(len(matrix)))
    assert_allclose(rows, series(matrix, MODULATION), rtol=1e-14)


def test_every_length_up_to_the_drawn_one_is_deposited_over_its_survival():
    matrix = cycle([0.5, 2.0, 1.0, 3.0, 0.1])
    plan = WalkPlan.of(Graph(matrix), MODULATION, UniformLength(4), n_walks=1, seed=8)
    lengths = set()
    for start in range(5):
        length = draw_length(plan, walk_state(plan.key, start, 0))
        lengths.add(length)
        weights = MODULATION / UniformLength(4).survival(np.arange(5))
        wanted = series(matrix, weights[: length + 1])[start]
        assert_allclose(feature_vector(plan, start), wanted, rtol=1e-12)
    assert len(lengths) > 1
