"""Error bars of single numbers, and the error of an estimate as a whole.

Estimates that differ only in their random numbers spread around the kernel as the one in use does:
their spread is its standard error. Products with random signs ``z`` measure the error of this very
estimate: ``E ‖A z‖² = ‖A‖²_F`` with ``A = K̂ − K``, and ``z ∘ A z`` has the mean ``diag A``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.estimate.chain import Chain, Link
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.linalg.functions import unit_columns
from grfpp.typing import FloatArray

Estimate = TypeVar("Estimate")

#: Keys of an estimate's `meta` that hold its measured error.
MEASURED = tuple(
    f"{part}_error{std}" for part in ("relative", "off_diagonal") for std in ("", "_std")
)
#: Replicates that are sampled where none are stored: their error bars are right to a fifth.
N_REPLICATES = 16
#: Half the width of a 95 % interval of the normal distribution, in standard deviations.
_NORMAL = 1.959963984540054
#: Widening of error bars for the square of the skewness; fitted on other graphs than the studies'.
_PER_SKEWNESS = 0.1
#: Largest number of nodes for which all columns are compared: about as many as probes.
_ALL_COLUMNS = 128
#: Random numbers of the first probes: a graph with fewer nodes gets more probes, whose spread is
#: larger.
_FIRST_PROBE_NUMBERS = 12_000
#: Smallest number of probes: with one left out there must be pairs of them.
_MIN_PROBES = 4
#: Largest number of probes, which bounds the time of a measurement.
_MAX_PROBES = 96
#: Rows whose entries are compared: half of them drawn by degree.
_N_ROWS = 64
#: Directions in which the kernel is large, from two power iterations: slow kernels have a few.
_N_DIRECTIONS = 3
#: Standard error over the error up to which probes are added: one digit of the error is shown.
_ACCURACY = 0.04
#: Tolerances of the exact products, tried in turn until `_PRODUCT_SHARE` is reached.
_TOLERANCES = (1e-6, 1e-10, 1e-14)
#: Largest error of the exact products as a share of the measured error: below its standard error.
_PRODUCT_SHARE = 0.02
#: Relative error beyond which an estimate is of little use and a warning is given.
LARGE = 0.5
#: Relative error of one probe beyond which the error is measured: below `LARGE`, since one probe is
#: not exact.
_SUSPECT = 0.35
#: Bound of the relative error below which not even one probe is made: half of `LARGE`, since it
#: comes from a sample of rows.
HARMLESS = 0.25
#: Rows of the factors for that bound: its spread is about a tenth.
_N_BOUND_ROWS = 64


def standard_error(
    query: Callable[[Estimate], Any], value: Any, replicates: Iterable[Estimate]
) -> Any:
    """Standard error of ``query(estimate)``, whose result is `value`, from replicates.

    The standard deviation of the replicates, times two factors that make ``value ± 1.96 std`` a
    95 % interval: Student's quantile over the normal one (1.09 for 16 replicates), and one plus a
    tenth of the squared skewness, since few replicates of a heavy-tailed quantity mostly miss its
    large values.

    Examples
    --------
    >>> round(standard_error(float, 3.0, [1.0, 2.0, 3.0, 4.0, 5.0]), 3)
    2.24
    >>> round(standard_error(float, 0.0, [0.0, 0.0, 0.0, 0.0, 5.0]), 3)
    3.88
    """
    # Moments about the value, so that no large squares cancel.
    number, first, second, third = 0, 0.0, 0.0, 0.0
    for replicate in replicates:
        difference = query(replicate) - value
        square = _times(difference, difference)
        number += 1
        first, second = first + difference, second + square
        third = third + _times(square, difference)
    mean = first / number
    squares = second - _times(mean, first)
    cubes = third - 3 * _times(mean, second) + 2 * _times(_times(mean, mean), first)
    if sp.issparse(squares):
        entries = squares.tocoo()
        cubed = np.asarray(cubes.tocsr()[entries.coords]).ravel() if entries.nnz else entries.data
        return sp.csr_array((_error(entries.data, cubed, number), entries.coords), squares.shape)
    error = _error(squares, cubes, number)
    return float(error) if np.ndim(error) == 0 else error


def _error(squares: FloatArray, cubes: FloatArray, number: int) -> FloatArray:
    """Standard error from sums of the squares and cubes of the deviations from the mean."""
    positive = np.maximum(squares, 0.0)  # equal replicates leave rounding errors
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.where(positive > 0, np.sqrt(number) * cubes / positive**1.5, 0.0)
    max_skewness = (number - 2) / np.sqrt(number - 1)  # of `number` values
    factor = 1 + _PER_SKEWNESS * np.minimum(np.abs(skewness), max_skewness) ** 2
    return np.asarray(widening(number) * factor * np.sqrt(positive / (number - 1)))


@cache
def widening(number: int) -> float:
    """Ratio of Student's 95 % quantile to the normal one, for `number` replicates.

    Examples
    --------
    >>> round(widening(16), 3), round(widening(4), 3)
    (1.087, 1.624)
    """
    from scipy.stats import t

    return float(t.ppf(0.975, number - 1)) / _NORMAL


def _times(a: Any, b: Any) -> Any:
    return a.multiply(b) if sp.issparse(a) else a * b


@dataclass(frozen=True)
class EstimateError:
    """Relative errors in the Frobenius norm, each with its standard error.

    Attributes
    ----------
    relative, off_diagonal
        ``‖K̂ − K‖_F / ‖K‖_F``, and the same for the off-diagonal entries.
    relative_std, off_diagonal_std
        Their standard errors; zero where all columns were compared.
    n_probes
        Random vectors that were used; zero where all columns were compared.
    """

    relative: float
    relative_std: float
    off_diagonal: float
    off_diagonal_std: float
    n_probes: int

    def to_meta(self) -> dict[str, float]:
        """The errors under the keys of an estimate's `meta`."""
        return dict(zip(MEASURED, astuple(self)[:4], strict=True))


def estimate_error(K: Any, kernel: Kernel, graph: Graph, seed: int = 0) -> EstimateError:
    """Measure the error of an estimate of ``kernel`` on a graph, by random probes.

    Probes are independent of the walks whatever the seed. They are added until the standard error
    is 4 % of the error, but at most 96. Slow kernels are large in a few directions, and so are the
    errors of their estimates: those directions are compared exactly.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.barabasi_albert_graph(1000, 4, seed=0)).normalized("sym")
    >>> kernel = grfpp.Diffusion(2.0)
    >>> K = grfpp.sample(W, kernel, seed=0, check_error=False)
    >>> measured, true = estimate_error(K, kernel, W), grfpp.relative_error(K, kernel, W)
    >>> abs(measured.relative / true - 1) < 0.1
    True

    References
    ----------
    M. F. Hutchinson, A stochastic estimator of the trace of the influence matrix for Laplacian
    smoothing splines, Commun. Stat. Simul. Comput. 19, 1990.
    R. A. Meyer, C. Musco, C. Musco and D. P. Woodruff, Hutch++: Optimal stochastic trace
    estimation, SOSA 2021.
    """
    n = graph.n_nodes
    if n <= _ALL_COLUMNS:
        return _of_matrices(*_compared(K, kernel, graph, np.eye(n)))
    rng = np.random.default_rng([seed, 0x0E2202])
    basis = random_signs(rng, n, _N_DIRECTIONS)
    for _ in range(2):
        basis, _ = np.linalg.qr(kernel.apply(graph, basis, tol=_TOLERANCES[0]))
    # From the left too: the error may be a product of such a direction and of noise.
    _, left = _compared(K.T, kernel, graph.reversed(), basis)
    basis, _ = np.linalg.qr(np.hstack([basis, left]))
    exact, difference = (_Probed(basis, part) for part in _compared(K, kernel, graph, basis))
    n_probes = max(_MIN_PROBES, -(-_FIRST_PROBE_NUMBERS // n))
    while True:
        signs = random_signs(rng, n, n_probes)
        products = _compared(K, kernel, graph, signs - basis @ (basis.T @ signs))
        for probed, product in zip((exact, difference), products, strict=True):
            probed.add(signs, product)
        error = _errors(exact, difference)
        n_probes = error.n_probes
        if error.relative_std <= _ACCURACY * error.relative or n_probes >= _MAX_PROBES:
            return error


def entry_error(K: Any, kernel: Kernel, graph: Graph) -> float:
    """The largest error of an entry over the largest entry, in up to 64 rows of the matrix.

    Half of these are drawn with probabilities in proportion to the degrees, to include hubs.
    """
    n = graph.n_nodes
    nodes = np.arange(n)
    if n > _N_ROWS:
        degree = graph.out_degree + 1.0
        rng, half = np.random.default_rng(0x0E2204), _N_ROWS // 2
        hubs = rng.choice(n, half, replace=False, p=degree / degree.sum())
        nodes = np.concatenate([rng.choice(n, half, replace=False), hubs])
    exact, difference = _compared(K.T, kernel, graph.reversed(), unit_columns(n, nodes))
    return float(np.abs(difference).max() / np.abs(exact).max())


def error_bound(chain: Chain, kernel: Kernel, graph: Graph) -> float:
    """An upper estimate of the relative error of a chain of pooled factors, from few rows.

    The factors are independent, have the same symmetric mean ``F``, and ``F^p`` is the kernel. The
    error is to first order ``Σ_j F^j N F^(p-1-j)`` (`grfpp.estimate.degree`), where
    the rows ``n_i`` of the noise ``N`` are independent. Of the powers of ``F``, the first ones are
    those of the factors, and each further one adds the norm of ``F`` at most. It costs a few
    thousand rows of the factors, on any graph.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.barabasi_albert_graph(1000, 4, seed=0)).normalized("sym")
    >>> kernel = grfpp.Diffusion(1.0)
    >>> K = grfpp.sample(W, kernel, seed=0)
    >>> K.meta["relative_error"] < error_bound(K.chain, kernel, W) < 0.1
    True
    """
    n_powers, degree = len(chain.links), graph.out_degree + 1.0
    factors = [Chain((Link(link.factor),), chain.n_jobs) for link in chain.links]
    first, second, third, fourth = (factors * 2)[:4]
    chance = 0.5 / graph.n_nodes + 0.5 * degree / degree.sum()
    nodes = np.random.default_rng(0x0E2205).choice(graph.n_nodes, _N_BOUND_ROWS, p=chance)
    share = 1 / (graph.n_nodes * chance[nodes] * len(nodes))
    radius = graph.spectral_radius()
    values = np.abs(kernel.value(np.linspace(-radius, radius, 65)))
    largest = float(values.max()) ** (2 / n_powers)  # squared norm of F
    rows, others = first.rows(nodes), second.rows(nodes)
    noise = (rows - others) * np.sqrt(0.5)
    steps, other_steps = third.times_rows(rows), fourth.times_rows(others)
    with np.errstate(over="ignore", invalid="ignore"):  # not a number: not bounded
        # ‖e_i F^j‖² and ‖n_i F^j‖² for j = 0, 1, …; noise adds to both.
        before = [np.ones(len(nodes)), _row_sums(rows, rows), _row_sums(steps, steps)]
        moved = third.times_rows(noise)
        after = [_row_sums(noise, noise), _row_sums(moved, moved)]
        while len(after) < n_powers:
            before.append(largest * before[-1])
            after.append(largest * after[-1])
        error = sum(share @ (before[j] * after[n_powers - 1 - j]) for j in range(n_powers))
        # Means of (F²)_ii and (F⁴)_ii, without noise; further powers grow at least as they do.
        one, two = (share @ _row_sums(*pair) for pair in ((rows, others), (steps, other_steps)))
        size = two * (two / one) ** (n_powers - 2)
        return float(np.sqrt(error / size)) if one > 0 and two > 0 else math.inf


def _row_sums(a: sp.csr_array, b: sp.csr_array) -> FloatArray:
    """Inner products of the rows of two matrices."""
    return np.asarray(a.multiply(b).sum(axis=1), np.float64).ravel()


def seems_large(multiply: Callable[[FloatArray], FloatArray], kernel: Kernel, graph: Graph) -> bool:
    """Whether the error of a product with one random vector suggests a large relative error."""
    signs = random_signs(np.random.default_rng(0x0E2203), graph.n_nodes, 1)
    try:
        exact = kernel.apply(graph, signs, tol=1e-4)
    except InputError:  # out of the range of numbers, or of polynomials
        return False
    unit = float(np.abs(exact).max()) or 1.0  # squares of large values would overflow
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.linalg.norm((multiply(signs) - exact) / unit)
        return bool(error > _SUSPECT * np.linalg.norm(exact / unit))


def random_signs(rng: np.random.Generator, n: int, number: int) -> FloatArray:
    """Columns of independent random signs."""
    return np.asarray(2.0 * rng.integers(0, 2, (n, number)) - 1.0)


def _compared(
    K: Any, kernel: Kernel, graph: Graph, block: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """``kernel(W) @ block``, and the difference of the estimate's product from it.

    Both in units of a power of two near the norm of the kernel, whose square may overflow.
    """
    radius = graph.spectral_radius()
    largest = float(np.abs(kernel.value(np.array([-radius, 0.0, radius]))).max())
    unit = 2.0 ** math.floor(math.log2(largest)) if 0 < largest < math.inf else 1.0
    exact = difference = product = np.asarray(K @ block) / unit
    for tol in _TOLERANCES:
        exact = kernel.apply(graph, block, tol=tol) / unit
        difference = product - exact
        bound = tol * (largest / unit) * np.linalg.norm(block)
        if bound <= _PRODUCT_SHARE * np.linalg.norm(difference):
            break
    return exact, difference


def jackknife_error(without: FloatArray) -> FloatArray:
    """Standard error of a statistic from its values with each of the samples (rows) left out."""
    n = len(without)
    return np.asarray(np.sqrt((n - 1) / n * np.sum((without - without.mean(axis=0)) ** 2, axis=0)))


class _Probed:
    """A matrix ``A``: its product with an orthonormal ``Q``, and probes of ``A (I − Q Qᵀ)``."""

    def __init__(self, basis: FloatArray, product: FloatArray) -> None:
        #: ``‖A Q‖²_F``, the diagonal of ``A Q Qᵀ``, and ``z ∘ A (I − Q Qᵀ) z``, a column a probe.
        self.size = float(np.sum(product**2))
        self.diagonal = np.einsum("ij,ij->i", product, basis)
        self.draws = np.empty((len(basis), 0))

    def add(self, signs: FloatArray, product: FloatArray) -> None:
        """Add the products with further random signs."""
        self.draws = np.hstack([self.draws, signs * product])

    def squares(self) -> FloatArray:
        """``‖A‖²_F`` and ``Σ A_ii²``: from all probes, and with each of them left out."""
        n = self.draws.shape[1]
        gram, along = self.draws.T @ self.draws, self.diagonal @ self.draws
        masks = np.vstack([np.ones(n), 1 - np.eye(n)])  # all probes, then all but one
        number = masks.sum(axis=1)
        squares = masks @ np.diagonal(gram)
        # The mean of (z ∘ A z) · (z' ∘ A z') over pairs of probes is Σ A_ii².
        pairs = np.einsum("ki,ij,kj->k", masks, gram, masks) - squares
        diagonal = self.diagonal @ self.diagonal + 2 * (masks @ along) / number
        return np.stack([self.size + squares / number, diagonal + pairs / (number * (number - 1))])


def _errors(exact: _Probed, difference: _Probed) -> EstimateError:
    """Both errors with their standard errors, by leaving out one probe at a time."""
    (size, diagonal_size), (error, diagonal_error) = exact.squares(), difference.squares()
    # Without edges only rounding is off-diagonal.
    off_diagonal = np.where(size - diagonal_size > 1e-12 * size, size - diagonal_size, 0.0)
    errors = np.stack([_ratio(error, size), _ratio(error - diagonal_error, off_diagonal)])
    (relative, off_diagonal), spread = errors[:, 0].tolist(), jackknife_error(errors[:, 1:].T)
    relative_std, off_diagonal_std = spread.tolist()
    n_probes = exact.draws.shape[1]
    return EstimateError(relative, relative_std, off_diagonal, off_diagonal_std, n_probes)


def _of_matrices(exact: FloatArray, difference: FloatArray) -> EstimateError:
    relative = _ratio(np.sum(difference**2), np.sum(exact**2))
    for matrix in (difference, exact):
        np.fill_diagonal(matrix, 0.0)
    off_diagonal = _ratio(np.sum(difference**2), np.sum(exact**2))
    return EstimateError(float(relative), 0.0, float(off_diagonal), 0.0, 0)


def _ratio(difference: Any, size: Any) -> FloatArray:
    """Roots of quotients; zero where the divisor is."""
    positive = np.asarray(size) > 0
    return np.asarray(np.sqrt(np.maximum(difference, 0.0) / np.where(positive, size, np.inf)))
