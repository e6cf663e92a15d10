"""Gaussian-process regression on the nodes of a graph: train, predict, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from grfpp.arguments import one_of, positive, whole
from grfpp.errors import InputError, InputWarning, shown, warn_user
from grfpp.graph import as_graph
from grfpp.imports.optional import require
from grfpp.torch.arguments import node_numbers
from grfpp.torch.gp.families import RegularizedLaplacianFamily
from grfpp.torch.gp.kernel import GRFKernel
from grfpp.torch.gp.likelihood import DenseLikelihood, IterativeLikelihood
from grfpp.torch.gp.node_kernel import NodeKernel
from grfpp.torch.gp.pathwise import Posterior, posterior_samples, target_numbers
from grfpp.torch.gp.search import RATIOS, search
from grfpp.torch.gp.solve_plan import WAYS, SolvePlan, plan_solves
from grfpp.torch.gp.training import by_adam, by_lbfgs
from grfpp.torch.kernels.modulation import DiffusionModulation, RegularizedLaplacianModulation

gpytorch = require("gpytorch")

#: Noise below this share of the targets' variance is not learned: gpytorch's own bound.
_LEAST_NOISE = 1e-4
#: Observed nodes whose mean variance tells where the size of the kernel begins, and those whose
#: likelihood is searched where there are too many for all.
_MOST_VARIANCES, _MOST_SEARCHED = 100, 1000
#: Targets that spread less or more than this leave no room for their squares.
_SMALLEST, _LARGEST = 1e-15, 1e15


class NodeGP(gpytorch.models.ExactGP):  # type: ignore[misc, name-defined]  # untyped base
    """A Gaussian process on nodes: constant mean, scaled graph kernel, Gaussian noise.

    ``NodeGP(nodes, targets, W)`` has the kernel ``exp(−λ L)``, ``L = I − W``, exactly, and `fit`
    learns λ, the size and the noise. `plan` tells how its linear systems are solved.

    It is an ordinary gpytorch ``ExactGP`` for the targets less their mean (`offset`), over their
    standard deviation (`scale`), so that training is the same for targets of any size. All that
    is named on this page is in the units of the targets: `noise`, `outputscale`, `mean` and
    `posterior`. What gpytorch calls by its own names is in standard units: ``likelihood.noise``,
    ``train_targets``, and its predictions, which ``model(nodes) * model.scale + model.offset``
    turns back after ``model.eval()``.

    Parameters
    ----------
    nodes, targets
        Where values were observed, and the values.
    kernel
        The weight matrix of a graph, usually ``graph.normalized("sym")``, for
        ``NodeKernel(W)``; a `NodeKernel`, for another family or another way to solve; a
        `GRFKernel`, for features of walks, whose number type the model takes; or any gpytorch
        kernel on nodes (then without `posterior`, and in the number type of the targets).
    noise, outputscale
        The variance of observations, and what the kernel is multiplied with, to begin with, both
        in squared units of the targets. A tenth of the targets' variance, and this variance over
        the kernel's mean variance at observed nodes, if not given. Noise is not learned below 1e-4
        of the targets' variance.
    method
        How linear systems are solved, where a weight matrix is given: ``"auto"`` by predicted cost,
        or ``"columns"``, ``"products"``, ``"features"`` (`SolvePlan`).

    Attributes
    ----------
    plan
        A `grfpp.torch.gp.solve_plan.SolvePlan`, where the kernel is a `NodeKernel` or was made from
        one; else ``None``.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.grid_2d_graph(8, 8)).normalized("sym")
    >>> row, column = torch.arange(64) // 8, torch.arange(64) % 8
    >>> y = 100 + torch.sin(row / 2) + torch.cos(column / 2)
    >>> model = NodeGP(torch.arange(0, 64, 2), y[::2], W)
    >>> losses = model.fit()
    >>> model.plan.how
    'columns'
    >>> found = model.posterior(torch.arange(1, 64, 2), seed=0)
    >>> bool((found.mean - y[1::2]).abs().mean() < 0.2)
    True
    """

    def __init__(
        self,
        nodes: Any,
        targets: Any,
        kernel: Any,
        *,
        noise: float | None = None,
        outputscale: float | None = None,
        method: str = "auto",
    ) -> None:
        one_of(method, "method", ("auto", *WAYS))
        if not isinstance(kernel, gpytorch.kernels.Kernel):
            kernel = _kernel_of_graph(kernel, method)
        elif method != "auto":
            raise InputError(
                f"method={method!r} is for weight matrices; a kernel brings its own way: "
                f"NodeKernel(W, how={method!r})"
            )
        # Also within others, such as sums.
        ours = (
            part.graph_kernel if isinstance(part, GRFKernel) else part
            for part in kernel.modules()
            if isinstance(part, GRFKernel | NodeKernel)
        )
        graph_kernel = next(ours, None)
        x = node_numbers(nodes) if graph_kernel is None else graph_kernel.nodes(nodes)
        if len(x) == 0:
            raise InputError("nodes must hold one node at least, found none")
        y = target_numbers(targets, len(x))
        offset, spread = _centre_and_spread(y)
        scale = spread or 1.0
        plan = None
        if isinstance(kernel, NodeKernel):
            plan = _plan(kernel, len(x))
            if plan.how == "features":
                kernel = _features_of(kernel)
                graph_kernel = kernel.graph_kernel
        dtype = y.dtype if y.dtype in (torch.float32, torch.float64) else torch.get_default_dtype()
        if isinstance(graph_kernel, NodeKernel):
            dtype = torch.float64
        elif graph_kernel is not None:
            dtype = graph_kernel.factors[0].amounts.dtype
        start = 0.1 if noise is None else positive(noise, "noise") / scale**2
        if start <= _LEAST_NOISE:
            raise InputError(
                f"noise must be above {_LEAST_NOISE:g} of the targets' variance {scale**2:.4g}, "
                f"that is above {_LEAST_NOISE * scale**2:.4g}, found {shown(noise)}"
            )
        size = None if outputscale is None else positive(outputscale, "outputscale") / scale**2
        likelihood = gpytorch.likelihoods.GaussianLikelihood(
            noise_constraint=gpytorch.constraints.GreaterThan(_LEAST_NOISE)
        )
        # What is left of targets that are all the same is rounding.
        standard = (y.double() - offset) / scale if spread else torch.zeros_like(y.double())
        super().__init__(x, standard.to(dtype), likelihood)
        self.offset, self.scale, self.plan = offset, scale, plan
        self._is_constant = spread == 0
        self._is_told = noise is not None, outputscale is not None
        self._is_searched = isinstance(kernel, NodeKernel) and kernel.is_searched
        self.mean_module = gpytorch.means.ConstantMean()
        # The size of a graph kernel is not known beforehand: steps of the optimiser multiply it.
        log_scale = gpytorch.constraints.Positive(transform=torch.exp, inv_transform=torch.log)
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel, outputscale_constraint=log_scale)
        self.to(dtype)
        if self._is_dense:
            kernel.prepare(x)
        # On the bound itself, where the parameter is infinite, nothing could be learned.
        likelihood.noise = max(start, 1.01 * _LEAST_NOISE)
        self.covar_module.outputscale = 1.0 / self._mean_variance() if size is None else size

    @property
    def _is_dense(self) -> bool:
        return self.plan is not None and self.plan.how == "columns"

    def _mean_variance(self) -> float:
        """The kernel's mean diagonal at observed nodes, or at some of them."""
        (x,) = self.train_inputs
        with torch.no_grad(), _unwarned(self.kernel):
            if self._is_dense:
                mean = float(self.kernel(x).to_dense().diagonal().mean())
            else:
                mean = float(self.kernel(x[_some_of(len(x), _MOST_VARIANCES)], diag=True).mean())
        return mean if 0 < mean < float("inf") else 1.0

    def forward(self, x: torch.Tensor) -> Any:
        """The prior at some nodes, in standard units."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    @property
    def kernel(self) -> Any:
        """The kernel that is scaled."""
        return self.covar_module.base_kernel

    @property
    def noise(self) -> float:
        """The variance of observations around the function."""
        return float(self.likelihood.noise.detach()) * self.scale**2

    @property
    def outputscale(self) -> float:
        """What the kernel is multiplied with."""
        return float(self.covar_module.outputscale.detach()) * self.scale**2

    @property
    def mean(self) -> float:
        """The constant mean."""
        return float(self.mean_module.constant.detach()) * self.scale + self.offset

    def fit(
        self,
        n_steps: int = 50,
        *,
        lr: float = 0.1,
        seed: int | None = None,
        n_probes: int = 10,
        tol: float = 0.01,
        progress: Callable[[int, float], None] = lambda step, loss: None,
    ) -> list[float]:
        """Maximise the marginal likelihood, until it stands still.

        The parameter of a `NodeKernel` is searched for first, on a grid, unless it was told where
        to start. With exact columns L-BFGS follows, until a step gains less than 0.01 nats; else
        Adam, until twenty losses are the same but for noise. One target, or targets that are all
        the same, say nothing of how much the function varies: then nothing is learned.

        Parameters
        ----------
        n_steps, lr
            How many steps at most, and how far each of Adam's goes.
        seed
            Of the probes that the determinant of large matrices is estimated with.
        n_probes, tol
            Their number, and the relative accuracy of the linear solves.
        progress
            Called after every step, with its number and its loss.

        Returns
        -------
        list of float
            The negative marginal log-likelihood of the targets in standard units, over the number
            of nodes, before every step.

        Warns
        -----
        InputWarning
            When nothing is learned.
        """
        steps, probes = whole(n_steps, "n_steps", 0), whole(n_probes, "n_probes", 1)
        rate, n_targets = positive(lr, "lr"), len(self.train_targets)
        self.train()
        self.likelihood.train()
        objective: Any = IterativeLikelihood(
            self.likelihood, self, n_probes=probes, tol=positive(tol, "tol")
        )
        if self._is_dense:
            objective = DenseLikelihood(self.likelihood, self)

        def loss() -> torch.Tensor:
            negative: torch.Tensor = -objective(self(*self.train_inputs), self.train_targets)
            return negative

        if self._is_constant:
            # The likelihood would grow without bound as the size goes to zero.
            warn_user(
                InputWarning(
                    f"{'one target says' if n_targets == 1 else 'targets that are all equal say'} "
                    "nothing of how much the function varies: nothing is learned, and deviations "
                    f"are those of noise={self.noise:.3g} and outputscale={self.outputscale:.3g}; "
                    "observe more nodes, or pass these two"
                ),
                InputWarning,
            )
            with torch.no_grad():
                return [float(loss())]
        parameters = [each for each in self.parameters() if each.requires_grad]
        shared: dict[str, Any] = {"n_steps": steps, "n_targets": n_targets, "progress": progress}
        if self._is_searched and steps:
            self._search()
        if self._is_dense:
            return by_lbfgs(loss, parameters, **shared)
        with torch.random.fork_rng(devices=[], enabled=seed is not None):
            if seed is not None:
                torch.manual_seed(whole(seed, "seed", 0))
            return by_adam(loss, parameters, lr=rate, **shared)

    def _search(self) -> None:
        """Begin where the likelihood is largest on a grid; once, so that training can go on."""
        self._is_searched = False
        kernel, (x,), y = self.kernel, self.train_inputs, self.train_targets
        if not self._is_dense:
            some = _some_of(len(x), _MOST_SEARCHED)
            x, y = x[some], y[some]
            kernel.prepare(x[:, 0])
        variance = self._mean_variance()
        noise = float(self.likelihood.noise.detach())
        size = float(self.covar_module.outputscale.detach()) * variance
        # What was told to begin with is not searched for.
        ratios = (noise / size,) if any(self._is_told) else RATIOS

        def matrix(number: float) -> torch.Tensor:
            kernel.set_parameter(number)
            found: torch.Tensor = kernel(x).to_dense()
            return found

        with torch.no_grad():
            start = search(matrix, y, kernel.bounds, ratios)
        kernel.set_parameter(start.number)
        if any(self._is_told):
            return
        self.covar_module.outputscale = start.outputscale
        self.likelihood.noise = max(start.noise, 1.01 * _LEAST_NOISE)
        self.mean_module.constant.data.fill_(start.mean)

    def posterior(
        self,
        nodes: Any = None,
        *,
        n_samples: int | None = None,
        tol: float = 1e-4,
        seed: int | None = None,
        std: str = "auto",
    ) -> Posterior:
        """Mean, standard deviation and samples at nodes, in the units of the targets.

        These are of the function without noise. An interval for a new observation has the variance
        ``posterior.std² + model.noise``.

        Parameters
        ----------
        nodes
            Where they are wanted; all nodes if not given.
        n_samples, tol, seed, std
            As for `grfpp.torch.posterior_samples`.
        """
        if not isinstance(self.kernel, GRFKernel | NodeKernel):
            raise InputError(
                "posterior needs a GRFKernel or a NodeKernel; use gpytorch's own way for others"
            )
        (x,) = self.train_inputs
        found = posterior_samples(
            self.kernel,
            x[:, 0],
            self.train_targets,
            nodes,
            noise=self.likelihood.noise.detach(),
            outputscale=self.covar_module.outputscale.detach(),
            mean=self.mean_module.constant.detach(),
            n_samples=n_samples,
            tol=tol,
            seed=seed,
            std=std,
            dense=None if self.plan is None else self._is_dense,
        )
        return Posterior(
            found.mean * self.scale + self.offset,
            found.std * self.scale,
            found.samples * self.scale + self.offset,
        )


def _some_of(n: int, most: int) -> torch.Tensor:
    """At most so many places of n, spread evenly."""
    return torch.linspace(0, n - 1, min(n, most), dtype=torch.float64).long()


@contextmanager
def _unwarned(kernel: Any) -> Iterator[None]:
    """Let walks keep what they say once for the line that trains."""
    walked = [part.graph_kernel for part in kernel.modules() if isinstance(part, GRFKernel)]
    said = [each._said_neglected for each in walked]
    for each in walked:
        each._said_neglected = True
    yield
    for each, before in zip(walked, said, strict=True):
        each._said_neglected = before


def _kernel_of_graph(source: Any, how: str) -> NodeKernel:
    """The default kernel of a graph; text would be the path of a file, or a name of a kernel."""
    if not isinstance(source, str | bytes):
        try:
            graph = as_graph(source)
        except InputError as error:
            why = f": {error}"
        else:
            return NodeKernel(graph, how=how)
    else:
        why = ""
    raise InputError(
        "kernel must be a GRFKernel or another of gpytorch, or a weight matrix such as "
        f"graph.normalized('sym'), found {shown(source)}{why}"
    )


def _plan(kernel: NodeKernel, n_observed: int) -> SolvePlan:
    graph, n_terms = kernel.graph, kernel.n_terms
    return plan_solves(graph.n_nodes, len(graph.indices), n_observed, n_terms, kernel.how)


def _features_of(kernel: NodeKernel) -> GRFKernel:
    """Walks for the same family."""
    number = float(kernel.parameter.detach())
    if isinstance(kernel.family, RegularizedLaplacianFamily):
        modulation = RegularizedLaplacianModulation(
            24, degree=4, power=kernel.family.power, sigma2=number, laplacian=True
        )
    else:
        modulation = DiffusionModulation(16, degree=4, lam=number, laplacian=True)
    return GRFKernel(kernel.graph, modulation, dtype=torch.float64, seed=0)


def _centre_and_spread(y: torch.Tensor) -> tuple[float, float]:
    """Mean and standard deviation; 0 for the latter where all numbers are the same."""
    numbers = y.double()
    offset = float(numbers.mean())
    scale = float((numbers - offset).pow(2).mean().sqrt())
    precision = torch.finfo(y.dtype if y.is_floating_point() else torch.float64).eps
    if scale <= precision * float(numbers.abs().max()):
        return offset, 0.0
    if not _SMALLEST < scale < _LARGEST:
        raise InputError(f"targets spread by {scale:.3g} around their mean: take other units")
    return offset, scale
