"""Encodings without random numbers: what all kinds have in common."""

import pickle
import re

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

import torch
from encoding_helpers import data, equal, molecules
from torch_geometric.data import Batch, Data
from torch_geometric.data.datapipes import DatasetAdapter

from grfpp.errors import InputError
from grfpp.torch import (
    AddContrastPE,
    AddGRFPE,
    AddLandmarkPE,
    AddProfilePE,
    AddReturnPE,
    AddSmoothPE,
    grf_pe,
)

KINDS = {
    "return": {"kind": "return"},
    "return by kernels": {"kind": "return", "kernel": ["heat:1", "heat:8"]},
    "return by lengths": {"kind": "return", "lengths": [2, 3, 16]},
    "smooth": {"kind": "smooth"},
    "smooth sym": {"kind": "smooth", "normalization": "sym", "kernel": "diffusion:3"},
    "contrast": {"kind": "contrast"},
    "contrast sym": {"kind": "contrast", "normalization": "sym", "include_self": True},
    "profile": {"kind": "profile"},
    "landmark": {"kind": "landmark"},
    "landmark heat": {"kind": "landmark", "kernel": "heat:4", "dim": 3},
}
CLASSES = {
    "return": AddReturnPE,
    "smooth": AddSmoothPE,
    "contrast": AddContrastPE,
    "profile": AddProfilePE,
    "landmark": AddLandmarkPE,
}
every_kind = pytest.mark.parametrize("options", KINDS.values(), ids=KINDS.keys())


def graphs_of_many_sorts():
    """Trees with rings, hubs, several components, isolated nodes, loops, weights, single nodes."""
    rng = np.random.default_rng(3)
    weighted = nx.to_numpy_array(nx.gnp_random_graph(12, 0.3, seed=1))
    weighted *= np.add.outer(weights := rng.uniform(0.1, 4, 12), weights)
    matrices = [
        np.zeros((1, 1)),
        np.zeros((3, 3)),
        [[2.0]],
        nx.to_numpy_array(nx.star_graph(6)),
        nx.to_numpy_array(nx.disjoint_union(nx.cycle_graph(5), nx.path_graph(4))),
        nx.to_numpy_array(nx.karate_club_graph(), weight=None),
        weighted,
    ]
    found = [*(data(each) for each in matrices), *molecules(5)]
    for each in found:
        each.x = torch.from_numpy(rng.normal(size=(each.num_nodes, 3))).float()
    return found


@every_kind
def test_alone_and_in_any_company_the_bits_are_the_same(options):
    graphs = graphs_of_many_sorts()
    alone = [grf_pe([graph], **options)[0] for graph in graphs]
    assert all(pe.isfinite().all() for pe in alone)
    assert len({pe.shape[1] for pe in alone}) == 1
    assert equal(alone, grf_pe(graphs, n_jobs=1, **options))
    assert equal(alone[::-1], grf_pe(graphs[::-1], n_jobs=2, **options))
    transform = AddGRFPE(**options)
    assert equal(alone, [each.grf_pe for each in transform.transform_all(graphs)])
    assert equal(alone, [transform(graph).grf_pe for graph in graphs])  # from the cache
    for some in (graphs[7:], graphs[:1]):
        # Of graphs in a PyG batch, all or none have weights.
        together = Batch.from_data_list(some)
        expected = torch.cat(grf_pe(some, **options))
        assert torch.equal(AddGRFPE(**options)(together).grf_pe, expected)


@every_kind
def test_nodes_in_another_order_have_the_same_rows_in_that_order(options):
    rng = np.random.default_rng(0)
    for graph in graphs_of_many_sorts():
        (pe,) = grf_pe([graph], dtype=torch.float64, **options)
        new_place = torch.from_numpy(rng.permutation(graph.num_nodes))
        x = torch.empty_like(graph.x)
        x[new_place] = graph.x
        moved = Data(edge_index=new_place[graph.edge_index], x=x, num_nodes=graph.num_nodes)
        if "edge_weight" in graph:
            moved.edge_weight = graph.edge_weight
        (other,) = grf_pe([moved], dtype=torch.float64, **options)
        assert torch.allclose(other[new_place], pe, rtol=0, atol=1e-6)


@every_kind
def test_tasks_and_threads_change_no_bit(options, monkeypatch):
    graphs = graphs_of_many_sorts()
    expected = grf_pe(graphs, n_jobs=1, **options)
    monkeypatch.setattr("grfpp.walks.batch.GraphBatch.tasks.__defaults__", (9,))
    for n_jobs in (1, 3):
        assert equal(grf_pe(graphs, n_jobs=n_jobs, **options), expected)


@pytest.mark.parametrize("kind", CLASSES)
def test_the_classes_are_the_kinds(kind):
    graphs = graphs_of_many_sorts()
    expected = grf_pe(graphs, kind=kind)
    transform = CLASSES[kind]()
    made = transform.transform_all(graphs)
    assert equal([each[f"{kind}_pe"] for each in made], expected)
    again = pickle.loads(pickle.dumps(transform))
    assert repr(again) == repr(transform)
    assert repr(transform).startswith(f"{type(transform).__name__}(kind='{kind}'")
    assert torch.equal(again(graphs[5])[f"{kind}_pe"], expected[5])
    # By PyG's functional form.
    pipe = getattr(DatasetAdapter(graphs[5:7]), f"add_{kind}_pe")()
    assert equal([each[f"{kind}_pe"] for each in pipe], expected[5:7])


@every_kind
def test_directed_and_empty_graphs_are_refused_or_made_undirected(options):
    one_way = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), x=torch.ones(3, 1))
    with pytest.raises(InputError, match="graph 0 is directed"):
        grf_pe([one_way], **options)
    (pe,) = grf_pe([one_way], symmetrize=True, **options)
    assert len(pe) == 3
    empty = Data(edge_index=torch.empty(2, 0, dtype=torch.long), x=torch.ones(0, 1))
    with pytest.raises(InputError, match="graph 1 has no nodes"):
        grf_pe([data([[0, 1], [1, 0]], x=torch.ones(2, 1)), empty], **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"kind": "laplacian"},
            "'contrast', 'profile' or 'landmark'",
        ),
        ({"kind": "return", "degree": 2}, "degree is not an option of kind 'return'"),
        ({"kind": "return", "dim": 0}, "dim must be"),
        ({"kind": "return", "dim": 1000}, "dim must be"),
        ({"kind": "return", "dim": 4, "lengths": [1]}, "dim and lengths exclude each other"),
        ({"kind": "return", "lengths": []}, "lengths must hold at least one length"),
        ({"kind": "return", "lengths": 3}, "lengths must be a list"),
        ({"kind": "return", "lengths": [0]}, "lengths must be"),
        ({"kind": "return", "kernel": "heat:700"}, "too long for return masses"),
        ({"kind": "return", "kernel": []}, "kernel must be one kernel or a list"),
        ({"kind": "smooth", "dim": 4}, "dim is not an option of kind 'smooth'"),
        ({"kind": "smooth", "normalization": "col"}, "normalization must be 'rw' or 'sym'"),
        ({"kind": "smooth", "kernel": "regularized-laplacian:1", "scale": 9}, "converges"),
        ({"kind": "smooth", "kernel": "diffusion:5", "scale": 900}, "exceeds the range"),
        ({"kind": "contrast", "dim": 4}, "dim is not an option of kind 'contrast'"),
        ({"kind": "landmark", "dim": 0}, "dim must be"),
        ({"kind": "landmark", "kernel": ["heat:1"]}, "kernel must be"),
        ({"kind": "landmark", "scale": -1}, "scale must be"),
        ({"kind": "landmark", "projection": "shared"}, "projection is not an option of"),
    ],
)
def test_what_is_refused(options, words):
    with pytest.raises(InputError, match=re.escape(words)):
        AddGRFPE(**options)


@pytest.mark.parametrize("transform", [AddGRFPE, *CLASSES.values()])
def test_transforms_call_themselves_by_name(transform):
    with pytest.raises(InputError, match=f"^{transform.__name__} takes a Data or a Batch"):
        transform()(3)
