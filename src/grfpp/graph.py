"""A validated, immutable, weighted graph in compressed sparse row form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
from grfpp.io.folder.reader import MappedForm, is_folder_path
from grfpp.io.folder.segments import open_folder, updated_form
from grfpp.io.folder.writer import save_folder
from grfpp.io.matrices import GRAPH_FORMAT, canonical_matrix, read_saved_graph
from grfpp.io.meshes import MeshWeights
from grfpp.io.objects import declares_direction, mesh_of
from grfpp.io.points import Method, neighbour_graph, neighbours_note
from grfpp.io.table_options import Column, Duplicates, EdgeListKeywords, EdgeListOptions
from grfpp.io.tables import edge_columns
from grfpp.linalg import spectra
from grfpp.linalg.csr import csr, readonly
from grfpp.linalg.symmetrize import Symmetrize, symmetrized, without_rounding
from grfpp.nodes import NodeNames
from grfpp.normalization import Normalization, Rows, ScaledWeights
from grfpp.typing import FloatArray, IntArray
from grfpp.updates import Changes, UpdatedForm, WalkedRows

#: Cached properties of a graph that are pickled with its matrix.
_PICKLED_PROPERTIES = ("is_directed", "_spectral_radius", "_root_strength", "_normalized_from")


class Graph:
    """An immutable weighted graph, directed or undirected.

    Parameters
    ----------
    source
        The graph as a scipy sparse matrix or array of any format, a square numpy array,
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
        Direction of edge lists. By default they are undirected: an edge counts in both directions.
        ``True`` reads each edge as one arc. All other sources state their direction; ``False``
        refuses directed ones.
    n_nodes
        Number of nodes, for ``(edge_index, weights)`` pairs and edge lists whose nodes are numbered
        from 0 and do not all have an edge.
    symmetrize
        Make a directed source undirected: both directions of an edge get the larger weight
        (``"max"``), the mean (``"mean"``), the sum (``"sum"``), or the smaller, which drops edges
        of one direction only (``"mutual"``). Edge lists are then read as arcs; on undirected
        sources, which have both directions, ``"sum"`` doubles the weights. Without it, and without
        ``directed=True``, there is a warning where arcs look like those of nearest neighbours.
    mesh_weights
        Weights of meshes: ``"unit"``, the default, for 1 on every edge of the mesh; ``"length"``
        for the inverse of its length; ``"cotangent"`` for half the sum of the cotangents of the two
        opposite angles, on triangles. Edges with negative weights are left out, with a warning.
    duplicates, columns, separator, encoding, header
        Format of edge lists where it is not detected; see
        `grfpp.io.table_options.EdgeListOptions`.

    Attributes
    ----------
    indptr, indices, weights
        The weight matrix in canonical CSR form: rows sorted, duplicates summed, no stored zeros.
        Read-only; weights are float64. On disk they are memory maps, and weights that are not
        stored are computed on first use.
    node_ids
        The names of the nodes in the source, in the order of the rows, or ``None`` where nodes have
        numbers only. Anything hashable; `index` converts them to node indices. A list, except for
        graphs on disk and for more than 200,000 names that were read as text: these are a sequence
        in one buffer, which compares and prints as a list.
    meta
        The parameters of `from_points`, the masses of `from_mesh`; empty for other graphs.

    Examples
    --------
    >>> from grfpp import Graph
    >>> triangle = Graph([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    >>> triangle
    Graph(n_nodes=3, n_edges=3, undirected)
    >>> triangle.normalized("sym")
    Graph(n_nodes=3, n_edges=3, undirected, normalized='sym', scale=1)
    >>> triangle.normalized("sym").adjacency.toarray()
    array([[0. , 0.5, 0.5],
           [0.5, 0. , 0.5],
           [0.5, 0.5, 0. ]])
    """

    node_ids: Sequence[Any] | None
    meta: Mapping[str, Any] = MappingProxyType({})
    #: The files and properties of a graph on disk, or what differs in a graph that was updated;
    #: ``None`` for other graphs in memory.
    _form: MappedForm | UpdatedForm | None = None
    #: Of normalised graphs: how, the scale, and the edges of the undirected graph that was
    #: normalised, if it was one.
    _normalized_from: tuple[str, float, int | None] | None = None

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
        options = EdgeListOptions.of(reading)
        if is_folder_path(source):
            source = Graph.open(source)
        if isinstance(source, Graph):
            options.require_only((), "a Graph")
            wrong_size = n_nodes not in (None, source.n_nodes)
            if wrong_size or mesh_weights or (directed is False and source.is_directed):
                options_given = f"{directed=}, {n_nodes=}, {mesh_weights=}"
                raise InputError(f"{source!r} cannot be read with {options_given}")
            if source._form is not None and symmetrize is None:
                self.__dict__.update(source.__dict__)  # shared, since graphs are immutable
                return
            matrix, node_ids = source.adjacency, source.node_ids
        else:
            if symmetrize is not None and directed is None:
                directed = True  # each line of an edge list is an arc
            others: dict[str, Any] = {"mesh_weights": mesh_weights, "options": options}
            matrix, node_ids = read_adjacency(source, directed=directed, n_nodes=n_nodes, **others)
        canonical = canonical_matrix(matrix, source)
        del matrix  # large, and not needed any more
        if symmetrize is not None:
            canonical = symmetrized(canonical, symmetrize)
        elif not isinstance(source, Graph):
            is_explicit = directed or declares_direction(source)
            canonical = canonical if is_explicit else without_rounding(canonical)
            note = None if is_explicit else neighbours_note(canonical)
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
        and at least 1e-12, where ``s_i`` is the distance from ``i`` to its farthest neighbour.
        Copies of a point are its neighbours, with weight 1; a point with `n_neighbors` copies or
        more has the median of the other widths.

        Parameters
        ----------
        X
            A point in each row: an array, a sparse matrix, or a data frame, whose index is names.
        n_neighbors
            Number of neighbours of each point, without itself.
        metric
            As for scikit-learn's ``NearestNeighbors``.
        symmetrize
            As for `Graph`: ``"max"`` joins two points if either is a neighbour of the other,
            ``"mutual"`` if both are. ``None`` gives arcs from points to their neighbours.
        method
            ``"exact"`` by scikit-learn, ``"approximate"`` by pynndescent (extra ``points``), which
            ``"auto"`` takes, if installed, for over 50,000 points of over 15 dimensions.
        seed
            Seed of the approximate search.

        References
        ----------
        L. Zelnik-Manor and P. Perona, Self-tuning spectral clustering, NIPS 2004.

        Examples
        --------
        >>> import grfpp, numpy as np
        >>> points = np.random.default_rng(0).normal(size=(200, 2))
        >>> graph = grfpp.Graph.from_points(points, n_neighbors=6)
        >>> graph.n_nodes, graph.is_directed, graph.meta["package"]
        (200, False, 'scikit-learn')
        >>> grfpp.sample(graph.normalized(), grfpp.Diffusion(2.0), seed=0)
        KernelEstimate(n_nodes=200, degree=2, kernel=Diffusion(lam=2.0))
        """
        matrix, names, meta = neighbour_graph(X, n_neighbors, metric, symmetrize, method, seed)
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
        """Read a data frame (pandas, Polars, Arrow) of edges; needs the extra ``frames``.

        Parameters
        ----------
        frame
            The data frame, with one edge in each row.
        source, target, weight
            Columns by name, or by number from 0. With `source` and `target` only, all weights
            are 1. Without these, columns are chosen by names such as ``source``, or are the first.
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
            latter is ``exp(-t M^-1 L)``: heat after the time ``t``, which it conserves by `mass`.

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

        Its arrays are mapped into memory: only the pages in use are read. Normalising it takes no
        memory. Results are the same as in memory, to the last bit.

        Parameters
        ----------
        path
            The folder.
        verify
            Verify all files, and that they do not contradict each other: for folders that may be
            forged. Without it, a copied folder is verified once, by checksums and ranges.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> folder = pathlib.Path(tempfile.mkdtemp()) / "path.grf"
        >>> Graph([("a", "b"), ("b", "c")]).save(folder)
        >>> graph = Graph.open(folder)
        >>> graph, graph.index("c"), graph.normalized("rw").scaled.value
        (Graph(n_nodes=3, n_edges=2, undirected), 2, 1.0)
        """
        folder, segments = open_folder(path, verify=truth(verify, "verify"))
        graph = cls._of_form(MappedForm.stored(folder))
        return graph._with_form(updated_form(graph, segments)) if segments else graph

    @classmethod
    def _of_form(cls, form: MappedForm | UpdatedForm, names: NodeNames | None = None) -> Graph:
        graph = cls.__new__(cls)
        graph._form = form
        if isinstance(form, MappedForm):
            graph.indptr, graph.indices = form.indptr, form.indices
        names = form.names if names is None else names
        graph.node_ids = names.ids
        graph.__dict__.update(form.properties(), names=names)
        return graph

    @property
    def is_on_disk(self) -> bool:
        """Whether its arrays are mapped from a folder; other processes open it by its path."""
        form = self._form
        return form.base.is_on_disk if isinstance(form, UpdatedForm) else form is not None

    def require_unchanged(self) -> None:
        """Raise `InputError` where the folder of a graph on disk has changed since `open`."""
        if isinstance(self._form, UpdatedForm):
            self._form.base.require_unchanged()
        elif self._form is not None:
            self._form.folder.require_unchanged()

    def indices_file(self) -> int | None:
        """Descriptor of the file of neighbours, for `os.pread`; ``None`` for graphs in memory."""
        form = self._form.base._form if isinstance(self._form, UpdatedForm) else self._form
        return form.indices_file() if isinstance(form, MappedForm) else None

    def _adopt(self, matrix: sp.csr_array, node_ids: Sequence[Any] | None) -> None:
        """Store the arrays of a canonical CSR matrix, and make them read-only."""
        self.indptr = readonly(np.ascontiguousarray(matrix.indptr, dtype=np.int64))
        self.indices = readonly(np.ascontiguousarray(matrix.indices, dtype=np.int32))
        self.weights = readonly(np.ascontiguousarray(matrix.data, dtype=np.float64))
        self.node_ids = node_ids

    @classmethod
    def _of(cls, matrix: sp.csr_array, node_ids: Sequence[Any] | None = None) -> Graph:
        """A graph of a matrix that is known to be valid; only its form is made canonical."""
        graph = cls.__new__(cls)
        matrix.sum_duplicates()
        graph._adopt(matrix, node_ids)
        return graph

    def _with_matrix(self, matrix: sp.csr_array) -> Graph:
        """A graph of another matrix on the same nodes; both share the dictionary of names."""
        graph = Graph._of(matrix, self.node_ids)
        graph.__dict__["names"] = self.names
        graph.meta = self.meta
        return graph

    def _with_form(self, form: MappedForm | UpdatedForm) -> Graph:
        graph = Graph._of_form(form, form.names if isinstance(form, UpdatedForm) else self.names)
        graph.meta = self.meta
        return graph

    def __repr__(self) -> str:
        kind, n_edges, how = "directed" if self.is_directed else "undirected", self.n_edges, ""
        if (known := self._normalized_from) is not None:
            how = f", normalized={known[0]!r}, scale={known[1]:.6g}"
            if self.is_directed and known[2] is not None:
                kind, n_edges = "from an undirected graph", known[2]
        return f"Graph(n_nodes={self.n_nodes}, n_edges={n_edges}, {kind}{how})"

    def __reduce__(self) -> tuple[Any, ...]:
        known = {key: self.__dict__[key] for key in _PICKLED_PROPERTIES if key in self.__dict__}
        if self._form is not None:
            known.pop("_root_strength", None)
            return _restored, (Graph._of_form, (self._form,), dict(self.meta), known)
        if self.scaled.base is None or self.scaled.kind is not None:
            known["scaled"] = self.scaled
        parts = (self.adjacency, self.node_ids)
        return _restored, (Graph._of, parts, dict(self.meta), known)

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self  # immutable

    @cached_property
    def names(self) -> NodeNames:
        """The names of the nodes, which convert nodes in arguments to indices."""
        return NodeNames(self.n_nodes, self.node_ids)

    def index(self, names: Any) -> Any:
        """Convert names of nodes to node indices.

        Wherever an argument is a node (`KernelEstimate.rows`, `sample_submatrix`, …), a whole
        number is an index, 0 … n-1, and text is a name. Names that are whole numbers themselves
        must be converted by this method; it takes all other names too. A list gives an array; a
        tuple is a name where a node has it, else a list.

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
        form = self._form
        return form.n_nodes if isinstance(form, UpdatedForm) else len(self.indptr) - 1

    @cached_property
    def indptr(self) -> IntArray:
        """Ends of the rows."""
        return self._merged().indptr

    @cached_property
    def indices(self) -> npt.NDArray[np.int32]:
        """Nodes that edges lead to."""
        return self._merged().indices

    def _merged(self) -> Rows:
        """The rows of a graph that was updated; others have them from the beginning."""
        assert isinstance(self._form, UpdatedForm)
        self.require_unchanged()
        return self._form.merged

    @property
    def walked(self) -> WalkedRows:
        """The rows as walks read them, without merging updates."""
        if isinstance(self._form, UpdatedForm):
            return self._form.walked
        return WalkedRows(self.indptr, self.indices, self.scaled)

    @cached_property
    def weights(self) -> FloatArray:
        """The weights of the edges."""
        # Graphs in memory have them from the beginning.
        formula = self.scaled
        self.require_unchanged()
        if formula.base is not None and formula.kind is None and formula.value == 1.0:
            return formula.base
        require_bytes(8 * len(self.indices), f"the weights of {len(self.indices):,} edges")
        return readonly(formula.fill(self.indptr, self.indices))

    def weights_of_rows(self, first: int, last: int) -> FloatArray:
        """The weights of rows `first` to ``last - 1``, without computing those of other rows."""
        if "weights" in self.__dict__:
            return self.weights[int(self.indptr[first]) : int(self.indptr[last])]
        return self.scaled.of_rows(self.indptr, self.indices, first, last)

    @cached_property
    def scaled(self) -> ScaledWeights:
        """The weights as a formula; without memory where all are, or were, one power of two."""
        if isinstance(self._form, UpdatedForm):
            return replace(self._form.scaled, base=self._merged().weights)
        value = normalization.common_weight(self.weights)
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
    def row_sums(self) -> FloatArray:
        """Sums of the weights in rows, rounded as by `normalized`."""
        scaled = self.scaled
        if self.weights is scaled.base and scaled.out_strength is not None:
            return scaled.out_strength
        return readonly(Rows(self.indptr, self.indices, self.weights).strengths())

    @cached_property
    def is_in_safe_range(self) -> bool:
        """Whether no product of two row sums leaves the range of float64."""
        if isinstance(self._form, MappedForm):
            return self._form.folder.header.tame
        return normalization.is_in_safe_range(self.weights, self.row_sums)

    @cached_property
    def transposed(self) -> Graph:
        """As `reversed`, and kept: updates of directed graphs share it."""
        return self.reversed()

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
            A positive factor on all weights; the paper's ``σ²``. It is the spectral radius of the
            result if the graph is undirected and has an edge, and `kind` is not ``None``.
        """
        one_of(kind, "kind", ("sym", "rw", None))
        factor = positive(scale, "scale")
        if kind is not None and self._normalized_from is not None:
            problem, advice = "weights are normalised twice", "pass raw ones or normalization=None"
            warn_user(InputWarning(problem, advice=advice, normalized=self._normalized_from[0]))
        if self._form is not None and (form := self._form.normalized(kind, factor)) is not None:
            return self._with_form(form)
        self.require_unchanged()
        rows, directed = Rows(self.indptr, self.indices, self.weights), self.is_directed
        weights = normalization.normalized_weights(rows, kind, factor, directed=directed)
        graph = self._with_matrix(self._with_weights(weights))
        known = graph.__dict__
        if kind != "rw" and not directed:
            known["is_directed"] = False
        if kind is not None and not directed and len(weights):
            # No iterations are needed: √degree (or the constant) is the Perron vector.
            known["_spectral_radius"] = factor
        if kind == "sym" and not directed:
            with np.errstate(over="ignore"):
                graph._root_strength = np.sqrt(self.adjacency.sum(axis=1))
        elif kind is None:
            graph._root_strength = self._root_strength
        rows = Rows(self.indptr, self.indices, self.scaled.base)
        options = (self.scaled, rows, kind, factor)
        formula = normalization.normalized_formula(*options, directed=directed)
        if formula is not None:
            known["scaled"] = formula
        before = self._normalized_from
        if kind is not None:
            n_edges = self.n_edges if not directed else before and before[2]
            graph._normalized_from = kind, factor, n_edges
        elif before is not None:
            graph._normalized_from = before[0], before[1] * factor, before[2]
        return graph

    def updated(self, add: Any = None, remove: Any = None, reweight: Any = None) -> Graph:
        """The graph with some edges added, removed, or with other weights.

        This graph stays as it is, and the new one shares its arrays: only the rows of nodes whose
        edges differ are stored anew, and 16 bytes a node (24 to 32 with weights or arcs). Updates
        of updates hold the difference to the first graph. `LocalKernel` reads these rows as they
        are. Everything else merges them into arrays of their own when they are first needed.

        Parameters
        ----------
        add
            New edges: a list of tuples ``(u, v)`` or ``(u, v, weight)``, by the names of nodes as
            for `index`; or an ``edge_index`` of shape ``(2, n_edges)`` with indices of nodes, or
            the pair ``(edge_index, weights)``. Without weights they are 1. Unknown names are new
            nodes, after the others; where nodes have no names, so are the next numbers.
        remove
            Edges to remove, ``(u, v)`` or an ``edge_index``. Nodes stay.
        reweight
            Edges with their new weights, ``(u, v, weight)`` or ``(edge_index, weights)``.

        Returns
        -------
        Graph
            The same as one made anew from all edges. Undirected edges change in both directions.

        Raises
        ------
        InputError
            Where an edge to add is there already, one to remove or to reweight is not, one is
            listed twice, or a weight is not positive; and of graphs that are normalised.

        Examples
        --------
        >>> graph = Graph([("a", "b"), ("b", "c")])
        >>> later = graph.updated(add=[("c", "d")], remove=[("a", "b")])
        >>> later, later.node_ids, graph
        (Graph(n_nodes=4, n_edges=2, undirected), ['a', 'b', 'c', 'd'],
         Graph(n_nodes=3, n_edges=2, undirected))
        """
        changes = Changes.of(self.names, add=add, remove=remove, reweight=reweight)
        return self.with_changes(changes)

    def with_changes(self, changes: Changes) -> Graph:
        """As `updated`, with changes that were read."""
        form = self.update_of
        if self._normalized_from is not None or form.value is not None:
            problem, advice = "the weights are normalised", "update the graph, then normalise it"
            raise InputError(problem, advice=advice)
        self.require_unchanged()
        return self._with_form(form.changed(changes)) if len(changes.sources) else self

    @property
    def update_of(self) -> UpdatedForm:
        """What differs from the graph that it was updated from: nothing, or its updates."""
        return self._form if isinstance(self._form, UpdatedForm) else UpdatedForm.of(self)

    def reversed(self) -> Graph:
        """The graph with all arcs reversed; an undirected graph is returned itself."""
        if not self.is_directed:
            return self
        if isinstance(self._form, MappedForm):
            return self._with_form(self._form.reversed())
        graph = self._with_matrix(self.adjacency.T.tocsr())
        if self.scaled.base is None:
            graph.__dict__["scaled"] = self.scaled.reversed(None)
        if (before := self._normalized_from) is not None:
            kinds = {"rw": "rw_reversed", "rw_reversed": "rw"}
            graph._normalized_from = kinds.get(before[0], before[0]), *before[1:]
        return graph

    @cached_property
    def _root_strength(self) -> FloatArray | None:
        """Square roots of the weighted degrees by which a symmetric normalisation divided."""
        return None if self._form is None else self._form.root_strength

    @property
    def is_symmetrically_normalized(self) -> bool:
        """Whether the weights are known to come from ``normalized("sym")``."""
        scaled = self.scaled if self._form is None else self._form.scaled
        return scaled.kind == "sym" or self._root_strength is not None

    @cached_property
    def _spectral_radius(self) -> float:
        root = spectra.perron_root(self.adjacency, symmetric=not self.is_directed)
        # Rounded, since the last digits depend on the processor, and walks depend on the radius.
        return float(f"{root:.10g}")

    def spectral_radius(self) -> float:
        """Largest absolute eigenvalue of the weight matrix, to seven digits or more.

        Computed once, by Lanczos or Arnoldi iterations on the strongly connected components.
        """
        return self._spectral_radius

    def perron_candidates(self) -> list[FloatArray]:
        """Vectors that may be Perron vectors of every component: roots of degrees, a constant."""
        known = [] if self._root_strength is None else [self._root_strength]
        return [*known, np.sqrt(self.out_degree), np.ones(self.n_nodes)]

    def save(self, path: str | Path) -> None:
        """Write the graph to an ``.npz`` file or a ``.grf`` folder, completely or not at all.

        `open` maps a folder into memory. Names that are not whole numbers are stored as text, by
        which `index` finds them.
        """
        names = self.names.to_array()
        if not is_folder_path(path):
            arrays = {part: getattr(self, part) for part in ("indptr", "indices", "weights")}
            arrays |= {} if names is None else {"node_ids": names}
            save_arrays(path, GRAPH_FORMAT, arrays)
            return
        formula, base = self.scaled, self.scaled.base
        if formula.kind == "rw_reversed" or (base is not None and formula.kind is not None):
            formula, base = ScaledWeights(None, 1.0), self.weights
        rows, radius = Rows(self.indptr, self.indices, base), self.__dict__.get("_spectral_radius")
        known = {"kind": formula.kind, "value": formula.value, "spectral_radius": radius}
        undirected = formula.kind is None and not self.is_directed
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
    """A graph with its metadata and the properties that walks depend on, to the last bit."""
    graph = make(*parts)
    graph.meta = MappingProxyType(meta)
    graph.__dict__.update(known)
    return graph


def as_graph(source: Any) -> Graph:
    """`source` itself if it is a `Graph`, else the graph that is read from it."""
    return source if isinstance(source, Graph) else Graph(source)
