"""What the estimators share: parameters of the kernel and of walks, graphs and nodes as input.

Estimators are dataclasses: the constructor that `dataclass` writes has a keyword for each
parameter and only stores them, as scikit-learn asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, make_dataclass
from typing import Any, ClassVar

import joblib
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_non_negative, validate_data

from grfpp._checks import is_auto, whole
from grfpp.errors import InputError
from grfpp.graph import Graph, as_graph
from grfpp.io.tables import is_frame
from grfpp.kernels import Kernel, kernel_of
from grfpp.nodes import NodeNames
from grfpp.operators.kernel_choice import KernelChoice
from grfpp.options import OF_ESTIMATES, WalkOptions
from grfpp.typing import IntArray

#: Fields of `WalkOptions` that are no parameters of every estimator; `random_state` is the seed.
_NOT_SHARED = {"seed", "dtype", "full_walks", "truncate", "on_infinite_variance", *OF_ESTIMATES}

_SHARED = [(f.name, Any, f.default) for f in fields(WalkOptions) if f.name not in _NOT_SHARED]
WalkParameters: Any = make_dataclass("WalkParameters", _SHARED, kw_only=True, eq=False, repr=False)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelParameters(WalkParameters):  # type: ignore[misc]  # made above
    """The kernel, and how it is computed.

    Parameters
    ----------
    kernel
        A kernel, or its text form: ``"diffusion"``, ``"diffusion:2"``, ``"squared-diffusion"``, …
        (`grfpp.kernels.kernel_from_spec`).
    estimate
        ``"walks"`` estimates the kernel by random walks; ``"exact"`` computes it as accurately as
        rounding allows, and parameters about walks are not used. Estimators whose samples are nodes
        have `method` too, which overrides `estimate` (`NodeKernelParameters`).
    scale
        Factor of the weights ``W = scale · D^-1/2 A D^-1/2``, as in `Graph.normalized`: the square
        of the paper's ``σ``.
    random_state
        An integer is the seed of the walks. ``None`` draws one; from a numpy ``RandomState`` or
        ``Generator`` one is drawn.
    degree, n_walks, termination, walks, n_jobs
        See `grfpp.WalkOptions`. ``n_jobs=None`` is one thread.
    """

    kernel: str | Kernel = "diffusion"
    estimate: str = "walks"
    scale: float = 1.0
    random_state: Any = None

    def _choose(self, **resolved: Any) -> KernelChoice:
        """Check the parameters and draw the seed, as the first step of a fit.

        Values in `resolved` replace parameters that leave a choice to the estimator.
        """
        parameters = {**self._kernel_parameters(), **resolved}
        seed, n_jobs = seed_of(parameters.pop("random_state")), parameters.pop("n_jobs")
        n_jobs = 1 if n_jobs is None else n_jobs
        self._choice = KernelChoice.of(seed=seed, n_jobs=n_jobs, **parameters)
        self.seed_ = self._choice.options.seed
        return self._choice

    def _kernel_parameters(self) -> dict[str, Any]:
        """The parameters of `KernelChoice` by name."""
        names = (parameter.name for parameter in fields(NodeKernelParameters))
        return {name: getattr(self, name) for name in names if hasattr(self, name)}


@dataclass(kw_only=True, eq=False, repr=False)
class NodeKernelParameters(KernelParameters):
    """`KernelParameters` of estimators whose samples are the nodes of one graph.

    Parameters
    ----------
    normalization
        ``"sym"`` for ``W = scale · D^-1/2 A D^-1/2``, ``"rw"`` for ``scale · D^-1 A``, ``None`` for
        ``scale · A``.
    method
        How products with the kernel are computed. ``"walks"`` is the same as ``estimate="walks"``.
        ``"auto"`` takes the planner's method of least predicted time; the names of its methods
        (`grfpp.kernel_operator`) ask for one of them, accurate to a tolerance. All of these
        override `estimate`. ``None``, the default, follows it: only ``estimate="exact"`` without a
        method computes as accurately as rounding allows.
    reuse_walks, symmetrize, deflate
        See `grfpp.WalkOptions`.
    """

    normalization: str | None = "sym"
    reuse_walks: bool = False
    symmetrize: bool | None = None
    deflate: int | str = 0
    method: str | None = None


class GraphEstimator(NodeKernelParameters, BaseEstimator):  # type: ignore[misc]  # untyped base
    """Base of estimators whose ``X`` is a graph, such as an adjacency matrix, dense or sparse.

    They are not tagged "pairwise": scikit-learn would cut training nodes out of the graph by rows
    and columns, which can be fitted and fails only when it scores.
    """

    #: What to do instead of cross-validation that cuts the graph.
    _splitting: ClassVar[str]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def _read_graph(self, X: Any, *, reset: bool) -> Graph:
        """The graph that a user passed, checked.

        Arrays, lists, sparse matrices and data frames are adjacency matrices, checked by
        scikit-learn; everything else goes to `Graph`. Unless `reset`, it must be the graph of the
        fit, since nodes are identified by their index in it.
        """
        if _is_matrix(X):
            options: Any = {"accept_sparse": "csr", "dtype": np.float64, "reset": reset}
            is_list = reset and getattr(X, "ndim", 2) == 1
            matrix = X if is_list else validate_data(self, X, **options)
            if is_list or matrix.shape[0] != matrix.shape[1]:
                problem = f"must be a square adjacency matrix, found shape {matrix.shape}"
                raise InputError(problem, argument="X", advice=self._splitting)
            check_non_negative(matrix, f"X in {type(self).__name__}")
            graph = Graph(matrix)
        else:
            graph = as_graph(X)
            if reset:
                self.n_features_in_ = graph.n_nodes
                self.__dict__.pop("feature_names_in_", None)
        digest = joblib.hash([graph.indptr, graph.indices, graph.weights], coerce_mmap=True)
        if reset:
            self._graph_digest = digest
        elif self._graph_digest != digest:
            problem = f"must be the fitted graph of {self.n_features_in_} nodes, found another "
            advice = f"fit the estimator to it; {self._splitting}"
            raise InputError(f"{problem}of {graph.n_nodes}", argument="X", advice=advice)
        return graph


def _is_matrix(X: Any) -> bool:
    if is_frame(X) and hasattr(X, "shape") and len(X.shape) == 2:
        has_text = any(isinstance(entry, str) for entry in np.asarray(X[:1]).ravel())
        is_narrow = X.shape[1] in (2, 3) and X.shape[0] != X.shape[1]
        if has_text or is_narrow:  # a frame of edges
            return False
    if isinstance(X, np.ndarray | list) or sp.issparse(X):
        return True
    # Sparse tensors are no arrays for numpy; `Graph` reads all tensors.
    return hasattr(X, "__array__") and not type(X).__module__.startswith("torch")


def seed_of(random_state: Any) -> Any:
    """The seed of a `random_state`; ``None`` for one that is drawn later.

    Examples
    --------
    >>> seed_of(3), seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    (3, True)
    """
    if random_state is None:
        return None
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    return whole(random_state, "random_state", 0)


def read_nodes(
    X: Any, names: NodeNames, argument: str = "X", *, distinct: bool = False
) -> IntArray:
    """Indices of nodes that are given by index or by name.

    Examples
    --------
    >>> read_nodes([[2], [0]], NodeNames(3))
    array([2, 0])
    >>> read_nodes(["Ben", "Anna"], NodeNames(2, ["Anna", "Ben"]))
    array([1, 0])
    """
    column = node_column(X, argument)
    # A list is passed on as it is: numpy converts numbers next to text into text.
    nodes = names.numbers(X if isinstance(X, list) and np.ndim(X) == 1 else column, argument)
    if distinct and len(np.unique(nodes)) < len(nodes):
        node = np.bincount(nodes).argmax()
        raise InputError(f"must have each node once, found node {node} again", argument=argument)
    return nodes


def node_column(X: Any, argument: str = "X") -> npt.NDArray[Any]:
    """Nodes as one axis, whether given with shape ``(n,)`` or ``(n, 1)``."""
    try:
        nodes = X if sp.issparse(X) else np.asarray(X)
    except ValueError:  # lists of different lengths
        nodes = np.zeros(())
    if nodes.ndim == 2 and nodes.shape[1] == 1 and not sp.issparse(X):
        nodes = nodes[:, 0]
    if nodes.ndim != 1 or not len(nodes) or nodes.dtype.kind in "fcb":
        problem = "must hold node indices or names, of shape (n,) or (n, 1), found shape "
        problem += f"{nodes.shape} of {nodes.dtype}"
        advice = "the graph is a parameter of the estimator"
        raise InputError(problem, argument=argument, advice=advice)
    return np.asarray(nodes)


def candidate_kernels(kernel: Any, default: Sequence[Kernel]) -> list[Kernel]:
    """The kernels to choose from: those of a list, a single one, or `default` for ``"auto"``.

    Examples
    --------
    >>> candidate_kernels(["diffusion:20", "diffusion"], [])
    [Diffusion(lam=20.0), Diffusion(lam=1.0)]
    """
    if is_auto(kernel):
        return list(default)
    kernels = kernel if isinstance(kernel, list | tuple) else [kernel]
    if not kernels:
        raise InputError("must not be an empty list", argument="kernel")
    return [kernel_of(candidate) for candidate in kernels]


def class_numbers(entries: npt.NDArray[Any]) -> IntArray:
    """Classes of entries, or of rows, as numbers from 0; objects are compared as text.

    Examples
    --------
    >>> class_numbers(np.array(["b", "a", "b"]))
    array([1, 0, 1])
    """
    names = entries.astype(str) if entries.dtype.kind == "O" else entries
    return np.unique(names, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
