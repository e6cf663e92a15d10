"""A validated, immutable, weighted graph in compressed sparse row form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp import normalization
from grfpp._checks import one_of, positive, truth
from grfpp._memory import require_bytes
from grfpp.errors import InputError, InputWarning, warn_user
from grfpp.io import read_adjacency
from grfpp.io.archive import save_arrays
from grfpp.io.folder.reader import GraphFolder, MappedForm, is_folder_path
from grfpp.io.folder.writer import save_folder
from grfpp.io.matrices import GRAPH_FORMAT, canonical_matrix, read_saved_graph
from grfpp.io.meshes import MeshWeights
from grfpp.io.objects import mesh_of, says_direction
from grfpp.io.points import Method, neighbour_graph, neighbours_note
from grfpp.io.table_options import Column, Duplicates, EdgeListKeywords, EdgeListOptions
from grfpp.io.tables import edge_columns
from grfpp.linalg import spectra
from grfpp.linalg.csr import csr, readonly
from grfpp.linalg.symmetrize import Symmetrize, symmetrized, without_rounding
from grfpp.nodes import NodeNames
from grfpp.normalization import Normalization, Rows, ScaledWeights
from grfpp.typing import FloatArray, IntArray

#: Cached properties of a graph that go with its matrix to other processes.
_KNOWN = ("is_directed", "_spectral_radius", "_root_strength")


class Graph:
    """A weighted graph, directed or not, that never changes.

    Parameters
    ----------
    source
        What holds the graph: a scipy sparse matrix or array of any format, a square numpy array,
        a networkx or igraph graph, a PyG ``Data``, a torch sparse tensor, a pair
        ``(edge_index, weights)`` with ``edge_index`` of shape ``(2, n_edges)``, a mesh
        (``trimesh.Trimesh`` or ``(vertices, faces)``), a list of tuples ``(u, v)`` or
        ``(u, v, weight)``, a frame of edges (pandas, Polars, Arrow; see `from_frame`) or a square
        one of pandas whose index is its columns, another `Graph`, or the path of an edge list
        (``.txt``, ``.tsv``, ``.csv``, ``.edges``, ``.edgelist``, ``.parquet``, ``.feather``),
        ``.gml``, ``.graphml``, ``.mtx``, ``.npz`` or mesh (``.stl``, ``.off``, ``.ply``, ``.obj``,
        ``.glb``, ``.vtk``, ``.vtu``) file; text and meshes also with ``.gz`` or ``.zip``; or of a
        ``.grf`` folder (see `open`).
    directed
        How to read lists of edges. By default they are undirected: an edge counts in both
        directions. ``True`` keeps each as one arc. All other sources say themselves what they are;
        ``False`` refuses those that are directed.
    n_nodes
        Number of nodes, for ``(edge_index, weights)`` pairs and edge lists whose nodes are numbered
        from 0 and do not all have an edge.
    symmetrize
        Make a directed source undirected: both directions of an edge get the larger weight
        (``"max"``), the mean (``"mean"``), the sum (``"sum"``), or the smaller, which drops edges
        that are there in one direction only (``"mutual"``). Edge lists are then read as arcs; of
        undirected sources, which have both directions, ``"sum"`` doubles the weights.
    mesh_weights
        Of a mesh: ``"unit"`` for 1 on every side of a face, the default; ``"length"`` for the
        inverse of the side's length; ``"cotangent"`` for half the sum of the cotangents of both
        angles that face it, on triangles. Sides with negative ones are left out, with a warning.
    duplicates, columns, separator, encoding, header
        How to read lists of edges, where that is not plain; see
        `grfpp.io.table_options.EdgeListOptions`.

    Attributes
    ----------
    indptr, indices, weights
        The rows of the weight matrix in canonical CSR form: sorted, duplicates summed, no stored
        zeros. Read-only. Weights are float64. Of a graph on disk they are memory maps, and weights
        that are not stored are computed when they are first asked for.
    node_ids
        The names that the source gave its nodes, in the order of the rows, or ``None`` where
        nodes are simply numbered. Anything hashable; `index` turns them into places of rows. A
        list but for graphs on disk, and for more than 200,000 names that were read as text: these
        are a sequence that keeps them in one buffer, and compares and prints as a list.
    meta
        How `from_points` made the graph, and masses of `from_mesh`; empty for others.

    Warns
    -----
    InputWarning
        Where a directed source looks like nearest neighbours, and neither `symmetrize` nor
        ``directed=True`` says what is meant.

    Examples
    --------
    >>> from grfpp import Graph
    >>> triangle = Graph([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    >>> triangle
    Graph(n_nodes=3, n_edges=3, undirected)
    >>> triangle.normalized("sym").adjacency.toarray()
    array([[0. , 0.5, 0.5],
           [0.5, 0. , 0.5],
           [0.5, 0.5, 0. ]])
    """

    indptr: IntArray
    indices: npt.NDArray[np.int32]
    node_ids: Sequence[Any] | None
    meta: Mapping[str, Any] = MappingProxyType({})
    #: What is known of a graph on disk; ``None`` for those in memory.
    _form: MappedForm | None = None

    def __init__(
        self,
        source: Any,
        *,
        directed: bool | None = None,
        n_nodes: int | None = None,
        symmetrize: Symmetrize | None = None,
        mesh_weights: MeshWeights | None = None,
        **reading: Unpack[EdgeListKeywords],
    ) -> None:
        options = EdgeListOptions(**reading)
        if is_folder_path(source):
            source = Graph.open(source)
        if symmetrize is not None and directed is None and not isinstance(source, Graph):
            directed = True  # each line of an edge list is an arc
        if isinstance(source, Graph):
            options.require_only((), "a Graph")
            wrong_size = n_nodes not in (None, source.n_nodes)
            if wrong_size or mesh_weights or (directed is False and source.is_directed):
                options_given = f"{directed=}, {n_nodes=}, {mesh_weights=}"
                raise InputError(f"{source!r} cannot be read with {options_given}")
            if source._form is not None and symmetrize is None:
                self.__dict__.update(source.__dict__)  # nothing about it ever changes
                return
            matrix, node_ids = source.adjacency, source.node_ids
        else:
            how: dict[str, Any] = {"mesh_weights": mesh_weights, "options": options}
            matrix, node_ids = read_adjacency(source, directed=directed, n_nodes=n_nodes, **how)
        canonical = canonical_matrix(matrix, source)
        del matrix  # large, and of no more use
        if symmetrize is not None:
            canonical = symmetrized(canonical, symmetrize)
        elif not isinstance(source, Graph):
            says = directed or says_direction(source)
            canonical = canonical if says else without_rounding(canonical)
            note = None if says else neighbours_note(canonical)
            if note is not None and directed is None and mesh_weights is None:
                warn_user(note, InputWarning)
        self._adopt(canonical, node_ids)

    @classmethod
    def from_points(
        cls,
        X: Any,
        n_neighbors: int = 10,
        metric: str | Callable[..., float] = "euclidean",
        *,
        symmetrize: Symmetrize | None = "max",
        method: Method = "auto",
        seed: int = 0,
    ) -> Graph:
        """Join points to their nearest neighbours, with affinities for weights.

        The weight between points ``i`` and ``j`` at distance ``d`` is ``exp(-d² / (s_i s_j))``,
        where ``s_i`` is the distance from ``i`` to the last of its neighbours: Gaussians that tune
        their width themselves (Zelnik-Manor and Perona, 2004). Weights below 1e-12 are raised to
        that, so that outliers keep their edges. Copies of a point are its neighbours, with
        weight 1; one with as many copies as neighbours takes the median of the others' widths.

        Parameters
        ----------
        X
            A row a point: an array, a sparse matrix, or a data frame, whose index gives the names.
        n_neighbors
            Neighbours of each point, without itself.
        metric
            As for scikit-learn's ``NearestNeighbors``.
        symmetrize
            As for `Graph`: ``"max"`` joins points of which one is a neighbour of the other,
            ``"mutual"`` those that are each other's. ``None`` keeps arcs from points to neighbours.
        method
            ``"exact"`` by scikit-learn, ``"approximate"`` by pynndescent (extra ``points``).
            ``"auto"`` is exact, but for more than 50,000 points of more than 15 dimensions where
            pynndescent is installed. What was used is in `meta`.
        seed
            Of the approximate search.

        Examples
        --------
        >>> import grfpp, numpy as np
        >>> points = np.random.default_rng(0).normal(size=(200, 2))
        >>> graph = grfpp.Graph.from_points(points, n_neighbors=6)
        >>> graph.n_nodes, graph.is_directed, graph.meta["package"]
        (200, False, 'scikit-learn')
        >>> grfpp.sample(graph.normalized(), grfpp.Diffusion(2.0), seed=0)
        KernelEstimate(n_nodes=200, degree=2)
        """
        how: dict[str, Any] = {"symmetrize": symmetrize, "method": method, "seed": seed}
        matrix, names, meta = neighbour_graph(X, n_neighbors, metric, **how)
        return _restored(cls._of, (matrix, names), meta, {})

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        source: Column | None = None,
        target: Column | None = None,
        weight: Column | None = None,
        *,
        directed: bool | None = None,
        n_nodes: int | None = None,
        duplicates: Duplicates | None = None,
    ) -> Graph:
        """Read a frame (pandas, Polars, Arrow) with one edge a row; needs the extra ``frames``.

        Parameters
        ----------
        frame
            The frame.
        source, target, weight
            Columns by name, or by number from 0. Names of nodes are text or whole numbers. With
            source and target alone every edge weighs 1. Without these, they are found by their
            names, such as ``source`` and ``target``, or are the first two or three columns.
        directed, n_nodes, duplicates
            As for `Graph`.

        Examples
        --------
        >>> import pyarrow
        >>> calls = pyarrow.table({"who": ["ann", "bob"], "whom": ["bob", "cy"], "n": [3, 1]})
        >>> graph = Graph.from_frame(calls, source="who", target="whom", weight="n")
        >>> graph.node_ids, graph.weights
        (['ann', 'bob', 'cy'], array([3., 3., 1., 1.]))
        """
        table, columns = edge_columns(frame, source, target, weight)
        reading: EdgeListKeywords = {"columns": columns, "duplicates": duplicates}
        return cls(table, directed=directed, n_nodes=n_nodes, **reading)

    @classmethod
    def from_mesh(cls, mesh: Any, weights: MeshWeights = "unit", *, mass: bool = False) -> Graph:
        """Join the corners of a mesh's faces, with weights that know its areas if asked for.

        Parameters
        ----------
        mesh
            ``(vertices, faces)``, an object of trimesh or meshio, or the path of a file.
        weights
            As `mesh_weights` of `Graph`.
        mass
            Add a loop to every node, so that degrees are proportional to masses ``M``, a third of
            the area of the triangles around; for cotangent weights, whose Laplacian is ``L``. With
            ``rate = meta["rate"]``, ``normalized("sym")`` is then ``I - M^-1/2 L M^-1/2 / rate``,
            ``normalized("rw")`` is ``I - M^-1 L / rate``, and ``HeatKernel(rate * t)`` on the
            latter the heat equation after the time ``t``, in units of area: ``exp(-t M^-1 L)``.
            It conserves heat, ``meta["mass"] @ (K @ u) == meta["mass"] @ u``.

        Examples
        --------
        >>> import grfpp, numpy as np
        >>> from grfpp.datasets import triangulated_sphere
        >>> ball = triangulated_sphere(3)
        >>> graph = Graph.from_mesh((ball.vertices, ball.faces), "cotangent", mass=True)
        >>> heat = grfpp.HeatKernel(0.1 * graph.meta["rate"])       # after the time 0.1
        >>> height = ball.vertices[:, 2]                    # which falls by exp(-2 t) on a sphere
        >>> later = heat.apply(graph.normalized("rw"), height)
        >>> print(f"{np.ptp(later) / np.ptp(height):.2f} {np.exp(-0.2):.2f}")
        0.82 0.82

        References
        ----------
        Pinkall, Polthier: Computing discrete minimal surfaces and their conjugates. Experimental
        Mathematics 2, 1993. Meyer, Desbrun, Schröder, Barr: Discrete differential-geometry
        operators for triangulated 2-manifolds, 2003.
        """
        if not truth(mass, "mass"):
            return cls(mesh, mesh_weights=weights)
        if weights != "cotangent":
            problem = f"=True needs cotangent weights, found {weights!r}"
            raise InputError(problem, argument="mass", advice="pass weights='cotangent'")
        surface = mesh_of(mesh)
        matrix, meta = surface.with_masses()
        return _restored(cls._of, (matrix, surface.labels()), meta, {})

    @classmethod
    def open(cls, path: str | Path, *, verify: bool = False) -> Graph:
        """Open a graph on disk: a ``.grf`` folder that `save` or ``grfpp convert`` wrote.

        Its arrays are mapped into memory: only pages that are used are read. Normalising
        it takes no memory. It can be used wherever a graph can, with the same results to the last
        bit; what needs all weights makes them when it comes to that.

        Parameters
        ----------
        path
            The folder.
        verify
            Verify checksums and structure of all files, also where that has been done since
            they were last written. A copied folder is verified once anyway.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> folder = pathlib.Path(tempfile.mkdtemp()) / "path.grf"
        >>> Graph([("a", "b"), ("b", "c")]).save(folder)
        >>> graph = Graph.open(folder)
        >>> graph, graph.index("c"), graph.normalized("rw").scaled.value
        (Graph(n_nodes=3, n_edges=2, undirected), 2, 1.0)
        """
        folder = GraphFolder.open(path, verify=truth(verify, "verify"))
        return cls._on_disk(MappedForm.stored(folder))

    @classmethod
    def _on_disk(cls, form: MappedForm, names: NodeNames | None = None) -> Graph:
        graph = cls.__new__(cls)
        graph._form = form
        graph.indptr, graph.indices = form.indptr, form.indices
        names = form.names if names is None else names
        graph.node_ids = names.ids
        known = {"names": names, "scaled": form.scaled, "is_directed": form.is_directed}
        known |= {"n_edges": form.n_edges, "_spectral_radius": form.spectral_radius}
        graph.__dict__.update({key: each for key, each in known.items() if each is not None})
        return graph

    @property
    def is_on_disk(self) -> bool:
        """Whether its arrays are mapped from a folder, by whose path other processes get it."""
        return self._form is not None

    def require_unchanged(self) -> None:
        """Raise `InputError` where the folder of a graph on disk has changed since `open`."""
        if self._form is not None:
            self._form.folder.require_unchanged()

    def indices_file(self) -> int | None:
        """Descriptor of the file of `indices`, to read at places; ``None`` for one in memory."""
        return None if self._form is None else self._form.indices_file()

    def _adopt(self, matrix: sp.csr_array, node_ids: Sequence[Any] | None) -> None:
        """Take the arrays of a canonical CSR matrix, read-only from now on."""
        self.indptr = readonly(np.ascontiguousarray(matrix.indptr, dtype=np.int64))
        self.indices = readonly(np.ascontiguousarray(matrix.indices, dtype=np.int32))
        self.weights = readonly(np.ascontiguousarray(matrix.data, dtype=np.float64))
        self.node_ids = node_ids

    @classmethod
    def _of(cls, matrix: sp.csr_array, node_ids: Sequence[Any] | None = None) -> Graph:
        """Wrap a matrix that is known to be valid; only its form is made canonical."""
        graph = cls.__new__(cls)
        matrix.sum_duplicates()
        graph._adopt(matrix, node_ids)
        return graph

    def _with_matrix(self, matrix: sp.csr_array) -> Graph:
        """Another matrix on the same nodes, whose names are looked up in the same dictionary."""
        graph = Graph._of(matrix, self.node_ids)
        graph.__dict__["names"] = self.names
        graph.meta = self.meta
        return graph

    def _with_form(self, form: MappedForm) -> Graph:
        graph = Graph._on_disk(form, self.names)
        graph.meta = self.meta
        return graph

    def __repr__(self) -> str:
        kind = "directed" if self.is_directed else "undirected"
        return f"Graph(n_nodes={self.n_nodes}, n_edges={self.n_edges}, {kind})"

    def __reduce__(self) -> tuple[Any, ...]:
        known = {key: self.__dict__[key] for key in _KNOWN if key in self.__dict__}
        if self._form is not None:
            known.pop("_root_strength", None)
            return _restored, (Graph._on_disk, (self._form,), dict(self.meta), known)
        if self.scaled.base is None or self.scaled.kind is not None:
            known["scaled"] = self.scaled
        parts = (self.adjacency, self.node_ids)
        return _restored, (Graph._of, parts, dict(self.meta), known)

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self  # nothing about it ever changes

    @cached_property
    def names(self) -> NodeNames:
        """The nodes' names, to be looked up by whoever is asked for a node."""
        return NodeNames(self.n_nodes, self.node_ids)

    def index(self, names: Any) -> Any:
        """Turn the names of nodes into the places of their rows.

        Wherever a node is asked for (`KernelEstimate.rows`, `sample_submatrix`, …), a whole number
        is a place, 0 … n-1, and text is a name. This is the way for names that are whole numbers
        themselves; it takes all others too.

        Parameters
        ----------
        names
            One name, or a list of names. A tuple is a name where a node has that, else a list.

        Returns
        -------
        int, or numpy.ndarray for a list

        Examples
        --------
        >>> import networkx as nx
        >>> years = Graph(nx.path_graph([1999, 2004, 2024]))
        >>> years.index(2024), years.index([2004, 1999])
        (2, array([1, 0]))
        """
        return self.names.index(names)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1

    @cached_property
    def weights(self) -> FloatArray:
        """The weights of the edges."""
        # Those of graphs in memory are there from the beginning.
        rule = self.scaled
        self.require_unchanged()
        if rule.base is not None and rule.kind is None and rule.value == 1.0:
            return rule.base
        require_bytes(8 * len(self.indices), f"the weights of {len(self.indices):,} edges")
        return readonly(rule.fill(self.indptr, self.indices))

    def weights_of_rows(self, first: int, last: int) -> FloatArray:
        """The weights of rows `first` to ``last - 1``, without making those of others."""
        if "weights" in self.__dict__:
            return self.weights[int(self.indptr[first]) : int(self.indptr[last])]
        return self.scaled.of_rows(self.indptr, self.indices, first, last)

    @cached_property
    def scaled(self) -> ScaledWeights:
        """The weights as a rule, which takes no memory where all edges weigh the same.

        That is so where all weights are the same power of two, as 1 is, or were so before
        `normalized`.
        """
        value = normalization.one_for_all(self.weights)
        return ScaledWeights(None, value or 1.0, self.weights if value is None else None)

    @cached_property
    def n_edges(self) -> int:
        """Number of edges; an undirected edge and a self-loop count once."""
        if self.is_directed:
            return len(self.indices)
        loops = int(np.count_nonzero(self.adjacency.diagonal()))
        return (len(self.indices) + loops) // 2

    @cached_property
    def is_directed(self) -> bool:
        """Whether the weight matrix differs from its transpose."""
        rows = Rows(self.indptr, self.indices, self.weights)
        return not rows.equals(rows.transposed())

    @cached_property
    def out_degree(self) -> IntArray:
        """Number of out-neighbours of each node (a self-loop is one of them)."""
        return readonly(np.diff(self.indptr))

    @property
    def adjacency(self) -> sp.csr_array:
        """The weight matrix as a scipy CSR array that shares this graph's memory."""
        self.require_unchanged()
        return self._with_weights(self.weights)

    def _with_weights(self, weights: FloatArray) -> sp.csr_array:
        """The matrix with this graph's edges and other weights."""
        matrix = csr(weights, self.indices, self.indptr, self.n_nodes)
        matrix.has_canonical_format = True
        return matrix

    def normalized(self, kind: Normalization = "sym", scale: float = 1.0) -> Graph:
        """Scale the weights by the (weighted) degrees.

        Parameters
        ----------
        kind
            ``"sym"`` for ``D_out^-1/2 A D_in^-1/2`` (``D^-1/2 A D^-1/2`` when undirected), ``"rw"``
            for ``D_out^-1 A``, ``None`` for ``A`` itself.
        scale
            A positive factor on all weights; the paper's ``σ²``.

        Returns
        -------
        Graph
            With ``scale`` as its spectral radius when the graph is undirected and has an edge.
        """
        one_of(kind, "kind", ("sym", "rw", None))
        factor = positive(scale, "scale")
        if self._form is not None and (form := self._form.normalized(kind, factor)) is not None:
            return self._with_form(form)
        self.require_unchanged()
        rows = Rows(self.indptr, self.indices, self.weights)
        with np.errstate(all="ignore"):
            weights = normalization.normalized_weights(rows, kind, directed=self.is_directed)
            weights = weights * factor
        if not (np.isfinite(weights) & (weights > 0)).all():
            problem = "normalized weights leave the range of floating point: the weights, or scale"
            raise InputError(f"{problem} {factor:g}, are too large, too small or too far apart")
        graph = self._with_matrix(self._with_weights(weights))
        if kind != "rw" and not self.is_directed:
            graph.__dict__["is_directed"] = False
        if kind is not None and not self.is_directed and len(weights):
            # Known without iterating: √degree (or the constant) is the Perron vector.
            graph.__dict__["_spectral_radius"] = factor
        if kind == "sym" and not self.is_directed:
            with np.errstate(over="ignore"):
                graph._root_strength = np.sqrt(self.adjacency.sum(axis=1))
        elif kind is None:
            graph._root_strength = self._root_strength
        rows = Rows(self.indptr, self.indices, self.scaled.base)
        directed = self.is_directed
        rule = normalization.normalized_rule(self.scaled, rows, kind, factor, directed=directed)
        if rule is not None:
            graph.__dict__["scaled"] = rule
        return graph

    def reversed(self) -> Graph:
        """Turn every arc round; an undirected graph is returned as it is."""
        if not self.is_directed:
            return self
        if self._form is not None:
            return self._with_form(self._form.reversed())
        graph = self._with_matrix(self.adjacency.T.tocsr())
        if self.scaled.base is None:
            graph.__dict__["scaled"] = self.scaled.reversed(None)
        return graph

    @cached_property
    def _root_strength(self) -> FloatArray | None:
        """Roots of the weighted degrees that a symmetric normalisation has divided by."""
        return None if self._form is None else self._form.root_strength

    @property
    def is_symmetrically_normalized(self) -> bool:
        """Whether the weights are known to come from ``normalized("sym")``."""
        return self.scaled.kind == "sym" or self._root_strength is not None

    @cached_property
    def _spectral_radius(self) -> float:
        found = spectra.perron_root(self.adjacency, symmetric=not self.is_directed)
        # The last digits depend on the processor, and walks depend on this.
        return float(f"{found:.10g}")

    def spectral_radius(self) -> float:
        """Largest absolute eigenvalue of the weight matrix, to seven digits or more.

        Computed once, by Lanczos or Arnoldi iterations on the strongly connected components.
        """
        return self._spectral_radius

    def perron_candidates(self) -> list[FloatArray]:
        """Positive vectors that may be eigenvectors on every component, without iterating.

        The roots of the degrees, weighted and not, which are those of symmetric normalisations, and
        the constant.
        """
        known = [] if self._root_strength is None else [self._root_strength]
        return [*known, np.sqrt(self.out_degree), np.ones(self.n_nodes)]

    def save(self, path: str | Path) -> None:
        """Write the graph to an ``.npz`` file or a ``.grf`` folder, whole or not at all.

        A folder is what `open` maps into memory. Names that are not whole numbers are kept as text,
        by which they are found all the same.
        """
        names = self.names.to_array()
        if not is_folder_path(path):
            arrays = {part: getattr(self, part) for part in ("indptr", "indices", "weights")}
            arrays |= {} if names is None else {"node_ids": names}
            save_arrays(path, GRAPH_FORMAT, arrays)
            return
        rule, base = self.scaled, self.scaled.base
        if rule.kind == "rw_reversed" or (base is not None and rule.kind is not None):
            rule, base = ScaledWeights(None, 1.0), self.weights
        rows, radius = Rows(self.indptr, self.indices, base), self.__dict__.get("_spectral_radius")
        known = {"kind": rule.kind, "value": rule.value, "spectral_radius": radius}
        undirected = rule.kind is None and not self.is_directed
        save_folder(path, rows, names, undirected=undirected, **known)

    @classmethod
    def load(cls, path: str | Path) -> Graph:
        """Read a graph that `save` wrote; the same as `open` for a folder."""
        if is_folder_path(path):
            return cls.open(path)
        matrix, node_ids = read_saved_graph(path)
        return cls._of(canonical_matrix(matrix, path), node_ids)


def _restored(
    make: Callable[..., Graph], parts: tuple[Any, ...], meta: dict[str, Any], known: dict[str, Any]
) -> Graph:
    """A graph with its meta data and all that walks depend on, to the last bit."""
    graph = make(*parts)
    graph.meta = MappingProxyType(meta)
    graph.__dict__.update(known)
    return graph


def as_graph(source: Any) -> Graph:
    """Return `source` when it is a graph already, else read it as one."""
    return source if isinstance(source, Graph) else Graph(source)
