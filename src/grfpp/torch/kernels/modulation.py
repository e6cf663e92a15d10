"""Modulations ``f(k)`` with parameters that can be trained."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from grfpp._checks import instance_of, positive, truth, whole
from grfpp.errors import InputError
from grfpp.kernels import Diffusion, Kernel
from grfpp.walks.by_length import MAX_LENGTHS

#: Largest width of hidden layers: ample for a network with one input.
_MAX_HIDDEN = 4096


class LearnableModulation(nn.Module, ABC):  # type: ignore[misc]  # untyped base
    """A vector ``f(0) … f(n_lengths - 1)`` as a function of parameters.

    Its series to the power ``2 · degree`` is the kernel: ``K = (Σ f(k) W^k)^(2 degree)``. Custom
    modulations inherit from it and implement `forward`.

    Parameters
    ----------
    n_lengths
        Number of values; walks deposit up to this length and not beyond.
    degree
        The stitching degree.

    Examples
    --------
    A geometric series with one parameter:

    >>> import torch
    >>> from grfpp.torch import LearnableModulation
    >>> class GeometricModulation(LearnableModulation):
    ...     def __init__(self, n_lengths, degree=2):
    ...         super().__init__(n_lengths, degree)
    ...         self.ratio = torch.nn.Parameter(torch.tensor(0.5))
    ...
    ...     def forward(self):
    ...         return self.ratio ** torch.arange(self.n_lengths)
    >>> GeometricModulation(4)()
    tensor([1.0000, 0.5000, 0.2500, 0.1250], grad_fn=...)

    References
    ----------
    Reid et al., "General graph random features", 2024, and
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, eq. (4).
    """

    def __init__(self, n_lengths: int, degree: int = 2) -> None:
        super().__init__()
        self.n_lengths = whole(n_lengths, "n_lengths", 1, MAX_LENGTHS)
        self.degree = whole(degree, "degree", 1)

    @abstractmethod
    def forward(self) -> Tensor:
        """The vector ``f(0) … f(n_lengths - 1)``."""

    @property
    def radius_of_convergence(self) -> float:
        """Spectral radius below which the family's infinite series converges; here, any."""
        return math.inf

    def neglected(self, radius: float = 1.0) -> float:
        """Share of the family's infinite series beyond `n_lengths`; 0 without a family.

        Parameters
        ----------
        radius
            The graph's spectral radius, where the share is largest: 1 for normalised graphs.
        """
        return 0.0


class FreeModulation(LearnableModulation):
    """A modulation each of whose values is a parameter.

    Parameters
    ----------
    n_lengths, degree
        As for `LearnableModulation`.
    kernel
        The kernel whose modulation is the initial value; ``exp(W)`` if not given.

    Examples
    --------
    >>> FreeModulation(4, degree=2)()
    tensor([1.0000, 0.2500, 0.0312, 0.0026], grad_fn=...)

    References
    ----------
    Reid et al., "General graph random features", 2024.
    """

    def __init__(self, n_lengths: int, *, kernel: Kernel | None = None, degree: int = 2) -> None:
        super().__init__(n_lengths, degree)
        self.coefficients = nn.Parameter(_values_of(kernel, degree, self.n_lengths))

    def forward(self) -> Tensor:
        """The parameters."""
        return self.coefficients * 1


class MLPModulation(LearnableModulation):
    """A kernel's modulation times a small network: ``f(k) = f₀(k) · (1 + network(k))``.

    The network's last layer is initialised with zeros, so that training starts from ``f₀``. Values
    fall by orders of magnitude with ``k``; the network learns relative changes.

    Parameters
    ----------
    n_lengths, degree
        As for `LearnableModulation`.
    kernel
        The kernel with the modulation ``f₀``; ``exp(W)`` if not given.
    n_hidden
        Width of the two hidden layers.

    Examples
    --------
    >>> MLPModulation(4, degree=2)()
    tensor([1.0000, 0.2500, 0.0312, 0.0026], grad_fn=...)

    References
    ----------
    Reid et al., "General graph random features", 2024, learns modulations by neural networks.
    """

    base: Tensor
    inputs: Tensor

    def __init__(
        self, n_lengths: int, *, kernel: Kernel | None = None, degree: int = 2, n_hidden: int = 16
    ) -> None:
        super().__init__(n_lengths, degree)
        width = whole(n_hidden, "n_hidden", 1, _MAX_HIDDEN)
        self.register_buffer("base", _values_of(kernel, degree, self.n_lengths))
        inputs = torch.arange(self.n_lengths).to(torch.get_default_dtype()) / self.n_lengths
        self.register_buffer("inputs", inputs[:, None])
        self.network = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )
        nn.init.zeros_(self.network[-1].weight)
        nn.init.zeros_(self.network[-1].bias)

    def forward(self) -> Tensor:
        """The base values times one plus the network's output."""
        return self.base * (1 + self.network(self.inputs)[:, 0])


class _Family(LearnableModulation):
    """A named kernel with one positive parameter, stored as its logarithm."""

    lengths: Tensor

    def __init__(self, n_lengths: int, degree: int, start: float, laplacian: bool) -> None:
        super().__init__(n_lengths, degree)
        self.laplacian = truth(laplacian, "laplacian")
        self.raw = nn.Parameter(torch.tensor(math.log(start), dtype=torch.get_default_dtype()))
        lengths = torch.arange(self.n_lengths).to(torch.get_default_dtype())
        self.register_buffer("lengths", lengths, persistent=False)

    @property
    def order(self) -> int:
        """Power of the modulation's series that is the kernel."""
        return 2 * self.degree

    @abstractmethod
    def _log_terms(self) -> Tensor:
        """``log f(k)``, not normalised."""

    @abstractmethod
    def _log_sum(self, radius: float = 1.0) -> Tensor:
        """``log Σ f(k) radius^k`` over all ``k`` to infinity."""

    def forward(self) -> Tensor:
        """The family's formula."""
        logs = self._log_terms()
        return torch.exp(logs - self._log_sum() if self.laplacian else logs)

    def neglected(self, radius: float = 1.0) -> float:
        """``Σ_{k ≥ n_lengths} f(k) radius^k / Σ_k f(k) radius^k``, to rounding.

        1 where the series does not converge.
        """
        if radius == 0:
            return 0.0
        if radius >= self.radius_of_convergence:
            return 1.0
        with torch.no_grad():
            logs = self._log_terms().double() + self.lengths.double() * math.log(radius)
            share = torch.exp(logs - self._log_sum(radius).double()).sum()
        return max(0.0, 1.0 - float(share))


class DiffusionModulation(_Family):
    """Diffusion with a trainable time: ``K = exp(λ W)``, or ``exp(−λ L)`` with ``L = I − W``.

    ``f(k) = (λ/2l)^k / k!``, and with `laplacian` that times ``exp(−λ/2l)``: the probabilities of
    a Poisson law.

    Parameters
    ----------
    n_lengths
        Number of values; it should be well above ``λ / 2l``, see `neglected`.
    degree
        The stitching degree ``l``.
    lam
        The initial time ``λ``.
    laplacian
        Use ``exp(−λ L)``, which stays bounded as ``λ`` grows.

    Examples
    --------
    >>> modulation = DiffusionModulation(4, degree=2, lam=1.0)
    >>> modulation()
    tensor([1.0000, 0.2500, 0.0312, 0.0026], grad_fn=...)
    >>> modulation.lam.item()
    1.0

    References
    ----------
    Kondor and Lafferty, "Diffusion kernels on graphs and other discrete input spaces", 2002.
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, section "Walk-stitching mechanism", has ``f``.
    """

    def __init__(
        self, n_lengths: int, *, degree: int = 2, lam: float = 1.0, laplacian: bool = False
    ) -> None:
        super().__init__(n_lengths, degree, positive(lam, "lam"), laplacian)

    @property
    def lam(self) -> Tensor:
        """The time ``λ``."""
        return torch.exp(self.raw)

    def _log_terms(self) -> Tensor:
        log_share = self.raw - math.log(self.order)
        return self.lengths * log_share - torch.lgamma(self.lengths + 1)

    def _log_sum(self, radius: float = 1.0) -> Tensor:
        return self.lam * (radius / self.order)


class RegularizedLaplacianModulation(_Family):
    """``K = (I − c W)^−power``, ``c = σ² / (1 + σ²)``, with a trainable ``σ²``.

    With `laplacian` this is the textbook's ``(I + σ² L)^−power``, ``L = I − W``. With
    ``r = power / 2l``, ``f(k) = c^k Γ(k + r) / (Γ(r) k!)``.

    Parameters
    ----------
    n_lengths
        Number of values. They fall as ``c^k``, slowly for large ``σ²``; see `neglected`.
    degree
        The stitching degree ``l``.
    power
        The exponent, which is not trained.
    sigma2
        The initial ``σ²``.
    laplacian
        Scale the kernel to ``(I + σ² L)^−power``.

    Examples
    --------
    >>> RegularizedLaplacianModulation(4, degree=1, power=2, sigma2=1.0)()
    tensor([1.0000, 0.5000, 0.2500, 0.1250], grad_fn=...)

    References
    ----------
    Smola and Kondor, "Kernels and regularization on graphs", 2003, eq. (17).
    """

    def __init__(
        self,
        n_lengths: int,
        *,
        degree: int = 2,
        power: float = 1.0,
        sigma2: float = 1.0,
        laplacian: bool = False,
    ) -> None:
        super().__init__(n_lengths, degree, positive(sigma2, "sigma2"), laplacian)
        self.power = positive(power, "power")

    @property
    def sigma2(self) -> Tensor:
        """The regularisation ``σ²``."""
        return torch.exp(self.raw)

    def _log_terms(self) -> Tensor:
        exponent = self.power / self.order
        log_c = nn.functional.logsigmoid(self.raw)
        binomials = torch.lgamma(self.lengths + exponent) - torch.lgamma(self.lengths + 1)
        return self.lengths * log_c + binomials - math.lgamma(exponent)

    @property
    def radius_of_convergence(self) -> float:
        """``1 / c``."""
        return 1 + float(torch.exp(-self.raw.detach().double()))

    def _log_sum(self, radius: float = 1.0) -> Tensor:
        # (1 − c radius)^−r with 1 − c radius = (1 + σ² (1 − radius)) / (1 + σ²).
        logs = nn.functional.softplus(self.raw)
        if radius != 1:  # at 1, an infinite σ² would give NaN
            logs = logs - torch.log1p(self.sigma2 * (1 - radius))
        return logs * (self.power / self.order)


def _values_of(kernel: Kernel | None, degree: int, n_lengths: int) -> Tensor:
    chosen = Diffusion(1.0) if kernel is None else kernel
    if instance_of(chosen, "kernel", Kernel).sign < 0:
        problem = f"must have a positive first coefficient to have a real root, found {chosen!r}"
        raise InputError(problem, argument="kernel")
    values = torch.from_numpy(chosen.modulation(degree, n_lengths))
    return values.to(torch.get_default_dtype())
