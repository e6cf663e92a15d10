"""Posterior of a Gaussian process on a large graph, by conditioning whole sample paths.

References
----------
Wilson et al., "Pathwise conditioning of Gaussian processes", 2021.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from grfpp._checks import finite, instance_of, one_of, positive, truth, whole
from grfpp._memory import require_bytes
from grfpp.errors import InputError, shown
from grfpp.linalg.cg import solve
from grfpp.options import drawn_seed
from grfpp.torch.gp.kernels import GRFKernel, NodeKernel
from grfpp.torch.gp.process import NodeProcess
from grfpp.torch.kernels.learnable import LearnableKernel

#: Default number of samples from walks: standard deviations with errors of 9 %.
_N_SAMPLES = 64
#: Default number of samples of a `NodeKernel`: errors of 4 %, since draws cost less.
_N_SAMPLES_EXACT = 256
#: Nodes up to which deviations are exact by default: some seconds on two cores.
_MAX_EXACT_STD = 10_000
#: Largest number of steps of conjugate gradients, which need fewer at any sensible noise.
_MAX_STEPS = 2000


class Posterior(NamedTuple):
    """The posterior of the function at some nodes, without the noise of observations.

    Attributes
    ----------
    mean
        The posterior mean, not a mean of samples.
    std
        The posterior standard deviation: exact if that was requested or is cheap, else from the
        samples.
    samples
        Draws of the function, of shape ``(n_samples, n_nodes)``.
    """

    mean: Tensor
    std: Tensor
    samples: Tensor


def posterior_samples(
    kernel: Any,
    train_nodes: Any,
    targets: Tensor,
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

    A draw of the prior is the features times Gaussian numbers, which costs one product; one linear
    solve then corrects it. So the posterior at all nodes of a large graph costs about as much as
    its mean, whereas gpytorch's predictive covariance is a dense matrix.

    Parameters
    ----------
    kernel
        A `NodeKernel`, whose products are exact; a `GRFKernel`, or a `LearnableKernel` made with
        ``symmetric=True``.
    train_nodes, targets
        The observed nodes, and the values there.
    test_nodes
        Nodes to predict; all nodes if not given.
    noise, outputscale, mean
        The learned variance of observations, factor of the kernel, and constant mean: numbers, or
        tensors of one. Their units are those of the targets, squared for the first two.
    n_samples
        The relative error of `std` is about ``1 / sqrt(2 n_samples)``. 64 if not given, and
        256 with a `NodeKernel`, whose draws cost little.
    tol
        Relative accuracy of the linear solves.
    seed
        Seed of the draws.
    std
        ``"samples"`` for deviations from the samples, ``"exact"`` for those of a `NodeKernel` from
        its columns; ``"auto"`` is the latter for up to 10,000 nodes.
    dense
        Whether the covariance of a `NodeKernel` between observed nodes is factorised, instead of
        conjugate gradients; by predicted cost if not given.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> from grfpp.torch import DiffusionModulation
    >>> W = grfpp.Graph(nx.cycle_graph(50)).normalized("sym")
    >>> modulation = DiffusionModulation(30, lam=20.0, laplacian=True)
    >>> kernel = LearnableKernel(W, modulation, n_walks=500, seed=0, symmetric=True)
    >>> seen = torch.tensor([0, 10, 20, 30, 40])
    >>> law = posterior_samples(kernel, seen, torch.ones(5), noise=1e-3, outputscale=10.0, seed=0)
    >>> bool(law.std[10] < 0.1 < law.std[5])        # observed; halfway between two observed nodes
    True

    References
    ----------
    Wilson et al., "Pathwise conditioning of Gaussian processes", 2021.
    """
    if isinstance(kernel, LearnableKernel):
        kernel = GRFKernel.of(kernel)
    instance_of(kernel, "kernel", GRFKernel, NodeKernel)
    is_exact = isinstance(kernel, NodeKernel)
    default = _N_SAMPLES_EXACT if is_exact else _N_SAMPLES
    n_draws = default if n_samples is None else whole(n_samples, "n_samples", 2)
    centre, variance = finite(mean, "mean"), positive(noise, "noise")
    size, accuracy = positive(outputscale, "outputscale"), positive(tol, "tol")
    one_of(std, "std", ("auto", "exact", "samples"))
    if std == "exact" and not is_exact:
        raise InputError("='exact' needs a NodeKernel", argument="std")
    n = kernel.names.n_nodes
    require_bytes(8 * 8 * n * n_draws, f"{n_draws} draws at {n} nodes")
    train, everywhere = kernel.nodes(train_nodes), torch.arange(n)
    y = target_values(targets, len(train))
    if is_exact:
        given = {"noise": variance, "outputscale": size, "mean": centre}
        given["width"] = float(kernel.parameter.detach())
        how = "auto" if dense is None else "columns" if truth(dense, "dense") else "products"
        process = NodeProcess.of(kernel, how, **given).fit(train.numpy(), y.double().numpy())
        return posterior_of(process, kernel, test_nodes, n_samples=n_draws, seed=seed, std=std)
    test = everywhere if test_nodes is None else kernel.nodes(test_nodes)
    like = kernel.like
    generator = torch.Generator(device=like.device)
    generator.manual_seed(drawn_seed() if seed is None else whole(seed, "seed", 0))

    def gaussian(n_rows: int) -> Tensor:
        shape = (n_rows, n_draws)
        return torch.randn(shape, generator=generator, dtype=like.dtype, device=like.device)

    with torch.no_grad():
        K, A = kernel.operator(everywhere, everywhere), kernel.operator(train, train)

        def inverse_times(right: Tensor) -> Tensor:
            return solve_to(
                lambda block: size * A._matmul(block) + variance * block, right, accuracy
            )

        prior = size**0.5 * kernel.prior_draws(gaussian(n))
        observed = prior[train] + variance**0.5 * gaussian(len(train))
        # One right-hand side for the mean, and one for every sample.
        residual = (y.to(like) - centre)[:, None]
        weights = inverse_times(torch.cat([residual, residual - observed], dim=1))
        update = size * K._getitem(slice(None), train)._matmul(weights)
        middle = centre + update[test, 0]
        samples = centre + (prior + update[:, 1:])[test]
        deviation = ((samples - middle[:, None]) ** 2).mean(1).sqrt()
    return Posterior(middle, deviation, samples.T)


def posterior_of(
    process: NodeProcess, kernel: NodeKernel, nodes: Any, n_samples: Any, seed: Any, std: str
) -> Posterior:
    """The posterior of a process with a `NodeKernel`; parameters as for `posterior_samples`."""
    one_of(std, "std", ("auto", "exact", "samples"))
    n_draws = _N_SAMPLES_EXACT if n_samples is None else whole(n_samples, "n_samples", 2)
    n = kernel.names.n_nodes
    require_bytes(8 * 8 * n * n_draws, f"{n_draws} draws at {n} nodes")
    test = np.arange(n) if nodes is None else kernel.nodes(nodes).numpy()
    samples = process.sample(
        test, n_draws, drawn_seed() if seed is None else whole(seed, "seed", 0)
    )
    if std == "exact" or (std == "auto" and len(test) <= _MAX_EXACT_STD):
        mean, deviation = process.predict(test, return_std=True)
    else:
        mean = process.predict(test)
        deviation = np.sqrt(np.square(samples - mean).mean(axis=0))
    return Posterior(
        *(torch.from_numpy(np.ascontiguousarray(a)) for a in (mean, deviation, samples))
    )


def solve_to(multiply: Any, right: Tensor, tol: float, on_step: Any = None) -> Tensor:
    """Solve linear systems by conjugate gradients; an error where they do not converge."""
    result = solve(multiply, right, tol=tol, max_steps=_MAX_STEPS, on_step=on_step)
    if not result.converged:
        problem = f"conjugate gradients have not converged after {result.n_steps} steps"
        raise InputError(problem, advice="use more noise, float64, or a larger tol")
    return result.solution


def target_values(targets: Any, n_nodes: int) -> Tensor:
    """Check that observed values are finite real numbers, one per node."""
    try:
        is_tensor = isinstance(targets, Tensor)
        # By numpy, which keeps all digits of a list; a copy in order, as torch needs it.
        y = targets.detach() if is_tensor else torch.from_numpy(np.array(targets, order="C"))
    except (TypeError, ValueError, RuntimeError):  # text, None, rows of different lengths
        y = torch.zeros(())
    is_real = y.dtype != torch.bool and not y.is_complex()
    if y.shape != (n_nodes,) or not is_real or not torch.isfinite(y).all():
        problem = f"must be {n_nodes} finite real numbers, one per training node"
        problem += f", found {shown(targets)}"
        raise InputError(problem, argument="targets", advice="leave out nodes without a value")
    return y
