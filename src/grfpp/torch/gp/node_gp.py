"""Gaussian-process regression on the nodes of a graph: train, predict, with intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grfpp.arguments import positive, whole
from grfpp.errors import InputError, shown
from grfpp.imports.optional import require
from grfpp.torch.arguments import node_numbers
from grfpp.torch.gp.kernel import GRFKernel
from grfpp.torch.gp.likelihood import IterativeLikelihood
from grfpp.torch.gp.pathwise import Posterior, posterior_samples, target_numbers

gpytorch = require("gpytorch")

#: Noise below this share of the targets' variance is not learned: gpytorch's own bound.
_LEAST_NOISE = 1e-4
#: Targets that spread less or more than this leave no room for their squares.
_SMALLEST, _LARGEST = 1e-15, 1e15


class NodeGP(gpytorch.models.ExactGP):  # type: ignore[misc, name-defined]  # untyped base
    """A Gaussian process on nodes: constant mean, scaled graph kernel, Gaussian noise.

    It is an ordinary gpytorch ``ExactGP`` for the targets less their mean (`offset`), over their
    standard deviation (`scale`), so that training is the same for targets of any size. All that
    is named on this page is in the units of the targets: `noise`, `outputscale`, `mean` and
    `posterior`. What gpytorch calls by its own names is in standard units: ``likelihood.noise``,
    ``train_targets``, and its predictions, which ``model(nodes) * model.scale + model.offset``
    turns back after ``model.eval()``.

    `fit` and `posterior` choose what suits sparse features: no preconditioner, and no dense
    covariance.

    Parameters
    ----------
    nodes, targets
        Where values were observed, and the values.
    kernel
        A `GRFKernel`, whose number type the model takes, or any gpytorch kernel on nodes (then
        without `posterior`, and in the number type of the targets).
    noise, outputscale
        The variance of observations, and what the kernel is multiplied with, to begin with, both
        in squared units of the targets. A tenth of the targets' variance, and this variance, if
        not given. Noise is not learned below 1e-4 of this variance.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.grid_2d_graph(8, 8)).normalized("sym")
    >>> row, column = torch.arange(64) // 8, torch.arange(64) % 8
    >>> y = 100 + torch.sin(row / 2) + torch.cos(column / 2)
    >>> model = NodeGP(torch.arange(0, 64, 2), y[::2], GRFKernel(W, seed=0))
    >>> losses = model.fit(30)
    >>> losses[-1] < losses[0]
    True
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
    ) -> None:
        if not isinstance(kernel, gpytorch.kernels.Kernel):
            raise InputError(
                f"kernel must be a GRFKernel or another of gpytorch, found {shown(kernel)}"
            )
        # Also within others, such as sums.
        ours = (part.graph_kernel for part in kernel.modules() if isinstance(part, GRFKernel))
        graph_kernel = next(ours, None)
        x = node_numbers(nodes) if graph_kernel is None else graph_kernel.nodes(nodes)
        if len(x) == 0:
            raise InputError("nodes must hold one node at least, found none")
        y = target_numbers(targets, len(x))
        offset, scale = _centre_and_spread(y)
        dtype = y.dtype if y.dtype in (torch.float32, torch.float64) else torch.get_default_dtype()
        if graph_kernel is not None:
            dtype = graph_kernel.factors[0].amounts.dtype
        start = 0.1 if noise is None else positive(noise, "noise") / scale**2
        if start <= _LEAST_NOISE:
            raise InputError(
                f"noise must be above {_LEAST_NOISE:g} of the targets' variance {scale**2:.4g}, "
                f"that is above {_LEAST_NOISE * scale**2:.4g}, found {shown(noise)}"
            )
        size = 1.0 if outputscale is None else positive(outputscale, "outputscale") / scale**2
        likelihood = gpytorch.likelihoods.GaussianLikelihood(
            noise_constraint=gpytorch.constraints.GreaterThan(_LEAST_NOISE)
        )
        super().__init__(x, ((y.double() - offset) / scale).to(dtype), likelihood)
        self.offset, self.scale = offset, scale
        self.mean_module = gpytorch.means.ConstantMean()
        # The size of a graph kernel is not known beforehand: steps of the optimiser multiply it.
        log_scale = gpytorch.constraints.Positive(transform=torch.exp, inv_transform=torch.log)
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel, outputscale_constraint=log_scale)
        self.to(dtype)
        # On the bound itself, where the parameter is infinite, nothing could be learned.
        likelihood.noise = max(start, 1.01 * _LEAST_NOISE)
        self.covar_module.outputscale = size

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
        """Maximise the marginal likelihood by Adam.

        Parameters
        ----------
        n_steps, lr
            How many steps, and how far each goes.
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
        """
        steps, probes = whole(n_steps, "n_steps", 0), whole(n_probes, "n_probes", 1)
        self.train()
        self.likelihood.train()
        objective = IterativeLikelihood(
            self.likelihood, self, n_probes=probes, tol=positive(tol, "tol")
        )
        optimiser = torch.optim.Adam(self.parameters(), lr=positive(lr, "lr"))
        losses = []
        with torch.random.fork_rng(devices=[], enabled=seed is not None):
            if seed is not None:
                torch.manual_seed(whole(seed, "seed", 0))
            for step in range(steps):
                optimiser.zero_grad()
                loss = -objective(self(*self.train_inputs), self.train_targets)
                loss.backward()
                optimiser.step()
                losses.append(float(loss.detach()))
                progress(step, losses[-1])
        return losses

    def posterior(
        self,
        nodes: Any = None,
        *,
        n_samples: int = 64,
        tol: float = 1e-4,
        seed: int | None = None,
    ) -> Posterior:
        """Mean, standard deviation and samples at nodes, in the units of the targets.

        These are of the function without noise. An interval for a new observation has the variance
        ``posterior.std² + model.noise``.

        Parameters
        ----------
        nodes
            Where they are wanted; all nodes if not given.
        n_samples, tol, seed
            As for `grfpp.torch.posterior_samples`.
        """
        if not isinstance(self.kernel, GRFKernel):
            raise InputError("posterior needs a GRFKernel; use gpytorch's own way for others")
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
        )
        return Posterior(
            found.mean * self.scale + self.offset,
            found.std * self.scale,
            found.samples * self.scale + self.offset,
        )


def _centre_and_spread(y: torch.Tensor) -> tuple[float, float]:
    """Mean and standard deviation; 1 for the latter where all numbers are the same."""
    numbers = y.double()
    offset = float(numbers.mean())
    scale = float((numbers - offset).pow(2).mean().sqrt())
    precision = torch.finfo(y.dtype if y.is_floating_point() else torch.float64).eps
    if scale <= precision * float(numbers.abs().max()):
        return offset, 1.0
    if not _SMALLEST < scale < _LARGEST:
        raise InputError(f"targets spread by {scale:.3g} around their mean: take other units")
    return offset, scale
