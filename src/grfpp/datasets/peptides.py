"""Peptides as molecular graphs: peptides-func of the Long Range Graph Benchmark."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.datasets.arrays import read_only
from grfpp.datasets.fetch import fetch
from grfpp.datasets.generators import undirected_graph
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.imports.optional import require
from grfpp.io.storage.packed import explained, opened_gzip, read_all
from grfpp.io.text import at_line, decode, naming, shown
from grfpp.typing import IntArray

#: The molecule that the paper estimates at long range, by its row: 434 atoms, diameter 159. No
#: molecule has a larger one; two others have the same (6185 with 424 atoms, 7471 with 444).
LONGEST_PEPTIDE = 914

N_FUNCTIONS = 10
_COLUMNS = ("smiles", "peptide_seq", "labels")


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

    def __repr__(self) -> str:
        return f"Peptides({len(self)} molecules)"

    def graph(self, row: int) -> Graph:
        """The graph of a molecule; needs RDKit (the extra ``chem``)."""
        if not 0 <= row < len(self):
            raise InputError(f"rows are numbered from 0 to {len(self) - 1}, found {row!r}")
        with naming(f"molecule {row}"):
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

    def __repr__(self) -> str:
        return f"PeptideSplits({len(self.train)}, {len(self.val)}, {len(self.test)})"


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

    Needs RDKit (the extra ``chem``).

    Parameters
    ----------
    smiles
        The molecule in the SMILES notation.
    """
    molecule = read_smiles(smiles)
    bonds = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
    return undirected_graph(molecule.GetNumAtoms(), np.array(bonds, dtype=np.int64).reshape(-1, 2))


def read_smiles(smiles: str) -> Any:
    """RDKit's molecule; needs RDKit (the extra ``chem``)."""
    chem = require("rdkit.Chem", "reading SMILES")
    # RDKit writes what it thinks of a molecule to stderr.
    with require("rdkit.rdBase", "reading SMILES").BlockLogs():
        molecule = chem.MolFromSmiles(smiles) if isinstance(smiles, str) else None
    if molecule is None or not molecule.GetNumAtoms():
        raise InputError(f"{shown(str(smiles))} is not a molecule in the SMILES notation")
    return molecule


def read_peptides(path: str | Path) -> Peptides:
    """Read a packed table with the columns ``smiles``, ``peptide_seq`` and ``labels``."""
    file = Path(path)
    with opened_gzip(file) as stream:
        data = read_all(stream, file)
    reader = csv.DictReader(io.StringIO(decode(data, str(file)), newline=""))
    absent = [column for column in _COLUMNS if column not in (reader.fieldnames or ())]
    if absent:
        raise at_line(str(file), 1, f"the column {absent[0]!r} is missing")
    molecules: list[tuple[str, str, list[int]]] = []
    try:
        for row in reader:
            line = reader.line_num
            if not row["smiles"] or row["labels"] is None:
                raise at_line(str(file), line, "the line is not complete; is the file truncated?")
            labels = _functions(row["labels"], str(file), line)
            molecules.append((row["smiles"], row["peptide_seq"], labels))
    except csv.Error as error:
        raise at_line(str(file), reader.line_num, f"not a table ({error})") from None
    if not molecules:
        raise InputError(f"{file} holds no molecules")
    smiles, sequences, functions = zip(*molecules, strict=True)
    return Peptides(smiles, sequences, read_only(np.array(functions, dtype=np.int8)))


def _functions(text: str, name: str, line: int) -> list[int]:
    try:
        values = json.loads(text)
        if len(values) != N_FUNCTIONS or not all(value in (0, 1) for value in values):
            raise ValueError
    except (ValueError, TypeError, RecursionError):
        wanted = f"{N_FUNCTIONS} labels 0 or 1 such as [0, 1, ...]"
        raise at_line(name, line, f"expected {wanted}, found {shown(text)}") from None
    return [int(value) for value in values]


def read_peptide_splits(path: str | Path) -> PeptideSplits:
    """Read three lists of row numbers from a JSON file."""
    file = Path(path)
    with explained(file, "JSON"):
        text = file.read_bytes()
    try:
        document = json.loads(text)
        splits = [_rows(document[name], name) for name in ("train", "val", "test")]
    except KeyError as error:
        raise InputError(f"{file}: the split {error} is missing") from None
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InputError(f"{file} is not a JSON file of splits: {error}") from None
    together = np.concatenate(splits)
    if len(np.unique(together)) < len(together):
        raise InputError(f"{file}: a molecule is in two places of the splits")
    return PeptideSplits(*splits)


def _rows(values: Any, name: str) -> IntArray:
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise ValueError(f"{name} must be a list of row numbers")
    rows = np.array(values, dtype=np.int64)
    if len(rows) and rows.min() < 0:
        raise ValueError(f"{name} has a negative row number")
    return read_only(rows)
