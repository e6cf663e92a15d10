import json
import sys

import networkx as nx
import numpy as np
import pytest
from datasets_helpers import (
    diameter,
    file_refusal,
    is_frozen,
    needs_data,
    no_data,
    refusal,
    write_gzip,
)

from grfpp.datasets import (
    LONGEST_PEPTIDE,
    Peptides,
    load_peptide_splits,
    load_peptides,
    longest_peptide,
    molecule_graph,
)
from grfpp.datasets.peptides import read_peptide_splits, read_peptides
from grfpp.errors import MissingDataError

HEADER = ",smiles,peptide_seq,labels,identifier\n"
ROWS = (
    '0,CCO,AB,"[0, 0, 0, 0, 1, 0, 0, 0, 0, 1]",4\n1,C1CC1,CD,"[1, 0, 0, 0, 0, 0, 0, 0, 0, 0]",7\n'
)


@pytest.fixture
def rdkit():
    return pytest.importorskip("rdkit", reason="needs grfpp[chem]")


def table(folder, text):
    return write_gzip(folder / "peptides.csv.gz", text.encode())


def test_a_table(tmp_path):
    peptides = read_peptides(table(tmp_path, HEADER + ROWS))
    assert repr(peptides) == "Peptides(2 molecules)"
    assert peptides.smiles == ("CCO", "C1CC1")
    assert peptides.sequences == ("AB", "CD")
    assert peptides.labels.shape == (2, 10)
    assert peptides.labels.sum(axis=1).tolist() == [2, 1]
    assert is_frozen(peptides.labels)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: the column 'smiles' is missing"),
        (",smiles,peptide_seq\n", "line 1: the column 'labels' is missing"),
        (HEADER, "holds no molecules"),
        (HEADER + ROWS + "2,CC\n", "line 4: the line is not complete; is the file truncated?"),
        (HEADER + ROWS + '2,CC,A,"[0, 1]",4\n', "line 4: expected 10 labels"),
        (HEADER + '0,CC,A,"[0, 0, 0, 0, 1, 0, 0, 0, 0, 2]",4\n', "line 2: expected 10 labels"),
        (HEADER + "0,CC,A,7,4\n", "line 2: expected 10 labels"),
        (HEADER + "0,CC,A,none,4\n", "line 2: expected 10 labels"),
        (HEADER + ',,A,"[0]",4\n', "line 2: the line is not complete"),
    ],
)
def test_wrong_tables(tmp_path, text, words):
    assert words in file_refusal(read_peptides, table(tmp_path, text))


def test_damaged_files(tmp_path):
    path = table(tmp_path, HEADER + ROWS)
    data = path.read_bytes()
    for damaged in (b"text", data[:-12], data[:20]):
        path.write_bytes(damaged)
        assert f"{path} is truncated, or not a gzip file" in refusal(read_peptides, path)
    path.write_bytes(write_gzip(tmp_path / "x", b"\xff\xfe\x00").read_bytes())
    assert "line 1" in refusal(read_peptides, path)
    assert "there is no file" in refusal(read_peptides, tmp_path / "absent.csv.gz")


def splits_file(folder, document):
    path = folder / "splits.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_splits(tmp_path):
    path = splits_file(tmp_path, {"train": [0, 3], "val": [1], "test": []})
    splits = read_peptide_splits(path)
    assert repr(splits) == "PeptideSplits(2, 1, 0)"
    assert splits.train.tolist() == [0, 3]
    assert is_frozen(splits.train)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"train": [0], "test": [1]}, "the split 'val' is missing"),
        ({"train": [0], "val": [0], "test": [1]}, "in two places"),
        ({"train": [0.5], "val": [], "test": []}, "train must be a list of row numbers"),
        ({"train": [-1], "val": [], "test": []}, "train has a negative row number"),
        ({"train": [10**30], "val": [], "test": []}, "not a JSON file of splits"),
        ([1, 2], "not a JSON file of splits"),
        ('{"train": [0', "not a JSON file of splits"),
        ("", "not a JSON file of splits"),
    ],
)
def test_wrong_splits(tmp_path, document, words):
    path = splits_file(tmp_path, document)
    message = refusal(read_peptide_splits, path)
    assert str(path) in message
    assert words in message


def test_missing_files(tmp_path, monkeypatch):
    no_data(monkeypatch, tmp_path)
    with pytest.raises(MissingDataError, match="peptide_multi_class_dataset"):
        load_peptides(download=False)
    with pytest.raises(MissingDataError, match=r"peptides/splits\.json"):
        load_peptide_splits()
    assert "cannot read" in refusal(read_peptide_splits, tmp_path)


def test_molecules(rdkit, capfd):
    ring = molecule_graph("C1CCCCC1")
    assert nx.is_isomorphic(nx.from_scipy_sparse_array(ring.adjacency), nx.cycle_graph(6))
    assert set(molecule_graph("C=C(C)C#N").weights) == {1.0}
    assert molecule_graph("O").n_edges == 0
    assert molecule_graph("[Na+].[Cl-]").n_nodes == 2
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("smiles", ["", "C(", "not a molecule", "c1ccc1C(=O)(=O)(=O)C"])
def test_what_is_no_molecule(rdkit, capfd, smiles):
    assert "is not a molecule" in refusal(molecule_graph, smiles)
    assert capfd.readouterr().err == ""


def test_graphs_of_rows(rdkit):
    peptides = Peptides(("CCO", "C("), ("", ""), np.zeros((2, 10), dtype=np.int8))
    assert peptides.graph(0).n_nodes == 3
    assert "molecule 1: 'C(' is not" in refusal(peptides.graph, 1)
    assert "rows are numbered from 0 to 1" in refusal(peptides.graph, 2)
    assert "rows are numbered from 0 to 1" in refusal(peptides.graph, -1)


def test_without_rdkit(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    monkeypatch.delitem(sys.modules, "rdkit.Chem", raising=False)
    assert "pip install '.[chem]' in a clone of grfpp" in refusal(molecule_graph, "CCO")


def test_the_real_table():
    needs_data()
    peptides, splits = load_peptides(), load_peptide_splits()
    assert len(peptides) == 15_535
    assert peptides.labels.shape == (15_535, 10)
    assert [len(rows) for rows in (splits.train, splits.val, splits.test)] == [10873, 2331, 2331]
    assert len(np.union1d(np.union1d(splits.train, splits.val), splits.test)) == 15_535


def test_the_longest_real_peptide(rdkit):
    needs_data()
    graph = longest_peptide()
    assert graph.n_nodes == 434
    assert diameter(graph) == 159
    # The others of the greatest diameters.
    peptides = load_peptides()
    for row, n_nodes, longest in ((6185, 424, 159), (7471, 444, 159), (13049, 404, 158)):
        other = peptides.graph(row)
        assert (other.n_nodes, diameter(other)) == (n_nodes, longest)
    assert peptides.graph(LONGEST_PEPTIDE).n_nodes == 434


def test_some_real_molecules(rdkit):
    needs_data()
    peptides = load_peptides()
    # All 15,535 have 2,344,859 atoms and 2,386,987 bonds; that takes a quarter of a minute.
    graphs = [peptides.graph(row) for row in range(0, 15_535, 50)]
    mean_nodes = np.mean([graph.n_nodes for graph in graphs])
    mean_edges = np.mean([graph.n_edges for graph in graphs])
    assert abs(mean_nodes - 2_344_859 / 15_535) < 15
    assert abs(mean_edges - 2_386_987 / 15_535) < 15
