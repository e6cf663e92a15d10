"""Dense kernels and deterministic products, against scipy, numpy and each other."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from little_memory import only

from grfpp.errors import DivergentSeriesError, InputError
from grfpp.graph import Graph
from grfpp.kernels import (
    Cosine,
    Diffusion,
    InversePower,
    PStep,
    RegularizedLaplacian,
    SquaredDiffusion,
    TaylorKernel,
)
from grfpp.linalg import chebyshev as exact


def exponential(k):
    return Fraction(1, math.factorial(k))


def geometric(k):
    return 0.9**k


KERNELS = [
    Diffusion(1.5),
    Diffusion(-2.0),
    SquaredDiffusion(0.7),
    SquaredDiffusion(-1.0),
    RegularizedLaplacian(2, 0.5),
    RegularizedLaplacian(1.5, 3.0),
    InversePower(4),
    InversePower(0.5),
    InversePower(4, of=2),
    PStep(3, 2.0),
    PStep(4, -0.5),
    Cosine(),
    Cosine(3.0),
    TaylorKernel([1, -2, 0, 3.5]),
    TaylorKernel([0, 1]),
    TaylorKernel([2]),
    TaylorKernel(exponential),
    TaylorKernel(geometric, radius=1 / 0.9),
]


def random_weights(n, density, seed, directed):
    rng = np.random.default_rng(seed)
    weights = rng.lognormal(size=(n, n)) * (rng.random((n, n)) < density)
    np.fill_diagonal(weights, 0)
    return weights if directed else np.triu(weights) + np.triu(weights).T


def scaled(weights, radius):
    """A graph of the given spectral radius."""
    found = np.abs(np.linalg.eigvals(weights)).max()
    return Graph(weights * (radius / found))


def graphs():
    weighted = random_weights(17, 0.4, 0, directed=False)
    blocks = np.zeros((21, 21))
    blocks[:12, :12] = random_weights(12, 0.5, 1, directed=False)
    blocks[12:19, 12:19] = random_weights(7, 0.7, 2, directed=False)
    loops = weighted + np.diag(np.arange(17.0))
    directed = random_weights(19, 0.3, 3, directed=True)
    directed_loops = directed + np.diag(np.linspace(0, 4, 19))
    directed_loops[7] = directed_loops[:, 11] = 0
    ring = np.roll(np.eye(8), 1, axis=1)
    return {
        "weighted": scaled(weighted, 0.8),
        "disconnected": scaled(blocks, 0.6),
        "self-loops": scaled(loops, 0.9),
        "bipartite": scaled(ring + ring.T, 0.8),
        "directed": scaled(directed, 0.7),
        "directed with loops, a source and a sink": scaled(directed_loops, 0.8),
        "directed ring": scaled(ring, 0.5),
        "nilpotent": Graph(np.diag([0.5, 2.0, 1.0, 0.25], 1)),
        "without edges": Graph(sp.csr_array((6, 6))),
        "one node": Graph([[0.3]]),
    }


GRAPHS = graphs()
UNDIRECTED = [name for name, graph in GRAPHS.items() if not graph.is_directed]
DIRECTED = [name for name, graph in GRAPHS.items() if graph.is_directed]


def power_series(kernel, weights, n=1200):
    """The definition, added up."""
    total = np.zeros_like(weights)
    term = np.eye(len(weights))
    for coefficient in kernel.coefficients(n):
        total += coefficient * term
        term = term @ weights
    return total


def by_scipy(kernel, A):
    identity = np.eye(len(A))
    match kernel:
        case Diffusion(lam):
            return scipy.linalg.expm(lam * A)
        case SquaredDiffusion(lam):
            return scipy.linalg.expm(lam * A @ A)
        case Cosine(lam):
            return scipy.linalg.cosm(lam * A) + scipy.linalg.sinm(lam * A)
        case RegularizedLaplacian(power, sigma2):
            inverse = np.linalg.inv((1 + sigma2) * identity - sigma2 * A)
            return (1 + sigma2) ** power * scipy.linalg.fractional_matrix_power(inverse, power)
        case InversePower(power, of):
            base = identity - np.linalg.matrix_power(A, of)
            return scipy.linalg.fractional_matrix_power(np.linalg.inv(base), power)
        case PStep(p, a):
            return np.linalg.matrix_power(a * identity + A, p)
    return power_series(kernel, A)


# --- dense ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", GRAPHS)
def test_exact_against_scipy(name, kernel):
    graph = GRAPHS[name]
    found = kernel.exact(graph)
    expected = by_scipy(kernel, graph.adjacency.toarray())
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max())
    if not graph.is_directed:
        np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", ["weighted", "directed", "nilpotent", "self-loops"])
def test_exact_against_the_definition(name, kernel):
    graph = GRAPHS[name]
    expected = power_series(kernel, graph.adjacency.toarray())
    np.testing.assert_allclose(
        kernel.exact(graph), expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max()
    )


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize(
    "kernel",
    [Diffusion(2), InversePower(4, of=2), PStep(3, 2.0), Cosine(0.7), TaylorKernel([-1, 0.2])],
    ids=repr,
)
@pytest.mark.parametrize("name", ["weighted", "directed"])
def test_powers_of_the_root_are_the_kernel(name, kernel, degree):
    """``K = sign · F^(2l)`` as matrices: what the estimate rests on."""
    weights = GRAPHS[name].adjacency.toarray()
    F = power_series(TaylorKernel(kernel.modulation(degree, 400)), weights, 400)
    K = kernel.sign * np.linalg.matrix_power(F, 2 * degree)
    expected = kernel.exact(GRAPHS[name])
    np.testing.assert_allclose(K, expected, atol=1e-10 * np.abs(expected).max())


def test_exact_takes_what_graph_takes():
    np.testing.assert_allclose(PStep(2, 1.0).exact([[0, 2], [2, 0]]), [[5, 4], [4, 5]])
    np.testing.assert_allclose(
        PStep(2, 1.0).exact(sp.coo_array([[0, 2], [0, 0]])), [[1, 4], [0, 1]]
    )


def test_dense_kernels_that_do_not_fit_are_refused(monkeypatch):
    only(monkeypatch, 10**6)
    Diffusion().exact(sp.csr_array((150, 150)))
    message = r"a dense kernel of 200 nodes.* needs 1600000 bytes .* only 1000000 "
    with pytest.raises(InputError, match=message):
        Diffusion().exact(sp.csr_array((200, 200)))
    with pytest.raises(InputError, match="a product with"):
        Diffusion().apply(sp.csr_array((200, 200)), np.ones((200, 200)))


@pytest.mark.parametrize("directed", [False, True])
def test_divergent_series_are_refused(directed):
    ring = np.roll(np.eye(5), 1, axis=1)
    graph = Graph(ring if directed else (ring + ring.T) / 2)
    for attempt in (InversePower(2).exact, lambda W: InversePower(2).apply(W, np.ones(5))):
        with pytest.raises(DivergentSeriesError, match="spectral radii below 1"):
            attempt(graph)


@pytest.mark.parametrize("weights", [[[0, 1], [1, 0]], [[0, 1], [0.5, 0]]])
def test_values_beyond_float64_are_refused(weights):
    graph = Graph(weights)
    for attempt in (Diffusion(5000).exact, lambda W: Diffusion(5000).apply(W, np.ones(2))):
        with pytest.raises(InputError, match="range of float64"):
            attempt(graph)


# --- products -------------------------------------------------------------------------------------


def assert_close_columns(kernel, graph, V, found, tol):
    """Relative to ``max |g| · ‖v‖``, as documented; and no laxer than a generous share of it."""
    expected = kernel.exact(graph) @ V
    radius = graph.spectral_radius()
    peak = np.abs(kernel.value(np.linspace(-radius, radius, 401))).max()
    scale = peak * np.linalg.norm(V, axis=0)
    assert found.shape == V.shape
    assert (np.linalg.norm(found - expected, axis=0) <= (tol + 2e-14) * scale).all()


@pytest.mark.parametrize("tol", [1e-4, 1e-10, 1e-13])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", UNDIRECTED)
def test_chebyshev_reaches_its_tolerance(name, kernel, tol):
    graph = GRAPHS[name]
    V = np.random.default_rng(0).normal(size=(graph.n_nodes, 3))
    assert_close_columns(kernel, graph, V, kernel.apply(graph, V, tol), tol)


@pytest.mark.parametrize("tol", [1e-4, 1e-10])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", GRAPHS)
def test_taylor_reaches_its_tolerance(name, kernel, tol):
    graph = GRAPHS[name]
    V = np.random.default_rng(1).normal(size=(graph.n_nodes, 3))
    expected = kernel.exact(graph) @ V
    error = np.abs(kernel.apply(graph, V, tol, method="taylor") - expected).max(axis=0)
    assert (error <= (tol + 1e-12) * np.abs(expected).max(axis=0)).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("name", DIRECTED)
def test_the_default_for_directed_graphs(name, kernel):
    graph = GRAPHS[name]
    V = np.random.default_rng(2).normal(size=graph.n_nodes)
    expected = kernel.exact(graph) @ V
    error = np.abs(kernel.apply(graph, V) - expected).max()
    assert error <= 2e-10 * np.abs(expected).max()


@pytest.mark.parametrize("name", GRAPHS)
def test_expm_multiply(name):
    graph = GRAPHS[name]
    V = np.random.default_rng(3).normal(size=(graph.n_nodes, 2))
    found = Diffusion(2.5).apply(graph, V, method="expm_multiply")
    np.testing.assert_allclose(found, scipy.linalg.expm(2.5 * graph.adjacency.toarray()) @ V)


def test_rows_above_the_radius_of_convergence():
    """A hub with arcs to all: its row sum is 60, the spectral radius 0.5."""
    n = 60
    weights = np.roll(np.eye(n), 1, axis=1) * 0.5
    weights[0, 1:] = 1.0
    weights[-1, 0] = 1e-60
    graph = Graph(weights)
    V = np.random.default_rng(4).normal(size=(n, 2))
    for kernel in (InversePower(2), InversePower(1, of=2), TaylorKernel(geometric)):
        found = kernel.apply(graph, V)
        expected = by_scipy(kernel, weights) @ V
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-10 * np.abs(expected).max())


def test_rows_that_would_overflow_a_power_series():
    graph = Graph([[0, 1000, 0], [0, 0, 0.5], [0, 0, 0.5]])
    V = np.array([1.0, -2.0, 3.0])
    kernel = SquaredDiffusion()
    np.testing.assert_allclose(
        kernel.apply(graph, V), by_scipy(kernel, graph.adjacency.toarray()) @ V
    )


def test_series_whose_values_overflow_are_refused():
    with pytest.raises(InputError, match="values on this graph exceed the range of float64"):
        SquaredDiffusion(5000.0).apply(GRAPHS["directed"], np.ones(19))


def test_cancelling_power_series_are_refused_not_wrong():
    graph = GRAPHS["directed ring"]
    V = np.ones(graph.n_nodes)
    kernel = Diffusion(-60.0)
    with pytest.raises(InputError, match="cancel"):
        kernel.apply(graph, V, method="taylor")
    np.testing.assert_allclose(kernel.apply(graph, V), math.exp(-30) * V, rtol=1e-6)


@given(
    weights=arrays(
        np.float64, (6, 6), elements=st.floats(0, 3).filter(lambda x: x == 0 or x > 0.01)
    ),
    lam=st.floats(-3, 3),
    directed=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_diffusion_of_any_graph(weights, lam, directed):
    weights = weights if directed else weights + weights.T
    scale = max(1.0, weights.sum(axis=1).max() / 2)
    graph = Graph(weights / scale)
    A = graph.adjacency.toarray()
    expected = scipy.linalg.expm(lam * A)
    bound = scipy.linalg.expm(abs(lam) * A).max()
    np.testing.assert_allclose(Diffusion(lam).exact(graph), expected, atol=1e-12 * bound)
    V = np.linspace(-1, 1, 12).reshape(6, 2)
    found = Diffusion(lam).apply(graph, V, 1e-11)
    np.testing.assert_allclose(found, expected @ V, atol=1e-10 * bound)


def test_shapes_orders_and_types_of_v():
    graph, kernel = GRAPHS["weighted"], Diffusion()
    K = kernel.exact(graph)
    whole = np.arange(34).reshape(17, 2)
    for V in (whole, np.asfortranarray(whole), whole[::-1], whole.astype(np.float32), whole[:, 0]):
        np.testing.assert_allclose(kernel.apply(graph, V), K @ V, rtol=1e-9)
    before = whole.astype(float)
    kept = before.copy()
    for method in ("chebyshev", "taylor", "expm_multiply"):
        result = kernel.apply(graph, before, method=method)
        assert not np.shares_memory(result, before)
    np.testing.assert_array_equal(before, kept)
    assert kernel.apply(graph, np.zeros((17, 0))).shape == (17, 0)
    np.testing.assert_array_equal(kernel.apply(graph, np.zeros(17)), np.zeros(17))
    np.testing.assert_array_equal(kernel.apply(graph, np.zeros(17), method="taylor"), np.zeros(17))


@pytest.mark.parametrize(
    ("V", "message"),
    [
        (np.ones(16), r"shape \(17,\) or \(17, c\).*found \(16,\)"),
        (np.ones((2, 17)), r"found \(2, 17\)"),
        (np.ones((17, 2, 2)), "V must have shape"),
        (3.0, "V must have shape"),
        (np.ones(17) * 1j, "real numbers.*complex128"),
        (["a"] * 17, "real numbers"),
        (sp.csr_array((17, 2)), "real numbers, found csr_array"),
    ],
)
def test_bad_v_is_named(V, message):
    with pytest.raises(InputError, match=message):
        Diffusion().apply(GRAPHS["weighted"], V)


@pytest.mark.parametrize("tol", [0, -1, 1, 1e-15, math.nan, "x", None])
def test_bad_tolerances(tol):
    with pytest.raises(InputError, match="tol must"):
        Diffusion().apply(GRAPHS["weighted"], np.ones(17), tol)


def test_bad_methods():
    V = np.ones(17)
    with pytest.raises(
        InputError, match=r"'auto', 'chebyshev', 'taylor' for Cosine.*found 'expm_mu"
    ):
        Cosine().apply(GRAPHS["weighted"], V, method="expm_multiply")
    with pytest.raises(InputError, match=r"'expm_multiply'.*found 'magic'"):
        Diffusion().apply(GRAPHS["weighted"], V, method="magic")
    with pytest.raises(InputError, match="undirected"):
        Diffusion().apply(GRAPHS["directed"], np.ones(19), method="chebyshev")


# --- Chebyshev coefficients -----------------------------------------------------------------------


def test_chebyshev_degrees_are_as_low_as_they_can_be():
    assert len(exact.coefficients_of(PStep(3, 2.0).value, 1.0, 1e-13)) == 4
    assert len(exact.coefficients_of(lambda x: np.full_like(x, 2.0), 1.0, 1e-10)) == 1
    # Σ 2 I_j(1) T_j: the first coefficient below 1e-10 is that of T_11.
    assert len(exact.coefficients_of(np.exp, 1.0, 1e-10)) in (11, 12)


@pytest.mark.parametrize("radius", [0.9, 0.999, 0.99999])
def test_chebyshev_near_a_pole(radius):
    kernel = InversePower(4)
    coefficients = exact.coefficients_of(kernel.value, radius, 1e-10)
    x = np.linspace(-radius, radius, 1001)
    found = np.polynomial.chebyshev.chebval(x / radius, coefficients)
    assert np.abs(found - kernel.value(x)).max() <= 2e-10 * kernel.value(radius)


def test_chebyshev_gives_up_in_words():
    with pytest.raises(InputError, match="degree 100000 does not reach tol=1e-10"):
        exact.coefficients_of(np.abs, 1.0, 1e-10)


def test_large_sparse_graphs():
    n = 300
    path = sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1])
    graph = Graph(sp.kronsum(path, path)).normalized("sym")
    V = np.random.default_rng(5).normal(size=(n * n, 3))
    chebyshev = Diffusion().apply(graph, V)
    reference = Diffusion().apply(graph, V, method="expm_multiply")
    assert np.abs(chebyshev - reference).max() < 1e-9
