"""Graphs of nearest neighbours are told from other directed graphs."""

import gzip
import warnings
import zipfile

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

from grfpp import Graph
from grfpp.errors import InputWarning
from grfpp.io.neighbours import neighbours_note


def points(n=150, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def note(matrix):
    canonical = sp.csr_array(matrix, dtype=float, copy=True)
    canonical.sum_duplicates()
    canonical.eliminate_zeros()
    return str(neighbours_note(canonical) or "")


@pytest.mark.parametrize("d", [1, 2, 10, 200])
@pytest.mark.parametrize("k", [2, 7, 15])
@pytest.mark.parametrize("include_self", [True, False])
def test_nearest_neighbours(d, k, include_self):
    X = points(d=d)
    more = k + include_self
    distances = kneighbors_graph(X, more, mode="distance", include_self=include_self)
    assert f"look like distances to the {k} nearest" in note(distances)
    for other in (kneighbors_graph(X, more, include_self=include_self), affinities(distances)):
        assert f"directed graph of the {k} nearest neighbours" in note(other)
        assert "distances" not in note(other)


def affinities(distances):
    result = distances.copy()
    result.data = np.exp(-result.data / result.data.max())
    return result


def test_other_forms_of_the_same():
    X = points()
    distances = kneighbors_graph(X, 5, mode="distance")
    assert "distances to the 5" in note(distances.T)  # from the neighbours, as in PyG
    assert "distances to the 5" in note(np.float32(distances.toarray()))
    copies = np.repeat(points(60), 2, axis=0)  # of length 0, so that they are dropped
    assert "distances to the 4" in note(kneighbors_graph(copies, 5, mode="distance"))
    missed = distances.copy()  # a search that is not exact
    missed.data[::150] *= 3
    assert "distances to the 5" in note(missed)
    rows = Graph(kneighbors_graph(X, 5), directed=True).normalized("rw")
    assert "nearest neighbours" in note(rows.adjacency)


def shuffled_weights(graph, seed=0):
    matrix = sp.csr_array(nx.to_scipy_sparse_array(graph), dtype=float)
    matrix.data = np.random.default_rng(seed).uniform(0.1, 2, matrix.nnz)
    return matrix


@pytest.mark.parametrize(
    "graph",
    [
        nx.random_k_out_graph(200, 5, 1.0, seed=0, self_loops=False),
        nx.DiGraph(nx.gnp_random_graph(200, 0.05, seed=0, directed=True)),
        nx.scale_free_graph(200, seed=0),
        nx.DiGraph(nx.random_regular_graph(4, 100, seed=0)),
        nx.grid_2d_graph(15, 15),
        nx.grid_2d_graph(15, 15, periodic=True),
        nx.cycle_graph(50, create_using=nx.DiGraph),
        nx.circulant_graph(60, [1, 2]),
        nx.DiGraph(
            [(i, 2 * i % 64) for i in range(64)] + [(i, (2 * i + 1) % 64) for i in range(64)]
        ),
        nx.DiGraph([(i, (i + s) % 60) for i in range(60) for s in (-1, 1, 2)]),
        nx.balanced_tree(3, 4, create_using=nx.DiGraph),
        nx.random_tournament(60, seed=0) if hasattr(nx, "random_tournament") else nx.path_graph(60),
    ],
    ids=str,
)
def test_no_false_alarms(graph):
    matrix = nx.to_scipy_sparse_array(graph, dtype=float)
    assert note(matrix) == note(shuffled_weights(graph)) == ""


def test_neighbours_that_are_fine():
    X = points()
    directed = kneighbors_graph(X, 5, mode="distance")
    for undirected in (directed.maximum(directed.T), radius_neighbors_graph(X, 0.5)):
        assert note(undirected) == ""
    assert note(kneighbors_graph(points(19), 3)) == ""  # so few that it may be chance
    assert note(kneighbors_graph(points(), 1)) == ""


def test_the_graph_says_it():
    matrix = kneighbors_graph(points(), 5, mode="distance")
    with pytest.warns(InputWarning, match=r"Graph\.from_points") as told:
        graph = Graph(matrix)
    assert told[0].filename == __file__
    edges = np.stack(matrix.nonzero())
    with pytest.warns(InputWarning, match="symmetrize='max'"):
        Graph((edges, None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Graph(matrix, directed=True).is_directed  # meant so
        assert not Graph(matrix, symmetrize="max").is_directed
        Graph(graph)
        graph.normalized("rw").reversed()
        assert Graph(nx.DiGraph(matrix)).is_directed  # says so itself


@pytest.mark.parametrize("suffix", [".graphml", ".graphml.gz", ".graphml.zip"])
def test_files_that_say_that_they_are_directed_get_no_note(tmp_path, suffix):
    graph = nx.from_scipy_sparse_array(kneighbors_graph(points(), 4), create_using=nx.DiGraph)
    path = tmp_path / f"g{suffix}"
    text = "\n".join(nx.generate_graphml(graph)).encode()
    if suffix.endswith("zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("g.graphml", text)
    else:
        path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Graph(path).is_directed
