import json
import zipfile

import networkx as nx
import numpy as np
import pytest
from cli_helpers import accepted, facts, refused, table
from independent_walks import IN_WORDS

from grfpp.tasks.graphs import selection

FOLDS = ("--folds", "3", "--walks", "4")
FAST = (*FOLDS, "--trees", "10", "--eigenvalues", "4", "--scale", "0.64")


def archive(path, n_graphs=24, labels=True):
    """Rings and stars in TUDataset's format, two classes, nodes labelled by degree."""
    edges, graph_of, node_labels = [], [], []
    for number in range(n_graphs):
        made = nx.cycle_graph(5 + number) if number % 2 else nx.star_graph(4 + number)
        first = len(graph_of) + 1
        edges += [f"{first + a}, {first + b}" for a, b in made.edges]
        graph_of += [number + 1] * len(made)
        node_labels += [degree for _, degree in made.degree]
    members = {
        "SMALL/SMALL_A.txt": "\n".join(edges),
        "SMALL/SMALL_graph_indicator.txt": "\n".join(map(str, graph_of)),
        "SMALL/SMALL_graph_labels.txt": "\n".join(str(number % 2) for number in range(n_graphs)),
    }
    if labels:
        members["SMALL/SMALL_node_labels.txt"] = "\n".join(map(str, node_labels))
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in members.items():
            packed.writestr(name, text)
    return path


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """Rings and stars are told apart by few."""
    monkeypatch.setattr(selection, "TRIAL_TREES", 10)


@pytest.fixture
def small(tmp_path):
    return archive(tmp_path / "SMALL.zip")


@pytest.mark.parametrize("method", ["exact", "grf", "grf++"])
def test_rings_and_stars_are_told_apart(capsys, small, method):
    told = facts(accepted(capsys, "classify", small, "--method", method, *FAST, *IN_WORDS))
    assert told["data"] == "SMALL: 24 graphs of 16.5 nodes on average, 2 classes"
    assert told["accuracy"].endswith(" %, mean and sd over folds")
    assert float(told["accuracy"].split()[0]) > 90
    assert told["folds"] == "3, stratified, seed 0"
    walked = f"walks with stitching degree {1 + (method == 'grf++')}, lengths geometric:0.1"
    assert told["kernel"] == f"diffusion, {'exact' if method == 'exact' else walked}"
    walks = "" if method == "exact" else "4 walks, "
    assert told["chosen"] == f"most often scale 0.64, {walks}4 eigenvalues"
    assert "s features" in told["time"]


def test_json_and_file(capsys, small, tmp_path):
    path = tmp_path / "folds.csv"
    options = (*IN_WORDS, "--folds", "3", "--trees", "10", "--walks", "2,4", "--eigenvalues", "5")
    command = ("classify", small, *options, "--scale", "0.25", "--output", path, "--json")
    told = json.loads(accepted(capsys, *command, "--jobs", "1"))
    assert (told["dataset"], told["n_graphs"], told["n_classes"]) == ("SMALL", 24, 2)
    weights = {"scale": [0.25], "sigma": [0.5]}
    assert told["chosen_among"] == {**weights, "n_walks": [2, 4], "n_eigenvalues": [5]}
    assert told["accuracy"] == np.mean([fold["accuracy"] for fold in told["folds"]])
    lines = table(path)
    assert [float(line["accuracy"]) for line in lines] == [f["accuracy"] for f in told["folds"]]
    columns = "fold scale sigma n_walks n_eigenvalues out_of_bag accuracy"
    assert list(lines[0]) == columns.split()
    again, other = (
        json.loads(accepted(capsys, *command, *more)) for more in (("--jobs", "2"), ("--seed", "1"))
    )
    assert again["folds"] == told["folds"] != other["folds"]


@pytest.mark.parametrize(
    "kind", ["same-label", "both-spectra", "label-pairs", "spectrum-and-pairs"]
)
def test_features_with_labels(capsys, small, kind):
    told = facts(accepted(capsys, "classify", small, "--features", kind, *FAST))
    assert told["features"] == kind
    assert float(told["accuracy"].split()[0]) > 85


@pytest.mark.parametrize("labels", [True, False])
def test_features_by_walks(capsys, tmp_path, labels):
    small = archive(tmp_path / "SMALL.zip", labels=labels)
    for kind in ("walk-masses", "signatures", "colours", "auto"):
        told = facts(accepted(capsys, "classify", small, "--features", kind, *FOLDS))
        assert told["features"] == kind
        assert float(told["accuracy"].split()[0]) > 90
        assert told["walks"] == "exact"
        assert "3x" in told["chosen"] or "2x" in told["chosen"]
        assert "s learning" in told["time"]


@pytest.mark.parametrize("labels", [True, False])
def test_the_default_is_auto_unless_options_of_kernels_or_walks_are_given(capsys, tmp_path, labels):
    small = archive(tmp_path / "SMALL.zip", labels=labels)
    command = ("classify", small, "--folds", "2", "--trees", "5", "--json")
    plain, auto = (
        json.loads(accepted(capsys, *command, *more)) for more in ((), ("--features", "auto"))
    )
    assert (plain["features"], plain["folds"]) == ("auto", auto["folds"])
    for more in ("--method=exact", "--walks=4", "--walks-kind=pooled", "--eigenvalues=4"):
        told = json.loads(accepted(capsys, *command, more))
        assert told["features"] == "spectrum"
    assert "--scale" in refused(capsys, *command[:2], "--features", "auto", "--scale", "0.64")


def test_walks_and_learners_are_told(capsys, small, tmp_path):
    path = tmp_path / "folds.csv"
    command = ("classify", small, "--features", "colours", *FOLDS, "--output", path, "--json")
    told = json.loads(accepted(capsys, *command, "--jobs", "1"))
    names = told["chosen_among"]["features"]
    assert names == ["colours of 1 step", "colour-levels of 5 steps"]
    lines = table(path)
    assert list(lines[0]) == ["fold", "features", "learner", "penalty", "inner", "accuracy"]
    assert {line["learner"] for line in lines} == {"svm"}
    assert all(float(line["penalty"]) in selection.PENALTIES for line in lines)
    assert all(line["features"] in names for line in lines)
    again = json.loads(accepted(capsys, *command, "--jobs", "2"))
    assert again["folds"] == told["folds"]
    command = ("classify", small, "--features", "walk-masses", *FOLDS, "--json")
    told = json.loads(accepted(capsys, *command))
    assert {(fold["learner"], fold["penalty"]) for fold in told["folds"]} == {("forest", None)}
    command = ("classify", small, "--features", "auto", "-m", "grf", *FOLDS)
    walked = facts(accepted(capsys, *command))
    assert walked["walks"] == "walks with lengths matched:9"
