import json

import networkx as nx
import numpy as np
import pytest
from datasets_helpers import diameter, is_frozen, needs_data, refusal, write_gzip

from grfpp_lab.datasets import peptides
from grfpp_lab.datasets.peptides import SHAPE_DESCRIPTORS, molecule_shape

HEADER = ",smiles,peptide_seq,labels,identifier\n"
ROWS = (
    '0,CCO,AB,"[0, 0, 0, 0, 1, 0, 0, 0, 0, 1]",4\n1,C1CC1,CD,"[1, 0, 0, 0, 0, 0, 0, 0, 0, 0]",7\n'
)


@pytest.fixture
def rdkit():
    return pytest.importorskip("rdkit", reason="needs rdkit")


def table(folder, text):
    return write_gzip(folder / "peptides.csv.gz", text.encode())


def test_a_table(tmp_path):
    found = peptides.read_peptides(table(tmp_path, HEADER + ROWS))
    assert found.smiles == ("CCO", "C1CC1")
    assert found.sequences == ("AB", "CD")
    assert found.labels.shape == (2, 10)
    assert found.labels.sum(axis=1).tolist() == [2, 1]
    assert is_frozen(found.labels)


def test_damaged_tables(tmp_path):
    no_labels = ('"[0, 1]"', '"[0, 0, 0, 0, 1, 0, 0, 0, 0, 2]"', "7", "none")
    for text in (
        *("", ",smiles,peptide_seq\n", HEADER, f"{HEADER}{ROWS}2,CC\n"),
        *(f"{HEADER}{ROWS}2,CC,A,{labels},4\n" for labels in no_labels),
    ):
        path = table(tmp_path, text)
        assert f"cannot read {path}" in refusal(peptides.read_peptides, path)


def test_splits(tmp_path):
    path = tmp_path / "splits.json"
    path.write_text(json.dumps({"train": [0, 3], "val": [1], "test": []}))
    splits = peptides.read_peptide_splits(path)
    assert (len(splits.val), len(splits.test)) == (1, 0)
    assert splits.train.tolist() == [0, 3]
    assert is_frozen(splits.train)
    assert "cannot read" in refusal(peptides.read_peptide_splits, tmp_path)


def test_molecules(rdkit, capfd):
    ring = peptides.molecule_graph("C1CCCCC1")
    assert nx.is_isomorphic(nx.from_scipy_sparse_array(ring.adjacency), nx.cycle_graph(6))
    assert set(peptides.molecule_graph("C=C(C)C#N").weights) == {1.0}
    assert peptides.molecule_graph("O").n_edges == 0
    assert peptides.molecule_graph("[Na+].[Cl-]").n_nodes == 2
    assert capfd.readouterr().err == ""


def test_graphs_of_rows(rdkit):
    found = peptides.Peptides(("CCO", "C("), ("", ""), np.zeros((2, 10), dtype=np.int8))
    assert found.graph(0).n_nodes == 3
    assert "molecule 1: 'C(' is not" in refusal(found.graph, 1)
    for row in (2, -1):
        assert "rows are numbered from 0 to 1" in refusal(found.graph, row)


def test_the_real_table():
    needs_data()
    found, splits = peptides.load_peptides(), peptides.load_peptide_splits()
    assert len(found) == 15_535
    assert found.labels.shape == (15_535, 10)
    assert [len(rows) for rows in (splits.train, splits.val, splits.test)] == [10873, 2331, 2331]
    assert len(np.union1d(np.union1d(splits.train, splits.val), splits.test)) == 15_535


def test_the_longest_real_peptide(rdkit):
    needs_data()
    graph, found = peptides.longest_peptide(), peptides.load_peptides()
    assert (graph.n_nodes, diameter(graph)) == (434, 159)
    assert found.graph(peptides.LONGEST_PEPTIDE).n_nodes == 434
    # The others of the greatest diameters.
    for row, n_nodes, longest in ((6185, 424, 159), (7471, 444, 159), (13049, 404, 158)):
        other = found.graph(row)
        assert (other.n_nodes, diameter(other)) == (n_nodes, longest)


ALANINES = "C[C@H](N)C(=O)N[C@@H](C)C(=O)N[C@@H](C)C(=O)O"


def cloud(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) * [3, 2, 1], rng.uniform(1, 16, n), rng.integers(1, 5, n)


def test_descriptors_do_not_depend_on_place_and_direction():
    places, masses, valences = cloud()
    expected = peptides.shape_descriptors(places, masses, valences)
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    moved = peptides.shape_descriptors(places @ rotation + [5, -3, 2], masses, valences)
    assert np.allclose(moved, expected)
    assert len(expected) == len(SHAPE_DESCRIPTORS) == 11
    larger = peptides.shape_descriptors(2 * places, masses, valences)
    assert np.allclose(larger / expected, [4] * 6 + [2] * 3 + [1] + [2])


def test_descriptors_are_those_of_rdkit(rdkit):
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
    for name, function in (("sphericity", "CalcSpherocityIndex"), ("plane fit", "CalcPBF")):
        expected = getattr(rdMolDescriptors, function)(bare)
        assert found[name] == pytest.approx(expected, rel=1e-3)


SMILES = ("CCO", "C1CC1", "NCC(=O)O", "CC(=O)NC")


@pytest.fixture
def cache(rdkit, tmp_path, monkeypatch):
    rows = "".join(f'{i},{s},AB,"{[0] * 10}",1\n' for i, s in enumerate(SMILES))
    folder = tmp_path / "data" / "peptides"
    folder.mkdir(parents=True)
    write_gzip(folder / "peptide_multi_class_dataset.csv.gz", (HEADER + rows).encode())
    monkeypatch.setenv("GRFPP_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "peptides" / "shapes.npz"


@pytest.fixture
def computed(monkeypatch):
    """The molecules whose shapes are computed."""
    asked = []

    def shape(smiles):
        asked.append(smiles)
        return molecule_shape(smiles)

    monkeypatch.setattr(peptides, "molecule_shape", shape)
    return asked


def test_shapes_are_computed_once(cache, computed):
    first = peptides.load_peptide_shapes([2, 0])
    assert sorted(computed) == ["CCO", "NCC(=O)O"]
    assert np.array_equal(first, [molecule_shape(SMILES[2]), molecule_shape(SMILES[0])])
    assert is_frozen(first)
    computed.clear()
    again = peptides.load_peptide_shapes(np.array([0, 1, 2, 0]), n_jobs=2)
    assert computed == ["C1CC1"]
    assert np.array_equal(again[[2, 0, 3]], first[[0, 1, 1]])
    assert peptides.load_peptide_shapes([]).shape == (0, 11)


def test_a_file_that_is_none_is_not_believed(cache, computed):
    expected = peptides.load_peptide_shapes([0, 3])
    whole = cache.read_bytes()
    for damage in (
        lambda: cache.write_bytes(whole[:-40]),
        lambda: cache.write_text("shapes"),
        lambda: peptides._store_shapes(cache, {1: np.zeros(11)}, "1999.1"),  # another version
        lambda: np.savez(cache, molecules=np.array([{}], dtype=object)),  # a pickle
    ):
        damage()
        computed.clear()
        assert np.array_equal(peptides.load_peptide_shapes([0, 3]), expected)
        assert sorted(computed) == ["CC(=O)NC", "CCO"]
