"""From a graph and what is chosen about its kernel to an operator that multiplies.

What tasks and torch modules share: they hold the graph as it came, a factor of its weights and a
normalisation, where `grfpp.sample` takes the weight matrix itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import InitVar, dataclass, fields
from typing import Any, Self

from grfpp.arguments import one_of, positive
from grfpp.errors import IN_PYTHON, InputError, Wording, shown, warn_user
from grfpp.estimate import KernelEstimate
from grfpp.exact_kernel import ExactKernel
from grfpp.graph import Graph, as_graph
from grfpp.kernels import Kernel, kernel_of
from grfpp.options import WalkOptions
from grfpp.planner import METHODS, KernelOperator, kernel_operator
from grfpp.sampling import sample_estimate
from grfpp.walks.planning import plan_walks

#: How right products are that the planner makes, unless told otherwise: those who iterate need
#: more digits than those who look at the numbers, and polynomials have them for a few more terms.
PLANNED_TOL = 1e-6
#: Remedies that have no parameter.
_NO_PARAMETER = ("factor", "truncate", "recompute", "float32")
#: How remedies are written where weights are chosen by `scale` and `normalization`.
_PARAMETERS: Wording = {
    **{name: words for name, words in IN_PYTHON.items() if name not in _NO_PARAMETER},
    "scale": lambda scale: f"use scale={scale:g}",
    "smaller weights": lambda why: f"{why}: use a smaller scale",
}


@dataclass(frozen=True, kw_only=True)
class KernelChoice:
    """Which kernel of a graph's weights, and how it is had; checked when it is made.

    Examples
    --------
    >>> import networkx as nx
    >>> choice = KernelChoice(kernel="diffusion:2", scale=0.64, options=WalkOptions(seed=0))
    >>> choice.operator(nx.karate_club_graph())
    KernelEstimate(n_nodes=34, degree=2)
    """

    #: A kernel, or how the command line writes it (`grfpp.kernels.kernel_of`).
    kernel: Kernel = "diffusion"  # type: ignore[assignment]  # a kernel once it is checked
    #: ``"walks"``, or ``"exact"``: no walks, and their options are not used.
    estimate: str = "walks"
    #: ``None`` for what `estimate` says. ``"auto"`` lets the planner choose how products are made
    #: (`grfpp.kernel_operator`), and its methods can be asked for by name; ``"walks"`` is
    #: ``estimate="walks"``.
    method: str | None = None
    #: The weights of the kernel: ``scale · D^-1/2 A D^-1/2`` for ``"sym"``, ``scale · D^-1 A`` for
    #: ``"rw"``, ``scale · A`` for ``None``.
    scale: float = 1.0
    normalization: str | None = "sym"
    #: Deprecated: the root of `scale`.
    sigma: InitVar[float | None] = None
    options: WalkOptions

    def __post_init__(self, sigma: float | None) -> None:
        kernel, is_exact = kernel_and_method(self.kernel, self.estimate)
        if self.method is not None:
            is_exact = one_of(self.method, "method", (None, "auto", *METHODS)) != "walks"
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "estimate", "exact" if is_exact else "walks")
        object.__setattr__(self, "scale", scale_of(self.scale, sigma))
        one_of(self.normalization, "normalization", ("sym", "rw", None))

    @classmethod
    def of(cls, **parameters: Any) -> Self:
        """The choice that these keywords ask for, those of `WalkOptions` among them."""
        names = parameters.keys() & {each.name for each in fields(WalkOptions)}
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
        """Refuse a graph that kernel and walks do not suit, before anything is walked."""
        W = self.weights(graph)
        with advice_by_parameters(self.normalization):
            if self.is_exact:
                self.kernel.check_converges(W)
            else:
                self.options.check_direction(directed=W.is_directed)
                plan_walks(W, self.kernel, self.options)

    def operator(self, graph: Any, tol: float = PLANNED_TOL) -> KernelEstimate | ExactKernel:
        """The kernel of a graph, ready to multiply; to `tol` where the planner chooses."""
        W = self.weights(graph)
        with advice_by_parameters(self.normalization):
            if self.is_exact and self.method is not None:
                n_jobs = self.options.n_jobs
                return kernel_operator(
                    W, self.kernel, tol, method=self.method, n_jobs=n_jobs, repeatable=True
                )
            if self.is_exact:
                return ExactKernel(W, self.kernel)
            return sample_estimate(W, self.kernel, self.options)


def how_made(K: KernelEstimate | ExactKernel) -> str:
    """How products with a kernel have been made, in words, for those who tell their users.

    Examples
    --------
    >>> how_made(KernelChoice.of(estimate="exact").operator([[0, 1], [1, 0]]))
    'exact'
    """
    if isinstance(K, KernelOperator):
        # Small graphs: whoever asked took the matrix, and no product was made.
        return K.used or "dense: the whole matrix at once"
    return "exact" if isinstance(K, ExactKernel) else "walks"


@contextmanager
def advice_by_parameters(normalization: str | None = "sym") -> Iterator[None]:
    """Let errors advise what can be done with `scale` and `normalization`."""
    wording = dict(_PARAMETERS)
    if normalization != "sym":
        wording["scale"] = lambda scale: f"use normalization='sym' with scale={scale:g}"
    try:
        yield
    except InputError as error:
        error.args = (error.worded(wording),)
        raise


def kernel_and_method(kernel: str | Kernel, estimate: str = "walks") -> tuple[Kernel, bool]:
    """The kernel, and whether it is wanted exactly, not estimated by walks.

    ``kernel="exact"`` is how ``estimate="exact"`` with the default kernel was once written.

    Examples
    --------
    >>> kernel_and_method("diffusion:2", "exact")
    (Diffusion(lam=2.0), True)
    """
    one_of(estimate, "estimate", ("walks", "exact"))
    if isinstance(kernel, str) and kernel == "exact":
        warn_user("kernel='exact' is now estimate='exact'", DeprecationWarning)
        return kernel_of("diffusion"), True
    return kernel_of(kernel), estimate == "exact"


def scale_of(scale: float, sigma: float | None) -> float:
    """`scale`, or the square of `sigma`, which is what it was once given by.

    Examples
    --------
    >>> scale_of(0.81, None)
    0.81
    """
    if sigma is None:
        return positive(scale, "scale")
    width = positive(sigma, "sigma")
    if not 1e-150 < width < 1e150:
        raise InputError(f"sigma must have a square that is a number, found {width:g}")
    warn_user(f"sigma={width:g} is now scale={width * width:g}, its square", DeprecationWarning)
    if scale != 1.0:
        raise InputError(f"scale={shown(scale)} and sigma={width:g} say the same: give scale alone")
    return width * width
