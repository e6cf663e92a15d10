"""`GraphSearch`: find the node with the largest value, by asking for values one after the other."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
from scipy.stats import norm
from sklearn.base import clone

from grfpp._checks import array_of, one_of, truth, whole
from grfpp.errors import InputError
from grfpp.gp.model import GraphGP
from grfpp.graph import Graph, as_graph
from grfpp.io.archive import opened_kind, save_arrays
from grfpp.kernels import Kernel
from grfpp.typing import FloatArray

_FORMAT = "grfpp-search-1"
#: Number of first nodes that are drawn uniformly: the fewest from which anything can be learned.
_N_FIRST = 3
#: Growth of the observations after which the parameters are chosen anew.
_GROWTH = 1.25
#: Number of draws of each fit: a batch takes one per node, and deviations are estimated from them
#: to an eighth.
_N_DRAWS = 32
#: Largest number of nodes of a graph whose factorisations are kept for further fits: about 1 GB.
_MAX_KEPT_NODES = 50_000
#: Numbers in the covariances between all nodes and those observed since the last fit: 512 MB.
_MAX_NUMBERS = 1 << 26


@dataclass(eq=False, repr=False)
class GraphSearch:
    """Search the node with the largest value, which is costly to observe.

    `ask` proposes nodes, `tell` takes the values observed there, `best` is the best of these. The
    values are modelled by `GraphGP`, whose parameters are chosen anew whenever the observations
    have grown by a quarter; in between, its draws are conditioned on new values.

    Parameters
    ----------
    graph
        A `grfpp.Graph`, or anything that it takes, undirected, with weights that are not
        normalised.
    kernel, power, normalization, method, n_jobs
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
    method: str = "auto"
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
        #: Posterior covariances between all nodes and those told since the fit.
        self._columns: FloatArray = np.empty((graph.n_nodes, 0))
        names = ("kernel", "power", "normalization", "method", "n_jobs")
        self._choice = GraphGP(graph, **{name: getattr(self, name) for name in names})
        keeps, families = graph.n_nodes <= _MAX_KEPT_NODES, self._choice.families(graph)
        self._choice.__dict__["_shared_families"] = [
            replace(family, keeps=keeps) for family in families
        ]

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

    def _update(self) -> None:
        """Choose the parameters anew, or compute what conditioning on new values needs."""
        n, n_new = len(self._values), len(self._values) - self._n_fitted
        is_due = n >= _GROWTH * self._n_fitted or n_new * self.graph.n_nodes > _MAX_NUMBERS
        if not self._n_fitted or (n_new and is_due):
            self._fit(n)
        new = self._nodes[self._n_fitted + self._columns.shape[1] :]
        if len(new):
            columns = self._gp.posterior_columns(new)
            self._columns = np.column_stack([self._columns, columns])

    def _fit(self, n: int) -> None:
        """Fit to the first observations, and draw functions."""
        seen = self._nodes[:n], self._sign * self._values[:n]
        chosen = self._choice.fit(*seen)
        # One kernel in place of an average over many, whose products with all nodes take long.
        given: Any = {"kernel": chosen.kernel_, "noise_ratio": chosen.noise_ratio_, "width": None}
        self._gp = clone(chosen).set_params(**given).fit(*seen)
        draws = self._gp.sample(n_samples=_N_DRAWS, random_state=self._seed + n)
        self._fields = np.column_stack([draws.T, self._gp.predict()])
        self._columns, self._n_fitted = np.empty((len(self._fields), 0)), n

    def _conditioned(self, which: slice) -> FloatArray:
        """Some of the draws and the mean, given the values observed since the fit."""
        fields, columns = self._fields[:, which], self._columns
        new, values = self._nodes[self._n_fitted :], self._sign * self._values[self._n_fitted :]
        if not len(new):
            return fields
        rng = np.random.default_rng([self._seed, self._n_fitted])
        gaussians = rng.standard_normal((len(new), _N_DRAWS + 1))
        gaussians[:, -1] = 0.0  # the mean is that of observations without noise of their own
        noise = self._gp.noise_
        noisy = fields[new] + np.sqrt(noise) * gaussians[:, which]
        weights = np.linalg.solve(columns[new] + noise * np.eye(len(new)), values[:, None] - noisy)
        return np.asarray(fields + columns @ weights)

    def _by_draws(self, n: int) -> list[int]:
        """Thompson sampling."""
        chosen: list[int] = []
        is_open = self._is_open.copy()
        for k in range(self._n_asked, self._n_asked + n):
            draw = self._conditioned(slice(k % _N_DRAWS, k % _N_DRAWS + 1))[:, 0]
            chosen.append(int(np.where(is_open, draw, -np.inf).argmax()))
            is_open[chosen[-1]] = False
        return chosen

    def _by_gain(self, n: int) -> list[int]:
        """Expected improvement, with deviations estimated from draws."""
        fields = self._conditioned(slice(None))
        mean = fields[:, -1]
        incumbent, is_open, chosen = mean[self._nodes].max(), self._is_open.copy(), []
        for k in range(n):
            n_used = k % (_N_DRAWS // 2)
            if n_used == 0:
                deviations = fields[:, :-1] - mean[:, None]
            std = np.sqrt(np.square(deviations).sum(axis=1) / (_N_DRAWS - n_used))
            # Far below the incumbent the gain is tiny, but must not be rounded to zero everywhere.
            u = np.clip((mean - incumbent) / np.maximum(std, 1e-300), -30.0, 30.0)
            gain = std * (u * norm.cdf(u) + norm.pdf(u))
            node = int(np.where(is_open, gain, -np.inf).argmax())
            chosen.append(node)
            is_open[node] = False
            direction = deviations[node] / max(float(np.linalg.norm(deviations[node])), 1e-300)
            deviations -= np.outer(deviations @ direction, direction)
        return chosen


#: Fields that are not stored as they are.
_NOT_STORED = {"graph", "_", "among"}


def _digest(graph: Graph) -> str:
    return str(joblib.hash([graph.indptr, graph.indices, graph.weights], coerce_mmap=True))
