"""Citation graphs with a split."""

import numpy as np
import pytest
from datasets_helpers import is_frozen, needs_data, no_data, refusal

from grfpp.datasets import load_planetoid, read_planetoid
from grfpp.errors import MissingDataError

SOUND = {
    "edges": np.array([[0, 1], [1, 2], [2, 1], [3, 4]], np.int32),
    "labels": np.array([3, -1, 3, 5, 5], np.int8),
    "n_nodes": np.array(6 - 1),
    "train": np.array([0]),
    "validation": np.array([3]),
    "test": np.array([2, 4]),
}


def write(folder, **changes):
    path = folder / "citations.npz"
    np.savez(
        path, **{name: each for name, each in {**SOUND, **changes}.items() if each is not None}
    )
    return path


def test_a_file(tmp_path):
    data = read_planetoid(write(tmp_path))
    assert repr(data) == (
        "SplitGraph('citations', Graph(n_nodes=5, n_edges=3, undirected), 2 classes, 1/1/2)"
    )
    assert data.labels.tolist() == [0, -1, 0, 1, 1]
    assert (data.graph.weights == 1).all()
    assert (data.train.tolist(), data.validation.tolist(), data.test.tolist()) == ([0], [3], [2, 4])
    assert is_frozen(data.labels)
    assert is_frozen(data.test)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"test": None}, "there is no array 'test'"),
        ({"n_nodes": np.array([5])}, "n_nodes must be a whole number"),
        ({"n_nodes": np.array(0)}, "n_nodes must be a whole number"),
        ({"n_nodes": np.array(4)}, "edges must lie between 0 and 3"),
        ({"edges": np.zeros((2, 3), int)}, "edges must be pairs of nodes"),
        ({"edges": np.array([[0, 9]])}, "edges must lie between 0 and 4"),
        ({"edges": np.array([[0.0, 1.0]])}, "edges must be pairs of nodes"),
        ({"labels": np.zeros(4, int)}, "labels must be a whole number for each of 5 nodes"),
        ({"labels": np.full(5, -1)}, "no node has a label"),
        ({"train": np.array([1])}, "a node of train has no label"),
        ({"train": np.array([7])}, "train must lie between 0 and 4"),
        ({"train": np.array([2])}, "a node is twice in train, validation and test"),
    ],
)
def test_what_is_refused(tmp_path, changes, words):
    path = write(tmp_path, **changes)
    message = refusal(read_planetoid, path)
    assert str(path) in message
    assert words in message


def test_pickles_are_not_read(tmp_path):
    path = write(tmp_path, labels=np.array([{}, 1, 2, 3, 4], object))
    assert "without pickles" in refusal(read_planetoid, path)


def test_what_is_not_at_hand(monkeypatch, tmp_path):
    no_data(monkeypatch, tmp_path)
    with pytest.raises(MissingDataError, match=r"nodes/cora\.npz"):
        load_planetoid("cora")
    assert "name must be" in refusal(load_planetoid, "citeseer")


@pytest.mark.parametrize("name", ["cora", "Pubmed", "planetoid-cora"])
def test_the_real_split(name):
    needs_data()
    data = load_planetoid(name, download=False)
    assert not data.graph.is_directed
    assert (np.bincount(data.labels[data.train]) == 20).all()
    assert (len(data.validation), len(data.test)) == (500, 1000)
