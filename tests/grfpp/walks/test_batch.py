from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from small_graphs import QUICK, directed, irregular, weighted

from grfpp import Diffusion, Geometric, Graph, InputError, InversePower, Matched, WalkOptions
from grfpp.walks.batch import BatchWalks, GraphBatch, stream_key
from grfpp.walks.reference import reference_rows
from grfpp.walks.streams import factor_key

KERNEL, LAW = Diffusion(1.0), Geometric(0.3)
LONELY = np.zeros((1, 1))
EDGELESS = np.zeros((3, 3))
WITH_ISOLATED = np.pad(irregular(), (0, 2))


def random_graph(n, density, seed):
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1).astype(float)
    return upper + upper.T


GRAPHS = st.lists(
    st.builds(random_graph, st.integers(1, 7), st.sampled_from([0.0, 0.3, 1.0]), st.integers(0, 9)),
    min_size=1,
    max_size=6,
)


def walks_of(graphs, seed=0, degree=2, n_walks=4, scale=0.8, walks="independent", kernel=KERNEL):
    batch = GraphBatch.of(graphs)
    law = LAW if walks == "independent" else Matched(3)
    options = WalkOptions(degree=degree, n_walks=n_walks, termination=law, seed=seed, walks=walks)
    return batch, BatchWalks.of(batch, kernel, options, scale=scale)


def estimates(graphs, **options):
    """Dense estimates of all graphs, cut out of one batch."""
    batch, walks = walks_of(graphs, **options)
    factors = [each.toarray() for each in walks.factors(range(len(batch)))]
    K = factors[0] @ factors[1].T
    for left, right in zip(factors[2::2], factors[3::2], strict=True):
        K = K @ left @ right.T
    outside = K.copy()
    blocks = []
    for start, stop in zip(batch.starts[:-1], batch.starts[1:], strict=True):
        blocks.append(K[start:stop, start:stop].copy())
        outside[start:stop, start:stop] = 0
    assert not outside.any()
    return blocks


@QUICK
@given(GRAPHS)
def test_the_batch_is_block_diagonal(graphs):
    batch = GraphBatch.of(graphs)
    np.testing.assert_array_equal(batch.graph.adjacency.toarray(), sp.block_diag(graphs).toarray())
    assert batch.sizes.tolist() == [len(graph) for graph in graphs]
    assert batch.graph_of.tolist() == [i for i, graph in enumerate(graphs) for _ in graph]
    normalized = [Graph(graph).normalized("sym", 0.8).adjacency for graph in graphs]
    found = batch.graph.normalized("sym", 0.8).adjacency.toarray()
    np.testing.assert_allclose(found, sp.block_diag(normalized).toarray(), rtol=1e-15)


@pytest.mark.parametrize("walks", ["independent", "pooled"])
@pytest.mark.parametrize("kernel", [KERNEL, InversePower(2)], ids=repr)
def test_a_graph_has_the_same_factors_in_any_batch(kernel, walks):
    """Loads telescope on a graph of equal weights, but not on it and another together."""
    graphs = [irregular(), weighted(), WITH_ISOLATED, EDGELESS, LONELY, 2 * irregular()]
    options = {"walks": walks, "n_walks": 1, "kernel": kernel, "seed": 4, "scale": 0.5}
    alone = [walks_of([each], **options)[1].factor(range(1), 1).toarray() for each in graphs]
    for order in (1, -1):
        _, together = walks_of(graphs[::order], **options)
        whole = together.factor(range(len(graphs)), 1).toarray()
        np.testing.assert_array_equal(whole, sp.block_diag(alone[::order]).toarray())
        for i, wanted in enumerate(alone[::order]):
            found = together.factor(range(i, i + 1), 1)
            np.testing.assert_array_equal(found.toarray(), wanted)


@pytest.mark.parametrize("graph", [irregular(), weighted(), WITH_ISOLATED, EDGELESS, LONELY])
@pytest.mark.parametrize("number", [0, 3])
def test_the_walks_are_those_of_the_plain_reference(graph, number):
    batch, walks = walks_of([weighted(5), graph, irregular()], seed=3)
    factor = walks.factors(range(3))[number].toarray()
    block = factor[batch.starts[1] : batch.starts[2], batch.starts[1] : batch.starts[2]]
    alone, own = walks_of([graph], seed=3)
    plan = replace(own.plans.of_graph(0), key=stream_key(factor_key(3, number), alone.words[0], 0))
    np.testing.assert_allclose(block, reference_rows(plan, range(len(graph))), rtol=1e-12)


def test_different_graphs_have_independent_noise_and_equal_ones_the_same():
    one = irregular()
    other = np.pad(one, (0, 1))
    samples = [estimates([one, other, one], seed=seed) for seed in range(300)]
    first, second, third = (np.array([each[i][0, 0] for each in samples]) for i in range(3))
    np.testing.assert_array_equal(first, third)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.2
    assert len(np.unique(first)) > 100


def test_words_tell_graphs_apart():
    path = nx.to_numpy_array(nx.path_graph(3))
    graphs = [path, 2 * path, np.pad(path, (0, 1)), path[[1, 0, 2]][:, [1, 0, 2]], path]
    words = GraphBatch.of(graphs).words
    assert len(set(words)) == 4
    assert words[0] == words[4] == GraphBatch.of([path]).words[0]


def test_edges_between_groups_are_taken_out():
    batch = GraphBatch.of([irregular(), weighted()])
    groups = np.arange(batch.graph.n_nodes) % 3
    inside = batch.within(groups)
    expected = batch.graph.adjacency.toarray() * (groups[:, np.newaxis] == groups)
    np.testing.assert_array_equal(inside.graph.adjacency.toarray(), expected)
    assert inside.starts is batch.starts
    alone = batch.within(np.arange(batch.graph.n_nodes))
    assert alone.graph.n_edges == 0


@QUICK
@given(st.lists(st.integers(1, 9), min_size=1, max_size=20), st.integers(1, 12))
def test_tasks_cover_all_graphs_once(sizes, most):
    batch = GraphBatch.of([np.zeros((n, n)) for n in sizes])
    tasks = batch.tasks(most)
    assert [i for task in tasks for i in task] == list(range(len(sizes)))
    for task in tasks:
        assert len(task) == 1 or sum(sizes[i] for i in task) <= most


@pytest.mark.parametrize(
    ("graphs", "words"),
    [
        ([], "the list of graphs is empty"),
        (Graph(irregular()), "a list of graphs is needed, found Graph"),
        (sp.csr_array(irregular()), "a list of graphs is needed, found csr_array"),
        ("graphs.txt", "a list of graphs is needed, found str"),
        (7, "a list of graphs is needed, found int"),
        ([irregular(), [[0, np.nan], [np.nan, 0]]], "graph 1: weights must be finite"),
        ([irregular(), None], "graph 1: "),
        ([irregular(), directed(), irregular()], "graph 1 is directed"),
        ([np.zeros((0, 0))], "graph 0: the graph has no nodes"),
    ],
)
def test_what_is_no_list_of_graphs_is_refused(graphs, words):
    with pytest.raises(InputError, match=words):
        GraphBatch.of(graphs)
