"""`NodeNames`: from node names to node indices; `Texts`: many names in one buffer.

Everywhere, whole numbers are indices, 0 … n-1, and text is a name. Names that are themselves
numbers are converted to indices first, by `index`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grfpp._checks import node_numbers
from grfpp.errors import InputError, shown
from grfpp.typing import AnyInts, IntArray

#: Number of names in the message for an unknown one, so that it stays on one line.
_N_SHOWN = 3
#: Largest number of names that are compared with an unknown one, at microseconds each.
MAX_COMPARED = 20_000
#: Stands for the index of a name that several nodes have.
SEVERAL = -1
#: Largest number of names in a list of strings, which take 60 bytes each or more.
MAX_LIST_LENGTH = 200_000
#: Names that are decoded at a time, so that iteration takes little memory.
_TEXTS_PER_BATCH = 1 << 15


class NodeIndexError(InputError, IndexError):
    """An index outside of 0 … n-1; an ``IndexError`` too, which ends Python's loops over rows."""


class NodeNames:
    """The names of a graph's nodes, looked up in a dictionary that is built on first use.

    Parameters
    ----------
    n_nodes
        Number of nodes.
    ids
        Hashable names in the order of the rows; ``None`` where nodes have numbers only.

    Examples
    --------
    >>> names = NodeNames(3, ["Anna", "Ben", 7])
    >>> names.numbers(["Ben", 0]), names.index(7)
    (array([1, 0]), 2)
    >>> names.numbers("Bean")
    Traceback (most recent call last):
    grfpp.errors.InputError: nodes must exist, but no node is named 'Bean'; the closest is 'Ben'
    """

    def __init__(self, n_nodes: int, ids: Sequence[Any] | None = None) -> None:
        if ids is not None and len(ids) != n_nodes:
            raise InputError(f"found {len(ids)} names for {n_nodes} nodes")
        self.n_nodes = n_nodes
        self.ids = ids

    def __reduce__(self) -> tuple[Any, ...]:
        return NodeNames, (self.n_nodes, self.ids)  # without the dictionaries

    def numbers(self, nodes: Any, argument: str = "nodes") -> IntArray:
        """Indices of one node, a list or array of nodes, a slice, or a mask, as a flat array.

        Whole numbers are indices, also where names are numbers. A list or array of truth values is
        a mask, with one value for each node. Everything else is a name.
        """
        if isinstance(nodes, slice):
            return np.arange(self.n_nodes)[whole_slice(nodes)]
        if _array(nodes).ndim > 1:
            problem = f"must be whole numbers in a list, or names, found {shown(nodes)}"
            raise InputError(problem, argument=argument)
        return self.indices_like(nodes, argument).reshape(-1)

    def indices_like(
        self, nodes: Any, argument: str = "nodes", *, from_end: bool = False
    ) -> IntArray:
        """The same in the shape of `nodes`: without an axis for a single node.

        With `from_end`, indices below zero count from the end, as in numpy.
        """
        array = _array(nodes)
        if array.dtype.kind == "b":
            if array.shape != (self.n_nodes,):
                expected = f"whole numbers in a list, or one truth value for each of {self.n_nodes}"
                problem = f"must be {expected} nodes, found truth values of shape {array.shape}"
                raise InputError(problem, argument=argument)
            return np.flatnonzero(array)
        if array.size == 0 and array.ndim:
            return np.zeros(array.shape, np.int64)
        if array.dtype.kind in "iu":
            return self._in_range(array, argument, from_end)
        if not array.ndim:
            node = nodes.item() if isinstance(nodes, np.ndarray) else nodes
            return np.array(self._index_of_node(node, argument, from_end))
        # Lists are not read from the array: numpy converts ["a", 3] to text.
        is_list = isinstance(nodes, list | tuple)
        items = nodes if is_list else array.reshape(-1).tolist()
        indices = [self._index_of_node(item, argument, from_end) for item in items]
        return np.array(indices, np.int64).reshape(-1 if is_list else array.shape)

    def index(self, names: Any) -> Any:
        """The index of a name, or the indices of a list of names; numbers are names here.

        A name is looked up as it is and then by its text, since files store names that are not
        whole numbers as text. A tuple is a name where a node has it, else a list of names.
        """
        values = names.tolist() if hasattr(names, "tolist") else names
        single = isinstance(values, str | bytes) or not isinstance(values, Iterable)
        if not single and isinstance(values, tuple) and self.ids is not None:
            single = self._find(values) is not None or self._find_text(str(values)) is not None
        if single:
            return self._index_of_name(values, "names")
        return np.array([self._index_of_name(name, "names") for name in values], np.int64)

    def find_all(self, names: Sequence[Any], argument: str, *, missing: bool = False) -> IntArray:
        """Indices of names as of `index`; with `missing`, -1 for those that no node has."""
        indices = np.empty(len(names), np.int64)
        for at, name in enumerate(names):
            index = self._find(name)
            index = self._find_text(str(name)) if index is None else index
            is_new = missing and index is None
            indices[at] = -1 if is_new else self._require_known(index, name, argument)
        return indices

    def index_of_text(self, text: str, argument: str) -> int:
        """The index of the node whose name is `text`, or whose number where nodes have no names."""
        if self.ids is not None:
            return self._require_known(self._find_text(text), text, argument)
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else -1
        if not 0 <= number < self.n_nodes:
            problem = f"must be numbers from 0 to {self.n_nodes - 1}, found {text!r}"
            raise InputError(problem, argument=argument)
        return number

    @property
    def kind(self) -> Literal["whole", "text"] | None:
        """How files store names: as 64-bit whole numbers or as text; ``None`` without names."""
        array = self.to_array()
        return None if array is None else "whole" if array.dtype.kind in "iu" else "text"

    def to_array(self) -> npt.NDArray[Any] | None:
        """The names for a file: 64-bit whole numbers where all are, else text."""
        if self.ids is None:
            return None
        if all(isinstance(name, int | np.integer) for name in self.ids):
            numbers = np.asarray(self.ids)
            if numbers.dtype.kind in "iu":  # numbers beyond 64 bits would need pickles
                return numbers
        return np.asarray([str(name) for name in self.ids])

    def _in_range(self, array: npt.NDArray[Any], argument: str, from_end: bool) -> IntArray:
        if from_end and array.dtype.kind == "i":
            array = array.astype(np.int64)  # 200 nodes are too many for int8
            array = np.where(array < 0, array + self.n_nodes, array)
        try:
            return node_numbers(array.reshape(-1), self.n_nodes, argument).reshape(array.shape)
        except InputError as error:
            first = [] if self.ids is None else self.ids[:1]
            is_number = any(isinstance(name, int | np.integer) for name in first)
            convert = "whole numbers are indices: convert names by graph.index(names)"
            advice = convert if is_number else None
            raise NodeIndexError(error.problem, argument=argument, advice=advice) from None

    def _index_of_node(self, node: Any, argument: str, from_end: bool = False) -> int:
        """The index of a node that is given as an index or as a name that is no number."""
        if isinstance(node, str) and self.ids is not None:
            return self._index_of_name(node, argument)
        if isinstance(node, int | np.integer) and not isinstance(node, bool):
            return int(self._in_range(np.asarray(node), argument, from_end))
        if self.ids is None or isinstance(node, float | bool | np.generic | complex | None):
            problem = f"must be whole numbers in a list, or names, found {shown(node)}"
            convert = "convert names that are numbers by index(names)"
            advice = "use indices: these nodes have no names" if self.ids is None else convert
            raise InputError(problem, argument=argument, advice=advice)
        return self._index_of_name(node, argument)

    def _index_of_name(self, name: Any, argument: str) -> int:
        if self.ids is None:
            if isinstance(name, str):
                return self.index_of_text(name, argument)
            return int(node_numbers([name], self.n_nodes, argument)[0])
        index = self._find(name)
        index = self._find_text(str(name)) if index is None else index
        return self._require_known(index, name, argument)

    def _require_known(self, index: int | None, name: Any, argument: str) -> int:
        """Refuse a name that no node has, or that several nodes have."""
        if index is None:
            close = _closest(str(name), self._similar(str(name)))
            if close:
                advice = f"the closest {'is' if len(close) == 1 else 'are'} {str(close)[1:-1]}"
                if not isinstance(name, str) and isinstance((self.ids or close)[0], str):
                    advice = f"names are text, and {advice}"
            else:
                first = str(list((self.ids or [])[:_N_SHOWN]))[1:-1]
                advice = f"names are {first}" + (", …" if self.n_nodes > _N_SHOWN else "")
            problem = f"must exist, but no node is named {shown(name)}"
            raise InputError(problem, argument=argument, advice=advice)
        if index == SEVERAL:
            problem = f"must be unique names, but several nodes are named {shown(name)}"
            raise InputError(problem, argument=argument, advice="use their indices")
        return index

    def _find(self, name: Any) -> int | None:
        """The index of a name, `SEVERAL`, or ``None``."""
        try:
            return self._by_name.get(name)
        except TypeError:  # not hashable, so no name
            return None

    def _find_text(self, text: str) -> int | None:
        """The index of the name with this text, `SEVERAL`, or ``None``."""
        return self._by_text.get(text)

    def _similar(self, text: str) -> Iterable[str]:
        """Names to compare an unknown one with."""
        return self._by_text

    @cached_property
    def _by_name(self) -> dict[Any, int]:
        try:
            return _dictionary(self.ids or [])
        except TypeError as error:
            raise InputError(f"names of nodes must be hashable: {error}") from None

    @cached_property
    def _by_text(self) -> dict[str, int]:
        if all(type(name) is str for name in self._by_name):
            return self._by_name
        return _dictionary([str(name) for name in self.ids or []])


class MoreNames(NodeNames):
    """The names of a graph's nodes, followed by those of new ones.

    Examples
    --------
    >>> names = MoreNames.of(NodeNames(2, ["Anna", "Ben"]), ["Cy"])
    >>> names.ids, names.index(["Cy", "Anna"])
    (['Anna', 'Ben', 'Cy'], array([2, 0]))
    """

    def __init__(self, first: NodeNames, more: NodeNames) -> None:
        assert first.ids is not None and more.ids is not None
        super().__init__(first.n_nodes + more.n_nodes, _Joined(first.ids, more.ids))
        self.first, self.more = first, more

    @classmethod
    def of(cls, names: NodeNames, new: Sequence[Any]) -> MoreNames:
        """Names with new ones, of the same kind."""
        ids = names.ids or [None]
        for kind in (str, int):
            wrong = (name for name in new if not isinstance(name, kind) or name in (True, False))
            if isinstance(ids[0], kind) and (first := next(wrong, None)) is not None:
                words = "text" if kind is str else "whole numbers"
                raise InputError(f"names of nodes are {words} in this graph, found {shown(first)}")
        first, more = (names.first, names.more.ids) if isinstance(names, cls) else (names, [])
        return cls(first, NodeNames(len(more or []) + len(new), [*(more or []), *new]))

    def __reduce__(self) -> tuple[Any, ...]:
        return MoreNames, (self.first, self.more)

    @property
    def kind(self) -> Literal["whole", "text"] | None:
        """As that of the names before: new ones are of their kind."""
        return self.first.kind

    def find_all(self, names: Sequence[Any], argument: str, *, missing: bool = False) -> IntArray:
        """As of `NodeNames`."""
        indices = self.first.find_all(names, argument, missing=True)
        for at in np.flatnonzero(indices < 0).tolist():
            new = self.more._find(names[at])
            is_new = missing and new is None
            index = None if new is None else new + self.first.n_nodes
            indices[at] = -1 if is_new else self._require_known(index, names[at], argument)
        return indices

    def _find(self, name: Any) -> int | None:
        return self._either(self.first._find(name), self.more._find(name))

    def _find_text(self, text: str) -> int | None:
        return self._either(self.first._find_text(text), self.more._find_text(text))

    def _either(self, before: int | None, new: int | None) -> int | None:
        return before if new is None else new + self.first.n_nodes

    def _similar(self, text: str) -> Iterable[str]:
        return [*self.first._similar(text), *self.more._similar(text)]


class _Joined(Sequence[Any]):
    """Two sequences of names, one after the other; compares and prints as a list."""

    __hash__ = None  # type: ignore[assignment]  # as for lists

    def __init__(self, first: Sequence[Any], more: Sequence[Any]) -> None:
        self._parts = first, more

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        first, more = self._parts
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(index)
        return first[position] if position < len(first) else more[position - len(first)]

    def __iter__(self) -> Iterator[Any]:
        return chain(*self._parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list | _Joined | Texts):
            return NotImplemented
        return list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))


def whole_slice(chosen: slice) -> slice:
    """Check that start, stop and step of a slice are whole numbers."""
    for end in (chosen.start, chosen.stop, chosen.step):
        if end is not None and not hasattr(end, "__index__"):
            advice = "convert names to indices by index(names)"
            raise InputError(f"slices have whole numbers for ends, found {end!r}", advice=advice)
    if chosen.step == 0:
        raise InputError("the step of a slice must not be 0")
    return chosen


def _dictionary(names: Sequence[Any]) -> dict[Any, int]:
    indices: dict[Any, int] = {}
    for index, name in enumerate(names):
        indices[name] = SEVERAL if name in indices else index
    return indices


def _array(nodes: Any) -> npt.NDArray[Any]:
    """Nodes as an array; the shape alone of lists of tuples, which are names, or of lists."""
    if not (isinstance(nodes, list) and nodes and isinstance(nodes[0], tuple)):
        with suppress(ValueError):  # lists of different lengths
            return np.asarray(nodes)
    return np.empty(len(nodes), dtype=object)


def _closest(name: str, names: Iterable[str]) -> list[str]:
    """The most similar names; of very many, those of similar length with the same initial."""
    similar = [other for other in names if abs(len(other) - len(name)) <= 3]
    if len(similar) > MAX_COMPARED:
        similar = [other for other in similar if other[:1].casefold() == name[:1].casefold()]
    return difflib.get_close_matches(name, similar[:MAX_COMPARED], _N_SHOWN)


class Texts(Sequence[str]):
    """A sequence of texts in one buffer, which compares and prints as a list.

    Parameters
    ----------
    buffer
        The concatenated texts, in UTF-8.
    ends
        End of each text in the buffer.

    Examples
    --------
    >>> names = Texts(np.frombuffer(b"AnnaBen", np.uint8), np.array([4, 7]))
    >>> names, names[-1], names == ["Anna", "Ben"], "Be" in names
    (['Anna', 'Ben'], 'Ben', True, False)
    """

    __hash__ = None  # type: ignore[assignment]  # as for lists

    def __init__(self, buffer: npt.NDArray[np.uint8], ends: AnyInts) -> None:
        self._buffer, self._ends = buffer, ends

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(index)
        return decoded(self.raw(position))

    def raw(self, index: int) -> bytes:
        """The bytes of one text."""
        start = int(self._ends[index - 1]) if index else 0
        return self._buffer[start : int(self._ends[index])].tobytes()

    def __iter__(self) -> Iterator[str]:
        begin = 0
        for first in range(0, len(self), _TEXTS_PER_BATCH):
            ends = (self._ends[first : first + _TEXTS_PER_BATCH] - begin).tolist()
            text = self._buffer[begin : begin + ends[-1]].tobytes()
            yield from (decoded(text[i:j]) for i, j in zip([0, *ends], ends, strict=False))
            begin += ends[-1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list | Texts):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return repr(list(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(list(self), dtype)


def decoded(name: bytes) -> str:
    """The inverse of ``encode(errors="surrogatepass")``, for any text that Python can hold."""
    return name.decode(errors="surrogatepass")
