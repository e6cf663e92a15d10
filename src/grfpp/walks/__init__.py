"""The walk engine: from a plan to the sparse random matrix it describes."""

from grfpp.walks.lengths import LengthTable
from grfpp.walks.plan import WalkPlan
from grfpp.walks.sampler import sample_factor, sample_rows

__all__ = ["LengthTable", "WalkPlan", "sample_factor", "sample_rows"]
