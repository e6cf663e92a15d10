"""Shapes of peptides: targets of the kinds of Peptides-struct, computed here and kept.

The benchmark's own targets are not to be had in a form that grfpp reads. These are ours: other
conformers, so other numbers; results are not comparable with published ones.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grfpp.arguments import node_numbers
from grfpp.datasets.arrays import read_only
from grfpp.datasets.fetch import cache_folder
from grfpp.datasets.molecule_shapes import CONFORMER_SEED, SHAPE_DESCRIPTORS, molecule_shape
from grfpp.datasets.peptides import load_peptides
from grfpp.errors import InputError
from grfpp.imports.optional import require
from grfpp.io.storage.archive import opened_kind, save_arrays
from grfpp.io.text import naming
from grfpp.parallel import in_order, thread_count
from grfpp.typing import FloatArray, IntArray

_KIND = "grfpp peptide shapes 1"
#: Molecules after which what is known is kept.
_PART = 32


@dataclass(frozen=True, eq=False, repr=False)
class PeptideShapes:
    """Shape descriptors of some peptides, computed by grfpp with RDKit.

    Attributes
    ----------
    rows
        The molecules, by their rows in `load_peptides`.
    values
        A row a molecule with the numbers that `descriptors` names; not a number where RDKit finds
        no conformer.
    descriptors
        What the columns are.
    source
        Who made them: not the benchmark.
    """

    rows: IntArray
    values: FloatArray
    descriptors: tuple[str, ...]
    source: str

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"PeptideShapes({len(self)} molecules, {self.source})"


def load_peptide_shapes(
    rows: Sequence[int] | IntArray, *, download: bool = True, n_jobs: int = -1
) -> PeptideShapes:
    """Compute shape descriptors of peptides, or take them from the cache.

    A conformer takes some tenths of a second for a peptide of 50 atoms, and far longer for large
    ones: choose small ones. What was computed is kept in the cache folder. Needs RDKit (the extra
    ``chem``).

    Parameters
    ----------
    rows
        Of the molecules in `load_peptides`.
    download
        Whether to download the molecules if they are not at hand.
    n_jobs
        Threads; -1 for all cores. The numbers do not depend on it.
    """
    n_threads = thread_count(n_jobs)
    peptides = load_peptides(download=download)
    chosen = node_numbers(rows, len(peptides), "rows")
    version = require("rdkit", "conformers of molecules").__version__
    file = cache_folder() / "peptides" / "shapes.npz"
    known = _read(file, version)
    words = {int(row): _word(peptides.smiles[row]) for row in chosen}
    missing = np.array([row for row, word in words.items() if word not in known], dtype=np.int64)
    # Processes that begin together go through them in orders of their own, and share the work.
    missing = np.random.default_rng(os.getpid()).permutation(missing)

    def shape(numbers: range) -> FloatArray:
        row = int(missing[numbers.start])
        with naming(f"molecule {row}"):
            return molecule_shape(peptides.smiles[row])

    while len(missing):
        n_now = min(_PART, len(missing))
        found = in_order(shape, [range(i, i + 1) for i in range(n_now)], n_threads)
        made = {words[int(row)]: values for row, values in zip(missing, found, strict=False)}
        # Read again: another process may have added some.
        known = {**_read(file, version), **known, **made}
        _write(file, known, version)
        missing = np.array([row for row in missing if words[int(row)] not in known], dtype=np.int64)
    values = np.array([known[words[int(row)]] for row in chosen])
    return PeptideShapes(
        read_only(chosen),
        read_only(values.reshape(len(chosen), len(SHAPE_DESCRIPTORS))),
        SHAPE_DESCRIPTORS,
        f"computed by grfpp with RDKit {version}",
    )


def _word(smiles: str) -> int:
    """63 bits of what a molecule is, wherever it stands in a table."""
    digest = hashlib.blake2b(smiles.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def _read(file: Path, version: str) -> dict[int, FloatArray]:
    """What was computed by the same RDKit in the same way; nothing where the file is no such."""
    with suppress(InputError, KeyError), opened_kind(file, _KIND) as (arrays, meta):
        words, values = arrays["molecules"], arrays["values"]
        shape = (len(words), len(SHAPE_DESCRIPTORS))
        if meta == _meta(version) and values.shape == shape and words.dtype.kind == "i":
            return dict(zip(words.tolist(), values.astype(np.float64), strict=True))
    return {}


def _write(file: Path, known: dict[int, FloatArray], version: str) -> None:
    """Keep what is known, whole or not at all; a cache that cannot be written is none."""
    arrays = {
        "molecules": np.array(list(known), dtype=np.int64),
        "values": np.array(list(known.values())),
    }
    with suppress(InputError, OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        save_arrays(file, _KIND, arrays, _meta(version))


def _meta(version: str) -> dict[str, object]:
    return {
        "format": _KIND,
        "rdkit": version,
        "seed": CONFORMER_SEED,
        "descriptors": list(SHAPE_DESCRIPTORS),
    }
