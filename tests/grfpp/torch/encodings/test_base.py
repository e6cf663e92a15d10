"""What all encodings have in common, and the transform in pipelines of PyG."""

import math
import pickle
from inspect import signature

import networkx as nx
import numpy as np
import pytest
import torch
from encoding_helpers import EDGE, data, equal, molecules
from refusal_case import bad_values
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.data.datapipes import DatasetAdapter
from torch_geometric.loader import DataLoader
from torch_geometric.transforms import AddRandomWalkPE, Compose, ToUndirected

from grfpp import Graph
from grfpp import torch as grfpp_torch
from grfpp.errors import InputError
from grfpp.torch import AddGRFPE, AddLandmarkPE, grf_pe
from grfpp.torch.encodings.base import EncodingCache

KINDS = {
    "projected": {"kind": "projected", "n_walks": 3, "dim": 3},
    "projected, stitched": {"features": "stitched", "rotation": "principal", "n_walks": 3},
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
    name.lower(): getattr(grfpp_torch, f"Add{name}PE")
    for name in ("GRF", "Return", "Smooth", "Contrast", "Profile", "Landmark")
}
EXACT = {name: options for name, options in KINDS.items() if not name.startswith("projected")}


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


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_alone_and_in_any_company_the_bits_are_the_same(options, monkeypatch):
    graphs = graphs_of_many_sorts()
    alone = [grf_pe([graph], **options)[0] for graph in graphs]
    assert all(pe.isfinite().all() for pe in alone)
    assert len({pe.shape[1] for pe in alone}) == 1
    assert equal(alone, grf_pe(graphs, n_jobs=1, **options))
    assert equal(alone[::-1], grf_pe(graphs[::-1], n_jobs=2, **options))
    with monkeypatch.context() as patch:  # in small tasks
        patch.setattr("grfpp.walks.batch.GraphBatch.tasks.__defaults__", (9,))
        for n_jobs in (1, 3):
            assert equal(alone, grf_pe(graphs, n_jobs=n_jobs, **options))
    transform = AddGRFPE(**options)
    assert equal(alone, [each.grf_pe for each in transform.transform_all(graphs)])
    assert equal(alone, [transform(graph).grf_pe for graph in graphs])  # from the cache
    for some in (graphs[7:], graphs[:1]):
        # Of graphs in a PyG batch, all or none have weights.
        together = Batch.from_data_list(some)
        expected = torch.cat(grf_pe(some, **options))
        assert torch.equal(AddGRFPE(**options)(together).grf_pe, expected)


@pytest.mark.parametrize("options", EXACT.values(), ids=EXACT)
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


@pytest.mark.parametrize("kind", CLASSES)
def test_the_classes_are_the_kinds(kind):
    graphs = graphs_of_many_sorts()
    name = "projected" if kind == "grf" else kind
    expected = grf_pe(graphs, kind=name)
    transform = CLASSES[kind]()
    made = transform.transform_all(graphs)
    assert equal([each[f"{kind}_pe"] for each in made], expected)
    again = pickle.loads(pickle.dumps(transform))
    assert repr(again) == repr(transform)
    assert repr(transform).startswith(f"{type(transform).__name__}(kind='{name}'")
    names = signature(type(transform)).parameters
    assert "attr_name" in names and ("options" in names) == (kind == "grf")
    with pytest.raises(InputError, match=f"^{type(transform).__name__} takes a Data or a Batch"):
        transform(3)
    assert torch.equal(again(graphs[5])[f"{kind}_pe"], expected[5])
    # By PyG's functional form.
    pipe = getattr(DatasetAdapter(graphs[5:7]), f"add_{kind}_pe")()
    assert equal([each[f"{kind}_pe"] for each in pipe], expected[5:7])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("n_workers", [0, 2])
def test_any_number_of_worker_processes(n_workers):
    graphs = molecules(12)
    transform = Compose([ToUndirected(), AddGRFPE(dim=4, attr_name="pe"), AddRandomWalkPE(2)])

    class Some(torch.utils.data.Dataset):
        def __len__(self):
            return len(graphs)

        def __getitem__(self, number):
            return transform(graphs[number])

    loader = DataLoader(Some(), batch_size=5, num_workers=n_workers)
    for _ in range(2):  # the second time from the cache
        found = torch.cat([batch.pe for batch in loader])
        assert torch.equal(found, torch.cat(grf_pe(graphs, dim=4)))


def test_where_the_encoding_goes():
    graph = data([[0, 1], [1, 0]], x=torch.tensor([1.0, 2.0], dtype=torch.float64))
    (pe,) = grf_pe([graph], dim=3)
    assert torch.equal(AddGRFPE(3)(graph).grf_pe, pe)
    assert torch.equal(AddGRFPE(3, attr_name="pe")(graph).pe, pe)
    appended = AddGRFPE(3, attr_name=None)(graph).x
    assert appended.dtype == torch.float64
    assert torch.equal(appended[:, 0], graph.x)
    assert torch.equal(appended[:, 1:], pe.double())
    alone = AddGRFPE(3, attr_name=None)(data([[0, 1], [1, 0]]))
    assert torch.equal(alone.x, pe)
    assert "grf_pe" not in graph
    assert graph.x.shape == (2,)
    (double,) = grf_pe([graph], dim=3, dtype=torch.float64)
    assert torch.equal(double.float(), pe)
    assert not torch.equal(double, pe.double())


def test_all_at_once_is_as_one_by_one_and_what_is_cached_or_given_is_not_changed():
    graphs = molecules(10)
    transform = AddGRFPE()
    made = transform(graphs[4])
    made.grf_pe.zero_()
    for _ in range(2):  # the second time from the cache
        together = [each.grf_pe for each in transform.transform_all(iter(graphs))]
        assert equal(together, grf_pe(graphs))
        together[3].zero_()
    assert len(transform.cache) == 10
    assert not any("grf_pe" in graph for graph in graphs)


def test_the_cache_is_bounded_and_drops_the_oldest():
    cache = EncodingCache(100)
    for number in range(4):
        cache.put(bytes([number]), torch.full((10,), float(number)))
        cache.get(bytes([0]))
    assert cache.n_bytes == 80
    assert [cache.get(bytes([number])) is None for number in range(4)] == [False, True, True, False]
    cache.put(b"large", torch.zeros(26))
    assert cache.get(b"large") is None
    cache.put(bytes([0]), torch.ones(1))
    assert cache.n_bytes == 80
    none = AddGRFPE(cache_mb=0)
    (graph,) = molecules(1)
    assert torch.equal(none(graph).grf_pe, none(graph).grf_pe)
    assert len(none.cache) == 0


test_bad_options_are_refused = bad_values(
    AddGRFPE,
    **{"attr_name": [3, ""], "cache_mb": [-1, math.nan], "symmetrize": "no", "dtype": torch.int64},
    **{"kind": "laplacian", "scale": 1e308},
)
test_bad_scales_of_landmarks_are_refused = bad_values(AddLandmarkPE, scale=-1)


@pytest.mark.parametrize("options", [{"kind": "return", "degree": 2}, {"kind": "smooth", "dim": 4}])
def test_options_of_other_kinds_are_refused(options):
    with pytest.raises(TypeError):
        AddGRFPE(**options)


@pytest.mark.parametrize("x", [torch.tensor([[1], [2]]), torch.ones(2, 1, 1), torch.ones(3, 1)])
def test_features_that_encodings_cannot_be_appended_to(x):
    graph = data([[0, 1], [1, 0]])
    graph.x = x
    with pytest.raises(InputError, check=lambda error: error.argument == "x"):
        AddGRFPE(attr_name=None)(graph)


def test_messages_name_the_graph():
    transform, good = AddGRFPE(), molecules(1)[0]
    transform(good)
    for number, bad in ((2, Data(edge_index=EDGE, num_nodes=1)), (1, Graph([[0, 1], [1, 0]]))):
        with pytest.raises(InputError, match=f"graph {number}"):
            transform.transform_all([*[good] * number, bad])
    with pytest.raises(InputError):
        transform(HeteroData())
