import hashlib
import re
import sys
from pathlib import Path

import pytest
from datasets_helpers import needs_data, no_data, refusal

from grfpp.datasets import all_datasets, count, dataset_info, where
from grfpp.datasets.fetch import find_file
from grfpp.errors import MissingDataError

# Names of hosts that serve packages, not data.
REGISTRIES = ("pypi.org", "pythonhosted.org", "anaconda.org", "conda.", "npmjs", "crates.io")


def files(info):
    return [*info.files, *([info.instead] if info.instead else [])]


def test_names_and_paths_tell_data_sets_apart():
    infos = all_datasets()
    names = [info.name.lower() for info in infos]
    assert len(set(names)) == len(names)
    paths = [file.path for info in infos for file in files(info)]
    assert len(set(paths)) == len(paths)
    assert len(infos) == 7 + 2 + 10 + 49 + 2 + 1 + 2


@pytest.mark.parametrize("info", all_datasets(), ids=lambda info: info.name)
def test_entries_are_complete(info):
    assert info.description
    assert info.licence
    assert info.page.startswith("http")
    for file in files(info):
        assert file.n_bytes > 0
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert re.fullmatch("[0-9a-f]{64}|", file.address_sha256)
        assert re.fullmatch("[0-9a-f]{64}", file.checksum)
        assert not file.address or file.address.startswith("https://")
        assert not any(host in file.address for host in REGISTRIES)
        path = Path(file.path)
        assert not path.is_absolute()
        assert ".." not in path.parts
        # Nothing that could hold a pickle is read.
        assert not re.search(r"\.(pkl|pickle|pt|npy|tar)$", file.path)


def test_names():
    assert dataset_info("mutag").name == "MUTAG"
    assert dataset_info("101332").family == "meshes"
    assert dataset_info("cora", "graphs").name == "cora"
    assert "did you mean 'karate'?" in refusal(dataset_info, "karat")
    assert "`grfpp datasets` lists them" in refusal(dataset_info, "xyzzy")
    assert "among the graphs" in refusal(dataset_info, "MUTAG", "graphs")


def test_the_real_files_are_those_that_are_registered():
    needs_data()
    for info in all_datasets():
        if info.n_bytes > 3_000_000 and info.name != "mnist":  # the others take long to read
            assert where(info) == "GRFPP_DATA"
            continue
        for file in info.files:
            path = find_file(file)
            assert path.stat().st_size == file.n_bytes
            assert hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256


def test_without_the_laboratory_its_data_sets_are_not_listed(monkeypatch):
    monkeypatch.setitem(sys.modules, "grfpp_lab", None)
    names = {info.name for info in all_datasets.__wrapped__()}
    assert {"karate", "MUTAG", "101332"} <= names
    assert not {"peptides", "shapes", "mnist"} & names


def test_every_loader_names_the_file_that_is_missing(monkeypatch, tmp_path):
    no_data(monkeypatch, tmp_path)
    assert count("karate", download=False)["nodes"] == 34  # from networkx
    for info in all_datasets():
        if info.name != "karate":
            with pytest.raises(MissingDataError) as caught:
                count(info.name, download=False)
            assert any(file.path in str(caught.value) for file in files(info))


SPLIT = {"validation": 500, "test": 1_000}
ATOMS = {"nodes of a graph": 17.93, "edges of a graph": 19.79}


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("karate", {"nodes": 34, "edges": 78, "classes": 2}),
        ("MUTAG", {"graphs": 188, "classes": 2, **ATOMS}),
        ("planetoid-cora", {"nodes": 2_708, "edges": 5_278, "classes": 7, **SPLIT, "train": 140}),
        ("planetoid-pubmed", {"nodes": 19717, "edges": 44324, "classes": 3, **SPLIT, "train": 60}),
        ("60246", {"nodes": 64, "edges": 186, "faces": 124}),
        ("peptides", {"molecules": 15_535, "functions": 10}),
        ("peptide-splits", {"train": 10_873, "val": 2_331, "test": 2_331}),
        ("shapes", {"meshes": 80, "classes": 40, "fewest nodes": 3, "most nodes": 864}),
        ("mnist", {"train": 60_000, "test": 10_000, "classes": 10}),
        ("cifar10", {"images": 10_000, "classes": 10}),
    ],
)
def test_real_counts(name, counts):
    needs_data()
    assert count(name) == counts
