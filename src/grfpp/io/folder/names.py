"""Names of nodes in a graph's folder, looked up there and never held all at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from grfpp.errors import InputError
from grfpp.io.folder.reader import GraphFolder
from grfpp.io.tables.texts import Texts, decoded
from grfpp.nodes import SEVERAL, NodeNames

#: So many names before and after the place of one that is unknown are compared with it.
_NEAR = 500
_BATCH = 1 << 16


class StoredIds(Sequence[Any]):
    """The names in the order of the rows: whole numbers, or text."""

    def __init__(self, folder: GraphFolder) -> None:
        self._numbers = folder.get("name_numbers")
        text, ends = folder.get("name_text"), folder.get("name_ends")
        self._texts = None if text is None or ends is None else Texts(text, ends)
        self._folder = folder

    def __len__(self) -> int:
        return self._folder.header.n_nodes

    @overload
    def __getitem__(self, place: int) -> Any: ...

    @overload
    def __getitem__(self, place: slice) -> list[Any]: ...

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        at = place + len(self) if place < 0 else place
        if not 0 <= at < len(self):
            raise IndexError(place)
        if self._numbers is not None:
            return int(self._numbers[at])
        assert self._texts is not None
        return self._texts[at]

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), _BATCH):
            yield from self[start : start + _BATCH]

    def raw(self, place: int) -> bytes:
        """The bytes of a name that is text."""
        assert self._texts is not None
        return self._texts.raw(place)

    def to_array(self) -> npt.NDArray[Any]:
        """All of them."""
        return np.array(self._numbers) if self._numbers is not None else np.array(list(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


class NameIndex(Mapping[Any, int]):
    """From names to places, by halving the stored order of names.

    Numbers are compared as numbers, text by its bytes in UTF-8.
    """

    def __init__(self, folder: GraphFolder, ids: StoredIds) -> None:
        self.ids = ids
        self._order = folder.get("name_order")
        self._is_text = folder.header.names == "text"

    def _at(self, rank: int) -> Any:
        place = rank if self._order is None else int(self._order[rank])
        return self.ids.raw(place) if self._is_text else self.ids[place]

    def rank(self, key: Any) -> int:
        """How many names are smaller."""
        low, high = 0, len(self.ids)
        while low < high:
            middle = (low + high) // 2
            if self._at(middle) < key:
                low = middle + 1
            else:
                high = middle
        return low

    def __getitem__(self, name: Any) -> int:
        key = self._key(name)
        rank = self.rank(key)
        if rank == len(self.ids) or self._at(rank) != key:
            raise KeyError(name)
        if rank + 1 < len(self.ids) and self._at(rank + 1) == key:
            return SEVERAL
        return rank if self._order is None else int(self._order[rank])

    def _key(self, name: Any) -> Any:
        hash(name)  # names that cannot be any are refused as a dictionary would
        if self._is_text:
            if not isinstance(name, str):
                raise KeyError(name)
            return name.encode(errors="surrogatepass")
        if isinstance(name, float) and name.is_integer():
            return int(name)
        if not isinstance(name, int | np.integer):
            raise KeyError(name)
        return int(name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    def near(self, text: str) -> list[str]:
        """Some names that stand beside this text in their order."""
        if not self._is_text and not text.lstrip("-").isdigit():
            return []
        try:
            rank = self.rank(self._key(text if self._is_text else int(text)))
        except ValueError:  # more digits than Python reads
            return []
        ranks = range(max(0, rank - _NEAR), min(len(self.ids), rank + _NEAR))
        found = map(self._at, ranks)
        return [decoded(each) if self._is_text else str(each) for each in found]


class _ByText(Mapping[str, int]):
    """Whole numbers by how they are written."""

    def __init__(self, index: NameIndex) -> None:
        self._index = index

    def __getitem__(self, text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise KeyError(text) from None
        if str(number) != text:
            raise KeyError(text)
        return self._index[number]

    def __iter__(self) -> Iterator[str]:
        return map(str, self._index)

    def __len__(self) -> int:
        return len(self._index)


class StoredNames(NodeNames):
    """The names of a folder's nodes, looked up without a dictionary."""

    def __init__(self, folder: GraphFolder) -> None:
        ids = StoredIds(folder)
        super().__init__(folder.header.n_nodes, ids)
        self._folder, self._ids = folder, ids
        self._index = NameIndex(folder, ids)
        text = self._index if folder.header.names == "text" else _ByText(self._index)
        self.__dict__["_by_name"] = self._index
        self.__dict__["_by_text"] = text

    def __reduce__(self) -> tuple[Any, ...]:
        return reopened_names, (str(self._folder.path), self._folder.fingerprint)

    @property
    def kind(self) -> Literal["whole", "text"] | None:
        """Whole numbers, or text."""
        return "text" if self._folder.header.names == "text" else "whole"

    def to_array(self) -> npt.NDArray[Any]:
        """The names for another file."""
        return self._ids.to_array()

    def similar(self, text: str) -> list[str]:
        """Names to compare one that is not known with."""
        return self._index.near(text)


def names_of(folder: GraphFolder) -> NodeNames:
    """The names of a folder's nodes."""
    return NodeNames(folder.header.n_nodes) if folder.header.names is None else StoredNames(folder)


def reopened_names(path: str, fingerprint: str) -> NodeNames:
    """Names in another process, from the same folder."""
    return names_of(reopened(path, fingerprint))


def reopened(path: str, fingerprint: str) -> GraphFolder:
    """The folder that another process had open, if it is the same still."""
    folder = GraphFolder.open(path)
    if folder.fingerprint != fingerprint:
        raise InputError(f"{path} has changed since it was opened: open it again")
    return folder
