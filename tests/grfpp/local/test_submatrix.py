import networkx as nx
import numpy as np
import pytest
from independent_walks import INDEPENDENT
from little_memory import only
from small_graphs import directed, karate

import grfpp
from grfpp import Diffusion, Geometric, Graph, InversePower, sample_submatrix
from grfpp.errors import InputError
from grfpp.estimate import factor as factors
from grfpp.local import submatrix


def test_degree_one_is_the_same_as_the_sampled_estimate():
    graph = karate()
    whole = grfpp.sample(graph, Diffusion(1.0), 1, 8, seed=3, symmetrize=False).toarray()
    part = sample_submatrix(graph, Diffusion(1.0), [3, 3, 9], [0, 5], 1, 8, seed=3)
    np.testing.assert_allclose(part, whole[np.ix_([3, 3, 9], [0, 5])], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("degree", [2, 3])
def test_any_part_is_a_part_of_the_whole(degree):
    # Few rows and many columns, or the other way round, go through the factors of the other side.
    graph = Graph(directed()).normalized("rw", 0.9)
    every, few = range(graph.n_nodes), [3, 0, 3]
    options = {"degree": degree, "n_walks": 8, "seed": 1}
    whole = sample_submatrix(graph, Diffusion(1.0), every, **options)
    close = {"rtol": 1e-12, "atol": 1e-15}
    found = sample_submatrix(graph, Diffusion(1.0), few, every, **options)
    np.testing.assert_allclose(found, whole[few], **close)
    found = sample_submatrix(graph, Diffusion(1.0), every, few, **options)
    np.testing.assert_allclose(found, whole[:, few], **close)
    found = sample_submatrix(graph, Diffusion(1.0), [8, 2], **options)  # columns are the rows
    np.testing.assert_allclose(found, whole[np.ix_([8, 2], [8, 2])], **close)


def test_only_reached_rows_are_walked(monkeypatch):
    asked = []
    original = factors.sample_rows

    def counting(plan, rows, *args, **options):
        asked.append(len(rows))
        return original(plan, rows, *args, **options)

    monkeypatch.setattr(factors, "sample_rows", counting)
    n = 20_000
    ring = Graph((np.stack([np.r_[:n, 1:n, 0], np.r_[1:n, 0, :n]]), None)).normalized("sym")
    sample_submatrix(ring, Diffusion(1.0), [0, 7], n_walks=10, degree=3, seed=0, **INDEPENDENT)
    assert len(asked) == 6 and max(asked) < 500


def test_refusals():
    graph = karate()
    for bad in ([34], [-1], [0.5], [[1]], ["a"]):
        with pytest.raises(InputError, match=r"rows must (be|lie)"):
            sample_submatrix(graph, Diffusion(1.0), bad)
        with pytest.raises(InputError, match=r"columns must (be|lie)"):
            sample_submatrix(graph, Diffusion(1.0), [0], bad)
    with pytest.raises(InputError, match="reuse_walks is not an option here"):
        sample_submatrix(graph, Diffusion(1.0), [0], reuse_walks=True)
    with pytest.raises(grfpp.DivergentSeriesError):
        sample_submatrix(graph, InversePower(2), [0])
    with pytest.raises(InputError, match="n_walks"):
        sample_submatrix(graph, Diffusion(1.0), [0], n_walks=0)
    with pytest.raises(grfpp.TruncationError):
        sample_submatrix(graph, Diffusion(1.0), [0], termination=grfpp.FixedLength(2))


def test_no_rows():
    assert sample_submatrix(karate(), Diffusion(1.0), [], [1, 2]).shape == (0, 2)
    assert sample_submatrix(karate(), Diffusion(1.0), [4], [], 3, 2, Geometric(0.5)).shape == (1, 0)


def test_nodes_by_name():
    graph = Graph(nx.les_miserables_graph()).normalized()
    names = ["Valjean", "Cosette"]
    by_name, by_number = (
        sample_submatrix(graph, Diffusion(1.0), rows, columns, seed=0)
        for rows, columns in ((names, "Javert"), (graph.index(names), graph.index("Javert")))
    )
    np.testing.assert_array_equal(by_name, by_number)
    with pytest.raises(InputError, match="columns must exist, but no node is named 'Javer'"):
        sample_submatrix(graph, Diffusion(1.0), names, ["Javer"])


@pytest.mark.parametrize("degree", [1, 2])
def test_some_nodes_at_a_time_give_the_same_numbers(monkeypatch, degree):
    for rows, columns in ((range(34), [3, 9]), ([3, 9], range(34)), (range(34), range(34))):
        options = {"degree": degree, "n_walks": 2, "seed": 5}
        whole = sample_submatrix(karate(), Diffusion(1.0), rows, columns, **options)
        with monkeypatch.context() as patched:
            patched.setattr(submatrix, "_BLOCK_NODES", 5)
            found = sample_submatrix(karate(), Diffusion(1.0), rows, columns, **options)
        np.testing.assert_array_equal(found, whole)


def test_what_does_not_fit_is_refused(monkeypatch):
    only(monkeypatch, 1_000_000)
    with pytest.raises(InputError, match=r"a 34 x 100000 matrix needs"):
        sample_submatrix(karate(), Diffusion(1.0), range(34), [0] * 100_000, seed=0)
