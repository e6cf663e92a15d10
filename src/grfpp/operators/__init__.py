"""`KernelOperator`: kernels without randomness, and the planner that picks how to multiply."""

from grfpp.operators.methods import METHODS
from grfpp.operators.operator import KernelOperator, kernel_operator
from grfpp.operators.problem import CostEstimate, Plan

__all__ = ["METHODS", "CostEstimate", "KernelOperator", "Plan", "kernel_operator"]
