"""`sample` on a cluster."""

from __future__ import annotations

from typing import Any, Unpack, cast

from grfpp.distributed.backend import ClusterBackend
from grfpp.distributed.cluster import Cluster
from grfpp.distributed.estimate import DistributedEstimate
from grfpp.kernels import Kernel
from grfpp.options import Degree, MoreWalkKeywords, WalkOptions
from grfpp.sampling import sample_estimate
from grfpp.termination import Termination
from grfpp.walks.sampler import Progress


def sample(
    client: Any,
    W: Any,
    kernel: Kernel | str,
    degree: Degree = 2,
    n_walks: int = 16,
    termination: Termination | str | None = None,
    seed: int | None = None,
    *,
    progress: bool | Progress = False,
    **options: Unpack[MoreWalkKeywords],
) -> DistributedEstimate:
    """`grfpp.sample` on the workers of a Dask cluster, the same to the last bit.

    Parameters
    ----------
    client
        A ``distributed.Client``, not asynchronous, whose workers have this version of grfpp.
    W
        A `Graph`, or anything that `Graph` takes. One that is on disk is opened by the workers,
        under the same path; others are sent to them, once.
    kernel, degree, n_walks, termination, seed, options
        As for `grfpp.sample`. Factors stay on the workers: ``storage`` is not an option.
    progress
        ``True`` for a progress bar on the terminal, or a function that is called with the rows
        done and the rows to do.

    Returns
    -------
    DistributedEstimate
        A `KernelEstimate` whose factors lie on the workers until it is deleted, or the client
        closes.

    Raises
    ------
    InputError
        Where there are no workers, where some lack the package, its version or the graph's folder,
        and where the factors would not fit into their memory.
    """
    chosen = WalkOptions.of(
        without=("storage",),
        degree=degree,
        n_walks=n_walks,
        termination=termination,
        seed=seed,
        **options,
    )
    backend = ClusterBackend(Cluster(client))
    return cast(DistributedEstimate, sample_estimate(W, kernel, chosen, progress, backend))
