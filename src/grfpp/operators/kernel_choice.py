"""`KernelChoice`: the kernel of estimators and commands, from parameters to an operator.

Estimators and commands take a graph, a normalisation and a scale; `grfpp.sample` and
`grfpp.kernel_operator` take the weight matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from grfpp._checks import one_of, positive
from grfpp.estimate import KernelEstimate
from grfpp.estimate.sampling import sample_estimate
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel, kernel_of
from grfpp.operators.methods import METHODS
from grfpp.operators.operator import KernelOperator, kernel_operator
from grfpp.operators.thresholds import PLANNED_TOL
from grfpp.options import WalkOptions
from grfpp.walks.planning import plan_walks


@dataclass(frozen=True, kw_only=True)
class KernelChoice:
    """A kernel of a graph's weights and the method that computes it, checked when it is made.

    Examples
    --------
    >>> import networkx as nx
    >>> choice = KernelChoice.of(kernel="diffusion:2", scale=0.64, seed=0)
    >>> choice.operator(nx.karate_club_graph())
    KernelEstimate(n_nodes=34, degree=2, kernel=Diffusion(lam=2.0))
    >>> KernelChoice.of(estimate="exact").operator(nx.karate_club_graph())
    KernelOperator(n_nodes=34, kernel=Diffusion(lam=1.0), method='dense')
    """

    #: A kernel, or how the command line writes it (`grfpp.kernels.kernel_of`).
    kernel: Kernel = "diffusion"  # type: ignore[assignment]  # a kernel once it is checked
    #: ``"walks"``, or ``"exact"``: no walks, and their options are not used.
    estimate: str = "walks"
    #: ``None`` follows `estimate`. ``"walks"`` is ``estimate="walks"``; ``"auto"`` lets the planner
    #: choose (`grfpp.kernel_operator`), and its methods can be asked for by name.
    method: str | None = None
    #: The weights of the kernel: ``scale · D^-1/2 A D^-1/2`` for ``"sym"``, ``scale · D^-1 A`` for
    #: ``"rw"``, ``scale · A`` for ``None``.
    scale: float = 1.0
    normalization: str | None = "sym"
    options: WalkOptions

    def __post_init__(self) -> None:
        one_of(self.estimate, "estimate", ("walks", "exact"))
        one_of(self.method, "method", (None, "auto", *METHODS))
        one_of(self.normalization, "normalization", ("sym", "rw", None))
        # A method decides whether there are walks, whatever `estimate` says.
        estimate = self.estimate
        if self.method is not None:
            estimate = "walks" if self.method == "walks" else "exact"
        object.__setattr__(self, "estimate", estimate)
        object.__setattr__(self, "kernel", kernel_of(self.kernel))
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    @classmethod
    def of(cls, **parameters: Any) -> Self:
        """A choice from its fields and those of `WalkOptions` as keywords."""
        names = parameters.keys() & {item.name for item in fields(WalkOptions)}
        options = WalkOptions(**{name: parameters.pop(name) for name in names})
        return cls(**parameters, options=options)

    @property
    def is_exact(self) -> bool:
        """Whether there are no walks."""
        return self.estimate == "exact"

    def weights(self, graph: Any) -> Graph:
        """The weight matrix ``W`` of which the kernel is a function."""
        kind: Any = self.normalization
        return as_graph(graph).normalized(kind, self.scale)

    def check(self, graph: Any) -> None:
        """Raise `InputError` for a graph that does not suit kernel or walks; nothing is sampled."""
        W = self.weights(graph)
        if self.is_exact:
            self.kernel.check_converges(W)
        else:
            self.options.check_direction(directed=W.is_directed)
            plan_walks(W, self.kernel, self.options)

    def operator(self, graph: Any, tol: float = PLANNED_TOL) -> KernelEstimate | KernelOperator:
        """The kernel of a graph, ready to multiply; to `tol` where the planner chooses."""
        W = self.weights(graph)
        if not self.is_exact:
            return sample_estimate(W, self.kernel, self.options)
        n_jobs = self.options.n_jobs
        if self.method is None:
            return KernelOperator.exact(W, self.kernel, n_jobs)
        return kernel_operator(
            W, self.kernel, tol, method=self.method, n_jobs=n_jobs, repeatable=True
        )


def method_used(K: KernelEstimate | KernelOperator) -> str:
    """How products with a kernel were computed, for the attribute `method_` of estimators.

    Examples
    --------
    >>> method_used(KernelChoice.of(estimate="exact").operator([[0, 1], [1, 0]]))
    'exact'
    """
    if isinstance(K, KernelEstimate):
        return "walks"
    if not K._runner.warn:
        return "exact"
    # Of small graphs the caller takes the whole matrix, without a product.
    return K.used or "dense: the whole matrix at once"
