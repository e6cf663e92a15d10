"""`KernelEstimate` against the product of its factors, in all the ways it can be asked."""

import copy
import gc
import json
import pickle
import threading
import weakref
from functools import cache, partial

import numpy as np
import pytest
import scipy.sparse as sp
from estimates import SOURCES, directed_graph, sampled
from little_memory import only
from numpy.testing import assert_allclose, assert_array_equal
from operator_case import LinearOperatorCase
from refusal_case import refused
from small_graphs import karate

import grfpp
from grfpp import InputError, KernelEstimate
from grfpp.estimate import chain, estimate
from grfpp.estimate.deflation import Deflation
from grfpp.estimate.error_bars import MEASURED
from grfpp.estimate.estimate import EstimateMeta
from grfpp.estimate.factor import StoredFactor

RNG = np.random.default_rng


def multiplied_out(K):
    """The product of the factors, dense, from the left; symmetrised and deflated if `K` is."""
    result, P, number = np.eye(K.n_nodes) * K.sign, np.eye(K.n_nodes), 0
    if K.deflation is not None:
        P -= K.deflation.vectors @ K.deflation.vectors.T
    for left, right in K.factors:
        for matrix in (left.toarray(), right.toarray().T):
            result = result @ matrix.astype(np.float64)
            number += 1
            if number == K.degree:  # the middle
                result = result @ P
    result = (result + result.T) / 2 if K.symmetrized else result
    if K.deflation is None:
        return result
    U = K.deflation.vectors
    return P @ result @ P + (U * K.deflation.values) @ U.T


def assert_close(found, wanted, rtol=1e-10):
    assert found.shape == wanted.shape
    assert_allclose(found, wanted, rtol=rtol, atol=rtol * np.abs(wanted).max(initial=0.0))


@cache
def source(name):
    """An estimate that nobody changes."""
    return SOURCES[name]()


@cache
def product_of(name):
    found = multiplied_out(source(name))
    found.flags.writeable = False
    return found


@pytest.fixture(params=SOURCES)
def K(request):
    return SOURCES[request.param]()


# --- option III: it is a linear operator ---------------------------------------------------------


@pytest.mark.parametrize("name", SOURCES)
class TestSampledEstimate(LinearOperatorCase):
    @pytest.fixture
    def operator(self, name):
        return source(name)

    @pytest.fixture
    def expected(self, name):
        return product_of(name)


def test_sparse_right_sides(K):
    block = sp.random_array((K.n_nodes, 5), density=0.5, rng=RNG(1), format="csc")
    assert_close(K @ block, multiplied_out(K) @ block.toarray())
    assert_close(K @ (1j * block), 1j * multiplied_out(K) @ block.toarray())


def test_transposed_estimates_are_estimates(K):
    turned = K.T
    assert isinstance(turned, KernelEstimate)
    assert turned.sign == K.sign and turned.degree == K.degree and turned.meta == K.meta
    assert_close(turned.toarray(), multiplied_out(K).T)
    if K.symmetrized:
        assert turned is K
        return
    for (left, right), (a, b) in zip(turned.factors, K.factors[::-1], strict=True):
        assert left is b and right is a


def test_same_bits_for_any_number_of_threads(monkeypatch, K):
    from grfpp.linalg import csr

    monkeypatch.setattr(csr, "_MIN_PARALLEL_WORK", 0)
    block = RNG(0).normal(size=(K.n_nodes, 3))
    results = []
    for n_jobs in (1, 2, 5):
        K.n_jobs = n_jobs
        results.append((K @ block, K.T @ block, *K.project(4, seed=1)))
    for other in results[1:]:
        for found, wanted in zip(other, results[0], strict=True):
            assert_array_equal(found, wanted)


def test_constructions():
    meta = {"seed": 3}
    factor = StoredFactor(sp.csr_array(np.eye(3)))
    K = KernelEstimate([(factor, factor)], meta=meta)
    meta["seed"] = 4  # it has a copy
    assert K.meta == {"seed": 3}
    assert KernelEstimate([(factor, factor)]).meta == {}
    small, large = (StoredFactor(sp.csr_array(np.eye(n))) for n in (3, 4))
    for pairs, options in (
        ([], {}),
        ([(small, large)], {}),
        ([(small, small)], {"sign": 0}),
        ([(small, small)], {"symmetrize": None}),
        ([(small, small)], {"node_ids": grfpp.Graph(np.eye(4)).names}),
        ([(small, small)], {"deflation": Deflation(np.ones((5, 1)), np.ones(1))}),
    ):
        with pytest.raises(InputError):
            KernelEstimate(pairs, **options)


def test_matrices_multiply_to_the_estimate(K):
    product, matrices = np.eye(K.n_nodes), K.matrices()
    for matrix in matrices:
        assert isinstance(matrix, sp.csr_array)
        product = product @ matrix.toarray().astype(np.float64)
    assert_close(product, multiplied_out(K))
    assert len(matrices) == 2 * K.degree
    entries = (1 + K.symmetrized) * sum(factor.nnz for pair in K.factors for factor in pair)
    if K.deflation is None:
        assert sum(matrix.nnz for matrix in matrices) == entries


@pytest.mark.parametrize("name", [name for name in SOURCES if "symmetrised" in name])
def test_symmetrised_estimates_are_symmetric_to_the_last_bit(name):
    K = SOURCES[name]()
    whole = K.toarray()
    assert K.T is K and K.H is K
    assert_array_equal(whole, whole.T)
    assert all(K.entry(i, j) == K.entry(j, i) for i in range(K.n_nodes) for j in range(0, i, 5))
    factors = [tuple(map(StoredFactor, pair)) for pair in K.factors]
    plain = KernelEstimate(factors, sign=K.sign, deflation=K.deflation)
    assert (plain.toarray() != whole).any()  # there was something to do
    assert_array_equal(whole, (plain.toarray() + plain.toarray().T) / 2)
    assert_close(K.diagonal(), plain.diagonal())


# --- option I: sparse features -------------------------------------------------------------------


def test_features_multiply_to_the_estimate(K):
    X, Y = K.features()
    assert isinstance(X, sp.csr_array) and isinstance(Y, sp.csr_array)
    n_columns = (1 + K.symmetrized) * K.n_nodes
    if K.deflation is not None:
        n_columns += (3 + K.symmetrized) * K.deflation.n_vectors
    assert X.shape == Y.shape == (K.n_nodes, n_columns)
    rtol = 1e-6 if X.dtype == np.float32 else 1e-10
    assert_close((X @ Y.T).toarray(), multiplied_out(K), rtol)


def test_features_are_the_halves_of_the_chain():
    plain, K = (sampled(karate(), 3, symmetrize=symmetrize) for symmetrize in (False, True))
    (a, b), (c, d), (e, f) = [tuple(m.toarray() for m in pair) for pair in plain.factors]
    left, right = a @ b.T @ c, f @ e.T @ d
    both = [np.hstack(halves) / np.sqrt(2) for halves in ((left, right), (right, left))]
    for estimate_, wanted in ((plain, (left, right)), (K, both)):
        for found, side, half in zip(estimate_.features(), ("left", "right"), wanted, strict=True):
            assert_close(found.toarray(), half)
            assert_array_equal(estimate_.feature_side(side).toarray(), found.toarray())


# --- option II: projected features ---------------------------------------------------------------


@pytest.fixture(params=[name for name in SOURCES if "deflated" not in name])
def plain(request):
    return SOURCES[request.param]()


def gaussian(rng, n, r):
    return rng.standard_normal((n, r)) / np.sqrt(r)


def test_middle_projection_is_one_gaussian_between_the_halves(plain):
    K = plain
    G = gaussian(RNG(8), K.n_nodes, 5)
    X, Y = K.project(5, seed=8)
    assert X.shape == Y.shape == (K.n_nodes, 5)
    assert X.dtype == Y.dtype == np.float64
    first, second = (half.to_csr().toarray().astype(np.float64) for half in K.chain.halves())
    rtol = 1e-6 if K.factors[0][0].dtype == np.float32 else 1e-10
    if K.symmetrized:  # three columns in one order, two in the other, with equal weights
        assert_close(X[:, :3], K.sign * np.sqrt(5 / 6) * first @ G[:, :3], rtol)
        assert_close(Y[:, :3], np.sqrt(5 / 6) * second @ G[:, :3], rtol)
        assert_close(X[:, 3:], K.sign * np.sqrt(5 / 4) * second @ G[:, 3:], rtol)
        assert_close(Y[:, 3:], np.sqrt(5 / 4) * first @ G[:, 3:], rtol)
        return
    assert_close(X, K.sign * first @ G, rtol)
    assert_close(Y, second @ G, rtol)


def test_pair_projections_are_one_gaussian_between_the_factors_of_each_pair(plain):
    K, rng = plain, RNG(8)
    before = np.eye(K.n_nodes) * K.sign
    for left, right in K.factors:
        G = gaussian(rng, K.n_nodes, 5)
        x, y = before @ (left.toarray() @ G), right.toarray() @ G
        before = x @ y.T
    wanted = before
    if K.symmetrized:
        wanted = 5 / 6 * x[:, :3] @ y[:, :3].T + 5 / 4 * y[:, 3:] @ x[:, 3:].T
    X, Y = K.project(5, seed=8, where="pairs")
    assert X.shape == Y.shape == (K.n_nodes, 5)
    assert_close(X @ Y.T, wanted)


@pytest.mark.parametrize("name", [name for name in SOURCES if "deflated" in name])
def test_projections_of_deflated_estimates_begin_with_eigenvectors(name):
    K = SOURCES[name]()
    U, g, r = K.deflation.vectors, K.deflation.values, K.deflation.n_vectors
    P = np.eye(K.n_nodes) - U @ U.T
    X, Y = K.project(2 * r + 3, seed=4)
    assert X.shape == Y.shape == (K.n_nodes, 2 * r + 3)
    assert_close(X[:, :r] @ Y[:, :r].T, (U * g) @ U.T)
    assert_close(np.abs(X[:, :r]), np.abs(Y[:, :r]))  # both sides are alike but for the sign
    G = P @ gaussian(RNG(4), K.n_nodes, r + 3)
    x, y = (P @ half.to_csr().toarray() @ G for half in K.chain.halves())
    if K.symmetrized:
        n = (r + 4) // 2
        wanted = x[:, :n] @ y[:, :n].T / n + y[:, n:] @ x[:, n:].T / (r + 3 - n)
        wanted *= (r + 3) / 2
    else:
        wanted = x @ y.T
    assert_close(X[:, r:] @ Y[:, r:].T, K.sign * wanted)


@pytest.mark.parametrize("name", [name for name in SOURCES if "deflated" in name])
def test_projections_of_deflated_estimates_in_less_room(name):
    """The first half of the columns is exact, the others hold the rest."""
    K = SOURCES[name]()
    U, g = K.deflation.vectors, K.deflation.values
    X, Y = K.project(3, seed=4)
    assert_close(X[:, :1] @ Y[:, :1].T, g[0] * np.outer(U[:, 0], U[:, 0]))
    assert np.abs(U[:, 0] @ X[:, 1:]).max() < 1e-10
    assert np.abs(U[:, 1] @ X[:, 1:]).min() > 1e-3
    assert K.project(1, seed=4)[0].shape == (K.n_nodes, 1)
    with pytest.raises(InputError) as caught:
        K.project(4, where="pairs")
    assert caught.value.argument == "where"


# --- parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_blocks", [False, True])
def test_parts(monkeypatch, K, in_blocks):
    if in_blocks:
        monkeypatch.setattr(chain, "_BLOCK_ENTRIES", 100)
        monkeypatch.setattr(estimate, "_BLOCK_COLUMNS", 3)
    whole, n = multiplied_out(K), K.n_nodes
    for nodes in ([0], [n - 1, 0, n - 1], range(n), np.array([0], dtype=np.uint16)):
        dense, sparse = K.rows(nodes), K.rows(nodes, sparse=True)
        assert isinstance(dense, np.ndarray) and isinstance(sparse, sp.csr_array)
        assert dense.dtype == sparse.dtype == np.float64
        assert_close(dense, whole[np.asarray(nodes)])
        assert_close(sparse.toarray(), whole[np.asarray(nodes)])
    assert_close(K.rows(0), whole[:1])
    for i, j in RNG(0).integers(0, n, (12, 2)).tolist():
        entry = K.entry(i, j)
        assert isinstance(entry, float)
        assert entry == pytest.approx(whole[i, j], rel=1e-10, abs=1e-12)
    assert K.diagonal().dtype == np.float64
    assert_close(K.diagonal(), whole.diagonal())
    assert_close(K.toarray(), whole)


NO_NODES = [34, -1, [0, 34], np.array([2**40]), 0.0, [1.5], "a", None, [True], [[1, 2]]]
CLUB = sampled(karate(), 1)
test_what_cannot_be_asked = refused(
    nodes=[
        *(partial(CLUB.rows, bad, sparse=sparse) for bad in NO_NODES for sparse in (False, True)),
        *(partial(CLUB.entry, 0, bad) for bad in NO_NODES),
    ],
    n_components=[partial(CLUB.project, bad) for bad in (0, -1, 1.5, True, "8", None)],
    where=partial(CLUB.project, 4, where="end"),
)


def test_what_does_not_fit_is_refused(monkeypatch):
    K, deflated = sampled(karate(), 2), sampled(karate(), 2, deflate=20)
    K.rows([0])  # makes the transposes
    only(monkeypatch, 40_000)  # three quarters may be taken
    with pytest.raises(InputError, match="the low rank of 20 eigenvectors needs"):
        deflated.diagonal()
    with pytest.raises(InputError, match=r"a dense matrix of 34 x 34 numbers needs \d+ bytes"):
        K.toarray()
    with pytest.raises(InputError, match="111 dense rows needs 30192 bytes"):
        K.rows([0] * 111)
    with pytest.raises(InputError, match="a product with 34 x 40 numbers"):
        K @ np.ones((34, 40))
    with pytest.raises(TypeError) as caught:  # scipy wraps what goes wrong with sparse matrices
        K @ sp.csr_array((34, 111))
    assert "the dense form of the right side needs 30192 bytes" in str(caught.value.__cause__)
    assert K.rows(range(8), sparse=True).shape == (8, 34)
    assert K.rows(range(7)).shape == (7, 34)
    assert (K @ np.ones((34, 20))).shape == (34, 20)
    monkeypatch.setattr(chain, "_PILOT_ROWS", 4)
    with pytest.raises(InputError, match="sparse features of 34 nodes at degree 2"):
        K.features()
    only(monkeypatch, 10_000)
    with pytest.raises(InputError, match="features of 64 components for 34 nodes"):
        K.project(64)


def test_use_from_several_threads_at_once():
    K = sampled(directed_graph(), 2)
    whole, failures = multiplied_out(K), []

    def use():
        try:
            assert_close(K.rows(range(10)), whole)
            assert_close(K.T @ np.eye(10), whole.T)
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=use) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


DIFFUSION = grfpp.Diffusion(1.0)


def test_measured_once_and_only_when_asked_for():
    calls = []

    def measure():
        calls.append(1)
        return dict.fromkeys(MEASURED, 0.5)

    meta = EstimateMeta({"seed": 3}, measure)
    assert meta["seed"] == 3 and "other" not in meta and not calls
    assert meta.get("relative_error") == meta["off_diagonal_error_std"] == 0.5
    assert len(calls) == 1
    assert json.loads(json.dumps(meta))["relative_error"] == 0.5
    meta = EstimateMeta({}, lambda: None)  # what cannot be measured is not there
    assert "relative_error" not in meta and meta.get("relative_error", 7) == 7
    with pytest.raises(KeyError):
        meta["relative_error"]


@pytest.mark.parametrize("again", [lambda K: pickle.loads(pickle.dumps(K)), copy.copy])
def test_copies_measure_their_error_too(again):
    K = again(grfpp.sample(karate(), DIFFUSION, seed=0))
    wanted = grfpp.relative_error(K, DIFFUSION, karate())
    assert K.meta["relative_error"] == pytest.approx(wanted, rel=1e-3)
    assert K.entry(0, 1, return_std=True)[1] > 0


def test_estimates_are_freed_at_once():
    K = grfpp.sample(karate(), DIFFUSION, seed=0)
    assert K.meta["relative_error"] > 0
    gone = weakref.ref(K)
    gc.disable()
    try:
        del K
        assert gone() is None
    finally:
        gc.enable()


def test_a_transpose_is_measured_for_itself():
    W = grfpp.Graph([[0, 1, 1], [0, 0, 1], [0, 0, 0]], directed=True)
    K = grfpp.sample(W, DIFFUSION, seed=0, n_walks=1, termination="fixed:6", walks="independent")
    assert K.T.meta["relative_error"] == pytest.approx(K.meta["relative_error"], rel=1e-6)


def test_an_estimate_names_its_kernel_and_its_error_once_known():
    W = karate()
    K = grfpp.sample(W, grfpp.Diffusion(1.0), seed=0)
    assert repr(K) == repr(K.T) == "KernelEstimate(n_nodes=34, degree=2, kernel=Diffusion(lam=1.0))"
    error = K.meta["relative_error"]
    assert repr(K).endswith(f"kernel=Diffusion(lam=1.0), relative_error={error:.2g})")
    assert repr(KernelEstimate([(K._factors[0], K._factors[1])])) == (
        "KernelEstimate(n_nodes=34, degree=1)"
    )


@pytest.mark.parametrize("collect", [dict, lambda meta: {**meta}, lambda meta: dict(meta.items())])
def test_all_of_the_metadata_has_the_error(collect):
    W = karate()
    K = grfpp.sample(W, grfpp.Diffusion(1.0), seed=0)
    assert "relative_error" not in K.meta.copy() and "relative_error" not in K.T.meta.copy()
    assert collect(K.meta)["relative_error"] == K.meta["relative_error"]
    assert "relative_error" in list(K.meta) and "relative_error" in json.loads(json.dumps(K.meta))


def test_progress_is_seen_where_stderr_is_no_terminal(capsys):
    W = karate()
    grfpp.sample(W, grfpp.Diffusion(1.0), seed=0, progress=True)
    assert capsys.readouterr().err == "grfpp: walking, 100% of 136 rows\n"
    grfpp.sample(W, grfpp.Diffusion(1.0), seed=0)
    assert not capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:the kernel's values exceed")
def test_products_that_exceed_float64_are_refused_and_numbers_that_were_infinite_are_not():
    K = grfpp.sample(karate(), grfpp.Diffusion(1000.0), seed=0)
    for product in (lambda: K @ np.ones(34), lambda: K @ np.ones((34, 2)), K.toarray):
        with pytest.raises(InputError, match="exceed the range of float64") as error:
            product()
        assert error.value.advice == "scale the graph down"
    v = np.ones(34)
    v[0] = np.inf
    assert np.isinf(grfpp.sample(karate(), grfpp.Diffusion(1.0), seed=0) @ v).any()
