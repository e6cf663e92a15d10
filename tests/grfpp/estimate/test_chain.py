"""Products of factors, plain, transposed and symmetrised, against dense algebra."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from little_memory import only
from numpy.testing import assert_allclose, assert_array_equal

from grfpp import InputError
from grfpp.estimate import chain
from grfpp.estimate.chain import Chain, Link, SignedChain, stitched
from grfpp.estimate.factor import StoredFactor

N = 13


def factors(n, seed=0, size=N):
    rng = np.random.default_rng(seed)
    matrices = [sp.random_array((size, size), density=0.3, rng=rng, format="csr") for _ in range(n)]
    return [StoredFactor(matrix) for matrix in matrices]


def dense(chain):
    product = np.eye(chain.n_nodes)
    for factor, transposed in chain.links:
        matrix = factor.to_csr().toarray()
        product = product @ (matrix.T if transposed else matrix)
    return product


@st.composite
def chains(draw):
    turns = draw(st.lists(st.booleans(), min_size=1, max_size=6))
    made = factors(len(turns), seed=draw(st.integers(0, 5)))
    links = [Link(*each) for each in zip(made, turns, strict=True)]
    return Chain(tuple(links), draw(st.sampled_from([1, 2, -1])))


@settings(max_examples=40, deadline=None)
@given(chains(), st.lists(st.integers(0, N - 1), max_size=6))
def test_a_chain_is_the_product_of_its_links(chain, nodes):
    wanted = dense(chain)
    close = {"rtol": 1e-10, "atol": 1e-12}
    block = np.random.default_rng(1).normal(size=(N, 4))
    assert_allclose(chain @ block, wanted @ block, **close)
    assert_allclose(chain.T @ block, wanted.T @ block, **close)
    assert_allclose(chain.rows(nodes).toarray(), wanted[nodes], **close)
    assert_allclose(chain.to_csr().toarray(), wanted, **close)
    few = sp.csr_array(block[:, :2].T * (np.arange(N) % 3 == 0))
    assert_allclose(chain.times_rows(few).toarray(), few.toarray() @ wanted, **close)
    if len(chain.links) > 1:
        X, Y = chain.halves()
        assert_allclose(dense(X) @ dense(Y).T, wanted, **close)
        assert_allclose(chain.diagonal(), wanted.diagonal(), **close)


def test_the_two_orders():
    a, b, c, d = made = factors(4)
    assert [link.transposed for link in Chain.stitched(made).links] == [False, True, False, True]
    assert Chain.by_rows(made).links == (Link(a), Link(b), Link(c), Link(d))
    assert Chain.by_rows([a, b]).T.links == (Link(b, True), Link(a, True))
    assert stitched([1, 2, 3], lambda each: -each) == [1, -2, 3]


def test_factors_are_asked_for_reached_rows_only(monkeypatch):
    asked = []
    original = StoredFactor.rows

    def counting(self, nodes, n_jobs, *, transposed):
        asked.append(len(nodes))
        return original(self, nodes, n_jobs, transposed=transposed)

    monkeypatch.setattr(StoredFactor, "rows", counting)
    shift = StoredFactor(sp.csr_array(np.roll(np.eye(N), 1, axis=1)))
    found = Chain.by_rows([shift] * 4).rows([2, 5])
    assert asked == [2, 2, 2, 2]
    assert_array_equal(found.indices, [6, 9])


def test_projections():
    made = Chain.stitched(factors(4))
    gaussians = iter(np.random.default_rng(0).normal(size=(3, N, 5)))
    kept = np.random.default_rng(0).normal(size=(3, N, 5))
    a, b, c, d = (matrix.toarray() for matrix in made.matrices())
    X, Y = made.project(lambda: next(gaussians))
    assert_allclose(X, a @ b @ kept[0])
    assert_allclose(Y, d.T @ c.T @ kept[0])
    X, Y = made.project_pairs(lambda: next(gaussians))
    assert_allclose(X @ Y.T, a @ kept[1] @ kept[1].T @ b @ c @ kept[2] @ kept[2].T @ d, rtol=1e-10)
    assert X.shape == Y.shape == (N, 5)


def test_products_that_do_not_fit_are_refused(monkeypatch):
    made = Chain.stitched(factors(2, size=600))
    made.rows([0])  # makes the transposes
    only(monkeypatch, 2_000_000)
    with pytest.raises(InputError, match="features of 600 nodes"):
        made.to_csr()
    only(monkeypatch, 10**7)
    monkeypatch.setattr(chain, "_BLOCK_ENTRIES", 1000)
    in_blocks = made.to_csr()
    monkeypatch.setattr(chain, "_PILOT_ROWS", 600)  # small ones are not asked about
    whole = made.to_csr()
    for part in ("indptr", "indices", "data"):
        assert_array_equal(getattr(in_blocks, part), getattr(whole, part))


def test_matrices_that_do_not_fit_are_refused_all_at_once(monkeypatch):
    made = Chain.stitched(factors(8, size=600))
    only(monkeypatch, 10_000)
    with pytest.raises(InputError, match="8 factors of 600 nodes as matrices needs"):
        made.matrices()


SIZE = 11


@pytest.fixture(params=[2, 4, 6], ids=lambda n: f"{n} factors")
def stitched_chain(request):
    rng = np.random.default_rng(0)
    matrices = [
        sp.random_array((SIZE, SIZE), density=0.3, rng=rng, format="csr")
        for _ in range(request.param)
    ]
    return Chain.stitched([StoredFactor(matrix) for matrix in matrices], 1)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("symmetrized", [False, True])
def test_all_ways_to_ask_agree(stitched_chain, sign, symmetrized):
    made = SignedChain(stitched_chain, sign, symmetrized)
    plain = sign * (stitched_chain @ np.eye(SIZE))
    wanted = (plain + plain.T) / 2 if symmetrized else plain
    close = {"rtol": 1e-10, "atol": 1e-12}
    assert_allclose(made @ np.eye(SIZE), wanted, **close)
    assert_allclose(made.T @ np.eye(SIZE), wanted.T, **close)
    between = np.diag(np.arange(1.0, SIZE + 1))
    X, Y = (half @ np.eye(SIZE) for half in stitched_chain.halves())
    inner = sign * X @ between @ Y.T
    inner = (inner + inner.T) / 2 if symmetrized else inner
    assert_allclose(made.times(np.eye(SIZE), lambda block: between @ block), inner, **close)
    for found, half in zip(made.halves_times(np.eye(SIZE)), (sign * X, Y), strict=True):
        assert_allclose(found, half, **close)
    assert_allclose(made.plain @ np.eye(SIZE), plain, **close)
    assert (made.T is made) is symmetrized
    assert_allclose(made.rows(np.array([3, 0, 3])).toarray(), wanted[[3, 0, 3]], **close)
    assert_allclose([[made.entry(i, j) for j in range(SIZE)] for i in range(SIZE)], wanted, **close)
    assert_allclose(made.diagonal(), wanted.diagonal(), **close)
    X, Y = made.features()
    assert_allclose((X @ Y.T).toarray(), wanted, **close)
    product = np.eye(SIZE)
    for matrix in made.matrices():
        product = product @ matrix.toarray()
    assert_allclose(product, wanted, **close)


@pytest.mark.parametrize("where", ["middle", "pairs"])
@pytest.mark.parametrize("width", [2, 5])
def test_both_orders_have_one_half_of_the_weight(stitched_chain, where, width):
    draws = np.random.default_rng(1).normal(size=(SIZE, width))
    plain = SignedChain(stitched_chain, -1).project(lambda: draws, where)
    x, y = (part / np.sqrt(width) for part in plain)
    X, Y = SignedChain(stitched_chain, -1, symmetrized=True).project(lambda: draws, where)
    n_first = width - width // 2
    first, others = (np.s_[:, :n_first], np.s_[:, n_first:])
    wanted = (
        width
        / 2
        * (
            x[first] @ y[first].T * width / n_first
            + y[others] @ x[others].T * width / (width - n_first)
        )
    )
    assert_allclose(X @ Y.T, wanted, rtol=1e-10)
