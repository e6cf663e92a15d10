"""The shape of a molecule in space: a conformer by RDKit, and eleven numbers that describe it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from grfpp.datasets.peptides import read_smiles
from grfpp.imports.optional import require
from grfpp.typing import FloatArray

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
    is not relaxed. Descriptors are those of the other atoms. Needs RDKit (the extra ``chem``).

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
