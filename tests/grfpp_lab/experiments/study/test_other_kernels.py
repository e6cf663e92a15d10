"""Verdicts on other kernels."""

from functools import partial

import pytest
from laboratory.error_rows import as_paper, error_rows

from grfpp_lab.experiments.study import other_kernels
from grfpp_lab.harness.experiment import Holds


@pytest.mark.parametrize("kernel", other_kernels.KERNELS)
def test_other_kernels(kernel):
    others = [
        row
        for other in other_kernels.KERNELS
        if other != kernel
        for row in error_rows(lambda graph, degree, n_walks: degree, (1, 2), kernel=other)
    ]
    judge = partial(other_kernels.judge, kernel)
    assert judge(others + error_rows(as_paper, (1, 2), kernel=kernel)).holds is Holds.YES
    worse = error_rows(lambda graph, degree, n_walks: 0.1 * degree, (1, 2), kernel=kernel)
    assert judge(others + worse).holds is Holds.NO
    assert judge(others).holds is Holds.OPEN
    assert other_kernels.KERNELS[kernel] in judge(others).paper
