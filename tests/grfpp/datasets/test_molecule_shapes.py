"""Shapes of molecules: what the numbers are."""

import numpy as np
import pytest

from grfpp.datasets import SHAPE_DESCRIPTORS, molecule_shape
from grfpp.datasets.molecule_shapes import shape_descriptors
from grfpp.errors import InputError

ALANINES = "C[C@H](N)C(=O)N[C@@H](C)C(=O)N[C@@H](C)C(=O)O"


def cloud(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) * [3, 2, 1], rng.uniform(1, 16, n), rng.integers(1, 5, n)


def test_they_do_not_depend_on_place_and_direction():
    places, masses, valences = cloud()
    expected = shape_descriptors(places, masses, valences)
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    moved = shape_descriptors(places @ rotation + [5, -3, 2], masses, valences)
    assert np.allclose(moved, expected)
    assert len(expected) == len(SHAPE_DESCRIPTORS) == 11
    larger = shape_descriptors(2 * places, masses, valences)
    assert np.allclose(larger / expected, [4] * 6 + [2] * 3 + [1] + [2])


def test_simple_bodies():
    octahedron = np.vstack([np.eye(3), -np.eye(3)])
    found = shape_descriptors(octahedron, np.full(6, 2.0), np.ones(6))
    assert np.allclose(found[:6], [8] * 3 + [4] * 3)
    assert found[9] == pytest.approx(1)
    rod = shape_descriptors([[0, 0, 0], [0, 0, 4]], [1, 1], [1, 1])
    assert np.allclose(rod, [0, 8, 8, 0, 8, 8, 4, 0, 0, 0, 0])
    assert np.allclose(shape_descriptors([[1, 2, 3]], [1], [0]), np.zeros(11))


def test_they_are_those_of_rdkit():
    pytest.importorskip("rdkit", reason="needs grfpp[chem]")
    from rdkit import Chem
    from rdkit.Chem import rdDistGeom, rdMolDescriptors

    molecule = Chem.AddHs(Chem.MolFromSmiles(ALANINES))
    options = rdDistGeom.ETKDGv3()
    options.randomSeed = 16
    options.maxIterations = 5
    rdDistGeom.EmbedMolecule(molecule, options)
    bare = Chem.RemoveHs(molecule)
    found = dict(zip(SHAPE_DESCRIPTORS, molecule_shape(ALANINES), strict=True))
    moments = [getattr(rdMolDescriptors, f"CalcPMI{i}")(bare) for i in (1, 2, 3)]
    assert np.allclose([found[f"inertia, masses, {axis}"] for axis in "abc"], moments, rtol=1e-3)
    assert found["sphericity"] == pytest.approx(
        rdMolDescriptors.CalcSpherocityIndex(bare), rel=1e-3
    )
    assert found["plane fit"] == pytest.approx(rdMolDescriptors.CalcPBF(bare), rel=1e-3)


def test_what_is_no_molecule_is_refused():
    pytest.importorskip("rdkit", reason="needs grfpp[chem]")
    for junk in ("", "not a molecule", 3, None):
        with pytest.raises(InputError, match="is not a molecule in the SMILES notation"):
            molecule_shape(junk)


def test_a_molecule_without_a_conformer_has_no_numbers(monkeypatch):
    pytest.importorskip("rdkit", reason="needs grfpp[chem]")
    monkeypatch.setattr("grfpp.datasets.molecule_shapes._embedded", lambda molecule: None)
    assert np.isnan(molecule_shape("CCO")).all()
