"""`GraphSearch`: find the node with the largest value, by asking for values one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm

from grfpp._checks import array_of, one_of, truth, whole
from grfpp._memory import fits
from grfpp.errors import InputError
from grfpp.gp.covariance import (
    Covariance,
    FactorizedCovariance,
    SeriesCovariance,
    spectral_gap,
)
from grfpp.gp.model import GraphGP
from grfpp.gp.plan import predicted_fill
from grfpp.gp.posterior import Observations, Spectrum
from grfpp.gp.selection import Given, Quantities, estimate, profile_of, unit_of
from grfpp.graph import Graph, as_graph
from grfpp.io.archive import opened_kind, save_arrays
from grfpp.kernels import Kernel
from grfpp.linalg import chebyshev
from grfpp.linalg.functions import unit_columns
from grfpp.typing import FloatArray, IntArray

_FORMAT = "grfpp-search-1"
#: Number of first nodes that are drawn uniformly: the fewest from which anything can be learned.
_N_FIRST = 3
#: Growth of the observations after which the parameters are chosen anew.
_GROWTH = 1.25
#: The same on graphs whose factorisations are not kept.
_GROWTH_OF_LARGE = 2.0
#: Number of draws from the prior: deviations are estimated from them to an eighth.
_N_DRAWS = 32
#: Largest number of nodes of a graph whose factorisations are kept for further fits: about 1 GB.
_MAX_KEPT_NODES = 50_000
#: Numbers in the covariances between all nodes and those observed: 4 GB.
_MAX_NUMBERS = 1 << 29
#: Largest number of observations that are modelled: their eigenvectors take some seconds.
_MAX_SEEN = 2000
#: Nodes whose draws are conditioned at a time.
_ROWS = 1 << 14
#: Numbers of a block that is multiplied at once: 2 MB, which fit into the cache.
_BLOCK_NUMBERS = 1 << 18
#: The smallest width, and the ratio of neighbouring ones: lengths grow by a factor of 2.8.
_MIN_WIDTH = 0.5
_WIDTH_FACTOR = 8.0
#: Fall of the log-density up to which a wider kernel is preferred.
_MAX_FALL = 2.0
#: Largest width over the inverse spectral gap: beyond, only the variance of the mean grows.
_WIDEST = 4.0
#: Largest width of polynomials: about 600 terms.
_WIDEST_SERIES = 1000.0
#: Largest width of factorisations, which bounds the condition number of systems.
_WIDEST_FACTORS = 1e8
#: Number of terms of polynomials that are always preferred: on expanders, whose factors are dense.
_FEW_TERMS = 100
#: Accuracy of polynomials over the kernel's smallest value, and bounds of what results.
_SERIES_TOL = 1e-2
_SERIES_TOLS = (1e-10, 1e-4)
#: Bytes of an entry of a triangular factor, with indices and room to compute, as in `plan`.
_BYTES_PER_ENTRY = 48


class _ShortSeries(SeriesCovariance):
    """By polynomials that are within a hundredth of the kernel, and so are covariances too."""

    def coefficients(self, power: float = 1.0) -> FloatArray:
        """Chebyshev coefficients of the kernel, or of a power of it."""
        function, radius = self.family.function(self.width), self.family.terms.radius
        low, high = np.sort(np.maximum(function(np.array([-radius, radius])), 0.0)) ** power
        tol = float(np.clip(_SERIES_TOL * low / high, *_SERIES_TOLS))
        return chebyshev.coefficients_of(
            lambda x: np.maximum(function(x), 0.0) ** power, radius, tol
        )


class _Components:
    """Gives the smoothest functions of all components one common size.

    Otherwise each component has a level of its own, whose variance is in inverse proportion to its
    size, and nodes of tiny components would be asked for first.

    Parameters
    ----------
    graph
        With the weights before they are normalised.
    """

    def __init__(self, graph: Graph) -> None:
        self.n, self.label = connected_components(graph.adjacency, directed=False)
        degree = np.asarray(graph.adjacency.sum(axis=1), np.float64)
        volume = np.bincount(self.label, degree)
        #: Eigenvectors of the components, side by side, and their common one.
        self.unit = np.sqrt(degree / np.where(volume > 0, volume, 1.0)[self.label])
        self.common = np.sqrt(degree / max(float(degree.sum()), 1e-300))

    def joined(self, block: FloatArray) -> FloatArray:
        """Replace the projection on the components' eigenvectors by that on the common one."""
        for k in range(block.shape[1]):
            column = block[:, k]
            sizes = np.bincount(self.label, self.unit * column, self.n)[self.label]
            block[:, k] = column - self.unit * sizes + self.common * (self.common @ column)
        return block


@dataclass(frozen=True, eq=False)
class _Prior(Covariance):
    """The covariance of one width, whose blocks grow with the observed nodes."""

    factorize: bool = False
    components: _Components | None = None
    #: Nodes whose covariances are known, and these.
    _known: list[Any] = field(default_factory=lambda: [np.empty(0, np.int64), np.empty((0, 0))])
    #: Columns at all nodes, by node; and draws.
    columns: dict[int, FloatArray] = field(default_factory=dict)
    _drawn: list[FloatArray] = field(default_factory=list)

    @cached_property
    def _solver(self) -> Covariance:
        kind = FactorizedCovariance if self.factorize else _ShortSeries
        return kind(self.family, self.width)

    def _kernel_times(self, block: FloatArray) -> FloatArray:
        product = self._solver._kernel_times(block)
        return product if self.components is None else self.components.joined(product)

    def _root_draws(self, rng: np.random.Generator, n_draws: int) -> FloatArray:
        draws = self._solver._root_draws(rng, n_draws)
        return draws if self.components is None else self.components.joined(draws)

    def computed(self, nodes: IntArray) -> Iterator[FloatArray]:
        """Columns of nodes."""
        size = max(1, _BLOCK_NUMBERS // self.n_nodes)
        for first in range(0, len(nodes), size):
            yield from self.times(unit_columns(self.n_nodes, nodes[first : first + size])).T

    def drawn(self, seed: int) -> FloatArray:
        """Draws, which are kept."""
        if not self._drawn:
            rng = np.random.default_rng(seed)
            size = max(1, _BLOCK_NUMBERS // self.n_nodes)
            counts = np.diff([*range(0, _N_DRAWS, size), _N_DRAWS])
            self._drawn.append(np.hstack([self.draws(rng, count) for count in counts]))
        return self._drawn[0]

    def _kernel_block(self, nodes: IntArray) -> FloatArray:
        """Only what is new is computed."""
        old = self._known[0]
        new = np.setdiff1d(nodes, old)
        if len(new):
            known = np.concatenate([old, new])
            roots = self.family.roots
            right = (
                np.stack([c[known] * roots[known] for c in self.computed(new)]) * roots[new, None]
            )
            right[:, len(old) :] = (right[:, len(old) :] + right[:, len(old) :].T) / 2
            block = np.vstack([np.hstack([self._known[1], right[:, : len(old)].T]), right])
            self._known[:] = known, block
        order = np.argsort(self._known[0])
        at = order[np.searchsorted(self._known[0], nodes, sorter=order)]
        return np.asarray(self._known[1][np.ix_(at, at)])

    def extend(self, nodes: IntArray) -> None:
        """Keep the columns of these nodes, and of no others."""
        for node in set(self.columns) - set(nodes.tolist()):
            del self.columns[node]
        new = np.array([node for node in nodes.tolist() if node not in self.columns], np.int64)
        self.columns.update(zip(new.tolist(), self.computed(new), strict=True))

    def release(self) -> None:
        """Free columns, draws and factors."""
        self.columns.clear()
        self._drawn.clear()
        self.__dict__.pop("_solver", None)


@dataclass(eq=False, repr=False)
class GraphSearch:
    """Search the node with the largest value, which is costly to observe.

    `ask` proposes nodes, `tell` takes the values observed there, `best` is the best of these. The
    values are modelled by the process of `GraphGP`. Width and noise are chosen anew whenever the
    observations have grown by a quarter, or have doubled on more than 50,000 nodes; mean and
    outputscale follow every value. Where covariances with all nodes would take more than 4 GB (540
    observations of a million nodes), the best and the latest observations count.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes, undirected, with weights that are not
        normalised.
    kernel, power, normalization, n_jobs
        As for `GraphGP`. With ``normalization="sym"`` the prior variance does not favour nodes of
        low degree, as it does with ``"rw"``; its smoothest function is the root of the degree.
    acquisition
        ``"thompson"``: each node is the largest of a draw from the posterior. ``"ei"``: the largest
        expected improvement on the posterior mean at the observed nodes; after each node of a
        batch, as if it had been observed.
    random_state
        Seed, a whole number.
    among
        Nodes to choose from, by index or name; all if not given.
    maximize
        ``False`` searches the smallest value.

    Examples
    --------
    >>> import numpy as np
    >>> from grfpp.datasets import grid
    >>> rows, columns = np.divmod(np.arange(900), 30)
    >>> height = -np.hypot(rows - 21, columns - 9)
    >>> search = GraphSearch(grid(30, 30), acquisition="ei")
    >>> for _ in range(20):
    ...     nodes = search.ask(2)
    ...     search.tell(nodes, height[nodes])
    >>> search.best
    (639, -0.0)

    References
    ----------
    X. Wan et al., Bayesian optimisation of functions on graphs, NeurIPS 2023.
    J. T. Wilson et al., Pathwise conditioning of Gaussian processes, 2021.
    """

    graph: Any
    _: KW_ONLY
    kernel: str | Kernel = "matern"
    power: float = 2
    normalization: str | None = "sym"
    acquisition: str = "thompson"
    random_state: int = 0
    among: Any = None
    maximize: bool = True
    n_jobs: int = -1

    def __post_init__(self) -> None:
        one_of(self.acquisition, "acquisition", ("thompson", "ei"))
        self._seed = whole(self.random_state, "random_state", 0)
        self._sign = 1.0 if truth(self.maximize, "maximize") else -1.0
        self.graph = graph = as_graph(self.graph)
        #: Nodes that may be proposed: eligible, neither observed nor proposed since.
        self._is_open = np.full(graph.n_nodes, self.among is None)
        if self.among is not None:
            self._is_open[graph.names.numbers(self.among, "among")] = True
        self._nodes, self._values = np.empty(0, np.int64), np.empty(0)
        self._n_asked = self._n_fitted = 0
        names = ("kernel", "power", "normalization", "n_jobs")
        gp = GraphGP(graph, **{name: getattr(self, name) for name in names})
        self._family = gp.families(graph)[-1]

    def ask(self, n: int = 1) -> list[Any]:
        """The next nodes to observe, all different.

        Nodes are names where the graph has names that are no numbers, else indices. They are not
        proposed again.

        Parameters
        ----------
        n
            Number of nodes.
        """
        n, n_open = whole(n, "n", 1), np.count_nonzero(self._is_open)
        if n > n_open:
            raise InputError(f"must be at most the {n_open} nodes that are left", argument="n")
        if len(self._values) < _N_FIRST or np.ptp(self._values) == 0:
            rng = np.random.default_rng([self._seed, self._n_asked])
            chosen = rng.choice(np.flatnonzero(self._is_open), n, replace=False).tolist()
        else:
            self._update()
            chosen = self._by_draws(n) if self.acquisition == "thompson" else self._by_gain(n)
        self._is_open[chosen] = False
        self._n_asked += n
        return [self._name(node) for node in chosen]

    def tell(self, nodes: Any, values: npt.ArrayLike) -> None:
        """Add observations.

        Parameters
        ----------
        nodes
            One node or several, by index or name, whether proposed or not; they may repeat.
        values
            The values observed there.
        """
        positions = self.graph.names.numbers(nodes)
        numbers = array_of(values, "values").reshape(-1)
        is_real = numbers.dtype.kind in "buif" and np.isfinite(numbers).all()
        if numbers.shape != positions.shape or not is_real:
            problem = f"must be {len(positions)} finite numbers, one per node"
            raise InputError(problem, argument="values", advice="leave failed nodes out")
        self._nodes = np.append(self._nodes, positions)
        self._values = np.append(self._values, numbers.astype(np.float64))
        self._is_open[positions] = False

    @property
    def best(self) -> tuple[Any, float]:
        """The node with the best observed value, and this value."""
        if not len(self._values):
            raise InputError("nothing has been observed", advice="call tell(nodes, values) first")
        at = int((self._sign * self._values).argmax())
        return self._name(int(self._nodes[at])), float(self._values[at])

    @property
    def observations(self) -> tuple[list[Any], FloatArray]:
        """All observed nodes and values, in the order of `tell`."""
        return [self._name(node) for node in self._nodes.tolist()], self._values.copy()

    def save(self, path: str | Path) -> None:
        """Write settings and observations to an ``.npz`` file, without the graph."""
        meta = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NOT_STORED}
        if isinstance(self.kernel, Kernel):
            meta["kernel"] = self.kernel.to_dict()
        counts = {"n_asked": self._n_asked, "n_fitted": self._n_fitted}
        arrays = {"nodes": self._nodes, "values": self._values}
        if self.among is not None:
            arrays["among"] = self.graph.names.numbers(self.among)
        save_arrays(path, _FORMAT, arrays, {**meta, **counts, "graph": _digest(self.graph)})

    @classmethod
    def load(cls, path: str | Path, graph: Any) -> GraphSearch:
        """Resume a search that `save` wrote, on the same graph.

        It continues as the saved one would have, except that nodes without a value may be proposed
        again.
        """
        graph = as_graph(graph)
        with opened_kind(path, _FORMAT) as (arrays, meta):
            nodes, values = arrays.read(["nodes", "values"], 1, "the search in")
            among = arrays.get("among")
            if meta.get("graph") != _digest(graph):
                raise InputError(f"{path} is a search on another graph", argument="graph")
            if isinstance(meta["kernel"], dict):
                meta["kernel"] = Kernel.from_dict(meta["kernel"])
            options = {f.name: meta[f.name] for f in fields(cls) if f.name not in _NOT_STORED}
            search = cls(graph, among=among, **options)
            search.tell(nodes, values)
            search._n_asked = whole(meta["n_asked"], "n_asked", 0)
            n_fitted = whole(meta["n_fitted"], "n_fitted", 0, len(values))
        if n_fitted:
            search._fit(n_fitted)
        return search

    def _name(self, node: int) -> Any:
        ids = self.graph.node_ids
        name = node if ids is None else ids[node]
        return int(node) if isinstance(name, Integral) else name

    @cached_property
    def _priors(self) -> list[_Prior]:
        """The covariance of each width that is compared."""
        family, graph, widths = self._family, self.graph, np.zeros(1)
        form, widest = family.inverse_form(1.0), 0.0
        if not isinstance(family.kernel, Kernel):
            widest = max(_WIDEST / max(spectral_gap(family.W), 1e-12), _WIDTH_FACTOR * _MIN_WIDTH)
        series = _ShortSeries(family, min(widest, _WIDEST_SERIES))
        # Draws are solutions with half the power.
        factorize = form is not None and form[2] % 2 == 0 and _is_cheaper_to_factorize(series)
        if widest:
            widest = min(widest, _WIDEST_FACTORS) if factorize else series.width
            n_steps = round(np.log(widest / _MIN_WIDTH) / np.log(_WIDTH_FACTOR))
            widths = np.geomspace(_MIN_WIDTH, widest, n_steps + 1)
        components = None if self.normalization is None else _Components(graph)
        if components is not None and components.n == 1:
            components = None
        return [
            _Prior(family, float(width), factorize=factorize, components=components)
            for width in widths
        ]

    def _seen(self, n: int) -> Observations:
        """The first observations; if they are too many, the best and the latest of them."""
        values = self._sign * self._values[:n]
        limit = min(_MAX_SEEN, _MAX_NUMBERS // self.graph.n_nodes)
        at = np.arange(n)
        if n > limit:
            is_old = at < n - limit // 2
            best = np.argsort(np.where(is_old, -values, np.inf), kind="stable")
            at = np.union1d(best[: limit - limit // 2], at[~is_old])
        return Observations.of(self._nodes[at], values[at, None], np.ones(len(at)))

    def _update(self) -> None:
        """Choose the parameters anew if it is time, and compute covariances of new nodes."""
        n, is_large = len(self._values), self.graph.n_nodes > _MAX_KEPT_NODES
        if n >= (_GROWTH_OF_LARGE if is_large else _GROWTH) * self._n_fitted:
            self._fit(n)
        self._prior.extend(self._seen(n).nodes)

    def _fit(self, n: int) -> None:
        """Choose width and noise by the first observations."""
        seen, profiles = self._seen(n), []
        for prior in self._priors:
            profiles.append(profile_of(prior, seen, unit_of(prior.block(seen.nodes)), Given()))
            if self.graph.n_nodes > _MAX_KEPT_NODES and prior is not getattr(self, "_prior", None):
                prior.release()
        # If values of neighbours were unrelated, any node would be as good as another: widths that
        # are not refuted are worth a try.
        totals = np.array([profile.total for profile in profiles])
        best = int(np.flatnonzero(totals >= totals.max() - _MAX_FALL).max())
        for prior in self._priors:
            if self.graph.n_nodes > _MAX_KEPT_NODES and prior is not self._priors[best]:
                prior.release()
        self._prior, self._profile, self._n_fitted = self._priors[best], profiles[best], n

    def _conditioned(self, mix: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Draws from the posterior, by blocks of nodes.

        Parameters
        ----------
        mix
            A column of weights of the prior's draws for each; zeros for the posterior mean.
        """
        prior, profile, seen = self._prior, self._profile, self._seen(len(self._values))
        draws, m = prior.drawn(self._seed), len(seen.nodes)
        ratio = profile.ratios[[profile.log_density.argmax()]]
        columns = [prior.columns[node] for node in seen.nodes.tolist()]
        block = profile.scale * np.stack([column[seen.nodes] for column in columns])
        spectrum = Spectrum((block + block.T) / 2, seen.noise)
        quantities = Quantities.of_spectrum(spectrum, seen, ratio)
        found = estimate(quantities, seen, ratio, profile.variance, Given())
        rng = np.random.default_rng([self._seed, self._n_asked])
        is_drawn = mix.any(axis=0)
        # Student's t, since the outputscale is an estimate.
        sizes = np.sqrt(found.outputscale[0] * found.dof / rng.chisquare(found.dof, mix.shape[1]))
        mix = np.sqrt(profile.scale) * sizes * mix
        noise = np.sqrt(ratio * seen.noise)[:, None] * rng.standard_normal((m, mix.shape[1]))
        residuals = seen.values - draws[seen.nodes] @ mix - is_drawn * sizes * noise
        solved = spectrum.solve(np.column_stack([residuals, np.ones(m)]), float(ratio[0]))
        # The generalised least squares estimate of the mean of each draw.
        means = solved[:, :-1].sum(axis=0) / solved[:, -1].sum()
        weights = profile.scale * (solved[:, :-1] - solved[:, -1:] * means)
        for first in range(0, len(draws), _ROWS):
            rows = slice(first, first + _ROWS)
            across = np.stack([column[rows] for column in columns])
            yield rows, draws[rows] @ mix + means + across.T @ weights

    def _by_draws(self, n: int) -> list[int]:
        """Thompson sampling."""
        rng = np.random.default_rng([self._seed, self._n_asked, 1])
        # Random directions of the prior's draws are draws themselves.
        mix = rng.standard_normal((_N_DRAWS, n))
        mix /= np.linalg.norm(mix, axis=0)
        fields = np.concatenate([block for _, block in self._conditioned(mix)])
        chosen: list[int] = []
        is_open = self._is_open.copy()
        for k in range(n):
            chosen.append(int(np.where(is_open, fields[:, k], -np.inf).argmax()))
            is_open[chosen[-1]] = False
        return chosen

    def _by_gain(self, n: int) -> list[int]:
        """Expected improvement, with deviations estimated from draws."""
        mix = np.eye(_N_DRAWS, _N_DRAWS + 1)
        mean, deviations = np.empty(self.graph.n_nodes), np.empty((self.graph.n_nodes, _N_DRAWS))
        for rows, block in self._conditioned(mix):
            mean[rows] = block[:, -1]
            deviations[rows] = block[:, :-1] - block[:, -1:]
        incumbent, is_open, chosen = mean[self._nodes].max(), self._is_open.copy(), []
        for k in range(n):
            n_used = k % (_N_DRAWS // 2)
            if n_used == 0:
                left = deviations if n <= _N_DRAWS // 2 else deviations.copy()
            std = np.sqrt(np.einsum("ij,ij->i", left, left) / (_N_DRAWS - n_used))
            # Far below the incumbent the gain is tiny, but must not be rounded to zero everywhere.
            u = np.clip((mean - incumbent) / np.maximum(std, 1e-300), -30.0, 30.0)
            gain = std * (u * norm.cdf(u) + norm.pdf(u))
            node = int(np.where(is_open, gain, -np.inf).argmax())
            chosen.append(node)
            is_open[node] = False
            if k < n - 1:
                direction = left[node] / max(float(np.linalg.norm(left[node])), 1e-300)
                left -= np.outer(left @ direction, direction)
        return chosen


def _is_cheaper_to_factorize(series: _ShortSeries) -> bool:
    """Whether a factorisation takes less work than draws by polynomials."""
    W, n_terms = series.family.W, len(series.coefficients())
    if n_terms <= _FEW_TERMS:
        return False
    fill = predicted_fill(W, 1)
    return (
        fits(_BYTES_PER_ENTRY * fill) and fill**2 / W.n_nodes < _N_DRAWS * n_terms * W.indices.size
    )


#: Fields that are not stored as they are.
_NOT_STORED = {"graph", "_", "among"}


def _digest(graph: Graph) -> str:
    return str(joblib.hash([graph.indptr, graph.indices, graph.weights], coerce_mmap=True))
