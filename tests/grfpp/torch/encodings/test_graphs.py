"""Graphs as pipelines hold them, odd ones and such as cannot be used."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from encoding_helpers import EDGE, data, molecules
from torch_geometric.data import Batch, Data, HeteroData

from grfpp import Graph
from grfpp.errors import InputError
from grfpp.torch import AddGRFPE, grf_pe


def test_what_the_edges_are_counts_and_not_how_they_are_listed():
    (graph,) = molecules(1, seed=3)
    ends = graph.edge_index
    chance = torch.randperm(ends.shape[1], generator=torch.Generator().manual_seed(0))
    (expected,) = grf_pe([graph])
    for same in (
        Data(edge_index=ends[:, chance], num_nodes=graph.num_nodes),
        Data(edge_index=ends.int(), num_nodes=graph.num_nodes),
        Data(edge_index=ends, edge_weight=torch.ones(ends.shape[1]), num_nodes=graph.num_nodes),
        Data(
            edge_index=torch.cat([ends, torch.tensor([[0, 2], [2, 0]])], dim=1),
            edge_weight=torch.cat([torch.ones(ends.shape[1]), torch.zeros(2)]),
            num_nodes=graph.num_nodes,
        ),
        Graph(graph),
        Graph(graph).adjacency,
        nx.from_scipy_sparse_array(Graph(graph).adjacency, edge_attribute=None),
    ):
        assert torch.equal(grf_pe([same])[0], expected)


def test_single_nodes_isolated_nodes_and_no_edges():
    nothing = torch.empty(2, 0, dtype=torch.long)
    lonely = [Data(edge_index=nothing, num_nodes=1), Data(edge_index=nothing, x=torch.ones(4, 2))]
    found = grf_pe([*lonely, Data(edge_index=EDGE)])  # the last is counted by its edges
    assert [pe.shape for pe in found] == [(1, 8), (4, 8), (2, 8)]
    assert all(pe.isfinite().all() and pe.abs().sum() > 0 for pe in found)


def test_self_loops_and_repeated_edges():
    loop = data([[1, 1], [1, 0]])
    assert not torch.equal(grf_pe([loop])[0], grf_pe([data([[0, 1], [1, 0]])])[0])
    twice = Data(edge_index=torch.cat([EDGE, EDGE, torch.tensor([[1, 2], [2, 1]])], dim=1))
    assert torch.equal(grf_pe([twice])[0], grf_pe([data([[0, 2, 0], [2, 0, 1], [0, 1, 0]])])[0])


def test_weights_count_where_they_are_named():
    path = [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    weighted = data(path)
    plain = data(np.array(path) > 0)
    (expected,) = grf_pe([weighted])
    assert not torch.equal(expected, grf_pe([plain])[0])
    assert torch.equal(grf_pe([weighted], weight_attr=None)[0], grf_pe([plain])[0])
    typed = plain.clone()
    typed.edge_attr = weighted.edge_weight
    assert torch.equal(grf_pe([typed])[0], grf_pe([plain])[0])
    assert torch.equal(grf_pe([typed], weight_attr="edge_attr")[0], expected)
    with pytest.raises(InputError, match=r"graph 0.*edge_attr"):
        grf_pe([plain], weight_attr="edge_attr")


def test_directed_graphs_are_refused_or_made_symmetric():
    one_way = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    both = data([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    with pytest.raises(InputError, match=r"graph 1.*symmetrize=True"):
        grf_pe([both, one_way, both])
    first, second = grf_pe([both, one_way], symmetrize=True)
    assert torch.equal(first, grf_pe([both])[0])
    half = data(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]) / 2)
    assert torch.equal(second, grf_pe([half])[0])
    assert AddGRFPE(symmetrize=True)(one_way).grf_pe.shape == (3, 8)


@pytest.mark.parametrize(
    ("graphs", "culprit"),
    [
        ([], None),
        (data([[0, 1], [1, 0]]), None),
        (Graph([[0, 1], [1, 0]]), None),
        (7, None),
        ([Data(edge_index=EDGE), Data(x=torch.ones(2, 1))], "graph 1"),
        ([Data(edge_index=EDGE, num_nodes=1)], "graph 0"),
        ([Data(edge_index=-EDGE, num_nodes=2)], "graph 0"),
        ([Data(edge_index=EDGE.float(), num_nodes=2)], "graph 0"),
        ([Data(edge_index=EDGE[0], num_nodes=2)], "graph 0"),
        ([Data(edge_index=EDGE[:, :0], num_nodes=0)], "graph 0"),
        ([data([[0, 1], [1, 0]]), Data(edge_index=EDGE, edge_weight=torch.ones(3))], "graph 1"),
        ([Data(edge_index=EDGE, edge_weight=torch.tensor([1.0, torch.nan]))], "graph 0"),
        ([Data(edge_index=EDGE, edge_weight=-torch.ones(2))], "graph 0"),
        ([Batch.from_data_list([data([[0, 1], [1, 0]])] * 2)], "graph 0"),
        ([HeteroData()], "graph 0"),
        ([sp.csr_array(np.ones((2, 3)))], "graph 0"),
    ],
)
def test_bad_graphs_are_refused(graphs, culprit):
    with pytest.raises(InputError, match=culprit) as caught:
        grf_pe(graphs)
    assert culprit or caught.value.argument == "graphs"


def test_bad_batches_are_refused():
    batch = Batch.from_data_list(molecules(1) * 2)
    batch.edge_index = torch.cat([batch.edge_index, torch.tensor([[0, 3], [3, 0]])], dim=1)
    for _ in range(2):
        with pytest.raises(InputError, check=lambda error: error.argument == "edge_index"):
            AddGRFPE()(batch)
        batch.edge_index = batch.edge_index + 5
    del batch.ptr
    with pytest.raises(InputError, match="ptr"):
        AddGRFPE()(batch)


@pytest.mark.parametrize(
    "graphs",
    [
        [nx.path_graph(3)],
        [Data(edge_index=EDGE, num_nodes=2)],
        [Data(edge_index=EDGE, num_nodes=2, x="a")],
        [Data(edge_index=EDGE, x=torch.ones(2, 1, 1))],
        [Data(edge_index=EDGE, x=torch.ones(2, 0))],
        [Data(edge_index=EDGE, x=torch.ones(2, 1) * 1j)],
        [Data(edge_index=EDGE, x=torch.tensor([1.0, np.nan]))],
        [Data(edge_index=EDGE, x=torch.ones(2, width)) for width in (1, 2)],
    ],
)
def test_bad_features_are_refused(graphs):
    with pytest.raises(InputError):
        grf_pe(graphs, kind="smooth")


def test_a_batch_with_an_empty_graph_between_others():
    """A graph without edges in the middle of a batch, and weights in another order."""
    nothing = {"edge_index": torch.empty(2, 0, dtype=torch.long), "edge_weight": torch.empty(0)}
    first, last = data([[0, 2, 0], [2, 0, 1], [0, 1, 0]]), data([[0, 3], [3, 0]])
    graphs = [first, Data(**nothing, num_nodes=2), last]
    batch = Batch.from_data_list(graphs)
    order = torch.tensor([5, 0, 3, 1, 4, 2])
    batch.edge_index, batch.edge_weight = batch.edge_index[:, order], batch.edge_weight[order]
    assert torch.equal(AddGRFPE()(batch).grf_pe, torch.cat(grf_pe(graphs)))
