"""Queries from weighted seeds: their law, their peers, filters, several kernels at once."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from refusal_case import refused
from small_graphs import GRAPHS, karate
from statistics_helpers import copies
from unbiased_cases import WEIGHTS

import grfpp
from grfpp import Graph, HeatKernel, InputError, LocalKernel, PersonalizedPageRank

#: Series with a pool for each step, and series with one pool for all.
KERNELS = [grfpp.Diffusion(2.0), grfpp.InversePower(1)]
SEEDS = {3: 2.0, 20: 0.5, 7: 1.0}
SIGNED = {3: 2.0, 20: -0.5, 7: -1.0, 8: 1.0}
EXACT = 1e7


def combined(rows, seeds):
    return sum(weight * rows[node] for node, weight in seeds.items())


def shifted(seeds, number, n=34):
    return [{node + n * copy: w for node, w in seeds.items()} for copy in range(number)]


@pytest.mark.parametrize("budget", [6, 40])
@pytest.mark.parametrize("seeds", [SEEDS, SIGNED], ids=["positive", "signed"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("kind", ["unweighted", "weighted", "directed"])
def test_rows_have_the_mean_of_the_weighted_sum_of_rows(kind, kernel, seeds, budget):
    n_copies, n = 1000, 34
    truth = combined(kernel.exact(Graph(WEIGHTS[kind])), seeds)
    near = LocalKernel(copies(WEIGHTS[kind], n_copies), kernel, budget=budget, seed=5)
    rows = near.rows(seeds=shifted(seeds, n_copies)).tocoo()
    found = np.zeros((n_copies, n))
    found[rows.row, rows.col % n] = rows.data
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (n, 24))
    sums, wanted = found @ signs, truth @ signs
    error = sums.std(axis=0, ddof=1) / np.sqrt(n_copies)
    z = (sums.mean(axis=0) - wanted) / np.maximum(error, 1e-13)
    assert np.sqrt(np.mean(z**2)) < 1.7 and np.abs(z).max() < 4.5
    # Entries between two sides, of which the directed graph has one.
    entry = [near.entry(j=11 + n * i, seeds=one) for i, one in enumerate(shifted(seeds, 400))]
    z = (np.mean(entry) - truth[11]) / max(np.std(entry) / 20, 1e-9)
    assert abs(z) < 4.5


@pytest.mark.parametrize("seeds", [SEEDS, SIGNED], ids=["positive", "signed"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_nearest_nodes_are_unbiased_where_they_are_pulled(kernel, seeds):
    n_copies, n = 800, 34
    truth = combined(kernel.exact(Graph(WEIGHTS["unweighted"])), seeds)
    near = LocalKernel(copies(WEIGHTS["unweighted"], n_copies), kernel, budget=40, seed=1)
    best = int(truth.argmax())
    nodes, values = near.top_k(seeds=shifted(seeds, n_copies), k=1)
    assert (nodes[:, 0] % n == best).all()
    z = (values.mean() - truth[best]) / (values.std() / np.sqrt(n_copies) + 1e-12)
    assert abs(z) < 4.5


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.filterwarnings("ignore::grfpp.errors.InputWarning")
def test_large_budgets_are_exact(name):
    W, kernel = GRAPHS[name], grfpp.Diffusion(1.0)
    last = W.n_nodes - 1
    seeds = {0: 1.5, last: -0.5} if last else {0: 1.5}
    exact = kernel.exact(W)
    near = LocalKernel(W, kernel, budget=EXACT)
    assert_allclose(near.rows(seeds=seeds).toarray()[0], combined(exact, seeds), atol=1e-12)
    assert_allclose(near.entry(j=last, seeds=seeds), combined(exact, seeds)[last], atol=1e-12)
    nodes, values = near.top_k(seeds=seeds, k=3)
    wanted = np.sort(np.maximum(combined(exact, seeds), 0.0))[::-1][: len(nodes)]
    assert_allclose(values[: len(wanted)], wanted[:3], atol=1e-12)


def peer_graphs():
    rng = np.random.default_rng(4)
    arcs = nx.gnp_random_graph(60, 0.05, seed=2, directed=True)  # with dangling nodes
    heavy = nx.gnp_random_graph(60, 0.08, seed=3)
    for network in (arcs, heavy):
        for *_, data in network.edges(data=True):
            data["weight"] = float(rng.lognormal())
    assert any(degree == 0 for _, degree in arcs.out_degree())
    return {
        "undirected": nx.karate_club_graph(),
        "weighted": heavy,
        "directed, weighted, dangling": arcs,
        "directed": nx.DiGraph(list(arcs.edges())),
    }


@pytest.mark.parametrize("name", peer_graphs())
def test_pagerank_of_seeds_is_that_of_networkx_and_igraph(name):
    network = peer_graphs()[name]
    names = list(network)
    seeds = {names[0]: 2.0, names[5]: 1.0, names[17]: 0.25}
    options = {"alpha": 0.85, "personalization": seeds, "tol": 1e-15, "max_iter": 1000}
    theirs = nx.pagerank(network, **options)
    W = Graph(network).normalized("rw")
    near = LocalKernel(W, PersonalizedPageRank(0.15), budget=EXACT)
    places = dict(zip(W.index(list(seeds)).tolist(), seeds.values(), strict=True))
    row = near.rows(seeds=places).toarray()[0]
    # Walks end at dangling nodes here, and go back to the seeds there.
    wanted = np.array([theirs[node] for node in names])[np.argsort(W.index(names))]
    assert_allclose(row / row.sum(), wanted, atol=1e-9)
    igraph = pytest.importorskip("igraph")
    other = igraph.Graph.from_networkx(network)
    weights = "weight" if nx.is_weighted(network) else None
    reset = np.array([seeds.get(node, 0.0) for node in other.vs["_nx_name"]])
    options = {"damping": 0.85, "weights": weights}
    ranks = np.array(other.personalized_pagerank(reset=list(reset / reset.sum()), **options))
    assert_allclose((row / row.sum())[W.index(other.vs["_nx_name"])], ranks, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("kind", ["weighted", "directed"])
def test_the_same_bits_for_any_threads_company_and_form(kernel, kind):
    W = Graph(WEIGHTS[kind])
    one, two = (LocalKernel(W, kernel, budget=20, seed=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    sets = [SEEDS, SIGNED, {5: 1.0}, *({i: 1.0, i + 1: 2.0} for i in range(30))] * 40
    rows = one.rows(seeds=sets).toarray()
    assert_array_equal(rows, two.rows(seeds=sets).toarray())
    assert_array_equal(rows[1], two.rows(seeds=SIGNED).toarray()[0])
    assert_array_equal(rows[0], one.rows(seeds=dict(reversed(SEEDS.items()))).toarray()[0])
    assert_array_equal(rows[2], one.rows(5).toarray()[0])
    assert_array_equal(2 * rows[2], one.rows(seeds={5: 2.0}).toarray()[0])
    matrix = sp.dok_array((2, 34))
    for number, one_set in enumerate(sets[:2]):
        for node, weight in one_set.items():
            matrix[number, node] = weight
    assert_array_equal(rows[:2], one.rows(seeds=matrix.tocsr()).toarray())
    for kwargs in ({}, {"confidence": 0.9}):
        asked = (one.top_k(seeds=sets, k=4, **kwargs), two.top_k(seeds=sets, k=4, **kwargs))
        for a, b, c in zip(*asked, one.top_k(seeds=SIGNED, k=4, **kwargs), strict=True):
            assert_array_equal(a, b)
            assert_array_equal(a[1], c)


def test_standard_errors_of_seeds_hold_the_truth():
    kernel, n_copies = grfpp.Diffusion(2.0), 100
    truth = combined(kernel.exact(Graph(WEIGHTS["weighted"])), SIGNED)
    near = LocalKernel(copies(WEIGHTS["weighted"], n_copies), kernel, budget=100, seed=2)
    sets = shifted(SIGNED, n_copies)
    nodes, values, std = near.top_k(seeds=sets, k=3, return_std=True)
    assert np.mean(np.abs(values - truth[nodes % 34]) <= 1.96 * std + 1e-12) > 0.9
    rows, errors = near.rows(seeds=sets, return_std=True)
    at = rows.tocoo()
    held = np.abs(at.data - truth[at.col % 34]) <= 1.96 * errors.toarray()[at.row, at.col] + 1e-12
    assert np.mean(held) > 0.92
    entries = [near.entry(j=34 * i, seeds=one, return_std=True) for i, one in enumerate(sets)]
    assert np.mean([abs(value - truth[0]) <= 1.96 * bar + 1e-12 for value, bar in entries]) > 0.88


def test_names_of_seeds():
    W = Graph([("ann", "bob"), ("bob", "cy")]).normalized("rw")
    near = LocalKernel(W, PersonalizedPageRank(0.2))
    whole = near.rows(["ann", "bob", "cy"]).toarray()
    mixed = near.rows(seeds={"ann": 1.0, W.index("ann"): 1.0, "cy": 1.0}).toarray()[0]
    assert_allclose(mixed, 2 * whole[0] + whole[2])
    assert near.entry(j="bob", seeds={"cy": 3.0}) == pytest.approx(3 * whole[2, 1])


def test_many_seeds_and_empty_lists():
    W = karate()
    near = LocalKernel(W, grfpp.Diffusion(1.0), budget=8)
    near.plan.__dict__["_room"] = 4  # grows
    whole = near.rows(seeds=dict.fromkeys(range(34), 1.0)).toarray()[0]
    assert abs(whole.sum() - grfpp.Diffusion(1.0).exact(W).sum()) < 20
    assert near.rows(seeds=[]).shape == (0, 34)
    assert near.top_k(seeds=[], k=3)[0].shape == (0, 3)


NEAR = LocalKernel(karate(), grfpp.Diffusion(1.0))
test_bad_seeds = refused(
    seeds=[
        *(lambda bad=bad: NEAR.rows(seeds=bad) for bad in ({}, [{1: 1.0}, {}], {0: 0.0}, "ann")),
        *(lambda bad=bad: NEAR.rows(seeds=bad) for bad in ({0: np.nan}, {0: "x"}, {99: 1.0}, 3)),
        *(
            lambda bad=bad: NEAR.top_k(seeds=bad)
            for bad in ([1, 2], {0.5: 1.0}, {0: 1e308, 1: 1e308})
        ),
        lambda: NEAR.rows(seeds=sp.csr_array((2, 34))),
        lambda: NEAR.rows(seeds=sp.csr_array((2, 33))),
        lambda: NEAR.rows(seeds=sp.csr_array(([np.inf], [0], [0, 1]), shape=(1, 34))),
        lambda: NEAR.entry(j=3, seeds=[{0: 1.0}]),
    ],
    nodes=[NEAR.rows, lambda: NEAR.top_k(0, seeds={0: 1.0})],
    i=[lambda: NEAR.entry(0, 1, seeds={0: 1.0}), lambda: NEAR.entry(j=1)],
    j=lambda: NEAR.entry(0),
    among=[lambda: NEAR.top_k(0, among=[99]), lambda: NEAR.top_k(0, among=[True])],
    exclude=lambda: NEAR.top_k(0, exclude=["ann"]),
    normalize=lambda: NEAR.top_k(0, normalize="size"),
    kernels=[
        lambda: NEAR.top_k(0, kernels=[]),
        lambda: NEAR.top_k(0, 3, True, kernels=["diffusion:1"]),
        lambda: NEAR.rows(seeds={0: 1.0, 1: -1.0}, kernels=["diffusion:1"]),
        lambda: NEAR.rows(0, kernels="diffusion:1"),
    ],
    confidence=[
        *(lambda bad=bad: NEAR.top_k(0, confidence=bad) for bad in (0, 1, 2.0, "sure")),
        lambda: NEAR.top_k(0, 3, True, confidence=0.9),
        lambda: NEAR.top_k(0, kernels=["diffusion:1"], confidence=0.9),
    ],
)


def test_refusals_are_one_line():
    for bad in ({}, {0: np.nan}, {"ann": 1.0}, [{0: 1.0}, {1: 0.0}]):
        with pytest.raises(InputError) as caught:
            NEAR.rows(seeds=bad)
        assert len(str(caught.value)) < 200 and "\n" not in str(caught.value)


def test_filters_choose_before_they_rank():
    W = Graph(nx.barabasi_albert_graph(300, 3, seed=1)).normalized("rw")
    kernel = PersonalizedPageRank(0.15)
    near = LocalKernel(W, kernel, budget=EXACT)
    exact = kernel.exact(W)[7]
    among = np.arange(300) % 5 == 2
    nodes, values = near.top_k(7, 6, among=among, exclude=[12, 17])
    wanted = np.where(among & ~np.isin(np.arange(300), [12, 17]), exact, 0.0)
    assert_array_equal(nodes, np.argsort(-wanted, kind="stable")[:6])
    assert_allclose(values, wanted[nodes], atol=1e-12)
    assert_array_equal(near.top_k(7, 6, among=np.flatnonzero(among), exclude=[12, 17])[0], nodes)
    assert near.top_k(7, 3, among=[7], include_self=False)[0].tolist() == [-1] * 3
    others, _ = near.top_k(seeds={0: 1.0, 1: 1.0}, k=5, include_self=False)
    assert not set(others) & {0, 1}


@pytest.mark.parametrize("kind", ["sym", "rw", None])
@pytest.mark.parametrize("name", ["unweighted", "weighted", "directed", "directed unweighted"])
def test_normalize_divides_by_the_degree_of_the_target(name, kind):
    from small_graphs import directed, irregular, weighted

    A = {
        "unweighted": irregular(),
        "weighted": weighted(),
        "directed": directed(),
        "directed unweighted": directed(equal_weights=True),
    }[name]
    W = Graph(A).normalized(kind, 0.1 if kind is None else 0.8)
    kernel = grfpp.Diffusion(1.0)
    near = LocalKernel(W, kernel, budget=EXACT)
    degree = A.sum(axis=0) * (0.1 if kind is None and name != "unweighted" else 1.0)
    exact = kernel.exact(W)[0] / np.where(degree > 0, degree, 1.0)
    nodes, values = near.top_k(0, 5, normalize="degree")
    scale = values[0] / exact.max()
    assert_allclose(values, scale * np.sort(exact)[::-1][:5], rtol=1e-9)
    assert_allclose(scale * exact[nodes], values, rtol=1e-9)
    assert scale == pytest.approx(1.0) or kind is None
    few = LocalKernel(W, kernel, budget=3).top_k(0, 5, True, normalize="degree")
    assert few[2].shape == (5,) and np.isfinite(few[2]).all()


def test_symmetric_pagerank_is_symmetric():
    W = Graph(nx.barabasi_albert_graph(40, 3, seed=1)).normalized("rw")
    near = LocalKernel(W, PersonalizedPageRank(0.15), budget=EXACT)
    nodes, values = near.top_k(np.arange(40), 40, normalize="degree")
    whole = np.take_along_axis(values, np.argsort(nodes, axis=1), axis=1)
    assert_allclose(whole, whole.T, atol=1e-12)


HEATS = [HeatKernel(1.0), HeatKernel(3.0), HeatKernel(8.0)]


@pytest.mark.parametrize("name", ["karate", "directed"])
def test_several_kernels_are_one_by_one_the_same(name):
    source = nx.karate_club_graph() if name == "karate" else WEIGHTS["directed"]
    W = Graph(source).normalized("rw")
    near = LocalKernel(W, HEATS[0], budget=EXACT)
    rows = near.rows(seeds=[SEEDS, {4: 1.0}], kernels=HEATS)
    nodes, values = near.top_k([0, 5, 9], 4, kernels=HEATS)
    assert nodes.shape == values.shape == (3, 3, 4)
    single = near.top_k(5, 4, kernels=HEATS)
    for number, kernel in enumerate(HEATS):
        alone = LocalKernel(W, kernel, budget=EXACT)
        assert_array_equal(rows[number].toarray(), alone.rows(seeds=[SEEDS, {4: 1.0}]).toarray())
        for a, b in zip((nodes[number], values[number]), alone.top_k([0, 5, 9], 4), strict=True):
            assert_array_equal(a, b)
        assert_array_equal(single[1][number], values[number, 1])
    alphas = [PersonalizedPageRank(alpha) for alpha in (0.05, 0.15, 0.5)]
    for kernel, some in zip(alphas, near.rows([3], kernels=alphas), strict=True):
        assert_allclose(some.toarray()[0], kernel.exact(W)[3], atol=1e-12)


@pytest.mark.parametrize("kind", ["unweighted", "directed"])
def test_several_kernels_are_unbiased(kind):
    kernels, n_copies = [grfpp.Diffusion(1.0), grfpp.InversePower(1)], 1500
    near = LocalKernel(copies(WEIGHTS[kind], n_copies), kernels[0], budget=12, seed=1)
    found = near.rows(seeds=shifted(SEEDS, n_copies), kernels=kernels)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (34, 24))
    for kernel, rows in zip(kernels, found, strict=True):
        sums = rows @ np.tile(signs, (n_copies, 1))
        wanted = combined(kernel.exact(Graph(WEIGHTS[kind])), SEEDS) @ signs
        z = (sums.mean(axis=0) - wanted) / (sums.std(axis=0) / np.sqrt(n_copies))
        assert np.sqrt(np.mean(z**2)) < 1.7 and np.abs(z).max() < 4.5
