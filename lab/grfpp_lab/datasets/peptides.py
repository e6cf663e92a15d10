"""Peptides as molecular graphs (Long Range Graph Benchmark), and descriptors of their shapes.

The targets of Peptides-struct are not available without pickles. Those computed here are of the
same kinds from other conformers: results are not comparable with published ones.
"""

import csv
import gzip
import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp._checks import node_numbers
from grfpp._imports import require
from grfpp._parallel import in_order, thread_count
from grfpp.datasets.fetch import cache_folder, fetch
from grfpp.datasets.generators import undirected_graph
from grfpp.errors import InputError, shown
from grfpp.graph import Graph
from grfpp.io.archive import opened_kind, save_arrays
from grfpp.io.text import errors_about, input_errors
from grfpp.linalg.csr import readonly
from grfpp.typing import FloatArray, IntArray

#: The molecule that the paper estimates at long range, by its row: 434 atoms, diameter 159. No
#: molecule has a larger one; two others have the same (6185 with 424 atoms, 7471 with 444).
LONGEST_PEPTIDE = 914

N_FUNCTIONS = 10


@dataclass(frozen=True, eq=False, repr=False)
class Peptides:
    """Molecules in the SMILES notation and what they do.

    Graphs are made on demand, since all of them take a quarter of a minute.

    Attributes
    ----------
    smiles
        The molecules.
    sequences
        Their amino acids.
    labels
        A row a molecule with 1 for each of the ten functions that it has, else 0.
    """

    smiles: tuple[str, ...]
    sequences: tuple[str, ...]
    labels: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.smiles)

    def graph(self, row: int) -> Graph:
        """The graph of a molecule; needs RDKit."""
        if not 0 <= row < len(self):
            raise InputError(f"rows are numbered from 0 to {len(self) - 1}, found {row!r}")
        with errors_about(f"molecule {row}"):
            return molecule_graph(self.smiles[row])


@dataclass(frozen=True, eq=False, repr=False)
class PeptideSplits:
    """Rows of the molecules to learn from, to choose by, and to test on.

    Attributes
    ----------
    train, val, test
        Row numbers, no two the same.
    """

    train: IntArray
    val: IntArray
    test: IntArray


def load_peptides(*, download: bool = True) -> Peptides:
    """Load the molecules and their functions; `download` them if they are not at hand."""
    return read_peptides(fetch("peptides", download=download))


def load_peptide_splits(*, download: bool = True) -> PeptideSplits:
    """Load the benchmark's split of the molecules.

    The public file of it is a pickle, which grfpp does not read. Convert one that you trust to JSON
    (three lists of row numbers, named train, val and test), and put it where the error says.
    """
    return read_peptide_splits(fetch("peptide-splits", download=download))


def longest_peptide(*, download: bool = True) -> Graph:
    """The graph of the largest diameter that the paper estimates: 434 atoms, diameter 159."""
    return load_peptides(download=download).graph(LONGEST_PEPTIDE)


def molecule_graph(smiles: str) -> Graph:
    """The graph of a molecule: atoms without hydrogen, bonds of weight 1 whatever their order.

    Needs RDKit.

    Parameters
    ----------
    smiles
        The molecule in the SMILES notation.
    """
    molecule = read_smiles(smiles)
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
    return undirected_graph(molecule.GetNumAtoms(), np.array(bonds, dtype=np.int64).reshape(-1, 2))


def read_smiles(smiles: str) -> Any:
    """RDKit's molecule; needs RDKit."""
    chem = require("rdkit.Chem", "reading SMILES")
    # RDKit writes what it thinks of a molecule to stderr.
    with require("rdkit.rdBase", "reading SMILES").BlockLogs():
        molecule = chem.MolFromSmiles(smiles) if isinstance(smiles, str) else None
    if molecule is None or not molecule.GetNumAtoms():
        raise InputError(f"{shown(str(smiles))} is not a molecule in the SMILES notation")
    return molecule


def read_peptides(path: str | Path) -> Peptides:
    """Read a packed table with the columns ``smiles``, ``peptide_seq`` and ``labels``."""
    with (
        input_errors(f"cannot read {path}"),
        gzip.open(path, "rt", encoding="utf-8", newline="") as stream,
    ):
        rows = [
            (row["smiles"], row["peptide_seq"], json.loads(row["labels"]))
            for row in csv.DictReader(stream)
        ]
        smiles, sequences, functions = zip(*rows, strict=True)
        labels = np.array(functions, dtype=np.int8)
        if labels.shape != (len(rows), N_FUNCTIONS) or not np.isin(labels, (0, 1)).all():
            raise ValueError(f"expected {N_FUNCTIONS} labels 0 or 1 a molecule")
    return Peptides(smiles, sequences, readonly(labels))


def read_peptide_splits(path: str | Path) -> PeptideSplits:
    """Read three lists of row numbers from a JSON file."""
    with input_errors(f"cannot read {path}"):
        document = json.loads(Path(path).read_text("utf-8"))
        splits = [np.array(document[name], dtype=np.int64) for name in ("train", "val", "test")]
        rows = np.concatenate(splits)
        if rows.min(initial=0) < 0 or len(np.unique(rows)) < len(rows):
            raise ValueError("row numbers must be >= 0 and in one of the splits only")
    return PeptideSplits(*map(readonly, splits))


#: What the numbers of `molecule_shape` are: the kinds that Peptides-struct has.
SHAPE_DESCRIPTORS = (
    *(f"inertia, masses, {axis}" for axis in "abc"),
    *(f"inertia, valences, {axis}" for axis in "abc"),
    *(f"length, {axis}" for axis in "abc"),
    "sphericity",
    "plane fit",
)
#: Of RDKit's random numbers: the same for all molecules.
CONFORMER_SEED = 16
#: Attempts of RDKit, from distances first and then from random coordinates. Most need one.
_ATTEMPTS = 5


def molecule_shape(smiles: str) -> FloatArray:
    """Shape descriptors of one conformer of a molecule, in the order of `SHAPE_DESCRIPTORS`.

    The conformer is embedded by RDKit's ETKDG (version 3) with hydrogen atoms and a fixed seed, and
    is not relaxed. Descriptors are those of the other atoms. Needs RDKit.

    Parameters
    ----------
    smiles
        The molecule in the SMILES notation.

    Returns
    -------
    numpy.ndarray
        Eleven numbers, in Å, u Å² and Å²; all of them not a number where RDKit finds no conformer.
    """
    molecule = read_smiles(smiles)
    with require("rdkit.rdBase", "conformers of molecules").BlockLogs():
        positions = _embedded(require("rdkit.Chem", "conformers of molecules").AddHs(molecule))
    if positions is None:
        return np.full(len(SHAPE_DESCRIPTORS), np.nan)
    # Hydrogen atoms that were added stand behind the others.
    atoms = list(molecule.GetAtoms())
    return shape_descriptors(
        positions[: len(atoms)],
        np.array([atom.GetMass() for atom in atoms]),
        np.array([atom.GetTotalValence() for atom in atoms], dtype=np.float64),
    )


def _embedded(molecule: Any) -> FloatArray | None:
    """Places of the atoms of one conformer, or nothing."""
    geometry = require("rdkit.Chem.rdDistGeom", "conformers of molecules")
    for from_random in (False, True):
        options = geometry.ETKDGv3()
        options.randomSeed = CONFORMER_SEED
        options.maxIterations = _ATTEMPTS
        options.useRandomCoords = from_random
        if geometry.EmbedMolecule(molecule, options) == 0:
            return np.array(molecule.GetConformer().GetPositions(), dtype=np.float64)
    return None


def shape_descriptors(
    positions: npt.ArrayLike, masses: npt.ArrayLike, valences: npt.ArrayLike
) -> FloatArray:
    """Describe the shape of a cloud of atoms, whatever way it is turned.

    Parameters
    ----------
    positions
        Places of the atoms, a row each.
    masses, valences
        One positive number an atom.

    Returns
    -------
    numpy.ndarray
        Principal moments of inertia, of masses and of valences, the smallest first; lengths along
        the principal axes of the places, the longest first; sphericity ``3 λ₃ / (λ₁ + λ₂ + λ₃)`` of
        their covariance, 1 for a ball and 0 for what is flat; mean distance from the plane that
        fits best.

    Examples
    --------
    >>> square = [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]]
    >>> shape_descriptors(square, np.ones(4), np.ones(4)).round(6) + 0.0
    array([4., 4., 8., 4., 4., 8., 2., 2., 0., 0., 0.])
    """
    places = np.asarray(positions, dtype=np.float64)
    centred = places - places.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred / len(places))
    along = centred @ axes[:, ::-1]
    total = variances.sum()
    return np.concatenate(
        [
            _moments(places, np.asarray(masses, dtype=np.float64)),
            _moments(places, np.asarray(valences, dtype=np.float64)),
            -np.sort(-np.ptp(along, axis=0)),
            [3 * max(variances[0], 0.0) / total if total > 0 else 0.0],
            [np.abs(along[:, 2]).mean()],
        ]
    )


def _moments(places: FloatArray, weights: FloatArray) -> FloatArray:
    """Principal moments of inertia about the weighted centre, the smallest first."""
    total = weights.sum()
    if total <= 0:  # a lone atom without bonds has no valence
        return np.zeros(3)
    centred = places - weights @ places / total
    second = (weights[:, None] * centred).T @ centred
    return np.linalg.eigvalsh(np.trace(second) * np.eye(3) - second)


_KIND = "grfpp peptide shapes 1"
#: Molecules after which what is known is kept.
_PART = 32


def load_peptide_shapes(
    rows: Sequence[int] | IntArray, *, download: bool = True, n_jobs: int = -1
) -> FloatArray:
    """Compute shape descriptors of peptides, or take them from the cache; a row a molecule.

    A conformer takes some tenths of a second for a peptide of 50 atoms, and far longer for large
    ones: choose small ones. What was computed is kept in the cache folder. Needs RDKit.

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
    known = _cached_shapes(file, version)
    keys = {int(row): _molecule_key(peptides.smiles[row]) for row in chosen}
    missing = np.array([row for row, key in keys.items() if key not in known], dtype=np.int64)
    # Processes that begin together go through them in orders of their own, and share the work.
    missing = np.random.default_rng(os.getpid()).permutation(missing)

    def shape(numbers: range) -> FloatArray:
        row = int(missing[numbers.start])
        with errors_about(f"molecule {row}"):
            return molecule_shape(peptides.smiles[row])

    while len(missing):
        n_now = min(_PART, len(missing))
        found = in_order(shape, [range(i, i + 1) for i in range(n_now)], n_threads)
        made = {keys[int(row)]: values for row, values in zip(missing, found, strict=False)}
        # Read again: another process may have added some.
        known = {**_cached_shapes(file, version), **known, **made}
        _store_shapes(file, known, version)
        missing = np.array([row for row in missing if keys[int(row)] not in known], dtype=np.int64)
    values = np.array([known[keys[int(row)]] for row in chosen])
    return readonly(values.reshape(len(chosen), len(SHAPE_DESCRIPTORS)))


def _molecule_key(smiles: str) -> int:
    """63 bits of what a molecule is, wherever it stands in a table."""
    digest = hashlib.blake2b(smiles.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def _cached_shapes(file: Path, version: str) -> dict[int, FloatArray]:
    """What was computed by the same RDKit in the same way; nothing where the file is no such."""
    with suppress(InputError, KeyError), opened_kind(file, _KIND) as (arrays, meta):
        keys, values = arrays["molecules"], arrays["values"]
        shape = (len(keys), len(SHAPE_DESCRIPTORS))
        if meta == _meta(version) and values.shape == shape and keys.dtype.kind == "i":
            return dict(zip(keys.tolist(), values.astype(np.float64), strict=True))
    return {}


def _store_shapes(file: Path, known: dict[int, FloatArray], version: str) -> None:
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
