"""Posterior of a Gaussian process on a large graph, by conditioning whole sample paths."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from grfpp.arguments import finite, one_of, positive, truth, whole
from grfpp.errors import InputError, shown
from grfpp.memory import require_bytes
from grfpp.options import drawn_seed
from grfpp.torch.gp.conjugate_gradients import solve
from grfpp.torch.gp.exact_posterior import ExactConditioning
from grfpp.torch.kernels.learnable import LearnableKernel

#: Up to so many observed nodes a matrix between them is factorised unless told otherwise.
_MOST_DENSE = 2000
#: Draws unless told otherwise: of walks, and of exact kernels.
_SAMPLES, _SAMPLES_EXACT = 64, 256


class Posterior(NamedTuple):
    """What is known about the values at some nodes, without the noise of observations.

    Attributes
    ----------
    mean
        The posterior mean, not a mean of samples.
    std
        Its standard deviation: from the samples, or exact where that was asked for or cheap.
    samples
        Of shape ``(n_samples, n_nodes)``.
    """

    mean: torch.Tensor
    std: torch.Tensor
    samples: torch.Tensor


def posterior_samples(
    kernel: Any,
    train_nodes: Any,
    targets: torch.Tensor,
    test_nodes: Any = None,
    *,
    noise: Any,
    outputscale: Any = 1.0,
    mean: Any = 0.0,
    n_samples: int | None = None,
    tol: float = 1e-4,
    seed: int | None = None,
    std: str = "auto",
    dense: bool | None = None,
) -> Posterior:
    """Condition draws of the prior on observations (Matheron's rule).

    A draw of the prior is the features times Gaussian numbers, which costs one product; it is then
    corrected by one linear solve. So the posterior at all nodes of a large graph costs about as
    much as its mean, where gpytorch's predictive covariance is a dense matrix.

    Parameters
    ----------
    kernel
        A `NodeKernel`, whose products are exact; a `GRFKernel`, or a `LearnableKernel` made with
        ``symmetric=True``.
    train_nodes, targets
        Where values were observed, and the values.
    test_nodes
        Where they are wanted; all nodes if not given.
    noise, outputscale, mean
        The variance of observations, what the kernel is multiplied with, and the constant mean, as
        they were learned: numbers, or tensors that hold one. Their units are those of the targets,
        squared for the first two.
    n_samples
        The relative error of `std` is about ``1 / sqrt(2 n_samples)``. 64 if not given, and
        256 with a `NodeKernel`, whose draws cost little.
    tol
        Relative accuracy of the linear solves.
    seed
        Of the draws.
    std
        ``"samples"`` for deviations from the samples, ``"exact"`` for those of a `NodeKernel` from
        its columns; ``"auto"`` is the latter where it takes up to 2e10 multiplications, some ten
        seconds on two cores.
    dense
        Whether a `NodeKernel` is factorised between the observed nodes, and not solved with by
        conjugate gradients; if not told, up to 2,000 of them.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> from grfpp.torch import DiffusionModulation
    >>> W = grfpp.Graph(nx.cycle_graph(50)).normalized("sym")
    >>> modulation = DiffusionModulation(30, lam=20.0, laplacian=True)
    >>> kernel = LearnableKernel(W, modulation, n_walks=500, seed=0, symmetric=True)
    >>> seen = torch.tensor([0, 10, 20, 30, 40])
    >>> found = posterior_samples(kernel, seen, torch.ones(5), noise=1e-3, outputscale=10.0, seed=0)
    >>> bool(found.std[10] < 0.1 < found.std[5])        # seen, and halfway between two that were
    True
    """
    is_exact = getattr(kernel, "is_exact", False)
    default = _SAMPLES_EXACT if is_exact else _SAMPLES
    number_of_samples = default if n_samples is None else whole(n_samples, "n_samples", 2)
    variance, size = positive(noise, "noise"), positive(outputscale, "outputscale")
    centre, accuracy = finite(mean, "mean"), positive(tol, "tol")
    one_of(std, "std", ("auto", "exact", "samples"))
    graph_kernel: Any = kernel if is_exact else getattr(kernel, "graph_kernel", kernel)
    if not is_exact and not (isinstance(graph_kernel, LearnableKernel) and graph_kernel.symmetric):
        raise InputError(
            "kernel must be a GRFKernel, a NodeKernel, or a LearnableKernel with symmetric=True"
        )
    if std == "exact" and not is_exact:
        raise InputError("std='exact' needs a NodeKernel; walks have std='samples'")
    n_nodes = graph_kernel.names.n_nodes
    require_bytes(
        8 * 8 * n_nodes * number_of_samples,
        f"{number_of_samples} draws at {n_nodes} nodes",
        other="use fewer samples",
    )
    train = graph_kernel.nodes(train_nodes)
    test = None if test_nodes is None else graph_kernel.nodes(test_nodes)
    y = target_numbers(targets, len(train))
    sizes = {"size": size, "noise": variance, "tol": accuracy}
    process: ExactConditioning | FeatureConditioning
    if is_exact:
        factorise = len(train) <= _MOST_DENSE if dense is None else truth(dense, "dense")
        process = ExactConditioning(graph_kernel, train.numpy(), dense=factorise, **sizes)
    else:
        process = FeatureConditioning(graph_kernel, train, **sizes)
    like = process.like
    generator = torch.Generator(device=like.device)
    generator.manual_seed(drawn_seed() if seed is None else whole(seed, "seed", 0))

    def gaussian(n_rows: int) -> torch.Tensor:
        shape = (n_rows, number_of_samples)
        return torch.randn(shape, generator=generator, dtype=like.dtype, device=like.device)

    with torch.no_grad():
        # Draws of the prior at all nodes, and what would be observed of them.
        prior = process.prior_draws(gaussian(n_nodes))
        observed = prior[train] + variance**0.5 * gaussian(len(train))
        # One right side for the mean, and one for every sample.
        residual = (y.to(like) - centre)[:, None]
        weights = process.solve(torch.cat([residual, residual - observed], dim=1))
        # What the residuals at the training nodes tell about all nodes.
        update = process.spread(weights)
        places = slice(None) if test is None else test
        middle = centre + update[places, 0]
        samples = centre + (prior + update[:, 1:])[places]
        if isinstance(process, ExactConditioning) and (
            std == "exact" or (std == "auto" and process.is_std_cheap(len(middle)))
        ):
            deviation = process.std(np.arange(n_nodes) if test is None else test.numpy())
        else:
            deviation = ((samples - middle[:, None]) ** 2).mean(1).sqrt()
    return Posterior(middle, deviation, samples.T)


class FeatureConditioning:
    """As `ExactConditioning`, with the features of walks.

    Parameters
    ----------
    kernel
        Symmetric.
    train, size, noise, tol
        As there.
    """

    def __init__(
        self,
        kernel: LearnableKernel,
        train: torch.Tensor,
        *,
        size: float,
        noise: float,
        tol: float,
    ) -> None:
        self.chain, self.train, self.n_nodes = kernel.chain, train, kernel.n_nodes
        self.size, self.noise, self.tol = size, noise, tol
        self.like = kernel.factors[0].amounts
        with torch.no_grad():
            self.values = kernel.values()
            part, numbers = self.chain.select(self.values, train, train)
            self._multiply = part.multiplier(numbers)

    def prior_draws(self, gaussians: torch.Tensor) -> torch.Tensor:
        """Draws of the process at all nodes, from one Gaussian number for each."""
        return self.size**0.5 * self.chain.halves()[0].matmat(self.values, gaussians)

    def solve(self, right: torch.Tensor) -> torch.Tensor:
        """The inverse of the covariance of the observations, times some vectors."""
        return solve(
            lambda block: self.size * self._multiply(block) + self.noise * block,
            right,
            tol=self.tol,
        )

    def spread(self, weights: torch.Tensor) -> torch.Tensor:
        """``K[:, train] @ weights`` at all nodes."""
        everywhere = torch.zeros(self.n_nodes, weights.shape[1]).to(weights)
        everywhere.index_add_(0, self.train, weights)
        return self.size * self.chain.matmat(self.values, everywhere)


def target_numbers(targets: Any, n_nodes: int) -> torch.Tensor:
    """Values that were observed at nodes as a tensor of real numbers, checked."""
    try:
        given = isinstance(targets, torch.Tensor)
        # By numpy, which keeps all digits of a list; a copy in order, as torch wants it.
        y = targets.detach() if given else torch.from_numpy(np.array(targets, order="C"))
    except (TypeError, ValueError, RuntimeError):  # text, nothing, rows of different lengths
        raise InputError(f"targets must be numbers in a list, found {shown(targets)}") from None
    if y.dtype == torch.bool or y.is_complex():
        raise InputError(f"targets must be real numbers, found {y.dtype}")
    if y.shape != (n_nodes,):
        raise InputError(
            f"targets must be a list of numbers, one for each of the {n_nodes} training nodes, "
            f"found a tensor of shape {tuple(y.shape)}"
        )
    bad = torch.nonzero(~torch.isfinite(y))
    if len(bad):
        raise InputError(
            f"targets must be finite numbers, found {y[bad[0]].item()} at position "
            f"{bad[0].item()}; leave out nodes without a value"
        )
    return y
