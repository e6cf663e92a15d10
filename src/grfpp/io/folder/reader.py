"""Open a graph's folder: its header is read, its arrays are verified and mapped into memory.

`GraphFolder` is the folder, `StoredNames` are its nodes' names, which are looked up on disk, and
`MappedForm` is the graph as it is stored, normalised, or with its arcs reversed.
"""

from __future__ import annotations

import mmap
import os
import weakref
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grfpp._memory import available_bytes, require_bytes
from grfpp.errors import InputError
from grfpp.io.folder import layout
from grfpp.io.folder.layout import HEADER, SUFFIX, Header, array_file, damaged, mapped_array
from grfpp.io.folder.writer import counted
from grfpp.io.text import input_errors
from grfpp.linalg.csr import csr, readonly
from grfpp.nodes import MAX_COMPARED, SEVERAL, NodeNames, Texts, decoded
from grfpp.normalization import Kind, Rows, ScaledWeights
from grfpp.typing import FloatArray, IntArray

#: Names that are compared at a time.
_NAMES_PER_BLOCK = 1 << 18
#: Names before and after an unknown one, in their order, that are compared with it.
_N_NEAR = 500
#: Letters that are put into an unknown name, of the commonest.
_N_LETTERS = 40
#: Number of names from which the compiled search, or a pass over all numbers, is faster.
_FEW_NAMES = 2000
#: Letters of an unknown name that are changed, each by some 80 lookups of 10 µs.
_MAX_EDITED = 24


def is_folder_path(source: Any) -> bool:
    """Whether something is the path of a graph's folder, by its suffix."""
    if not isinstance(source, str | os.PathLike):
        return False
    name = os.fspath(source)
    return isinstance(name, str) and name.rstrip("/\\").lower().endswith(SUFFIX)


def folder_bytes(path: str | os.PathLike[str]) -> int:
    """Bytes of a graph's files: the header, the arrays and updates."""
    files = [Path(path) / HEADER, *Path(path).glob("*.bin"), *Path(path).glob("*.seg")]
    return sum(file.stat().st_size for file in files)


@dataclass(frozen=True, eq=False)
class GraphFolder:
    """An open folder: its header, and its arrays, which are mapped when they are first needed."""

    path: Path
    header: Header
    #: Checksum of the header, which holds the checksums of all arrays.
    fingerprint: str
    #: Inode, size and times of its files.
    stats: dict[str, list[int]]
    _descriptors: dict[str, int] = field(default_factory=dict, repr=False)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, verify: bool = False, fingerprint: str | None = None
    ) -> GraphFolder:
        """Open a folder that `Graph.save` or ``grfpp convert`` wrote.

        Sizes of files are compared with the header. Files that were not verified since they were
        last written are verified now by `layout.verify_folder`; with `verify` all are, and by
        `verify_consistency` too. With a `fingerprint` the folder must be the one that another
        process had opened.
        """
        folder = _existing(path)
        header, text = Header.read(folder)
        files = [folder / HEADER, *(array_file(folder, name) for name in header.arrays)]
        stats = layout.stats_of(files)
        for name, array in header.arrays.items():
            n_bytes = stats[array_file(folder, name).name][1]
            expected = array.length * np.dtype(layout.ARRAYS[name][0]).itemsize
            if n_bytes != expected:
                raise damaged(folder, name, f"{n_bytes:,} bytes, the header says {expected:,}")
        if verify or not layout.is_stamped(folder, stats):
            layout.verify_folder(folder, header)
            if verify:
                verify_consistency(folder, header)
            if layout.stats_of(files) != stats:
                raise InputError(f"{folder} is being written", advice="open it again")
            layout.write_stamp(folder, header.arrays)
        checksum = layout.new_checksum(text).hexdigest()
        if fingerprint not in (None, checksum):
            raise InputError(f"{path} has changed since it was opened", advice="open it again")
        return cls(folder, header, checksum, stats)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(GraphFolder.open, fingerprint=self.fingerprint), (str(self.path),)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """An array, mapped and read-only."""
        return self._arrays[name]

    def get(self, name: str) -> npt.NDArray[Any] | None:
        """An array, or ``None`` where the folder does not have it."""
        return self._arrays.get(name)

    @cached_property
    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        self._require_current()
        # The system reads ahead where all fits into memory. Otherwise it would read 128 kB for
        # every edge that a pool follows, again and again.
        fits = sum(size for _, size, *_ in self.stats.values()) < available_bytes()
        arrays = {name: self._mapped(name, read_ahead=fits) for name in self.header.arrays}
        self._require_current()
        return arrays

    def _mapped(self, name: str, read_ahead: bool) -> npt.NDArray[Any]:
        with input_errors(f"{array_file(self.path, name)} cannot be mapped", OSError, ValueError):
            mapped = layout.mapped_array(self.path, name)
        if not read_ahead and isinstance(mapped.base, mmap.mmap) and hasattr(mmap, "MADV_RANDOM"):
            mapped.base.madvise(mmap.MADV_RANDOM)
        return np.asarray(mapped)

    def descriptor(self, name: str) -> int | None:
        """The descriptor of an array's file, for ``pread``; closed with the last reference to this.

        ``None`` where the system has no such call, and after a compaction.
        """
        if not hasattr(os, "pread"):
            return None
        if name not in self._descriptors:
            if not self.is_current():
                self.require_unchanged()
                return None
            with input_errors(f"{array_file(self.path, name)} cannot be opened", OSError):
                opened = os.open(array_file(self.path, name), os.O_RDONLY)
            weakref.finalize(self, os.close, opened)
            self._require_current()
            self._descriptors[name] = opened
        return self._descriptors[name]

    def require_unchanged(self) -> None:
        """Raise `InputError` where a file is not the one that was opened, or has been written to.

        Maps keep what was there when a folder is replaced; but other processes, which open it by
        its path, would find another graph. Where a compaction has replaced it, this is the same
        graph as of before, and may be used on.
        """
        if self.__dict__.get("_is_compacted") or not self._changed():
            return
        with suppress(InputError):
            if self.fingerprint in Header.read(self.path)[0].replaces:
                self.__dict__["_is_compacted"] = "_arrays" in self.__dict__
                return
        self._require_current()

    def is_current(self) -> bool:
        """Whether all files are those that were opened."""
        with suppress(InputError):
            content = Header.read(self.path)[1]
            return (
                not self._changed() and self.fingerprint == layout.new_checksum(content).hexdigest()
            )
        return False

    def _require_current(self) -> None:
        if changed := self._changed():
            raise InputError(f"{self.path} has changed since it was opened ({changed})")

    def _changed(self) -> str | None:
        """The first file that is not the one that was opened, or has been written to."""
        for name, known in self.stats.items():
            now = None
            with suppress(OSError):
                now = os.stat(f"{self.path}/{name}")  # noqa: PTH116  (fast: every answer asks)
            if now is None or known != [now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns]:
                return name
        return None


def _existing(path: str | os.PathLike[str]) -> Path:
    with input_errors(f"cannot read {str(path)!r}"):  # an unknown user, a zero byte
        folder = Path(path).expanduser().resolve()
        if not folder.exists():
            raise FileNotFoundError("it does not exist")
        if folder.is_file():
            raise NotADirectoryError("it is a file, not a folder")
    return folder


# --- verification of arrays against each other --------------------------------------------------
#
# With `verify=True` only: the columns are the transpose of the rows, on which compiled loops rely;
# names are sorted, on which bisection relies; the counts of the header are those of the arrays.
# `layout.verify_folder` has the checksums, ranges, offsets and strengths.


def verify_consistency(folder: Path, header: Header) -> None:
    """Raise an `InputError` that names the file where arrays, which are valid each, contradict.

    Besides a block of edges, it takes 8 bytes a node.
    """
    require_bytes(8 * header.n_nodes, f"verifying a graph of {header.n_nodes:,} nodes")
    arrays = {name: mapped_array(folder, name) for name in header.arrays}
    rows, columns = (
        layout.rows_of(arrays),
        layout.rows_of(arrays, "in_") if header.directed else None,
    )
    if not _is_transpose(rows, rows if columns is None else columns):
        if columns is None:
            problem = "the graph is undirected by its header, but not symmetric"
            raise damaged(folder, "indices", problem)
        raise damaged(folder, "in_indices", "the columns are not those of the rows")
    order = arrays.get("name_order")
    if header.names and not all(map(_is_sorted, _blocks_of_names(arrays, order))):
        name = "name_numbers" if order is None else "name_order"
        raise damaged(folder, name, "the names are not in the order of lookups")
    found = counted(rows, columns, arrays.get("out_strength"), arrays.get("in_strength"))
    if wrong := [name for name in found if found[name] != getattr(header, name)]:
        raise damaged(folder, HEADER, f"{wrong[0]} is not that of the arrays")


def _is_transpose(rows: Rows, columns: Rows) -> bool:
    """Whether `columns` are the columns of the matrix with these rows.

    Rows are read in their order, so that the entries of a column come in its order too. For each
    column, `filled` counts those that have come.
    """
    starts, n_in = columns.indptr[:-1], np.diff(columns.indptr)
    if len(rows.indices) != len(columns.indices):
        return False
    filled = np.zeros(len(starts), np.int64)
    for first, block in rows.blocks():
        order = np.argsort(block.indices, kind="stable")
        targets, counts = np.unique(block.indices[order], return_counts=True)
        if (filled[targets] + counts > n_in[targets]).any():
            return False
        # Rank of an entry among those of its column in this block.
        ranks = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = np.repeat(starts[targets] + filled[targets], counts) + ranks
        pairs: list[Any] = [(columns.indices, first + block.sources())]
        if columns.weights is not None:
            pairs.append((columns.weights, block.weights))
        if not all(np.array_equal(there[places], here[order]) for there, here in pairs):
            return False
        filled[targets] += counts
    return True


def _blocks_of_names(
    arrays: Mapping[str, npt.NDArray[Any]], order: npt.NDArray[Any] | None
) -> Iterator[Any]:
    """The names in the order of lookups, in blocks that overlap by one."""
    numbers = arrays.get("name_numbers")
    texts = None if numbers is not None else Texts(arrays["name_text"], arrays["name_ends"])
    n = len(arrays["indptr"]) - 1
    for start in range(0, n, _NAMES_PER_BLOCK):
        block: Any = slice(max(start - 1, 0), start + _NAMES_PER_BLOCK)
        block = block if order is None else order[block]
        if numbers is not None:
            yield numbers[block]
        else:
            assert texts is not None
            yield list(map(texts.raw, block.tolist()))


def _is_sorted(names: Any) -> bool:
    if isinstance(names, list):
        return all(a <= b for a, b in pairwise(names))
    return bool((names[1:] >= names[:-1]).all())


# --- names ----------------------------------------------------------------------------------------


class StoredNumbers(Sequence[int]):
    """Names that are whole numbers, in the order of the rows."""

    def __init__(self, numbers: IntArray) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, place: Any) -> Any:
        return self._numbers[place].tolist()

    raw = __getitem__


class StoredNames(NodeNames):
    """The names of a folder's nodes, found by bisection of their stored order."""

    ids: Texts | StoredNumbers

    def __init__(self, folder: GraphFolder) -> None:
        self._is_text = folder.header.names == "text"
        text = Texts(folder["name_text"], folder["name_ends"]) if self._is_text else None
        super().__init__(folder.header.n_nodes, text or StoredNumbers(folder["name_numbers"]))
        self._folder, self._order = folder, folder.get("name_order")

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredNames, (self._folder,)

    @property
    def kind(self) -> Literal["whole", "text"] | None:
        """Whole numbers, or text."""
        return "text" if self._is_text else "whole"

    def to_array(self) -> npt.NDArray[Any]:
        """The names for another file."""
        return np.array(list(self.ids))

    def _at(self, rank: int) -> Any:
        return self.ids.raw(rank if self._order is None else int(self._order[rank]))

    def _rank(self, key: int | bytes) -> int:
        """The number of smaller names."""
        return bisect_left(range(self.n_nodes), key, key=self._at)

    def _find(self, name: Any) -> int | None:
        if self._is_text:
            return self._find_key(_encoded(name)) if isinstance(name, str) else None
        if isinstance(name, float) and name.is_integer():
            name = int(name)
        return self._find_key(int(name)) if isinstance(name, int | np.integer) else None

    def _find_key(self, key: int | bytes) -> int | None:
        rank = self._rank(key)
        if rank == self.n_nodes or self._at(rank) != key:
            return None
        if rank + 1 < self.n_nodes and self._at(rank + 1) == key:
            return SEVERAL
        return rank if self._order is None else int(self._order[rank])

    def find_all(self, names: Sequence[Any], argument: str, *, missing: bool = False) -> IntArray:
        """As of `NodeNames`; for many names at once, at a microsecond each."""
        few = len(names) < _FEW_NAMES
        if few or not all(isinstance(name, str if self._is_text else int) for name in names):
            return super().find_all(names, argument, missing=missing)
        if self._is_text:
            from grfpp.io.folder.lookup import text_ranks

            texts = list(map(_encoded, names))
            joined = np.frombuffer(b"".join(texts), np.uint8)
            asked = (joined, np.cumsum([len(text) for text in texts]))
            ranks, counts = np.empty((2, len(names)), np.int64)
            stored = tuple(readonly(self._folder[name]) for name in ("name_text", "name_ends"))
            order = readonly(self._folder["name_order"])
            text_ranks(stored, order, asked, ranks, counts)
        else:
            numbers, keys = self._folder["name_numbers"], np.array(names, np.int64)
            ranks = np.searchsorted(numbers, keys, sorter=self._order)
            counts = np.searchsorted(numbers, keys, "right", sorter=self._order) - ranks
        at = np.minimum(ranks, self.n_nodes - 1)
        indices = np.where(counts > 0, at if self._order is None else self._order[at], -1)
        for wrong in np.flatnonzero((counts > 1) | ((counts == 0) & (not missing)))[:1]:
            found = SEVERAL if counts[wrong] else None
            self._require_known(found, names[int(wrong)], argument)
        return indices.astype(np.int64)

    def _find_text(self, text: str) -> int | None:
        if self._is_text:
            return self._find(text)
        number = _number(text)
        return None if number is None or str(number) != text else self._find_key(number)

    def _similar(self, text: str) -> Iterable[str]:
        if self.n_nodes <= MAX_COMPARED:
            return map(self._text_at, range(self.n_nodes))
        key = _encoded(text) if self._is_text else _number(text)
        rank = 0 if key is None else self._rank(key)
        ranks = range(max(0, rank - _N_NEAR), min(self.n_nodes, rank + _N_NEAR))
        names = list(map(self._text_at, ranks))
        sample = map(self._text_at, range(0, self.n_nodes, self.n_nodes // _N_NEAR))
        common = Counter("".join((*names, *sample))).most_common(_N_LETTERS)
        edited = _edited(text[:_MAX_EDITED], [letter for letter, _ in common])
        others = (name + text[_MAX_EDITED:] for name in edited)
        found = [name for name in others if self._find_text(name) is not None]
        return dict.fromkeys(found + names)

    def _text_at(self, rank: int) -> str:
        name = self._at(rank)
        return decoded(name) if isinstance(name, bytes) else str(name)


def _edited(text: str, letters: Sequence[str]) -> Iterator[str]:
    """Texts with one letter left out, exchanged with the next, replaced, or put in."""
    for at in range(len(text) + 1):
        head, tail = text[:at], text[at:]
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]
        for letter in letters:
            yield head + letter + tail[1:]
            yield head + letter + tail


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:  # no number, or one with more digits than Python reads
        return None


# --- the graph ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MappedForm:
    """What `Graph` needs, without a pass over edges or nodes, of a graph whose arrays are mapped.

    It is pickled by its path: workers open the folder themselves.
    """

    folder: GraphFolder
    scaled: ScaledWeights
    #: Whether rows hold the arcs that lead to a node.
    is_reversed: bool = False

    @classmethod
    def stored(cls, folder: GraphFolder) -> MappedForm:
        """The graph as it is stored."""
        names = ("weights", "out_strength", "in_strength")
        header = folder.header
        kind: Any = header.kind  # checked when it was read
        return cls(folder, ScaledWeights(kind, header.value, *map(folder.get, names)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _remapped, (self.folder, self.is_reversed, self.scaled.kind, self.scaled.value)

    @property
    def _prefix(self) -> str:
        return "in_" if self.is_reversed and self.folder.header.directed else ""

    @property
    def indptr(self) -> IntArray:
        """Ends of rows, mapped."""
        return self.folder[f"{self._prefix}indptr"]

    @property
    def indices(self) -> npt.NDArray[np.int32]:
        """Nodes that edges lead to, mapped."""
        return self.folder[f"{self._prefix}indices"]

    def indices_file(self) -> int | None:
        """Descriptor of their file; ``None`` where the system has no ``pread``."""
        return self.folder.descriptor(f"{self._prefix}indices")

    @property
    def names(self) -> NodeNames:
        """Names of nodes, looked up on disk."""
        header = self.folder.header
        return NodeNames(header.n_nodes) if header.names is None else StoredNames(self.folder)

    def properties(self) -> dict[str, Any]:
        """The cached properties of `Graph` that are known without a pass over the arrays."""
        header, rule, is_directed = self.folder.header, self.scaled, self.is_directed
        n_undirected = (header.n_stored + header.n_loops) // 2  # an undirected edge counts once
        n_edges = header.n_stored if is_directed else n_undirected
        known = {"scaled": rule, "is_directed": is_directed, "n_edges": n_edges}
        if rule.kind is not None:
            n_before = None if header.directed else n_undirected
            known["_normalized_from"] = (rule.kind, rule.value, n_before)
        radius = self.spectral_radius
        return known if radius is None else {**known, "_spectral_radius": radius}

    @property
    def is_directed(self) -> bool:
        """Whether this form differs from its transpose."""
        kind: Kind = self.scaled.kind
        if kind is None:
            return self.folder.header.directed
        if self.is_reversed and kind != "sym":
            kind = "rw" if kind == "rw_reversed" else "rw_reversed"
        return kind not in self.folder.header.symmetric

    @property
    def spectral_radius(self) -> float | None:
        """The spectral radius, where it is known."""
        header, rule = self.folder.header, self.scaled
        if rule.kind in ("sym", "rw") and not header.directed and header.n_stored:
            return rule.value  # √degree (or the constant) is the Perron vector
        is_stored = not self.is_reversed and (rule.kind, rule.value) == (header.kind, header.value)
        return header.spectral_radius if is_stored else None

    @property
    def root_strength(self) -> FloatArray | None:
        """Roots of the weighted degrees that a symmetric normalisation divides by."""
        header, base = self.folder.header, self.scaled.base
        if self.scaled.kind != "sym" or header.directed:
            return None
        if base is None:  # equal weights, a power of two: their sums are exact
            return np.sqrt(np.diff(self.indptr) * (header.value if header.kind is None else 1.0))
        # Not the strengths that are stored: these are rounded in another order.
        matrix = csr(base, self.indices, self.indptr, header.n_nodes)
        return np.asarray(np.sqrt(matrix.sum(axis=1)))

    def normalized(self, kind: Literal["sym", "rw"] | None, factor: float) -> MappedForm | None:
        """The normalised form, or ``None`` where no rule gives the same bits."""
        rule = self.scaled.normalized(kind, factor, in_safe_range=self.folder.header.tame)
        return None if rule is None else MappedForm(self.folder, rule, self.is_reversed)

    def reversed(self) -> MappedForm:
        """The form with every arc reversed."""
        is_plain = self._prefix or not self.folder.header.directed
        base = self.folder.get("weights" if is_plain else "in_weights")
        return MappedForm(self.folder, self.scaled.reversed(base), not self.is_reversed)


def _remapped(folder: GraphFolder, is_reversed: bool, kind: Kind, value: float) -> MappedForm:
    form = MappedForm.stored(folder)
    form = form.reversed() if is_reversed else form
    return replace(form, scaled=replace(form.scaled, kind=kind, value=value))
