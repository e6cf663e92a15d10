"""Gaussian-process regression on the nodes of a graph: `NodeGP`, and `NodeGPRegressor`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from grfpp._checks import one_of, positive, truth, whole
from grfpp._imports import require
from grfpp.errors import InputError, InputWarning, shown, warn_user
from grfpp.graph import as_graph
from grfpp.torch.arguments import node_indices
from grfpp.torch.gp.kernels import FAMILIES, GRFKernel, NodeKernel
from grfpp.torch.gp.posterior import Posterior, posterior_of, posterior_samples, target_values
from grfpp.torch.gp.process import SOLVERS, NodeProcess, node_plan
from grfpp.torch.gp.training import NodeLikelihood, by_adam
from grfpp.torch.kernels.modulation import DiffusionModulation, RegularizedLaplacianModulation

gpytorch = require("gpytorch")

#: Noise below this share of the targets' variance is not learned: gpytorch's own bound.
_MIN_NOISE = 1e-4
#: Largest number of observed nodes whose mean variance gives the initial size of the kernel: enough
#: for a value that training improves.
_MAX_VARIANCES = 100
#: Smallest standard deviation of targets: float32 holds the squares of larger ones.
_MIN_SPREAD = 1e-15
#: Largest standard deviation of targets: float32 holds the squares of smaller ones.
_MAX_SPREAD = 1e15


class NodeGP(gpytorch.models.ExactGP):  # type: ignore[misc, name-defined]  # untyped base
    """A Gaussian process on nodes: constant mean, scaled graph kernel, Gaussian noise.

    ``NodeGP(nodes, targets, W)`` has the kernel ``exp(−λ L)``, ``L = I − W``, exactly, and `fit`
    learns λ, the size and the noise. `plan` says how its linear systems are solved.

    It is an ordinary gpytorch ``ExactGP`` for the standardised targets: minus their mean
    (`offset`), divided by their standard deviation (`scale`). The names of this class are in the
    units of the targets: `noise`, `outputscale`, `mean` and `posterior`. gpytorch's names are in
    standard units: ``likelihood.noise``, ``train_targets``, and its predictions, which
    ``model(nodes) * model.scale + model.offset`` converts after ``model.eval()``.

    Parameters
    ----------
    nodes, targets
        The observed nodes, and the values there.
    kernel
        The weight matrix of a graph, usually ``graph.normalized("sym")``, for ``NodeKernel(W)``; a
        `NodeKernel`, for another family or method; a `GRFKernel`, for features of walks, whose
        number type the model takes; or any gpytorch kernel on nodes (then without `posterior`, and
        in the number type of the targets).
    noise, outputscale
        The initial variance of observations and factor of the kernel, both in squared units of the
        targets. If not given, a tenth of the targets' variance, and this variance divided by the
        kernel's mean variance at observed nodes. Noise is not learned below 1e-4 of the targets'
        variance.
    method
        How linear systems are solved if `kernel` is a weight matrix: ``"auto"`` by predicted cost,
        or ``"columns"``, ``"products"``, ``"precision"``, ``"features"``.

    Attributes
    ----------
    plan
        How linear systems are solved, if the kernel is a `NodeKernel` or was made from one; else
        ``None``.

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
    >>> posterior = model.posterior(torch.arange(1, 64, 2), seed=0)
    >>> bool((posterior.mean - y[1::2]).abs().mean() < 0.2)
    True

    References
    ----------
    Kondor and Lafferty, "Diffusion kernels on graphs and other discrete input spaces", 2002.
    Borovitskiy et al., "Matérn Gaussian processes on graphs", 2021.
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
        one_of(method, "method", ("auto", *SOLVERS))
        if not isinstance(kernel, gpytorch.kernels.Kernel):
            kernel = NodeKernel(kernel, how=method)
        elif method != "auto":
            advice = f"use NodeKernel(W, how={method!r})"
            raise InputError("is for weight matrices", argument="method", advice=advice)
        # Also within others, such as sums.
        parts = (part for part in kernel.modules() if isinstance(part, GRFKernel | NodeKernel))
        graph_kernel = next(parts, None)
        x = node_indices(nodes) if graph_kernel is None else graph_kernel.nodes(nodes)
        if len(x) == 0:
            raise InputError("must hold at least one node, found none", argument="nodes")
        y = target_values(targets, len(x))
        plan = None
        if isinstance(kernel, NodeKernel):
            plan = node_plan(kernel, len(x))
            if plan.how == "features":
                kernel = graph_kernel = _features_of(kernel)
        dtype = y.dtype if y.dtype in (torch.float32, torch.float64) else torch.get_default_dtype()
        if graph_kernel is not None:
            dtype = graph_kernel.like.dtype
        offset, spread = _centre_and_spread(y)
        scale = spread or 1.0
        initial_noise = 0.1 if noise is None else positive(noise, "noise") / scale**2
        size = None if outputscale is None else positive(outputscale, "outputscale") / scale**2
        if initial_noise <= _MIN_NOISE:
            bound = f"{_MIN_NOISE:g} of the targets' variance, that is {_MIN_NOISE * scale**2:.4g}"
            raise InputError(f"must be above {bound}, found {shown(noise)}", argument="noise")
        noise_constraint = gpytorch.constraints.GreaterThan(_MIN_NOISE)
        likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=noise_constraint)
        # If all targets are equal, their differences from the mean are rounding.
        standard = (y.double() - offset) / scale if spread else torch.zeros_like(y.double())
        super().__init__(x, standard.to(dtype), likelihood)
        self.offset, self.scale, self.plan = offset, scale, plan
        self._is_constant = spread == 0
        self._chosen: tuple[dict[str, float], NodeProcess | None] = {}, None
        self.mean_module = gpytorch.means.ConstantMean()
        # The size of a graph kernel may have any order of magnitude: its logarithm is learned.
        log_scale = gpytorch.constraints.Positive(transform=torch.exp, inv_transform=torch.log)
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel, outputscale_constraint=log_scale)
        self.to(dtype)
        # Not on the bound itself, where the raw parameter is infinite.
        likelihood.noise = max(initial_noise, 1.01 * _MIN_NOISE)
        self.covar_module.outputscale = 1 / self._mean_variance() if size is None else size

    def _mean_variance(self) -> float:
        """The kernel's mean diagonal at the observed nodes, or at a subset of many."""
        (x,) = self.train_inputs
        with torch.no_grad():
            mean = float(self.kernel(x[_spaced(len(x), _MAX_VARIANCES)], diag=True).mean())
        return mean if 0 < mean < float("inf") else 1.0

    def forward(self, x: Tensor) -> Any:
        """The prior at some nodes, in standard units."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    @property
    def kernel(self) -> Any:
        """The kernel that is scaled."""
        return self.covar_module.base_kernel

    @property
    def noise(self) -> float:
        """The variance of observations."""
        return float(self.likelihood.noise.detach()) * self.scale**2

    @property
    def outputscale(self) -> float:
        """The factor of the kernel."""
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
        """Maximise the marginal likelihood, until it is stationary.

        The parameters of a `NodeKernel` are those of highest posterior density under a weak prior,
        see `grfpp.gp.GraphGP`, whatever their initial values; until they are changed, `posterior`
        averages over those that the targets leave open. Other kernels are trained by Adam, until
        twenty losses differ by noise only. One target, or targets that are all equal, do not
        determine the variation of the function: then nothing is learned.

        Parameters
        ----------
        n_steps, lr
            The largest number of steps, and the learning rate of Adam.
        seed
            Of the probes that estimate the determinant of large matrices.
        n_probes, tol
            Their number, and the relative accuracy of the linear solves.
        progress
            Called after every step, with its index and its loss.

        Returns
        -------
        list of float
            The negative marginal log-likelihood of the standardised targets per node, before every
            step; of a `NodeKernel`, before and after the choice.

        Warns
        -----
        InputWarning
            When nothing is learned.
        """
        steps, n_targets = whole(n_steps, "n_steps", 0), len(self.train_targets)
        rate = positive(lr, "lr")
        settings: dict[str, Any] = {"n_probes": whole(n_probes, "n_probes", 1)}
        settings["tol"] = positive(tol, "tol")
        self.train()
        self.likelihood.train()
        is_exact = isinstance(self.kernel, NodeKernel)
        objective = NodeLikelihood(self.likelihood, self, **settings)

        def loss() -> Tensor:
            return -objective(self(*self.train_inputs), self.train_targets)

        if self._is_constant:
            # The likelihood would grow without bound as the size goes to zero.
            details: dict[str, Any] = {"noise": self.noise, "outputscale": self.outputscale}
            advice = "observe more nodes, or pass noise and outputscale"
            problem = "the targets are all equal, so nothing is learned"
            warn_user(InputWarning(problem, advice=advice, **details))
            if is_exact:
                return [self._loss()]
            with torch.no_grad():
                return [float(loss())]
        if steps == 0:
            return []
        if is_exact:
            before = self._loss()
            self._choose()
            losses = [before, self._loss()]
            progress(0, losses[-1])
            return losses
        parameters = [p for p in self.parameters() if p.requires_grad]
        with torch.random.fork_rng(devices=[], enabled=seed is not None):
            if seed is not None:
                torch.manual_seed(whole(seed, "seed", 0))
            return by_adam(loss, parameters, steps, n_targets, progress, rate)

    def _process_of(self, **given: float | None) -> NodeProcess:
        """The engine's process with the kernel of this model, conditioned on its targets."""
        (x,), y = self.train_inputs, self.train_targets
        process = NodeProcess.of(self.kernel, self.plan.how if self.plan else "auto", **given)
        return process.fit(x[:, 0].numpy(), y.double().numpy())

    def _parameter_values(self) -> dict[str, float]:
        """The parameters in standard units, as the engine calls them."""
        return {
            "width": float(self.kernel.parameter.detach()),
            "noise": float(self.likelihood.noise.detach()),
            "outputscale": float(self.covar_module.outputscale.detach()),
            "mean": float(self.mean_module.constant.detach()),
        }

    def _choose(self) -> None:
        """Set the parameters to those of highest posterior density."""
        process = self._process_of()
        self.kernel.set_parameter(process.width_)
        self.covar_module.outputscale = process.outputscale_
        self.likelihood.noise = max(process.noise_, 1.01 * _MIN_NOISE)
        self.mean_module.constant.data.fill_(process.mean_)
        self._chosen = self._parameter_values(), process

    def _conditioned(self) -> NodeProcess:
        """The process with the current parameters, or the average that `fit` has chosen."""
        values, process = self._chosen
        current = self._parameter_values()
        if process is None or values != current:
            process = self._process_of(**current)
            self._chosen = current, process
        return process

    def _loss(self) -> float:
        """The negative log-likelihood of the standardised targets per node."""
        process = self._process_of(**self._parameter_values())
        return -process.log_marginal_likelihood_ / len(self.train_targets)

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
            Nodes to predict; all nodes if not given.
        n_samples, tol, seed, std
            As for `grfpp.torch.posterior_samples`.
        """
        if not isinstance(self.kernel, GRFKernel | NodeKernel):
            raise InputError("must be a GRFKernel or a NodeKernel", argument="kernel")
        if isinstance(self.kernel, NodeKernel):
            draws: Any = {"n_samples": n_samples, "seed": seed, "std": std}
            mean, deviation, samples = posterior_of(
                self._conditioned(), self.kernel, nodes, **draws
            )
        else:
            (x,) = self.train_inputs
            mean, deviation, samples = posterior_samples(
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
            )
        scale, offset = self.scale, self.offset
        return Posterior(mean * scale + offset, deviation * scale, samples * scale + offset)


def _spaced(n: int, max_indices: int) -> Tensor:
    """At most `max_indices` of ``n`` indices, evenly spaced."""
    return torch.linspace(0, n - 1, min(n, max_indices), dtype=torch.float64).long()


def _features_of(kernel: NodeKernel) -> GRFKernel:
    """A kernel of the same family by features of walks."""
    options: dict[str, Any] = {FAMILIES[kernel.family].parameter: float(kernel.parameter.detach())}
    options |= {"degree": 4, "laplacian": True}
    if kernel.family == "diffusion":
        modulation: Any = DiffusionModulation(16, **options)
    else:
        modulation = RegularizedLaplacianModulation(24, power=kernel.power, **options)
    return GRFKernel(kernel.graph, modulation, dtype=torch.float64, seed=0)


def _centre_and_spread(y: Tensor) -> tuple[float, float]:
    """Mean and standard deviation; the latter is 0 if all numbers are equal."""
    numbers = y.double()
    offset = float(numbers.mean())
    spread = float((numbers - offset).pow(2).mean().sqrt())
    precision = torch.finfo(y.dtype if y.is_floating_point() else torch.float64).eps
    if spread <= precision * float(numbers.abs().max()):
        return offset, 0.0
    if not _MIN_SPREAD < spread < _MAX_SPREAD:
        problem = f"must have a standard deviation of 1e-15 to 1e15, found {spread:.3g}"
        raise InputError(problem, argument="targets", advice="use another unit")
    return offset, spread


@dataclass(eq=False, repr=False)
class NodeGPRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # untyped base
    """A Gaussian process on the nodes of a graph, as scikit-learn's ``GaussianProcessRegressor``.

    Samples are nodes of one graph, so that a split hides nodes.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes; its weights are normalised here:
        ``L = I − D^-1/2 A D^-1/2``.
    family, power, how, n_jobs
        As for `NodeKernel`.
    n_steps
        The largest number of training steps.
    random_state
        Seed of draws, if deviations come from draws.

    Attributes
    ----------
    model_
        The `NodeGP`, with `noise`, `outputscale`, `kernel` and `plan`.

    Examples
    --------
    >>> import networkx as nx
    >>> nodes = np.arange(64)
    >>> y = np.sin(nodes // 8 / 2) + np.cos(nodes % 8 / 2)
    >>> gp = NodeGPRegressor(nx.grid_2d_graph(8, 8)).fit(nodes[::2], y[::2])
    >>> gp.score(nodes[1::2], y[1::2]) > 0.9
    True
    >>> mean, std = gp.predict(nodes[1::2], return_std=True)

    References
    ----------
    Kondor and Lafferty, "Diffusion kernels on graphs and other discrete input spaces", 2002.
    Borovitskiy et al., "Matérn Gaussian processes on graphs", 2021.
    """

    graph: Any
    _: KW_ONLY
    family: str = "diffusion"
    power: float = 1.0
    how: str = "auto"
    n_steps: int = 50
    n_jobs: int = -1
    random_state: int | None = None

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> NodeGPRegressor:
        """Train on values at nodes, given by index or name, of shape ``(n,)`` or ``(n, 1)``."""
        W = as_graph(self.graph).normalized("sym")
        kernel = NodeKernel(W, self.family, power=self.power, how=self.how, n_jobs=self.n_jobs)
        self.model_ = NodeGP(_node_list(X), y, kernel)
        self.model_.fit(self.n_steps, seed=self.random_state)
        self.n_features_in_ = 1
        return self

    def predict(self, X: npt.ArrayLike, return_std: bool = False) -> Any:
        """The mean at nodes, and with `return_std` its standard deviation, without noise."""
        check_is_fitted(self)
        if not truth(return_std, "return_std"):
            # The mean does not depend on the samples, of which there must be two.
            posterior = self.model_.posterior(_node_list(X), n_samples=2, std="samples", seed=0)
            return posterior.mean.numpy()
        posterior = self.model_.posterior(_node_list(X), seed=self.random_state)
        return posterior.mean.numpy(), posterior.std.numpy()


def _node_list(X: Any) -> Any:
    """The nodes of an array with one column."""
    return X[:, 0] if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1 else X
