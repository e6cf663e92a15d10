"""Width, noise and outputscale of a Gaussian process: likelihoods, a weak prior, and averages.

The likelihood is restricted (the constant mean has a flat prior) and the outputscale is integrated
out in closed form, so that two parameters remain: the width, and the ratio of noise to outputscale.
Their prior is flat in the logarithms, times the expected leave-one-out ``R²``: without it, the many
widths and noises by which observed nodes tell nothing of each other would outweigh the others.

References
----------
C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, section 5.4.
H. Rue, S. Martino and N. Chopin, Approximate Bayesian inference for latent Gaussian models by using
integrated nested Laplace approximations, 2009 (averages over a grid of parameters).
J. O. Berger, V. De Oliveira and B. Sansó, Objective Bayesian analysis of spatially correlated data,
2001 (why flat priors of the width fail); Y. D. Zhang et al., Bayesian regression using a prior on
the model fit, 2022 (priors on R²).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grfpp.gp.covariance import Covariance
from grfpp.gp.posterior import Observations, Posterior, Spectrum
from grfpp.typing import FloatArray

#: Logarithms of the noise over the variance of the process between observed nodes: from no noise
#: to noise alone.
_LOG_RATIOS = np.arange(-19.0, 8.1, 0.5)
#: Degrees of freedom of the weak prior of the outputscale, whose centre is the variance of the
#: observations.
_PRIOR_DOF = 3.0
#: Exponent of the noise share ``ρ`` and of ``1 − ρ`` in the weak prior of the noise.
_SHARE_EXPONENT = 0.1
#: Added to the expected leave-one-out ``R²``, so that pure noise is not excluded.
_MIN_FIT = 0.003
#: Ratio of neighbouring widths of the first grid: lengths double.
_GRID_FACTOR = 4.0
#: The same for more than `_FEW` observed nodes, which lead to the best width from afar.
_COARSE_FACTOR = 16.0
_FEW = 300
#: Widths of another power that are tried, over the best one: kernels of one range have widths in
#: inverse proportion to their powers.
_NEAR = np.array([1 / 16, 1 / 4, 1.0, 4.0])
#: Fall of the log-density beyond which a neighbour has no part in averages.
_NEGLIGIBLE = 8.0
#: Gain of the log-density by which a further width must be better.
_MIN_GAIN = 0.2
#: Fall of the logarithm of the density to the neighbours of the best width that is resolved enough.
_RESOLVED = 1.5
#: Largest number of widths that are added to the grid.
_MAX_REFINEMENTS = 6
#: Posterior share below which a width or noise is left out of averages.
_MIN_SHARE = 0.02
#: Largest number of noises that a width is averaged over.
_N_NOISES = 3


class Given(NamedTuple):
    """Parameters that are not chosen, in the units of the observations; ``None`` where chosen."""

    mean: float | None = None
    outputscale: float | None = None
    noise: float | None = None
    #: Noise over outputscale.
    ratio: float | None = None

    @property
    def fixed_ratio(self) -> float | None:
        """The ratio of noise to outputscale, if it is not chosen."""
        if self.noise is not None and self.outputscale is not None:
            return self.noise / self.outputscale
        return self.ratio

    @property
    def is_complete(self) -> bool:
        """Whether neither noise nor outputscale is chosen."""
        return self.outputscale is not None and self.fixed_ratio is not None


class Quantities(NamedTuple):
    """What likelihoods need, for one ratio of noise or for several along the last axis."""

    #: ``log det A``.
    log_determinant: FloatArray
    #: ``1ᵀ A^-1 1``, ``1ᵀ A^-1 Y`` and the diagonal of ``Yᵀ A^-1 Y``, the latter two by rows.
    ones: FloatArray
    cross: FloatArray
    squares: FloatArray

    @classmethod
    def of_spectrum(cls, spectrum: Spectrum, seen: Observations, ratios: FloatArray) -> Quantities:
        """For several ratios of noise at once."""
        sums = spectrum.values[:, None] + ratios
        y, one = spectrum.rotate(seen.values), spectrum.rotate(np.ones((len(seen.nodes), 1)))
        inverse = 1 / sums
        log_determinant = np.log(sums).sum(axis=0) + np.log(seen.noise).sum()
        ones = np.square(one[:, 0]) @ inverse
        return cls(log_determinant, ones, (one * y).T @ inverse, np.square(y).T @ inverse)

    @classmethod
    def of_posterior(cls, posterior: Posterior) -> Quantities:
        """For the ratio of a posterior, without the determinant."""
        y = posterior.seen.values
        weights = posterior.condition(np.column_stack([y, np.ones(len(y))])).weights
        cross = weights[:, -1] @ y
        squares = np.einsum("ij,ij->j", y, weights[:, :-1])
        ones = np.array([weights[:, -1].sum()])
        return cls(np.zeros(1), ones, cross[:, None], squares[:, None])


class Estimates(NamedTuple):
    """Mean and outputscale for ratios of noise, and the logarithm of the restricted likelihood."""

    log_density: FloatArray
    #: By outputs and ratios; also the scale and the degrees of freedom of the inverse chi-squared
    #: distribution of the outputscale, infinitely many where it is given.
    mean: FloatArray
    outputscale: FloatArray
    dof: float


def estimate(
    quantities: Quantities, seen: Observations, ratios: FloatArray, variance: float, given: Given
) -> Estimates:
    """Mean and outputscale of each ratio, and the restricted likelihood, up to a constant.

    Parameters
    ----------
    quantities, seen, ratios
        Of the observations.
    variance
        Of the process between observed nodes, for an outputscale of one.
    given
        Parameters that are not chosen.
    """
    log_determinant, ones, cross, squares = quantities
    n_outputs = len(squares)
    log_density = -0.5 * n_outputs * log_determinant
    log_density -= 0.5 * n_outputs * (seen.n - len(seen.nodes)) * np.log(ratios)
    if given.mean is None:
        mean, dof = cross / ones, seen.n - 1
        log_density -= 0.5 * n_outputs * np.log(ones)
    else:
        mean, dof = np.full_like(cross, given.mean), seen.n
    squares = squares - 2 * mean * cross + np.square(mean) * ones
    squares = np.maximum(squares, 0.0) + seen.within[:, None] / ratios
    if given.outputscale is None and given.noise is None:
        total = np.square(seen.values - seen.values.mean(axis=0)).mean(axis=0)
        expected = _PRIOR_DOF * np.where(total > 0, total, 1.0)[:, None] / (variance + ratios)
        all_dof = dof + _PRIOR_DOF
        density = _PRIOR_DOF * np.log(expected) - all_dof * np.log(expected + squares)
        return Estimates(
            log_density + 0.5 * density.sum(axis=0), mean, (expected + squares) / all_dof, all_dof
        )
    known = given.outputscale if given.noise is None else given.noise / ratios
    outputscale = np.ones((n_outputs, len(ratios))) * np.asarray(known, float)
    density = dof * np.log(outputscale) + squares / outputscale
    return Estimates(log_density - 0.5 * density.sum(axis=0), mean, outputscale, np.inf)


#: Losses of predicted and true values, a row for each observed node.
Loss = Callable[[FloatArray, FloatArray], FloatArray]


def leave_one_out_precisions(
    spectrum: Spectrum, ratios: FloatArray, ones: FloatArray
) -> FloatArray:
    """Inverse variances of observations given the others, for an outputscale of one.

    By observed nodes and ratios; `ones` is ``1ᵀ A^-1 1``, infinite where the mean is given.
    """
    inverse = 1 / (spectrum.values[:, None] + ratios)
    one = spectrum.rotate(np.ones((len(spectrum.values), 1)))
    diagonal = np.square(spectrum.vectors) @ inverse
    diagonal = diagonal - np.square(spectrum.vectors @ (one * inverse)) / ones
    # A single observation says nothing about itself.
    tiny = np.finfo(float).tiny
    return np.asarray(np.maximum(diagonal, tiny) * np.square(spectrum.roots)[:, None])


def leave_one_out_losses(
    spectrum: Spectrum,
    seen: Observations,
    ratios: FloatArray,
    estimates: Estimates,
    diagonal: FloatArray,
    loss: Loss,
) -> FloatArray:
    """Mean losses of observed nodes that are predicted from the others, for every ratio.

    `diagonal` is that of `leave_one_out_precisions`.

    References
    ----------
    O. Dubrule, Cross validation of kriging in a unique neighborhood, 1983.
    """
    n, p = seen.values.shape
    inverse = 1 / (spectrum.values[:, None] + ratios)
    one = spectrum.rotate(np.ones((n, 1)))
    residual = spectrum.rotate(seen.values)[:, :, None] - one[:, :, None] * estimates.mean
    weights = spectrum.vectors @ (residual * inverse[:, None]).reshape(n, -1)
    weights = weights.reshape(n, p, -1) * spectrum.roots[:, None, None]
    predicted = seen.values[:, :, None] - weights / diagonal[:, None]
    losses = [loss(predicted[:, :, k], seen.values).mean() for k in range(len(ratios))]
    return np.array(losses)


class Parameters(NamedTuple):
    """One width and noise, with its share in averages."""

    #: Index of the family of kernels.
    family: int
    width: float
    #: Factor of the covariance.
    scale: float
    #: Variance of the process between observed nodes, for an outputscale of one.
    variance: float
    #: Noise over outputscale.
    ratio: float
    share: float


@dataclass(frozen=True, eq=False)
class Profile:
    """The density of the noise for one width."""

    width: float
    scale: float
    variance: float
    ratios: FloatArray
    #: Logarithms of the density, one per ratio.
    log_density: FloatArray

    @property
    def total(self) -> float:
        """The logarithm of the sum over ratios."""
        return float(np.logaddexp.reduce(self.log_density))

    def noises(self) -> list[tuple[float, float]]:
        """A few ratios that stand for all, with their shares."""
        shares = np.exp(self.log_density - self.total)
        part = np.minimum((np.cumsum(shares) - shares / 2) * _N_NOISES, _N_NOISES - 1).astype(int)
        result = []
        for k in np.unique(part[shares > 0]):
            inside = part == k
            share = float(shares[inside].sum())
            middle = float(shares[inside] @ np.log(self.ratios[inside])) / share
            result.append((float(np.exp(middle)), share))
        return result


def profile_of(
    prior: Covariance,
    seen: Observations,
    unit: tuple[float, float],
    given: Given,
    loss: Loss | None = None,
) -> Profile:
    """The density of all noises for a width.

    Parameters
    ----------
    prior
        The covariance, without the factor.
    unit
        The factor of the covariance and the variance between observed nodes; see `unit_of`.
    loss
        By which held-out predictions are judged, in place of the likelihood: the density is that of
        normal errors of this mean square.
    """
    scale, variance = unit
    fixed = given.fixed_ratio
    ratios = variance * np.exp(_LOG_RATIOS) if fixed is None else np.array([fixed])
    spectrum = Spectrum(scale * prior.block(seen.nodes), seen.noise)
    quantities = Quantities.of_spectrum(spectrum, seen, ratios)
    estimates = estimate(quantities, seen, ratios, variance, given)
    log_density = estimates.log_density
    ones = quantities.ones if given.mean is None else np.full_like(ratios, np.inf)
    diagonal = leave_one_out_precisions(spectrum, ratios, ones)
    if loss is not None:
        losses = leave_one_out_losses(spectrum, seen, ratios, estimates, diagonal, loss)
        log_density = -0.5 * seen.values.size * np.log(np.maximum(losses, np.finfo(float).tiny))
    share = ratios / (variance + ratios)
    log_density = log_density + _SHARE_EXPONENT * (np.log(share) + np.log1p(-share))
    fit = 1 - (1 / diagonal).mean(axis=0) / (variance + ratios * seen.noise.mean())
    log_density = log_density + np.log(np.maximum(fit, 0.0) + _MIN_FIT) + prior.family.log_prior
    return Profile(prior.width, scale, variance, ratios, log_density)


def unit_of(block: FloatArray) -> tuple[float, float]:
    """The factor that makes a covariance's mean variance one, and its variance between nodes then.

    The latter is the expected sample variance, which is smaller where nodes are correlated.

    Examples
    --------
    >>> unit_of(np.array([[4.0, 2.0], [2.0, 4.0]]))
    (0.25, 0.5)
    """
    scale = 1 / float(block.diagonal().mean())
    return scale, variance_between(scale * block)


def variance_between(block: FloatArray) -> float:
    """The expected sample variance of a process with a covariance; that of a single node."""
    n, trace = len(block), float(block.trace())
    # Rounding can make it zero where nodes are strongly correlated.
    return max((trace - float(block.sum()) / n) / (n - 1), 1e-12 * trace) if n > 1 else trace


def select(
    profile: Callable[[float], Profile],
    low: float,
    high: float,
    n_observed: int,
    coarse: bool,
    rival: float = -np.inf,
    near: float | None = None,
) -> list[Profile]:
    """Densities of widths, with more of them where the density is large.

    Parameters
    ----------
    profile
        The density of the noise for a width.
    low, high
        Smallest and largest width, which may be equal.
    n_observed
        Number of observed nodes.
    coarse
        Whether every width takes a factorisation of its own, so that few should be tried.
    rival
        The largest density of another family: where all are far below it, no more are tried.
    near
        The best width of a family with another power; many observations need not look far from it.
    """
    if low == high:
        return [profile(low)]
    is_sharp = n_observed > _FEW
    n_steps = np.log(high / low) / np.log(_COARSE_FACTOR if is_sharp and coarse else _GRID_FACTOR)
    widths = np.geomspace(low, high, max(1, round(n_steps)) + 1)
    if is_sharp and near is not None:
        widths = np.unique(np.clip(near * _NEAR, low, high))
    profiles: list[Profile] = []
    for width in widths:
        profiles.append(profile(float(width)))
        # Wide kernels take longest.
        if is_sharp and max(p.total for p in profiles) - profiles[-1].total > _NEGLIGIBLE:
            break
    for _ in range(_MAX_REFINEMENTS):
        x = np.log([p.width for p in profiles])
        totals = np.array([p.total for p in profiles])
        best = int(totals.argmax())
        around = [k for k in (best - 1, best + 1) if 0 <= k < len(profiles)]
        falls = totals[best] - totals[around]
        if (falls < _RESOLVED).all() or totals[best] < rival - 2 * _NEGLIGIBLE:
            break
        gaps = np.abs(x[around] - x[best]) * (falls >= _RESOLVED)
        point = (x[best] + x[around[int(gaps.argmax())]]) / 2
        if len(around) == 2 and (falls > _NEGLIGIBLE).all():
            # No neighbour counts in averages: the best width alone is to be found.
            parabola = np.polyfit(x[best - 1 : best + 2] - x[best], totals[best - 1 : best + 2], 2)
            point = x[best] - parabola[1] / (2 * parabola[0])
            if np.polyval(parabola, point - x[best]) - totals[best] < _MIN_GAIN:
                break
        profiles.insert(int(np.searchsorted(x, point)), profile(float(np.exp(point))))
    return profiles


def averaged(by_family: list[list[Profile]]) -> list[Parameters]:
    """Widths and noises with most of the density, by the trapezoidal rule in the log-width."""
    top = max(p.total for profiles in by_family for p in profiles)
    rows = []
    for family, profiles in enumerate(by_family):
        steps = np.ones(1)
        if len(profiles) > 1:
            gaps = np.diff(np.log([p.width for p in profiles]))
            steps = (np.append(gaps, 0.0) + np.insert(gaps, 0, 0.0)) / 2
        for p, step in zip(profiles, steps, strict=True):
            weight = step * np.exp(p.total - top)
            at = family, p.width, p.scale, p.variance
            rows += [Parameters(*at, ratio, weight * share) for ratio, share in p.noises()]
    kept = [row for row in rows if row.share >= _MIN_SHARE * max(r.share for r in rows)]
    together = sum(row.share for row in kept)
    return [row._replace(share=row.share / together) for row in kept]
