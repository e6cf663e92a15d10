"""The kernel that all estimators of this package share, from the same parameters.

Changing parameters is all it takes to compare methods: ``estimate="exact"`` for the kernel itself,
``degree=1`` for graph random features, ``degree=2`` and more for GRFs++.

Estimators are dataclasses: the constructor that `dataclass` writes has one keyword for each
parameter and only stores them, which is what scikit-learn asks for. Those about walks are the
fields of `grfpp.WalkOptions`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, make_dataclass
from typing import Any

import numpy as np

from grfpp.arguments import whole
from grfpp.estimate import KernelEstimate
from grfpp.exact_kernel import ExactKernel
from grfpp.kernels import Kernel
from grfpp.operators import KernelChoice
from grfpp.options import OF_ESTIMATES, WalkOptions

#: What not all estimators have a parameter for. `random_state` is their seed; lists of graphs are
#: not walked with one set of walks for all factors, and have estimates of their own.
_LEFT_OUT = {"seed", "dtype", "full_walks", "truncate", "on_infinite_variance", *OF_ESTIMATES}

WalkParameters: Any = make_dataclass(
    "WalkParameters",
    [(each.name, Any, each.default) for each in fields(WalkOptions) if each.name not in _LEFT_OUT],
    kw_only=True,
    eq=False,
    repr=False,
)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelParameters(WalkParameters):  # type: ignore[misc]  # made above
    """Which kernel, and how it is estimated; see `kernel_operator`."""

    kernel: str | Kernel = "diffusion"
    estimate: str = "walks"
    scale: float = 1.0
    sigma: float | None = None
    random_state: Any = None

    def _choose(self, **settled: Any) -> KernelChoice:
        """Check the parameters and settle the seed, as the first step of a fit.

        What is `settled` stands in for parameters that leave the choice to the estimator.
        """
        self._choice = kernel_choice(**{**self._kernel_parameters(), **settled})
        self.seed_ = self._choice.options.seed
        return self._choice

    def _kernel_parameters(self) -> dict[str, Any]:
        """What `kernel_choice` takes, by name."""
        names = (each.name for each in fields(OneGraphParameters))
        return {name: getattr(self, name) for name in names if hasattr(self, name)}


@dataclass(kw_only=True, eq=False, repr=False)
class OneGraphParameters(KernelParameters):
    """Those of estimators whose samples are the nodes of one graph."""

    normalization: str | None = "sym"
    reuse_walks: bool = False
    symmetrize: bool | None = None
    deflate: int | str = 0
    method: str | None = None


def kernel_operator(graph: Any, **parameters: Any) -> KernelEstimate | ExactKernel:
    """Make the kernel of a graph, estimated by walks or exact, ready to multiply.

    Parameters
    ----------
    graph
        A `Graph`, or anything that `Graph` takes; its own weights, not normalised ones.
    kernel
        A kernel, or how the command line writes it: ``"diffusion"``, ``"diffusion:2"``,
        ``"squared-diffusion"``, … (`grfpp.kernels.kernel_from_spec`).
    estimate
        ``"walks"``, or ``"exact"``: no walks, and the parameters about them are not used.
    method
        ``"auto"`` lets the planner choose how products are made, to six digits or more;
        ``"dense"``, ``"chebyshev"``, ``"lanczos"`` or ``"solve"`` asks for one of its methods. See
        `grfpp.kernel_operator`. ``None`` is what `estimate` says.
    scale
        Factor of the weights ``W = scale · D^-1/2 A D^-1/2``, as in `Graph.normalized`, so that
        ``"diffusion"`` is ``exp(scale · D^-1/2 A D^-1/2)``: diffusion for the time `scale`, up to a
        factor. It is the square of the paper's ``σ``, which is one of ``{.5, .6, .8}``.
    normalization
        ``"sym"`` for the above, ``"rw"`` for ``scale · D^-1 A``, ``None`` for ``scale · A``.
    random_state
        A whole number is the seed of the walks. ``None`` draws one; a numpy ``RandomState`` or
        ``Generator`` is asked for one.
    sigma
        Deprecated: the root of `scale`.
    **parameters
        `degree`, `n_walks`, `termination`, `reuse_walks`, `symmetrize`, `deflate`, `n_jobs` and
        other options about walks: see `grfpp.WalkOptions`. Degree 1 is the method of regular graph
        random features (GRFs). ``n_jobs=None`` is one thread.

    Returns
    -------
    KernelEstimate or ExactKernel
        Both are scipy ``LinearOperator``: ``K @ V``, ``K.T``; both have ``n_nodes``, ``rows()``,
        ``diagonal()``, ``toarray()``, ``features()``, ``project()`` and ``meta``.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.karate_club_graph()
    >>> kernel_operator(graph, scale=0.64, random_state=0)
    KernelEstimate(n_nodes=34, degree=2)
    >>> kernel_operator(graph, estimate="exact", scale=0.64)
    ExactKernel(n_nodes=34, kernel=Diffusion(lam=1.0))
    """
    return kernel_choice(**parameters).operator(graph)


def kernel_choice(
    random_state: Any = None, n_jobs: int | None = -1, **parameters: Any
) -> KernelChoice:
    """Check what `kernel_operator` takes."""
    n_jobs = 1 if n_jobs is None else n_jobs
    return KernelChoice.of(seed=seed_of(random_state), n_jobs=n_jobs, **parameters)


def seed_of(random_state: Any) -> Any:
    """The seed of the walks: a whole number, or ``None`` for one that is drawn."""
    if random_state is None:
        return None
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    return whole(random_state, "random_state", 0)
