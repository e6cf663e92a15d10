"""Products of factors and transposed factors, against dense algebra."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from little_memory import only
from numpy.testing import assert_allclose, assert_array_equal

from grfpp import InputError
from grfpp.estimate import chain
from grfpp.estimate.chain import Chain, Link, stitched
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
    made = Chain.stitched(factors(8, size=600))  # refused all at once
    only(monkeypatch, 10_000)
    with pytest.raises(InputError, match="8 factors of 600 nodes as matrices needs"):
        made.matrices()
