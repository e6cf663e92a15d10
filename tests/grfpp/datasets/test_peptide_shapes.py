"""Shapes of peptides: computed once, kept, and never believed when damaged."""

import numpy as np
import pytest
from datasets_helpers import is_frozen, write_gzip

from grfpp.datasets import load_peptide_shapes, molecule_shape
from grfpp.datasets import peptide_shapes as module
from grfpp.errors import InputError, MissingDataError

SMILES = ("CCO", "C1CC1", "NCC(=O)O", "CC(=O)NC")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    pytest.importorskip("rdkit", reason="needs grfpp[chem]")
    rows = "".join(f'{i},{s},AB,"{[0] * 10}",1\n' for i, s in enumerate(SMILES))
    folder = tmp_path / "data" / "peptides"
    folder.mkdir(parents=True)
    text = ",smiles,peptide_seq,labels,identifier\n" + rows
    write_gzip(folder / "peptide_multi_class_dataset.csv.gz", text.encode())
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

    monkeypatch.setattr(module, "molecule_shape", shape)
    return asked


def test_they_are_computed_once(cache, computed):
    first = load_peptide_shapes([2, 0])
    assert sorted(computed) == ["CCO", "NCC(=O)O"]
    assert np.array_equal(first.values, [molecule_shape(SMILES[2]), molecule_shape(SMILES[0])])
    assert first.rows.tolist() == [2, 0]
    assert is_frozen(first.values)
    assert "computed by grfpp with RDKit" in repr(first)
    computed.clear()
    again = load_peptide_shapes(np.array([0, 1, 2, 0]), n_jobs=2)
    assert computed == ["C1CC1"]
    assert np.array_equal(again.values[[2, 0]], first.values)
    assert np.array_equal(again.values[3], first.values[1])
    assert load_peptide_shapes([]).values.shape == (0, 11)


def test_they_are_kept_part_by_part(cache, computed, monkeypatch):
    monkeypatch.setattr(module, "_PART", 2)

    def stop(smiles, one=module.molecule_shape):
        if len(computed) == 3:
            raise KeyboardInterrupt
        return one(smiles)

    monkeypatch.setattr(module, "molecule_shape", stop)
    with pytest.raises(KeyboardInterrupt):
        load_peptide_shapes(range(4), n_jobs=1)
    assert len(module._read(cache, load_peptide_shapes([]).source.split()[-1])) == 2


@pytest.mark.parametrize("what", ["cut", "text", "other version", "pickle"])
def test_a_file_that_is_none_is_not_believed(what, cache, computed):
    expected = load_peptide_shapes([0, 3]).values
    if what == "cut":
        cache.write_bytes(cache.read_bytes()[:-40])
    elif what == "text":
        cache.write_text("shapes")
    elif what == "other version":
        module._write(cache, {1: np.zeros(11)}, "1999.1")
    else:
        np.savez(cache, molecules=np.array([{}], dtype=object))
    computed.clear()
    assert np.array_equal(load_peptide_shapes([0, 3]).values, expected)
    assert sorted(computed) == ["CC(=O)NC", "CCO"]


def test_a_cache_that_cannot_be_written_is_none(cache, computed, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path / "file"))
    assert np.isfinite(load_peptide_shapes([1]).values).all()


@pytest.mark.parametrize("rows", [[4], [-1], [0.5], "all", [[0]], None])
def test_rows_that_are_refused(rows, cache):
    with pytest.raises(InputError, match="rows must"):
        load_peptide_shapes(rows)


def test_without_molecules_it_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.delenv("GRFPP_DATA", raising=False)
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path))
    with pytest.raises(MissingDataError, match="peptides"):
        load_peptide_shapes([0], download=False)
