"""The transform in pipelines: the same bits everywhere, and where they go."""

import pickle
import re

import numpy as np
import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

import torch
from encoding_helpers import EDGE, data, equal, molecules
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.loader import DataLoader
from torch_geometric.transforms import AddRandomWalkPE, Compose, ToUndirected

from grfpp import Diffusion, Graph
from grfpp.errors import InputError
from grfpp.torch import AddGRFPE, grf_pe


@st.composite
def odd_graphs(draw):
    """Small graphs with loops, weights, isolated nodes, or nothing but nodes."""
    n = draw(st.integers(1, 7))
    weights = draw(st.sampled_from([[1.0], [1.0], [0.25, 1.0, 3.0]]))
    matrix = np.zeros((n, n))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.sampled_from(weights))
    for a, b, weight in draw(st.lists(pairs, max_size=2 * n)):
        matrix[a, b] = matrix[b, a] = weight
    made = data(matrix)
    # Of graphs in a PyG batch, all or none have weights.
    made.edge_weight = torch.from_numpy(matrix[tuple(made.edge_index.numpy())])
    return made


@settings(max_examples=40, deadline=None)
@given(
    st.lists(odd_graphs(), min_size=1, max_size=6),
    st.sampled_from(["factors", "stitched"]),
    st.sampled_from(["none", "principal"]),
    st.randoms(),
)
def test_alone_and_in_any_company_the_bits_are_the_same(graphs, features, rotation, chance):
    options = {"features": features, "rotation": rotation, "dim": 3, "n_walks": 3}
    alone = [grf_pe([graph], **options)[0] for graph in graphs]
    assert [pe.shape for pe in alone] == [(graph.num_nodes, 3) for graph in graphs]
    assert all(pe.isfinite().all() for pe in alone)
    assert equal(alone, grf_pe(graphs, **options))
    order = chance.sample(range(len(graphs)), len(graphs))
    shuffled = grf_pe([graphs[number] for number in order], **options)
    assert equal([alone[number] for number in order], shuffled)
    assert torch.equal(AddGRFPE(**options)(Batch.from_data_list(graphs)).grf_pe, torch.cat(alone))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("n_workers", [0, 1, 2])
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


def test_a_data_set_of_pyg(tmp_path):
    class Set(InMemoryDataset):
        def __init__(self, root, **transforms):
            super().__init__(root, **transforms)
            self.load(self.processed_paths[0])

        @property
        def processed_file_names(self):
            return ["data.pt"]

        def process(self):
            graphs = molecules(4)
            if self.pre_transform is not None:
                graphs = [self.pre_transform(graph) for graph in graphs]
            self.save(graphs, self.processed_paths[0])

    expected = grf_pe(molecules(4))
    before = Set(tmp_path / "before", pre_transform=AddGRFPE())
    assert equal([graph.grf_pe for graph in before], expected)
    after = Set(tmp_path / "after", transform=AddGRFPE())
    assert equal([graph.grf_pe for graph in after], expected)
    assert equal(grf_pe(Set(tmp_path / "after")), expected)


def test_pickled_it_gives_the_same():
    graphs = molecules(3)
    transform = AddGRFPE(seed=None, kernel=Diffusion(2.0), attr_name=None)
    first = [transform(graph).x for graph in graphs]
    again = pickle.loads(pickle.dumps(transform))
    assert repr(again) == repr(transform)
    assert len(transform.cache) == 3
    assert len(again.cache) == 0
    assert again.cache.max_bytes == transform.cache.max_bytes
    assert equal([again(graph).x for graph in graphs], first)


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


def test_all_at_once_is_as_one_by_one_and_leaves_the_originals():
    graphs = molecules(10)
    transform = AddGRFPE()
    transform(graphs[4])
    together = transform.transform_all(iter(graphs))
    assert equal([made.grf_pe for made in together], grf_pe(graphs))
    assert len(transform.cache) == 10
    assert not any("grf_pe" in graph for graph in graphs)


def test_its_words_say_all_that_it_depends_on():
    words = repr(AddGRFPE(5, 3, 7, seed=11, kernel="diffusion:2", projection="shared"))
    for part in ("dim=5", "degree=3", "n_walks=7", "seed=11", "lam=2.0", "'shared'"):
        assert part in words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attr_name": 3}, "attr_name must be a name or None"),
        ({"attr_name": ""}, "attr_name must be a name or None"),
        ({"cache_mb": -1}, "cache_mb must not be negative"),
        ({"cache_mb": float("nan")}, "cache_mb must be a finite number"),
    ],
)
def test_options_of_the_transform_that_cannot_be_used(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        AddGRFPE(**options)


def test_what_the_transform_refuses():
    with pytest.raises(InputError, match="to_homogeneous"):
        AddGRFPE()(HeteroData())
    with pytest.raises(InputError, match=r"x holds torch.int64"):
        AddGRFPE(attr_name=None)(data([[0, 1], [1, 0]], x=torch.tensor([[1], [2]])))
    for x in (torch.ones(2, 1, 1), torch.ones(3, 1)):
        graph = data([[0, 1], [1, 0]])
        graph.x = x
        with pytest.raises(InputError, match=r"x must have shape \(2, n\)"):
            AddGRFPE(attr_name=None)(graph)
    with pytest.raises(InputError, match=r"graph 1 must be a Data, found Graph"):
        AddGRFPE().transform_all([data([[0, 1], [1, 0]]), Graph([[0, 1], [1, 0]])])
    transform = AddGRFPE()
    good, bad = molecules(1)[0], Data(edge_index=EDGE, num_nodes=1)
    transform(good)
    with pytest.raises(InputError, match="graph 2: edge_index names node 1"):
        transform.transform_all([good, good, bad])
    batch = Batch.from_data_list([good, good])
    batch.edge_index = torch.cat([batch.edge_index, torch.tensor([[0, 3], [3, 0]])], dim=1)
    with pytest.raises(InputError, match="an edge between two of its graphs"):
        AddGRFPE()(batch)
    batch.edge_index = batch.edge_index + 5
    with pytest.raises(InputError, match="must name nodes from 0 to 5"):
        AddGRFPE()(batch)
    del batch.ptr
    with pytest.raises(InputError, match="has no ptr"):
        AddGRFPE()(batch)
