"""The planner: which of several ways to multiply with a kernel takes least time."""

from grfpp.planner.methods import METHODS
from grfpp.planner.operator import KernelOperator, kernel_operator
from grfpp.planner.plan import Offer, Plan

__all__ = ["METHODS", "KernelOperator", "Offer", "Plan", "kernel_operator"]
