"""Positional encodings: what they estimate, that they are the same everywhere, what is refused."""

import pickle
import re

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.loader import DataLoader
from torch_geometric.transforms import AddRandomWalkPE, Compose, ToUndirected

from grfpp import Diffusion, Graph
from grfpp.errors import InputError
from grfpp.torch import AddGRFPE, grf_pe
from grfpp.torch.encodings.cache import EncodingCache, key_of
from grfpp.torch.encodings.edge_lists import joined, read_graphs
from grfpp.torch.encodings.gaussians import gaussian_rows
from grfpp.torch.encodings.principal_axes import on_principal_axes
from grfpp.torch.encodings.recipe import EncodingRecipe
from grfpp.walks.streams import mix64

EDGE = torch.tensor([[0, 1], [1, 0]])


def data(matrix, **more):
    """A PyG graph of a dense symmetric matrix, its weights where they are not all one."""
    matrix = np.asarray(matrix, dtype=float)
    rows, columns = np.nonzero(matrix)
    weights = matrix[rows, columns]
    if (weights != 1).any():
        more["edge_weight"] = torch.from_numpy(weights)
    return Data(
        edge_index=torch.from_numpy(np.stack([rows, columns])), num_nodes=len(matrix), **more
    )


def molecules(n_graphs, seed=0):
    """Trees with some rings, of several sizes."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(n_graphs):
        n = 3 + (7 * number) % 23
        matrix = np.zeros((n, n))
        for child in range(1, n):
            parent = rng.integers(max(0, child - 3), child)
            matrix[child, parent] = matrix[parent, child] = 1
        a, b = rng.choice(n, 2, replace=False)
        matrix[a, b] = matrix[b, a] = 1
        found.append(data(matrix))
    return found


def recipe(**changes):
    return EncodingRecipe.of(**{"seed": 0, **changes})


def equal(ours, theirs):
    return len(ours) == len(theirs) and all(
        torch.equal(a, b) for a, b in zip(ours, theirs, strict=True)
    )


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


# --- what is estimated --------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("features", "degree"), [("factors", 1), ("factors", 2), ("stitched", 2)])
def test_the_mean_over_walks_is_the_projected_root_of_the_kernel(features, degree, weighted):
    """``E[Σ K_s G_s] = F Σ G_s``, ``F = g^(1/2l)``, or ``g^(1/2)`` where walks are stitched."""
    matrix = nx.to_numpy_array(nx.barbell_graph(4, 1), weight=None)
    if weighted:
        matrix *= np.add.outer(np.arange(1, 10), np.arange(1, 10)) / 7
    graphs = [data(matrix)]
    batch = joined(read_graphs(graphs, "edge_weight"), False)
    root = 2 * degree if features == "factors" else 2
    F = Diffusion(1.5 / root).exact(batch.graph.normalized("sym", 0.8))
    n_sets = degree if features == "factors" else 2
    residuals = []
    for seed in range(150):
        made = recipe(
            features=features,
            degree=degree,
            seed=seed,
            kernel="diffusion:1.5",
            scale=0.8,
            n_walks=4,
        )
        G = sum(made._projection(batch, range(1), number) for number in range(n_sets))
        residuals.append(made.encode(batch) - F @ G)
    residuals = np.array(residuals)
    z = residuals.mean(axis=0) / (residuals.std(axis=0, ddof=1) / np.sqrt(len(residuals)))
    # 72 numbers of which each is about standard normal; seeds are fixed.
    assert np.sqrt((z**2).mean()) < 1.35
    assert np.abs(residuals.mean(axis=0)).max() < 0.12


def test_more_walks_come_closer():
    batch = joined(read_graphs(molecules(20), "edge_weight"), False)
    F = Diffusion(1 / 4).exact(batch.graph.normalized("sym"))
    errors = []
    for n_walks in (4, 400):
        made = recipe(n_walks=n_walks)
        G = sum(made._projection(batch, range(20), number) for number in range(2))
        errors.append(np.linalg.norm(made.encode(batch) - F @ G) / np.linalg.norm(F @ G))
    assert errors[0] < 0.5
    assert 7 < errors[0] / errors[1] < 13  # a tenth, for a hundred times the walks


def test_products_of_encodings_estimate_products_of_features():
    """``PE PEᵀ``, over many projections, is ``Σ_s K_s K_sᵀ`` (here with many walks: ``2 F Fᵀ``)."""
    graph = data(nx.to_numpy_array(nx.cycle_graph(6)))
    F = Diffusion(1 / 4).exact(Graph(nx.cycle_graph(6)).normalized("sym"))
    (wide,) = grf_pe([graph], dim=4000, n_walks=300, dtype=torch.float64)
    assert np.allclose(wide @ wide.T, 2 * F @ F.T, atol=0.15)


def test_gaussian_numbers_are_gaussian_and_independent():
    words = np.repeat(np.arange(200, dtype=np.uint64), 25)
    rows = gaussian_rows(mix64(words), np.tile(np.arange(25), 200), 4)
    assert stats.kstest(rows.ravel(), "norm").pvalue > 0.01
    assert np.abs(np.corrcoef(rows.T) - np.eye(4)).max() < 0.05
    by_node = rows.reshape(200, 25, 4)
    assert np.abs(np.corrcoef(by_node[:, :, 0].T) - np.eye(25)).max() < 0.3
    assert len(np.unique(rows)) == rows.size


def test_words_are_mixed_as_in_the_engine():
    words = [0, 1, 2**63, 2**64 - 1, 0x123456789ABCDEF0]
    assert mix64(np.array(words, dtype=np.uint64)).tolist() == [mix64(w) for w in words]


# --- the same bits everywhere -------------------------------------------------------------------


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


def test_any_number_of_threads_and_tasks():
    graphs = molecules(900)
    one = grf_pe(graphs, n_jobs=1)
    assert equal(one, grf_pe(graphs, n_jobs=3))
    batch = joined(read_graphs(graphs, "edge_weight"), False)
    assert len(batch.tasks(1000)) > 5
    made = recipe()
    walks = made._walks(batch)
    by_task = np.concatenate([made._encode(walks, graphs) for graphs in batch.tasks(1000)])
    assert np.array_equal(by_task, made.encode(batch))


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


def test_seeds_graphs_and_options_make_a_difference():
    graphs = molecules(2)
    (first, second) = grf_pe(graphs)
    for change in (
        {"seed": 1},
        {"degree": 1},
        {"degree": 3},
        {"n_walks": 17},
        {"kernel": "diffusion:2"},
        {"termination": "geometric:0.2"},
        {"scale": 0.5},
        {"features": "stitched"},
        {"rotation": "principal"},
        {"projection": "shared"},
    ):
        assert not torch.allclose(grf_pe(graphs, **change)[1], second, atol=1e-3), change
    assert not torch.equal(*(grf_pe(graphs, seed=None)[0] for _ in range(2)))
    assert not torch.allclose(first[0], second[0], atol=1e-3)


def test_the_sets_of_a_degree_have_projections_of_their_own():
    """Their sum then has about as many times the variance (with one for all, its square)."""
    graph = data(nx.to_numpy_array(nx.cycle_graph(8)))
    sizes = [
        np.mean([grf_pe([graph], degree=d, seed=s)[0].square().sum() for s in range(40)])
        for d in (1, 4)
    ]
    assert 2.5 < sizes[1] / sizes[0] < 4.5


# --- projections and rotations ------------------------------------------------------------------


def test_shared_and_own_projections():
    """Isolated nodes show their row of the projection: nothing else reaches them."""
    graphs = [Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=n) for n in (3, 5)]
    small, large = grf_pe(graphs, projection="shared")
    assert torch.equal(small, large[:3])
    assert len(torch.unique(large)) == large.numel()
    small, large = grf_pe(graphs)
    assert not torch.isclose(small, large[:3]).any()


def test_numbered_otherwise_a_graph_gets_another_draw_of_the_same_law():
    graph = nx.to_numpy_array(nx.lollipop_graph(4, 3))
    order = np.array([6, 2, 0, 5, 1, 4, 3])
    gram = np.zeros((2, 7, 7))
    for seed in range(150):
        pair = grf_pe([data(graph), data(graph[order][:, order])], seed=seed)
        assert not torch.isclose(pair[0][order], pair[1]).any()
        gram += [(pe @ pe.T).numpy() for pe in pair]
    gram /= 150
    assert np.allclose(gram[0][order][:, order], gram[1], atol=0.35)


def test_principal_axes_forget_rotations_and_nothing_else():
    rng = np.random.default_rng(0)
    starts = np.array([4, 11, 12, 30])
    rows = rng.normal(size=(26, 5)) * [3, 1, 2, 0.5, 1.5]
    turned = on_principal_axes(rows, starts)
    rotation = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    assert np.allclose(on_principal_axes(rows @ rotation, starts), turned, atol=1e-9)
    for start, stop in zip(starts[:-1] - 4, starts[1:] - 4, strict=True):
        own = turned[start:stop]
        assert np.allclose(own @ own.T, rows[start:stop] @ rows[start:stop].T)
        square = own.T @ own
        assert np.allclose(square, np.diag(np.diag(square)), atol=1e-9)
        assert (np.diff(np.diag(square)) <= 1e-9).all()
        assert (own.max(axis=0) + 1e-9 >= -own.min(axis=0)).all()


def test_principal_encodings_have_the_products_of_plain_ones():
    graphs = molecules(5)
    for plain, turned in zip(grf_pe(graphs), grf_pe(graphs, rotation="principal"), strict=True):
        assert torch.allclose(plain @ plain.T, turned @ turned.T, atol=1e-4)


# --- odd graphs ---------------------------------------------------------------------------------


def test_single_nodes_isolated_nodes_and_no_edges():
    nothing = torch.empty(2, 0, dtype=torch.long)
    single, empty, mixed = grf_pe(
        [
            Data(edge_index=nothing, num_nodes=1),
            Data(edge_index=nothing, x=torch.ones(4, 2)),
            Data(edge_index=EDGE, num_nodes=3),
        ]
    )
    assert single.shape == (1, 8)
    assert empty.shape == (4, 8)
    assert mixed.shape == (3, 8)
    assert all(pe.isfinite().all() and pe.abs().sum() > 0 for pe in (single, empty, mixed))


def test_nodes_are_counted_by_the_edges_where_nothing_else_tells():
    (pe,) = grf_pe([Data(edge_index=EDGE)])
    assert pe.shape == (2, 8)


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
    with pytest.raises(InputError, match=r"graph 0: Data has no edge_attr to take weights from"):
        grf_pe([plain], weight_attr="edge_attr")


def test_directed_graphs_are_refused_or_made_symmetric():
    one_way = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    both = data([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    with pytest.raises(InputError, match=r"graph 1 is directed.*symmetrize=True"):
        grf_pe([both, one_way, both])
    first, second = grf_pe([both, one_way], symmetrize=True)
    assert torch.equal(first, grf_pe([both])[0])
    half = data(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]) / 2)
    assert torch.equal(second, grf_pe([half])[0])
    assert AddGRFPE(symmetrize=True)(one_way).grf_pe.shape == (3, 8)


# --- the transform ------------------------------------------------------------------------------


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


def test_a_cached_encoding_is_nobodys_to_change():
    (graph,) = molecules(1)
    transform = AddGRFPE()
    made = transform(graph)
    kept = made.grf_pe.clone()
    made.grf_pe.zero_()
    assert torch.equal(transform(graph).grf_pe, kept)


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


def test_keys_of_the_cache_tell_graphs_apart():
    graphs = [
        *molecules(30),
        data([[0, 1], [1, 0]]),
        data([[0, 2], [2, 0]]),
        data([[0, 1, 0], [1, 0, 0], [0, 0, 0]]),
    ]
    keys = [key_of(each) for each in read_graphs(graphs, "edge_weight")]
    assert len(set(keys)) == len(graphs)


def test_its_words_say_all_that_it_depends_on():
    words = repr(AddGRFPE(5, 3, 7, seed=11, kernel="diffusion:2", projection="shared"))
    for part in ("dim=5", "degree=3", "n_walks=7", "seed=11", "lam=2.0", "'shared'"):
        assert part in words


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 0}, "dim must be a whole number >= 1"),
        ({"degree": 1.5}, "degree must be a whole number >= 1"),
        ({"n_walks": 0}, "n_walks must be a whole number >= 1"),
        ({"seed": -1}, "seed must be a whole number >= 0"),
        ({"scale": 0}, "scale must be a positive"),
        ({"kernel": "warmth"}, "there is no kernel 'warmth'"),
        ({"kernel": "inverse-power:2"}, "converges for spectral radii below 1"),
        ({"termination": "fixed:2"}, "leaves out"),
        ({"termination": 3}, "termination must be a law"),
        (
            {"kernel": "inverse-power:2", "scale": 0.99, "n_walks": 4, "termination": "poisson:1"},
            "variance",
        ),
        ({"storage": "recompute"}, "storage is not an option here"),
        ({"kernel": 3}, "kernel must be a Kernel or text"),
        ({"scale": 1e308}, "scale must be at most"),
        ({"features": "all"}, "features must be 'factors' or 'stitched', not 'all'"),
        ({"projection": None}, "projection must be 'graph' or 'shared', not None"),
        ({"rotation": "left"}, "rotation must be 'none' or 'principal', not 'left'"),
        ({"dtype": torch.int64}, "dtype must be a floating-point type"),
    ],
)
def test_options_that_cannot_be_used(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        grf_pe([data([[0, 1], [1, 0]])], **options)
    with pytest.raises(InputError, match=re.escape(message)):
        AddGRFPE(**options)


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


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([], "the list of graphs is empty"),
        (data([[0, 1], [1, 0]]), "put a single graph into a list"),
        (Graph([[0, 1], [1, 0]]), "put a single graph into a list"),
        (7, "put a single graph into a list"),
        ([Data(edge_index=EDGE), Data(x=torch.ones(2, 1))], "graph 1: Data has no edge_index"),
        ([Data(edge_index=EDGE, num_nodes=1)], "graph 0: edge_index names node 1"),
        ([Data(edge_index=-EDGE, num_nodes=2)], "graph 0: edge_index must not be negative"),
        ([Data(edge_index=EDGE.float(), num_nodes=2)], "must hold whole numbers"),
        ([Data(edge_index=EDGE[0], num_nodes=2)], "edge_index must have shape (2, n_edges)"),
        ([Data(edge_index=EDGE[:, :0], num_nodes=0)], "graph 0 has no nodes"),
        (
            [data([[0, 1], [1, 0]]), Data(edge_index=EDGE, edge_weight=torch.ones(3))],
            "graph 1: weights must have one number for each of the 2 edges",
        ),
        (
            [Data(edge_index=EDGE, edge_weight=torch.tensor([1.0, torch.nan]))],
            "graph 0: weights must be finite",
        ),
        ([Data(edge_index=EDGE, edge_weight=-torch.ones(2))], "graph 0: weights must not be neg"),
        ([Batch.from_data_list([data([[0, 1], [1, 0]])] * 2)], "graph 0: a Batch of several"),
        ([HeteroData()], "graph 0: HeteroData holds nodes or edges of several types"),
        ([sp.csr_array(np.ones((2, 3)))], "graph 0: a weight matrix must be square"),
    ],
)
def test_graphs_that_cannot_be_used(graphs, message):
    with pytest.raises(InputError, match=re.escape(message)):
        grf_pe(graphs)


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


def test_a_batch_with_an_empty_graph_between_others():
    """A graph without edges in the middle of a batch, and weights in another order."""
    graphs = [
        data([[0, 2, 0], [2, 0, 1], [0, 1, 0]]),
        Data(
            edge_index=torch.empty(2, 0, dtype=torch.long), edge_weight=torch.empty(0), num_nodes=2
        ),
        data([[0, 3], [3, 0]]),
    ]
    batch = Batch.from_data_list(graphs)
    order = torch.tensor([5, 0, 3, 1, 4, 2])
    batch.edge_index, batch.edge_weight = batch.edge_index[:, order], batch.edge_weight[order]
    assert torch.equal(AddGRFPE()(batch).grf_pe, torch.cat(grf_pe(graphs)))
