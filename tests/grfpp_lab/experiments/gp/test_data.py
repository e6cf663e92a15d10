"""Functions on meshes to learn."""

import numpy as np
import pytest

from grfpp_lab.experiments.gp.data import problem


def test_data_are_draws_of_the_process():
    data = problem(3, seed=0)
    assert sorted([*data.train, *data.test]) == list(range(642))
    assert np.var(data.noisy - data.smooth) == pytest.approx(0.09, rel=0.2)
    assert np.array_equal(data.smooth, problem(3, seed=0).smooth)
    assert not np.array_equal(data.smooth, problem(3, seed=1).smooth)
