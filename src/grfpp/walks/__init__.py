"""The walk engine: from a plan to the sparse random matrix it describes."""

from grfpp.walks.plan import LengthTable, WalkPlan
from grfpp.walks.sampling import sample_factor, sample_rows

__all__ = ["LengthTable", "WalkPlan", "sample_factor", "sample_rows"]
