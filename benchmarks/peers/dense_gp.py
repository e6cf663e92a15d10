"""Exact Gaussian processes on nodes: gpytorch with all eigenvectors, and GeometricKernels."""

from __future__ import annotations

import math
from importlib import import_module
from importlib.metadata import version
from typing import Any

import gpytorch
import numpy as np
import torch
from common import processor_seconds, read_graph


class Diffusion(gpytorch.kernels.Kernel):
    """``exp(−t L)`` with the normalised Laplacian, from all its eigenvectors."""

    def __init__(self, W: np.ndarray) -> None:
        super().__init__()
        values, vectors = np.linalg.eigh(W)
        self.gaps, self.vectors = torch.from_numpy(1 - values), torch.from_numpy(vectors)
        self.raw_time = torch.nn.Parameter(torch.tensor(math.log(10.0)).double())

    def forward(self, x1: Any, x2: Any, diag: bool = False, **params: Any) -> Any:
        """Entries between two lists of nodes, over the mean of the diagonal."""
        left, right = (self.vectors[x[:, 0].long()] for x in (x1, x2))
        weights = torch.exp(-self.raw_time.exp() * self.gaps)
        left = left * (weights / weights.mean())
        return (left * right).sum(1) if diag else left @ right.T


def matern(W: np.ndarray) -> Any:
    """The graph Matérn kernel of GeometricKernels, with all its levels."""
    import_module("geometric_kernels.torch")  # makes torch its backend
    from geometric_kernels.frontends.gpytorch import GPyTorchGeometricKernel
    from geometric_kernels.kernels import MaternGeometricKernel
    from geometric_kernels.spaces import Graph

    space = Graph(torch.from_numpy(W), normalize_laplacian=True)
    kernel = MaternGeometricKernel(space, num=len(W))
    return GPyTorchGeometricKernel(kernel, nu=2.0, lengthscale=5.0)


class Model(gpytorch.models.ExactGP):
    """A constant mean, and a scaled kernel."""

    def __init__(self, x: Any, y: Any, likelihood: Any, kernel: Any) -> None:
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

    def forward(self, x: Any) -> Any:
        """The prior at some nodes."""
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Train and predict; `kernel` is ``"diffusion"`` or ``"GeometricKernels"``."""
    torch.set_num_threads(request["threads"])
    torch.manual_seed(request["seed"])
    graph = read_graph(request["graph"])
    n = graph.n_nodes
    A = np.zeros((n, n))
    A[np.repeat(np.arange(n), np.diff(graph.indptr)), graph.indices] = graph.weights
    with np.load(request["data"]) as data:
        train, targets, test = (data[name] for name in ("train", "targets", "test"))
    offset, scale = targets.mean(), targets.std() or 1.0
    x, y = torch.from_numpy(train)[:, None], torch.from_numpy((targets - offset) / scale)
    began = processor_seconds()
    if request["kernel"] == "diffusion":
        roots = np.sqrt(A.sum(axis=1))
        kernel = Diffusion(A / np.outer(roots, roots))
    else:
        kernel = matern(A)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(x, y, likelihood, kernel).double()
    likelihood.noise = 0.1
    model.train()
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimiser = torch.optim.Adam(model.parameters(), lr=request["lr"])
    with gpytorch.settings.max_cholesky_size(n):
        for _ in range(request["n_steps"]):
            optimiser.zero_grad()
            loss = -objective(model(x), y)
            loss.backward()
            optimiser.step()
        model.eval()
        with torch.no_grad():
            found = model(torch.from_numpy(test)[:, None])
            mean, variance = found.mean.numpy(), found.variance.numpy()
    seconds = processor_seconds() - began
    np.savez(request["answer"], mean=offset + scale * mean, variance=scale**2 * variance)
    return {"version": version("gpytorch"), "seconds": seconds, "noise": likelihood.noise.item()}
