"""Citation graphs with the split of Planetoid."""

import numpy as np
import pytest
from datasets_helpers import file_refusal, is_frozen, needs_data

from grfpp.errors import InputError
from grfpp_lab.datasets.planetoid import load_planetoid, read_planetoid

PLANETOID = {
    "edges": np.array([[0, 1], [1, 2], [2, 1], [3, 4]], np.int32),
    "labels": np.array([3, -1, 3, 5, 5], np.int8),
    "n_nodes": np.array(6 - 1),
    "train": np.array([0]),
    "validation": np.array([3]),
    "test": np.array([2, 4]),
}


def planetoid_file(folder, **changes):
    path, arrays = folder / "citations.npz", {**PLANETOID, **changes}
    np.savez(path, **{name: each for name, each in arrays.items() if each is not None})
    return path


def test_a_planetoid_file(tmp_path):
    data = read_planetoid(planetoid_file(tmp_path))
    assert (data.graph.n_nodes, data.graph.n_edges) == (5, 3)
    assert data.labels.tolist() == [0, -1, 0, 1, 1]
    assert (data.graph.weights == 1).all()
    assert (data.train.tolist(), data.validation.tolist(), data.test.tolist()) == ([0], [3], [2, 4])
    assert is_frozen(data.labels) and is_frozen(data.test)
    with pytest.raises(InputError, match="no data set 'planetoid-citeseer'"):
        load_planetoid("citeseer")


@pytest.mark.parametrize(
    "changes",
    [
        {"test": None},
        {"n_nodes": np.array(0)},
        {"n_nodes": np.array(4)},
        {"edges": np.zeros((3, 3), int)},
        {"edges": np.array([[0, 9]])},
        {"edges": np.array([[0.0, 1.0]])},
        {"labels": np.zeros(4, int)},
        {"labels": np.full(5, -1)},
        {"labels": np.array([{}, 1, 2, 3, 4], object)},  # a pickle
        {"train": np.array([1])},
        {"train": np.array([7])},
        {"train": np.array([2])},
    ],
)
def test_planetoid_refusals(tmp_path, changes):
    file_refusal(read_planetoid, planetoid_file(tmp_path, **changes))


@pytest.mark.parametrize("name", ["cora", "Pubmed", "planetoid-cora"])
def test_the_real_split(name):
    needs_data()
    data = load_planetoid(name, download=False)
    assert not data.graph.is_directed
    assert (np.bincount(data.labels[data.train]) == 20).all()
    assert (len(data.validation), len(data.test)) == (500, 1000)
