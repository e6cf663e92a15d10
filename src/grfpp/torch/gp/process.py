"""`GraphGP` with the kernel of a `NodeKernel`, whose size and bounds are kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from grfpp.gp import GraphGP
from grfpp.gp.covariance import Family
from grfpp.gp.plan import GPPlan, plan_gp
from grfpp.gp.selection import variance_between
from grfpp.typing import FloatArray

#: Methods of `NodeGP`, and of the engine.
SOLVERS = {"columns": "columns", "precision": "precision", "products": "cg", "features": "auto"}
#: Products of features that training and a posterior take, and entries of a row of all factors.
_FEATURE_PRODUCTS = 13_000.0
_FEATURE_ENTRIES = 8 * 360
#: Ratio of the cost of exact methods to that of walks from which a process takes walks: walks have
#: an error, so they must be much cheaper.
_MIN_SPEEDUP = 4.0
#: Kernels of the engine by families of `NodeKernel`.
_KERNELS = {"diffusion": "diffusion", "regularized-laplacian": "matern"}


@dataclass(eq=False, repr=False)
class NodeProcess(GraphGP):
    """A Gaussian process whose outputscale is the factor of the kernel itself."""

    bounds: tuple[float, float] = (0.1, 1e4)

    @classmethod
    def of(cls, kernel: Any, how: str, **given: Any) -> NodeProcess:
        """The process of a `NodeKernel`, with the parameters that are given."""
        options: dict[str, Any] = {"power": kernel.power, "bounds": kernel.bounds}
        options |= {"normalization": None, "n_jobs": kernel.terms.n_threads}
        method = SOLVERS.get(how, "auto")
        return cls(kernel.graph, kernel=_KERNELS[kernel.family], method=method, **options, **given)

    def _width_bounds(self, family: Family) -> tuple[float, float]:
        return self.bounds

    def _unit(self, block: FloatArray) -> tuple[float, float]:
        return 1.0, variance_between(block)


def node_plan(kernel: Any, n_observed: int) -> GPPlan:
    """How the systems of a `NodeKernel` are solved; by features of walks where graphs are dense.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> from grfpp.torch import NodeKernel
    >>> node_plan(NodeKernel(grfpp.Graph(nx.cycle_graph(9)).normalized("sym")), 5).how
    'columns'
    """
    process = NodeProcess.of(kernel, kernel.how)
    plan = plan_gp(process.families(kernel.graph)[0], n_observed, process.method)
    if kernel.how != "auto":
        return replace(plan, how=kernel.how)
    n = kernel.graph.n_nodes
    work = _FEATURE_PRODUCTS * float(n * min(_FEATURE_ENTRIES, n))
    ratio = min(plan.work.values()) / work
    if ratio <= _MIN_SPEEDUP:
        return replace(plan, how="products") if plan.how == "cg" else plan
    reason = f"{ratio:.0f} times less work than exact methods"
    return replace(plan, how="features", work={**plan.work, "features": work}, reason=reason)
