"""Rows, entries and blocks of a kernel, at a cost that does not grow with the graph."""

from grfpp.local.kernel import LocalKernel
from grfpp.local.plan import LocalPlan
from grfpp.local.queries import local_rows, local_top_k, pool_rows
from grfpp.local.seeds import Seeds
from grfpp.local.submatrix import sample_submatrix

__all__ = [
    "LocalKernel",
    "LocalPlan",
    "Seeds",
    "local_rows",
    "local_top_k",
    "pool_rows",
    "sample_submatrix",
]
