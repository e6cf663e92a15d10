"""Laws, kernels and graphs asked whether they suit each other."""

import warnings

from grfpp import InfiniteVarianceError, InversePower, TaylorKernel
from grfpp.walks import WalkPlan
from grfpp.walks.convergence import check_variance, modulation_table

INVERSE = InversePower(2)  # with weights of spectral radius 0.8: (I - 0.8 W)^-2
GAP = TaylorKernel([1.0] + [0.0] * 100 + [0.5])  # I + W^101 / 2


def plan_of(kernel, degree, law, graph):
    return WalkPlan.of(graph, modulation_table(kernel, degree, law), law, n_walks=4, seed=0)


def check(kernel, degree, law, graph, action="raise"):
    check_variance(kernel, degree, plan_of(kernel, degree, law, graph), law, action)


def accepted(kernel, degree, law, graph):
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*relative error of")  # finite all the same
            check(kernel, degree, law, graph)
    except InfiniteVarianceError:
        return False
    return True
