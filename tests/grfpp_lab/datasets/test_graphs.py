"""The epidemic and GeometricShapes."""

import networkx as nx
import numpy as np
import pytest
from datasets_helpers import diameter, is_frozen, needs_data, no_data, refusal, write_zip

from grfpp_lab.datasets.graphs import LONG_SHAPE, infection_graph, load_shapes

OFF = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
SQUARE = "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n"
MEMBERS = {
    "raw/square/train/square.off": SQUARE,
    "raw/square/test/square.off": SQUARE,
    "raw/corner/train/corner.off": OFF,
    "raw/readme.txt": "nothing",
    "stray.off": OFF,
}


@pytest.mark.parametrize("seed", range(4))
def test_it_is_like_the_papers_and_the_seed_decides(seed):
    epidemic, same, other = (infection_graph(seed=each) for each in (seed, seed, seed + 1))
    assert epidemic.graph.n_nodes == 500
    assert diameter(epidemic.graph) == 4
    assert not epidemic.graph.is_directed
    assert (epidemic.graph.adjacency != same.graph.adjacency).nnz == 0
    np.testing.assert_array_equal(epidemic.time, same.time)
    assert (epidemic.graph.adjacency != other.graph.adjacency).nnz > 0


def test_who_infected_whom():
    epidemic = infection_graph(200, seed=1)
    time, infector = epidemic.time, epidemic.infector
    assert (time[0], infector[0]) == (0, -1)
    assert (np.diff(time) >= 0).all()
    later = np.arange(1, 200)
    assert (infector[1:] < later).all()
    assert (time[infector[1:]] < time[1:]).all()
    contacts = epidemic.graph.adjacency
    assert all(contacts[infector[i], i] == 1 for i in later)
    assert nx.is_tree(nx.Graph(list(zip(infector[1:], later, strict=True))))
    assert is_frozen(time) and is_frozen(infector)
    assert repr(epidemic).startswith("InfectionGraph(Graph(n_nodes=200, ")


def test_loading_shapes(tmp_path, monkeypatch):
    no_data(monkeypatch, tmp_path)
    assert "split must be" in refusal(load_shapes, "val")
    (tmp_path / "shapes").mkdir()
    write_zip(tmp_path / "shapes/geometric_shapes.zip", MEMBERS)
    assert len(load_shapes("test", download=False)) == 1
    shapes = load_shapes("train", download=False)
    assert shapes.classes == ("corner", "square")
    assert repr(shapes) == "Shapes('train', 2 meshes)"
    assert [shapes[name].graph.n_edges for name in shapes.classes] == [3, 5]
    assert "known are corner, square" in refusal(shapes.__getitem__, "circle")


def test_the_real_shapes():
    needs_data()
    train, test = load_shapes("train"), load_shapes("test")
    assert len(train) == len(test) == 40
    assert train.classes == test.classes
    sizes = [mesh.graph.n_nodes for mesh in (*train.meshes, *test.meshes)]
    assert (min(sizes), max(sizes)) == (3, 864)
    chosen = train[LONG_SHAPE]
    assert chosen.graph.n_nodes == 864
    assert diameter(chosen.graph) == 28
    np.testing.assert_array_equal(chosen.vertices, test[LONG_SHAPE].vertices)
