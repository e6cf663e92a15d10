"""Edges that change: the difference to a graph, and that graph's rows with the difference.

A graph that was updated shares the arrays of the one that it came from. Rows that differ are stored
anew, behind the old ones: their edges are numbered from ``len(indices)`` on, and two numbers a node
say where its edges begin and end. Walks read these rows as they are (`grfpp.walks.pool_arrays`);
what needs the whole matrix merges them once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from grfpp._memory import require_bytes
from grfpp.errors import InputError, shown
from grfpp.linalg.csr import csr, readonly
from grfpp.nodes import MoreNames, NodeNames
from grfpp.normalization import BLOCK_EDGES, Kind, Rows, ScaledWeights, is_in_safe_range, row_blocks
from grfpp.typing import BoolArray, FloatArray, IntArray

#: Bits of a key that hold the column; the others hold the row.
_COLUMN_BITS = 32
_COLUMN = (1 << _COLUMN_BITS) - 1
_MAX_NODES = np.iinfo(np.int32).max
#: What can be done to an edge, in the order in which changes are listed.
OPERATIONS = ("add", "remove", "reweight")
_NO_WEIGHTS = readonly(np.empty(0))


@dataclass(frozen=True, eq=False)
class Difference:
    """Entries in which a matrix differs from another: their new weights, 0 for those removed.

    Keys are ``row · 2^32 + column``, ascending.
    """

    keys: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, rows: IntArray, columns: IntArray, weights: FloatArray) -> Difference:
        """The difference with these entries, each of which is there once."""
        keys = (rows << _COLUMN_BITS) | columns
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], weights[order])

    @property
    def rows(self) -> IntArray:
        """The row of each entry."""
        return self.keys >> _COLUMN_BITS

    @property
    def columns(self) -> IntArray:
        """The column of each entry."""
        return self.keys & _COLUMN

    def transposed(self) -> Difference:
        """The difference of the transposes."""
        return Difference.of(self.columns, self.rows, self.weights)

    def then(self, later: Difference) -> Difference:
        """Join a later difference, whose entries replace those here."""
        keys, first = np.unique(np.concatenate([later.keys, self.keys]), return_index=True)
        return Difference(keys, np.concatenate([later.weights, self.weights])[first])

    def find(self, keys: IntArray) -> tuple[IntArray, BoolArray]:
        """Positions of keys, and whether they are there."""
        return _find(self.keys, keys)


def _find(ascending: IntArray, keys: IntArray) -> tuple[IntArray, BoolArray]:
    at = np.searchsorted(ascending, keys)
    found = at < len(ascending)
    found[found] = ascending[at[found]] == keys[found]
    return at, found


class WalkedRows(NamedTuple):
    """The rows of a graph as walks read them, see `grfpp.walks.pool_arrays.PoolLayout`."""

    indptr: IntArray
    indices: npt.NDArray[np.int32]
    #: The weights; its `base` has those of `indices`.
    scaled: ScaledWeights
    more: tuple[npt.NDArray[np.int32], FloatArray] | None = None

    def degrees(self, nodes: Any) -> Any:
        """Numbers of out-neighbours."""
        at = np.asarray(nodes) * (1 if self.more is None else 2)
        return self.indptr[at + 1] - self.indptr[at]


@dataclass(frozen=True, eq=False)
class PatchedRows:
    """The rows of a matrix, some of which are replaced.

    Parameters
    ----------
    base
        The rows before.
    n_nodes
        Number of rows now; new ones are empty unless they are replaced.
    changed, patch
        The rows that are replaced, in ascending order, and what they are now.
    in_base
        Whether the entries of the difference were there before.
    """

    base: Rows
    n_nodes: int
    changed: IntArray
    patch: Rows
    in_base: BoolArray

    @classmethod
    def of(cls, base: Rows, n_nodes: int, difference: Difference) -> PatchedRows:
        """The rows with a difference; the cost is that of the rows which it touches."""
        changed = np.unique(difference.rows)
        known = changed[changed < len(base.indptr) - 1]
        first, end = base.indptr[known], base.indptr[known + 1]
        entries = _entries(first, end)
        old = (np.repeat(known, end - first) << _COLUMN_BITS) | base.indices[entries]
        at, found = _find(old, difference.keys)
        stays, is_edge = np.ones(len(old), bool), difference.weights > 0
        stays[at[found]] = False
        keys = np.concatenate([old[stays], difference.keys[is_edge]])
        order = np.argsort(keys, kind="stable")  # two ascending parts: they are merged
        keys, weights = keys[order], None
        if base.weights is not None:
            kept = base.weights[entries[stays]]
            weights = readonly(np.concatenate([kept, difference.weights[is_edge]])[order])
        ends = np.append(np.searchsorted(keys, changed << _COLUMN_BITS), len(keys))
        patch = Rows(ends, readonly((keys & _COLUMN).astype(np.int32)), weights)
        return cls(base, n_nodes, changed, patch, found)

    @cached_property
    def ends(self) -> IntArray:
        """First edge and end of each row; from ``len(base.indices)`` on they are in `patch`."""
        ends = np.zeros((self.n_nodes, 2), np.int64)
        n = len(self.base.indptr) - 1
        ends[:n, 0], ends[:n, 1] = self.base.indptr[:-1], self.base.indptr[1:]
        moved = len(self.base.indices) + self.patch.indptr
        ends[self.changed, 0], ends[self.changed, 1] = moved[:-1], moved[1:]
        return readonly(ends)

    @property
    def degrees(self) -> IntArray:
        """Numbers of entries of the rows."""
        return np.asarray(self.ends[:, 1] - self.ends[:, 0])

    def strengths(self, before: FloatArray) -> FloatArray:
        """Row sums, from those before."""
        sums = np.zeros(self.n_nodes)
        sums[: len(before)] = before
        sums[self.changed] = self.patch.strengths()
        return readonly(sums)

    def blocks(self) -> Iterator[Rows]:
        """The rows, in blocks of about `BLOCK_EDGES` entries."""
        indptr = np.concatenate([[0], np.cumsum(self.degrees)])
        n_base = len(self.base.indices)
        for first, last in row_blocks(indptr, BLOCK_EDGES):
            entries = _entries(*self.ends[first:last].T)
            is_new = entries >= n_base
            parts = []
            for name in ("indices", "weights"):
                old, new = getattr(self.base, name), getattr(self.patch, name)
                if old is not None:
                    values = np.empty(len(entries), old.dtype)
                    values[is_new] = new[entries[is_new] - n_base]
                    values[~is_new] = old[entries[~is_new]]
                    parts.append(values)
            yield Rows(indptr[first : last + 1] - indptr[first], *parts)

    def merged(self) -> Rows:
        """All rows in one matrix, in memory."""
        n_edges = int(self.degrees.sum())
        n_bytes = 4 if self.base.weights is None else 12
        require_bytes(2 * n_bytes * n_edges, f"merging the updates of {n_edges:,} edges")
        blocks = list(self.blocks())
        indptr = readonly(np.concatenate([[0], np.cumsum(self.degrees)]))
        indices = readonly(np.concatenate([block.indices for block in blocks]))
        if self.base.weights is None:
            return Rows(indptr, indices)
        return Rows(indptr, indices, readonly(np.concatenate([b.weights for b in blocks])))


def _entries(first: IntArray, end: IntArray) -> IntArray:
    """The numbers of all entries of rows with these ends."""
    count = end - first
    before = np.repeat(first - np.cumsum(count) + count, count)
    return np.asarray(np.arange(len(before)) + before)


# --- the graph ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class UpdatedForm:
    """What `Graph` needs of a graph that was updated.

    Parameters
    ----------
    base
        The graph that it came from, which is neither updated nor normalised.
    names
        The names of all nodes, with those of new ones.
    difference
        All entries that differ from those of `base`; both directions of undirected edges.
    kind, value
        How it is normalised, as in `ScaledWeights`; no `value` means that it is not.
    """

    base: Any
    names: NodeNames
    difference: Difference
    kind: Kind = None
    value: float | None = None

    @classmethod
    def of(cls, base: Any) -> UpdatedForm:
        """A graph without a difference."""
        nothing = Difference(np.empty(0, np.int64), np.empty(0))
        return cls(base, base.names, nothing)

    def __getstate__(self) -> dict[str, Any]:
        kept = ("base", "names", "difference", "kind", "value")
        return {name: self.__dict__[name] for name in kept}

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.names.n_nodes

    @cached_property
    def is_equal(self) -> bool:
        """Whether all edges have one weight, as those of `base` do, so that none is stored."""
        weights, scaled = self.difference.weights, self.base.scaled
        return scaled.base is None and bool(((weights == 0) | (weights == scaled.value)).all())

    @cached_property
    def rows(self) -> PatchedRows:
        """The rows."""
        return self._patched(self.base, self.difference)

    @cached_property
    def columns(self) -> PatchedRows:
        """The columns, of directed graphs."""
        return self._patched(self.base.transposed, self.difference.transposed())

    def _patched(self, graph: Any, difference: Difference) -> PatchedRows:
        weights = None if self.is_equal else graph.weights
        return PatchedRows.of(Rows(graph.indptr, graph.indices, weights), self.n_nodes, difference)

    @cached_property
    def strengths(self) -> tuple[FloatArray | None, FloatArray | None]:
        """Row and column sums, ``None`` where `ScaledWeights` needs none."""
        if self.is_equal and not self.base.is_directed:
            return None, None
        sides = [(self.base, self.rows)]
        if self.base.is_directed:
            sides.append((self.base.transposed, self.columns))
        sums = [
            rows.degrees.astype(np.float64) if self.is_equal else rows.strengths(graph.row_sums)
            for graph, rows in sides
        ]
        return sums[0], sums[1] if len(sums) > 1 else None

    @cached_property
    def scaled(self) -> ScaledWeights:
        """The weights, with those of the rows before as `base`."""
        out, into = (None, None) if self.kind is None else self.strengths
        value = self.base.scaled.value if self.is_equal else 1.0
        value = value if self.value is None else self.value
        return ScaledWeights(self.kind, value, self.rows.base.weights, out, into)

    @cached_property
    def walked(self) -> WalkedRows:
        """The rows as walks read them."""
        rows, patch = self.rows, self.rows.patch
        more_weights = _NO_WEIGHTS if patch.weights is None else patch.weights
        ends = rows.ends.reshape(-1)
        return WalkedRows(ends, rows.base.indices, self.scaled, (patch.indices, more_weights))

    @cached_property
    def merged(self) -> Rows:
        """All rows in one matrix, with the weights before normalisation."""
        return self.rows.merged()

    def properties(self) -> dict[str, Any]:
        """The cached properties of `Graph` that are known without the whole matrix."""
        directed, is_there = self.base.is_directed, self.difference.weights > 0
        more = is_there.astype(np.int64) - self.rows.in_base
        if not directed:  # an undirected edge counts once
            more = more[self.difference.rows <= self.difference.columns]
        n_edges = self.base.n_edges + int(more.sum())
        if self.kind is None:
            return {"is_directed": directed, "n_edges": n_edges}
        known: dict[str, Any] = {
            "_normalized_from": (self.kind, self.scaled.value, None if directed else n_edges)
        }
        if not directed:
            known |= {"is_directed": False, "n_edges": n_edges} if self.kind == "sym" else {}
            known |= {"_spectral_radius": self.scaled.value} if n_edges else {}
        return known

    @property
    def root_strength(self) -> FloatArray | None:
        """Roots of the weighted degrees that a symmetric normalisation divides by."""
        if self.kind != "sym" or self.base.is_directed:
            return None
        if self.is_equal:
            return np.asarray(np.sqrt(self.rows.degrees * self.base.scaled.value))
        rows = self.merged
        assert rows.weights is not None
        sums = csr(rows.weights, rows.indices, rows.indptr, self.n_nodes).sum(axis=1)
        return np.asarray(np.sqrt(sums))

    def normalized(self, kind: Literal["sym", "rw"] | None, factor: float) -> UpdatedForm | None:
        """The normalised form, or ``None`` where no rule gives the same bits."""
        if self.value is not None:
            return None
        is_safe = self.is_equal or (
            self.base.is_in_safe_range
            and is_in_safe_range(self.rows.patch.weights, self.rows.patch.strengths())
        )
        rule = self.scaled.normalized(kind, factor, in_safe_range=is_safe)
        if rule is None:
            return None
        form = replace(self, kind=kind, value=rule.value)
        shared = ("rows", "columns", "strengths", "is_equal", "merged")
        form.__dict__.update({name: self.__dict__[name] for name in shared if name in vars(self)})
        return form

    def changed(self, changes: Changes) -> UpdatedForm:
        """The form after further changes, which are checked against the edges that are there."""
        directed = self.base.is_directed
        u, v, weights = changes.sources, changes.targets, changes.weights
        ends = (u, v) if directed else (np.minimum(u, v), np.maximum(u, v))
        keys = (ends[0] << _COLUMN_BITS) | ends[1]
        _, first, count = np.unique(keys, return_index=True, return_counts=True)
        if (again := first[count > 1]).size:
            problem = f"the changes list the edge {changes.edge(int(again.min()))} more than once"
            raise InputError(problem, advice="pass each edge once; reweight replaces its weight")
        both = np.flatnonzero(u != v) if not directed else np.empty(0, np.int64)
        rows, columns = np.concatenate([u, v[both]]), np.concatenate([v, u[both]])
        later = Difference.of(rows, columns, np.concatenate([weights, weights[both]]))
        difference = self.difference.then(later)
        form = replace(self, names=changes.names, difference=difference)
        keys = (u << _COLUMN_BITS) | v
        at, is_known = self.difference.find(keys)
        is_edge = form.rows.in_base[difference.find(keys)[0]]
        is_edge[is_known] = self.difference.weights[at[is_known]] > 0
        is_new = changes.operations == OPERATIONS.index("add")
        if (wrong := np.flatnonzero(is_edge == is_new)).size:
            raise changes.contradiction(int(wrong[0]), bool(is_edge[wrong[0]]))
        return form


# --- changes --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes of edges: nodes by their indices, new weights (0 for none), and `OPERATIONS`."""

    sources: IntArray
    targets: IntArray
    weights: FloatArray
    operations: npt.NDArray[np.int8]
    #: Of all nodes, with new ones.
    names: NodeNames

    @classmethod
    def of(cls, names: NodeNames, **listed: Any) -> Changes:
        """Read the changes of `Graph.updated`."""
        given = {name: edges for name, edges in listed.items() if edges is not None}
        return cls._numbered(names, {name: _listed(edges, name) for name, edges in given.items()})

    @classmethod
    def of_columns(
        cls, names: NodeNames, operations: Any, sources: Any, targets: Any, weights: FloatArray
    ) -> Changes:
        """Changes from the columns of a table; nodes are names, or indices where they have none."""
        parts = {}
        for operation in OPERATIONS:
            if (chosen := operations == operation).any():
                ends = [nodes[chosen] for nodes in (sources, targets)]
                ends = ends if names.ids is None else [nodes.tolist() for nodes in ends]
                new = np.zeros(int(chosen.sum())) if operation == "remove" else weights[chosen]
                parts[operation] = (*ends, new)
        return cls._numbered(names, parts)

    @classmethod
    def _numbered(cls, names: NodeNames, parts: dict[str, Any]) -> Changes:
        """Changes from sources, targets and weights by operation."""
        nothing = np.empty(0, np.int64)
        arrays: list[Any] = [(nothing, nothing, np.empty(0), np.empty(0, np.int8))]
        for operation, (sources, targets, weights) in parts.items():
            *ends, names = _numbered(names, sources, targets, operation)
            number = OPERATIONS.index(operation)
            arrays.append((*ends, weights, np.full(len(weights), number, np.int8)))
        u, v, weights, operations = map(np.concatenate, zip(*arrays, strict=True))
        return cls(u, v, weights, operations, names)

    def edge(self, number: int) -> str:
        """The ends of an edge, for messages."""
        ids = self.names.ids
        ends = (int(nodes[number]) for nodes in (self.sources, self.targets))
        return " - ".join(repr(node if ids is None else ids[node]) for node in ends)

    def contradiction(self, number: int, is_edge: bool) -> InputError:
        """Make the error about an edge that is there already, or is not."""
        operation, edge = OPERATIONS[self.operations[number]], self.edge(number)
        if is_edge:
            advice = "pass reweight to replace its weight"
            problem = f"lists {edge}, which is an edge already"
            return InputError(problem, argument="add", advice=advice)
        more = "pass add for new edges" if operation == "reweight" else None
        return InputError(f"lists {edge}, which is no edge", argument=operation, advice=more)


def _listed(edges: Any, operation: str) -> tuple[Any, Any, FloatArray]:
    """Sources, targets and weights of a list of tuples, of arrays, or of a pair of these."""
    has_weights = operation != "remove"
    form = "(u, v)" if not has_weights else "(u, v, weight)"
    weights: Any = None
    if isinstance(edges, list):
        sizes = {len(edge) if isinstance(edge, tuple) else 0 for edge in edges}
        allowed = {"add": ({2}, {3}), "remove": ({2},), "reweight": ({3},)}[operation]
        if edges and sizes not in allowed:
            problem = f"must be a list of tuples {form}, or arrays (edge_index, weights), found"
            raise InputError(f"{problem} {shown(edges)}", argument=operation)
        sources, targets, *given = map(list, zip(*edges, strict=True)) if edges else ([], [])
        weights = given[0] if given else None
    else:
        try:
            is_pair = isinstance(edges, tuple) and len(edges) == 2 and np.ndim(edges[0]) == 2
            index, weights = edges if has_weights and is_pair else (edges, None)
            index = np.asarray(index)
        except ValueError:  # lists of different lengths
            index = np.empty(0)
        if index.ndim != 2 or len(index) != 2 or index.dtype.kind not in "iu":
            problem = f"must be a list of tuples {form}, or an edge_index of shape (2, n_edges)"
            raise InputError(f"{problem}, found {shown(edges)}", argument=operation)
        sources, targets = index.astype(np.int64)
    n = len(sources)
    if not has_weights:
        return sources, targets, np.zeros(n)
    if weights is None and operation == "reweight" and n:
        raise InputError("must have a weight for each edge", argument=operation)
    return sources, targets, _weights(weights, n, operation)


def _weights(listed: Any, n: int, argument: str) -> FloatArray:
    if listed is None:
        return np.ones(n)
    try:
        weights = np.asarray(listed, np.float64)
    except (TypeError, ValueError):
        problem = f"must have numbers for weights, found {shown(listed)}"
        raise InputError(problem, argument=argument) from None
    if weights.shape != (n,):
        problem = f"must have {n} weights, one for each edge, found {weights.shape}"
        raise InputError(problem, argument=argument)
    if not (good := (weights > 0) & np.isfinite(weights)).all():
        bad = float(weights[np.argmin(good)])
        advice = "pass remove to remove an edge" if bad == 0 else None
        problem = f"must have positive, finite weights, found {bad:g}"
        raise InputError(problem, argument=argument, advice=advice)
    return weights


def _numbered(
    names: NodeNames, sources: Any, targets: Any, argument: str
) -> tuple[IntArray, IntArray, NodeNames]:
    """The indices of nodes; those that `add` names first are new."""
    n, is_new = names.n_nodes, argument == "add"
    if isinstance(sources, np.ndarray) or names.ids is None:
        ends = np.asarray([sources, targets])
        if ends.size and ends.dtype.kind not in "iu":
            kinds = "whole numbers, the indices of nodes" if names.ids is None else "indices"
            listed = [*sources, *targets]
            wrong = (e for e in listed if not isinstance(e, int) or abs(e) >= 1 << 63)
            found = next(wrong, listed[0])
            raise InputError(f"must name nodes by {kinds}, found {shown(found)}", argument=argument)
        ends = ends.astype(np.int64).reshape(2, -1)
        later = np.unique(ends[ends >= n])[: None if is_new and names.ids is None else 0]
        if len(later) and int(later[-1]) != n + len(later) - 1:
            problem = f"must number new nodes from {n} on without gaps, found {later[-1]}"
            raise InputError(problem, argument=argument)
        if ends.size and not 0 <= ends.min() <= ends.max() < n + len(later):
            problem = f"must name nodes from 0 to {n - 1}, found"
            worst = ends.min() if ends.min() < 0 else ends.max()
            raise InputError(f"{problem} {worst}", argument=argument)
        return ends[0], ends[1], _with_new(names, later.tolist(), argument)
    listed = [end for edge in zip(sources, targets, strict=True) for end in edge]
    try:
        distinct = list(dict.fromkeys(listed))
    except TypeError:
        raise InputError("must have hashable names of nodes", argument=argument) from None
    known = names.find_all(distinct, f"nodes of {argument}", missing=is_new)
    new = [name for name, index in zip(distinct, known, strict=True) if index < 0]
    known[known < 0] = np.arange(n, n + len(new))
    index = dict(zip(distinct, known.tolist(), strict=True))
    ends = np.array([index[end] for end in listed], np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1], _with_new(names, new, argument)


def _with_new(names: NodeNames, new: Sequence[Any], argument: str) -> NodeNames:
    if not len(new):
        return names
    if names.n_nodes + len(new) > _MAX_NODES:
        raise InputError("at most 2^31 - 1 nodes can be numbered", argument=argument)
    if names.ids is None:
        return NodeNames(names.n_nodes + len(new))
    return MoreNames.of(names, new)
