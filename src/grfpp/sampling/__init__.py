"""From a graph, a kernel and options about walks to a kernel estimate."""

from grfpp.sampling.request import sample, sample_estimate

__all__ = ["sample", "sample_estimate"]
