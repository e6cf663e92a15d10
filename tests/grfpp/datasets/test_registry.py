import hashlib
import re
import sys
from pathlib import Path

import pytest
from datasets_helpers import needs_data, refusal

from grfpp.datasets import all_datasets, dataset_info, where
from grfpp.datasets.fetch import find_file

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


def test_lookup():
    assert dataset_info("mutag").name == "MUTAG"
    assert dataset_info("101332").family == "meshes"
    assert dataset_info("cora", "graphs").name == "cora"


def test_unknown_names():
    assert "did you mean 'karate'?" in refusal(dataset_info, "karat")
    assert "known are karate, dolphins" in refusal(dataset_info, "xyzzy")
    assert "among the tudataset; known are MUTAG" in refusal(dataset_info, "cora", "tudataset")
    assert refusal(dataset_info, "xyzzy", "meshes").endswith(", ...")
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
