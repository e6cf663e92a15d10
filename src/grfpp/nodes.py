"""`NodeNames`: from what users call nodes to the places of their rows.

One rule for all: whole numbers are places, 0 … n-1, and text is a name. Names that are themselves
numbers are turned into places first, by `index`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grfpp.arguments import node_numbers
from grfpp.errors import InputError
from grfpp.typing import IntArray

#: Names that are shown where one is not known.
_SHOWN = 3
#: So many names at most are compared with one that is not known: each takes microseconds.
_COMPARED = 20_000
#: Stands for a name that several nodes have.
SEVERAL = -1


class NodePlaceError(InputError, IndexError):
    """A place outside of 0 … n-1; also an ``IndexError``, by which Python ends loops over rows."""


class NodeNames:
    """The names of a graph's nodes, looked up in a dictionary that is made when first needed.

    Parameters
    ----------
    n_nodes
        Number of nodes.
    ids
        Their names in the order of the rows, anything hashable; ``None`` where they are simply
        numbered.

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
            raise InputError(
                f"there must be a name for each of {n_nodes} nodes, found {len(ids)} names"
            )
        self.n_nodes = n_nodes
        self.ids = ids

    def __reduce__(self) -> tuple[Any, ...]:
        return NodeNames, (self.n_nodes, self.ids)  # without the dictionaries

    def numbers(self, nodes: Any, argument: str = "nodes") -> IntArray:
        """Places of nodes that are given as one, as a list or array, as a slice, or as a mask.

        Whole numbers are places, also where names are numbers. A list or array of truth values has
        one for each node. Everything else is a name.
        """
        if isinstance(nodes, slice):
            return np.arange(self.n_nodes)[whole_slice(nodes)]
        array = _array(nodes)
        if array.ndim > 1 and not _holds_tuples(nodes):
            raise InputError(
                f"must be whole numbers in a list, or names, found {nodes!r}", argument=argument
            )
        return self.places(nodes, argument).reshape(-1)

    def places(self, nodes: Any, argument: str = "nodes", *, from_end: bool = False) -> IntArray:
        """The same in the shape of what is given: without an axis for a single node.

        With `from_end`, places below zero count from the end, as in numpy.
        """
        array = _array(nodes)
        if array.dtype.kind == "b":
            return self._masked(array, argument)
        if array.size == 0 and array.ndim:
            return np.zeros(array.shape, np.int64)
        if array.dtype.kind in "iu" and not _holds_tuples(nodes):
            if from_end and array.dtype.kind == "i":
                wide = array.astype(np.int64)  # 200 nodes are too many for int8
                array = np.where(wide < 0, wide + self.n_nodes, wide)
            try:
                return node_numbers(array.reshape(-1), self.n_nodes, argument).reshape(array.shape)
            except InputError as error:
                raise NodePlaceError(error.problem, argument=argument) from None
        if not array.ndim:
            one = nodes.item() if isinstance(nodes, np.ndarray) else nodes
            return np.array(self._place(one, argument))
        # Not the array: numpy makes text of all of ["a", 3].
        items = nodes if isinstance(nodes, list | tuple) else array.reshape(-1).tolist()
        shape = (len(items),) if isinstance(nodes, list | tuple) else array.shape
        found = self._all_known(items)
        if found is None:
            found = [self._place(each, argument, from_end) for each in items]
        return np.array(found, np.int64).reshape(shape)

    def index(self, names: Any) -> Any:
        """The place of a name, or the places of a list of names; numbers are names here.

        A name is found as it is or, where none is like that, by its text: files keep names that
        are not whole numbers as text. A tuple is a name where a node has that, else a list.
        """
        values = names.tolist() if hasattr(names, "tolist") else names
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            return self._named(values, "names")
        if isinstance(values, tuple) and (self._is_name(values) or str(values) in self._by_text):
            return self._named(values, "names")
        items = list(values)
        found = self._all_known(items) or [self._named(name, "names") for name in items]
        return np.array(found, np.int64)

    def written(self, text: str, argument: str) -> int:
        """The place of the one node whose name, or number where there are none, is written so."""
        if self.ids is not None:
            return self._found(self._by_text, text, text, argument)
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else -1
        if not 0 <= number < self.n_nodes:
            raise InputError(
                f"must be numbers from 0 to {self.n_nodes - 1}, found {text!r}", argument=argument
            )
        return number

    @property
    def kind(self) -> Literal["whole", "text"] | None:
        """What files keep names as: whole numbers of 64 bits, or text; ``None`` without names."""
        array = self.to_array()
        return None if array is None else "whole" if array.dtype.kind in "iu" else "text"

    def to_array(self) -> npt.NDArray[Any] | None:
        """The names for a file: 64-bit whole numbers where all are, else text."""
        if self.ids is None:
            return None
        if all(isinstance(name, int | np.integer) for name in self.ids):
            numbers = np.asarray(self.ids)
            if numbers.dtype.kind in "iu":  # others, beyond 64 bits, would need pickles
                return numbers
        return np.asarray([str(name) for name in self.ids])

    def _all_known(self, items: Sequence[Any]) -> list[Any] | None:
        """Places of text that is all known, at the speed of a dictionary."""
        if self.ids is None or not all(isinstance(each, str) for each in items):
            return None
        found = list(map(self._by_name.get, items))
        return None if None in found or SEVERAL in found else found

    def _masked(self, mask: npt.NDArray[Any], argument: str) -> IntArray:
        if mask.shape != (self.n_nodes,):
            raise InputError(
                f"must be whole numbers in a list, or one truth value for each of {self.n_nodes} "
                f"nodes, found truth values of shape {mask.shape}",
                argument=argument,
            )
        return np.flatnonzero(mask)

    def _place(self, node: Any, argument: str, from_end: bool = False) -> int:
        """One node: a place, or a name that is no number."""
        if isinstance(node, int | np.integer) and not isinstance(node, bool):
            if from_end and -self.n_nodes <= node < 0:
                return int(node) + self.n_nodes
            try:
                return int(node_numbers(node, self.n_nodes, argument)[0])
            except InputError as error:
                raise NodePlaceError(error.problem, argument=argument) from None
        if self.ids is None:
            raise InputError(
                f"must be whole numbers in a list, found {node!r}; these nodes have no names",
                argument=argument,
            )
        if isinstance(node, float | bool | np.floating | np.bool_ | complex | None):
            raise InputError(
                f"must be whole numbers in a list, or names, found {node!r}; names that are "
                "numbers are turned into places by index(names)",
                argument=argument,
            )
        return self._named(node, argument)

    def _named(self, name: Any, argument: str) -> int:
        if self.ids is None:
            if isinstance(name, str):
                return self.written(name, argument)
            return int(node_numbers([name], self.n_nodes, argument)[0])
        known = self._is_name(name)
        places = self._by_name if known else self._by_text
        return self._found(places, name if known else str(name), name, argument)

    def _is_name(self, name: Any) -> bool:
        try:
            return name in self._by_name
        except TypeError:  # a list in it, say, which no name can have
            return False

    def _found(self, places: Mapping[Any, int], key: Any, name: Any, argument: str) -> int:
        place = places.get(key)
        if place is None:
            close = _closest(str(name), self.similar(str(name)))
            if close:
                others = f"the closest {'is' if len(close) == 1 else 'are'} "
                others += ", ".join(map(repr, close))
            else:
                first = ", ".join(repr(each) for each in (self.ids or [])[:_SHOWN])
                others = f"names are {first}" + (", …" if self.n_nodes > _SHOWN else "")
            raise InputError(
                f"must exist, but no node is named {name!r}; {others}", argument=argument
            )
        if place == SEVERAL:
            raise InputError(
                f"must be told apart by their names, but several are named {name!r}; use their "
                "places, which are whole numbers",
                argument=argument,
            )
        return place

    def similar(self, text: str) -> Iterable[str]:
        """Names to compare one that is not known with."""
        return self._by_text

    @cached_property
    def _by_name(self) -> Mapping[Any, int]:
        try:
            return _dictionary([] if self.ids is None else list(self.ids))
        except TypeError as error:
            raise InputError(f"names of nodes must be hashable: {error}") from None

    @cached_property
    def _by_text(self) -> Mapping[str, int]:
        if all(type(name) is str for name in self._by_name):
            return self._by_name
        return _dictionary([str(name) for name in self.ids or []])


def whole_slice(chosen: slice) -> slice:
    """Check that a slice has whole numbers for its ends."""
    for end in (chosen.start, chosen.stop, chosen.step):
        if end is not None and not hasattr(end, "__index__"):
            raise InputError(
                f"slices are from place to place, found {end!r}; index(names) turns names into "
                "places"
            )
    if chosen.step == 0:
        raise InputError("the step of a slice must not be 0")
    return chosen


def _dictionary(names: Sequence[Any]) -> dict[Any, int]:
    places = dict(zip(names, range(len(names)), strict=True))
    if len(places) < len(names):
        seen: set[Any] = set()
        for name in names:
            if name in seen:
                places[name] = SEVERAL
            seen.add(name)
    return places


def _array(nodes: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(nodes)
    except ValueError:  # lists of different lengths, tuples of different lengths as names
        return np.empty(len(nodes), dtype=object)


def _holds_tuples(nodes: Any) -> bool:
    """Whether these are names that numpy takes for rows of a table."""
    return isinstance(nodes, list) and len(nodes) > 0 and isinstance(nodes[0], tuple)


def _closest(name: str, names: Iterable[str]) -> list[str]:
    """The most similar names; of very many, the first that are about as long and begin alike."""
    similar = [each for each in names if abs(len(each) - len(name)) <= 3]
    if len(similar) > _COMPARED:
        similar = [each for each in similar if each[:1].casefold() == name[:1].casefold()]
    return difflib.get_close_matches(name, similar[:_COMPARED], _SHOWN)
