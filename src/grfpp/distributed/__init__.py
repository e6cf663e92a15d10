"""Estimates on the workers of a Dask cluster, the same to the last bit as on one machine."""

from grfpp.distributed.estimate import DistributedEstimate, sample
from grfpp.distributed.local import rows, top_k
from grfpp.io.shards import load_features

__all__ = ["DistributedEstimate", "load_features", "rows", "sample", "top_k"]
