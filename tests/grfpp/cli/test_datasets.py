from pathlib import Path

import pytest
from cli_helpers import accepted, document, refused

from grfpp.datasets import all_datasets


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv("GRFPP_DATA", raising=False)
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path))
    return tmp_path


def put(cache, file, content=b""):
    path = Path(cache, file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def line_of(out, name):
    (line,) = (line for line in out.splitlines() if line.startswith(f"│ {name} "))
    return [cell.strip() for cell in line.strip("│").split("│")]


def test_the_list(capsys, cache):
    put(cache, "graphs/cora.gml")
    put(cache, "meshes/thingi10k_60246.stl.zip")
    out = accepted(capsys, "datasets")
    assert line_of(out, "karate")[-1] == "networkx"
    assert line_of(out, "cora")[1:] == [
        "citations among papers on machine learning", "392 kB", "collection: MIT", "cache",
    ]  # fmt: skip
    assert line_of(out, "COLLAB")[-1] == "no"
    assert line_of(out, "meshes")[-1] == "1 in cache"
    assert "60246" not in out
    assert "GRFPP_DATA: not set" in out
    assert f"cache: {cache}" in out
    for info in all_datasets():
        assert info.family == "meshes" or info.name in out
    out = accepted(capsys, "datasets", "meshes")
    assert line_of(out, "60246")[-1] == "cache"
    assert "cora" not in out
    assert "stands in for 964933" in " ".join(out.split())


def test_json(capsys, cache):
    put(cache, "graphs/cora.gml")
    told = document(capsys, "datasets")
    assert told["cache"] == str(cache)
    assert told["GRFPP_DATA"] is None
    found = {entry["name"]: entry for entry in told["datasets"]}
    assert len(found) == len(all_datasets())
    assert found["cora"]["at_hand"] == "cache"
    assert found["eurosis"]["at_hand"] is None
    assert found["eurosis"]["files"][0]["path"] == "graphs/eurosis.gml"
    assert found["cifar10"]["instead"]["address"].endswith("cifar-10-binary.tar.gz")
    meshes = document(capsys, "datasets", "meshes")["datasets"]
    assert {entry["family"] for entry in meshes} == {"meshes"}


def test_one_that_is_at_hand_and_one_that_is_not(capsys):
    out = accepted(capsys, "datasets", "karate")
    assert "nodes    34\nedges    78\nclasses  2\n" in out
    assert "at hand  networkx\n" in out
    assert "raw.githubusercontent.com/vlivashkin" in out
    assert document(capsys, "datasets", "karate")["counts"]["edges"] == 78
    out = accepted(capsys, "datasets", "COLLAB")
    assert "at hand  no\n" in out
    assert "no public address is known\n" in out
    assert "nodes" not in out
    assert document(capsys, "datasets", "collab")["counts"] is None
    assert "or instead  images/cifar-10-binary.tar.gz" in accepted(capsys, "datasets", "cifar10")


def test_refusals(capsys, cache, monkeypatch):
    assert refused(capsys, "datasets", "corra") == (
        "there is no data set 'corra'; did you mean 'cora'?"
    )
    assert "--download" in refused(capsys, "datasets", "--download")
    message = refused(capsys, "datasets", "COLLAB", "--download")
    assert f"put it at {cache / 'tudataset/COLLAB.zip'}" in message
    put(cache, "graphs/cora.gml", b"graph [\n node ]\n")
    assert "graphs/cora.gml, line 2" in refused(capsys, "datasets", "cora")
    monkeypatch.setenv("GRFPP_DATA", "nowhere")
    assert "GRFPP_DATA is 'nowhere', not a folder" in refused(capsys, "datasets")
