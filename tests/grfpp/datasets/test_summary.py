import pytest
from datasets_helpers import needs_data, no_data, refusal

from grfpp.datasets import all_datasets, count
from grfpp.errors import MissingDataError


def test_every_family_is_counted(monkeypatch, tmp_path):
    no_data(monkeypatch, tmp_path)
    families = {info.family: info.name for info in reversed(all_datasets())}
    assert count(families.pop("graphs"), download=False)["nodes"] == 34
    assert families
    for name in families.values():
        with pytest.raises(MissingDataError):
            count(name, download=False)
    assert "no data set" in refusal(count, "xyzzy")


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
