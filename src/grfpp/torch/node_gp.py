"""Gaussian-process regression on the nodes of a graph: train, predict, with intervals."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch

from grfpp.arguments import positive, whole
from grfpp.errors import InputError
from grfpp.torch.gp import GRFKernel
from grfpp.torch.optional import require
from grfpp.torch.pathwise import Posterior, posterior_samples

gpytorch = require("gpytorch")


class NodeGP(gpytorch.models.ExactGP):  # type: ignore[misc, name-defined]
    """A Gaussian process on nodes: constant mean, scaled graph kernel, Gaussian noise.

    It is an ordinary gpytorch ``ExactGP``; use it as such, or by `fit` and `posterior`, which
    choose what suits sparse features: no preconditioner, and no dense covariance.

    Parameters
    ----------
    nodes, targets
        Where values were observed, and the values.
    kernel
        A `GRFKernel`, or any gpytorch kernel on nodes (then without `posterior`).
    noise, outputscale
        The variance of observations, and what the kernel is multiplied with, to begin with.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.grid_2d_graph(8, 8)).normalized("sym")
    >>> row, column = torch.arange(64) // 8, torch.arange(64) % 8
    >>> y = torch.sin(row / 2) + torch.cos(column / 2)
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
        noise: float = 0.1,
        outputscale: float = 1.0,
    ) -> None:
        x, y = torch.as_tensor(nodes), torch.as_tensor(targets)
        if x.dim() != 1 or x.shape != y.shape or len(x) == 0:
            raise InputError(
                f"nodes and targets must be lists of equal length, found shapes {tuple(x.shape)} "
                f"and {tuple(y.shape)}"
            )
        if not bool(torch.isfinite(y).all()):
            raise InputError("targets must be finite numbers")
        likelihood = gpytorch.likelihoods.GaussianLikelihood()
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        # The size of a graph kernel is not known beforehand: steps of the optimiser multiply it.
        log_scale = gpytorch.constraints.Positive(transform=torch.exp, inv_transform=torch.log)
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel, outputscale_constraint=log_scale)
        self.to(y.dtype)
        likelihood.noise = positive(noise, "noise")
        self.covar_module.outputscale = positive(outputscale, "outputscale")

    def forward(self, x: torch.Tensor) -> Any:
        """The prior at some nodes."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    @property
    def kernel(self) -> Any:
        """The kernel that is scaled."""
        return self.covar_module.base_kernel

    def fit(
        self,
        n_steps: int = 50,
        *,
        lr: float = 0.1,
        seed: int | None = None,
        n_probes: int = 10,
        tol: float = 1.0,
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
            Their number, and the accuracy of conjugate gradients: gpytorch's defaults.
        progress
            Called after every step, with its number and its loss.

        Returns
        -------
        list of float
            The negative marginal log-likelihood, over the number of nodes, before every step.
        """
        steps, probes = whole(n_steps, "n_steps", 0), whole(n_probes, "n_probes", 1)
        self.train()
        self.likelihood.train()
        objective = gpytorch.mlls.ExactMarginalLogLikelihood(self.likelihood, self)
        optimiser = torch.optim.Adam(self.parameters(), lr=positive(lr, "lr"))
        losses = []
        with ExitStack() as stack:
            # Columns of a preconditioner would be dense, and its diagonal costs more than it saves.
            stack.enter_context(gpytorch.settings.max_preconditioner_size(0))
            stack.enter_context(gpytorch.settings.num_trace_samples(probes))
            stack.enter_context(gpytorch.settings.cg_tolerance(positive(tol, "tol")))
            stack.enter_context(torch.random.fork_rng(devices=[], enabled=seed is not None))
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

    def posterior(self, nodes: Any = None, **options: Any) -> Posterior:
        """Mean, standard deviation and samples at nodes; see `posterior_samples` for options.

        These are of the function without noise. An interval for a new observation has the variance
        ``posterior.std² + model.likelihood.noise``.
        """
        if not isinstance(self.kernel, GRFKernel):
            raise InputError("posterior needs a GRFKernel; use gpytorch's own way for others")
        (x,) = self.train_inputs
        return posterior_samples(
            self.kernel,
            x[:, 0],
            self.train_targets,
            nodes,
            noise=self.likelihood.noise.detach(),
            outputscale=self.covar_module.outputscale.detach(),
            mean=self.mean_module.constant.detach(),
            **options,
        )
