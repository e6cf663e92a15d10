"""Posterior of a Gaussian process with an exact node kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from grfpp.memory import require_bytes
from grfpp.torch.gp.conjugate_gradients import solve
from grfpp.torch.gp.node_block import NodeBlock
from grfpp.torch.gp.solve_plan import EXACT_STD_WORK
from grfpp.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from grfpp.torch.gp.node_kernel import NodeKernel

#: Deviations are wanted to fewer digits than solves.
_STD_TOL = 1e-9


class ExactConditioning:
    """Linear solves of a process with an exact kernel, and what they tell about all nodes.

    Parameters
    ----------
    kernel
        The kernel, whose parameters are not trained here.
    train
        Observed nodes.
    size, noise
        What the kernel is multiplied with, and the variance of observations.
    dense
        Factorise the covariance of the observations; else conjugate gradients to `tol`.
    tol
        Their relative accuracy.
    """

    def __init__(
        self,
        kernel: NodeKernel,
        train: IntArray,
        *,
        size: float,
        noise: float,
        dense: bool,
        tol: float,
    ) -> None:
        self.kernel, self.train = kernel, train
        self.size, self.noise, self.tol = size, noise, tol
        self.coefficients = _numbers(kernel.coefficients())
        self.root: torch.Tensor | None = None
        if dense:
            with torch.no_grad():
                nodes = torch.from_numpy(train)[:, None]
                A = size * kernel(nodes, nodes).to_dense()
                A.diagonal().add_(noise)
                self.root = torch.linalg.cholesky(A)

    @property
    def like(self) -> torch.Tensor:
        """A tensor of the type and on the device of all that is computed."""
        return torch.zeros((), dtype=torch.float64)

    def prior_draws(self, gaussians: torch.Tensor) -> torch.Tensor:
        """Draws of the process at all nodes, from one Gaussian number for each."""
        halves = _numbers(self.kernel.coefficients(power=0.5))
        draws = self.kernel.terms.product(halves, gaussians.numpy())
        return self.size**0.5 * torch.from_numpy(draws)

    def solve(self, right: torch.Tensor) -> torch.Tensor:
        """The inverse of the covariance of the observations, times some vectors."""
        if self.root is not None:
            return torch.cholesky_solve(right, self.root)
        block = NodeBlock(self.kernel.terms, self.train, self.train)

        def multiply(vectors: torch.Tensor) -> torch.Tensor:
            product = torch.from_numpy(block.product(self.coefficients, vectors.numpy()))
            return self.size * product + self.noise * vectors

        return solve(multiply, right, tol=self.tol)

    def spread(self, weights: torch.Tensor) -> torch.Tensor:
        """``K[:, train] @ weights`` at all nodes."""
        every = np.arange(self.kernel.graph.n_nodes)
        block = NodeBlock(self.kernel.terms, every, self.train)
        return self.size * torch.from_numpy(block.product(self.coefficients, weights.numpy()))

    def is_std_cheap(self, n_test: int) -> bool:
        """Whether exact deviations at so many nodes are worth their work."""
        n_terms = len(self._std_coefficients())
        columns = min(n_test, len(self.train)) + n_test / 2
        work = n_terms * columns * len(self.kernel.graph.indices)
        return self.root is not None and work <= EXACT_STD_WORK

    def std(self, test: IntArray) -> torch.Tensor:
        """The posterior standard deviation, exactly, from columns of the kernel."""
        n_train, n_test = len(self.train), len(test)
        require_bytes(
            4 * 8 * n_train * n_test,
            f"deviations at {n_test} nodes from {n_train} columns",
            other="use std='samples'",
        )
        numbers, terms = self._std_coefficients()[None], self.kernel.terms
        prior = self.size * torch.from_numpy(terms.diagonals(numbers, test)[0])
        across = self.size * torch.from_numpy(terms.entries(numbers, test, self.train)[0]).T
        root = self.root
        if root is None:
            told = (across * self.solve(across.contiguous())).sum(0)
        else:
            told = torch.linalg.solve_triangular(root, across, upper=False).square().sum(0)
        return (prior - told).clamp_min(0.0).sqrt()

    def _std_coefficients(self) -> FloatArray:
        tails = np.cumsum(np.abs(self.coefficients[::-1]))[::-1]
        n_kept = int(np.count_nonzero(tails > _STD_TOL))
        kept: FloatArray = self.coefficients[: max(1, n_kept)]
        return kept


def _numbers(tensor: torch.Tensor) -> Any:
    return tensor.detach().double().numpy()
