"""Posterior of a Gaussian process on a large graph, by conditioning whole sample paths."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from grfpp.arguments import finite, positive, whole
from grfpp.errors import InputError, shown
from grfpp.memory import require_bytes
from grfpp.options import drawn_seed
from grfpp.torch.gp.conjugate_gradients import solve
from grfpp.torch.kernels.learnable import LearnableKernel


class Posterior(NamedTuple):
    """What is known about the values at some nodes, without the noise of observations.

    Attributes
    ----------
    mean
        The posterior mean, not a mean of samples.
    std
        Its standard deviation, from the samples.
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
    n_samples: int = 64,
    tol: float = 1e-4,
    seed: int | None = None,
) -> Posterior:
    """Condition draws of the prior on observations (Matheron's rule).

    A draw of the prior is the features times Gaussian numbers, which costs one product; it is then
    corrected by one linear solve. So the posterior at all nodes of a large graph costs about as
    much as its mean, where gpytorch's predictive covariance is a dense matrix.

    Parameters
    ----------
    kernel
        A `GRFKernel`, or a `LearnableKernel` made with ``symmetric=True``.
    train_nodes, targets
        Where values were observed, and the values.
    test_nodes
        Where they are wanted; all nodes if not given.
    noise, outputscale, mean
        The variance of observations, what the kernel is multiplied with, and the constant mean, as
        they were learned: numbers, or tensors that hold one. Their units are those of the targets,
        squared for the first two.
    n_samples
        The relative error of `std` is about ``1 / sqrt(2 n_samples)``.
    tol
        Relative accuracy of the linear solves.
    seed
        Of the draws.

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
    graph_kernel: LearnableKernel = getattr(kernel, "graph_kernel", kernel)
    if not isinstance(graph_kernel, LearnableKernel) or not graph_kernel.symmetric:
        raise InputError("kernel must be a GRFKernel, or a LearnableKernel with symmetric=True")
    number_of_samples = whole(n_samples, "n_samples", 2)
    variance, size = positive(noise, "noise"), positive(outputscale, "outputscale")
    centre, accuracy = finite(mean, "mean"), positive(tol, "tol")
    like = graph_kernel.factors[0].amounts
    require_bytes(
        8 * like.element_size() * graph_kernel.n_nodes * number_of_samples,
        f"{number_of_samples} draws at {graph_kernel.n_nodes} nodes",
        other="use fewer samples",
    )
    train = graph_kernel.nodes(train_nodes)
    test = slice(None) if test_nodes is None else graph_kernel.nodes(test_nodes)
    y = target_numbers(targets, len(train)).to(like)
    generator = torch.Generator(device=like.device)
    generator.manual_seed(drawn_seed() if seed is None else whole(seed, "seed", 0))

    def gaussian(n_rows: int) -> torch.Tensor:
        shape = (n_rows, number_of_samples)
        return torch.randn(shape, generator=generator, dtype=like.dtype, device=like.device)

    chain = graph_kernel.chain
    with torch.no_grad():
        values = graph_kernel.values()
        part, numbers = chain.select(values, train, train)
        multiply = part.multiplier(numbers)
        # Draws of the prior at all nodes, and what would be observed of them.
        prior = size**0.5 * chain.halves()[0].matmat(values, gaussian(graph_kernel.n_nodes))
        observed = prior[train] + variance**0.5 * gaussian(len(train))
        # One right side for the mean, and one for every sample.
        residuals = torch.cat([(y - centre)[:, None], (y - centre)[:, None] - observed], dim=1)
        weights = solve(
            lambda block: size * multiply(block) + variance * block, residuals, tol=accuracy
        )
        # What the residuals at the training nodes tell about all nodes.
        everywhere = torch.zeros(graph_kernel.n_nodes, weights.shape[1]).to(weights)
        update = size * chain.matmat(values, everywhere.index_add_(0, train, weights))
        middle = centre + update[test, 0]
        samples = centre + (prior + update[:, 1:])[test]
        std = ((samples - middle[:, None]) ** 2).mean(1).sqrt()
    return Posterior(middle, std, samples.T)


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
