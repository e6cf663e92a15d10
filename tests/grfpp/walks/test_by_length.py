"""Deposits by length against the definition: the engine with the modulation e_k; means W^k."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.linalg import matrix_power
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import GRAPHS, LAWS, QUICK, graphs, irregular, karate, laws, weighted
from statistics_helpers import copies

from grfpp import FixedLength, Geometric, Graph, InputError, Matched, WalkOptions
from grfpp.walks import WalkPlan, sample_factor
from grfpp.walks.batch import GraphBatch
from grfpp.walks.by_length import (
    MAX_LENGTHS,
    BatchLengths,
    LengthWalker,
    plan_by_length,
    sample_by_length,
    with_exact_head,
)
from grfpp.walks.plan import Budget
from grfpp.walks.reference import reference_rows

N_LENGTHS = 6
#: Independent walks, and pools by their expected number of edges.
WALKS = ["independent", 0.5, 3, 40]
PARTS = ("indptr", "columns", "ends", "lengths", "amounts")


def plan_of(graph, f, walks, n_walks=7, seed=3):
    lengths = LAWS["geometric"]
    if walks != "independent":
        lengths, n_walks = Budget.for_learning(Matched(walks), len(f)), n_walks / 7
    return WalkPlan.of(graph, np.asarray(f, float), lengths, n_walks, seed, 1)


def assert_same_factor(found, wanted):
    assert_array_equal(found.indptr, wanted.indptr)
    assert_array_equal(found.indices, wanted.indices)
    assert_allclose(found.data, wanted.data, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("walks", WALKS)
@pytest.mark.parametrize("name", GRAPHS)
def test_every_modulation_gives_the_engines_factor(name, walks):
    graph = GRAPHS[name]
    deposits = sample_by_length(plan_of(graph, np.ones(N_LENGTHS), walks))
    assert deposits.n_lengths == N_LENGTHS
    for f in (*np.eye(N_LENGTHS), np.random.default_rng(0).normal(size=N_LENGTHS)):
        assert_same_factor(deposits.factor(f), sample_factor(plan_of(graph, f, walks)))


@given(
    graph=graphs(),
    lengths=st.one_of(laws(), st.floats(0.2, 30)),
    n_walks=st.integers(1, 6),
    seed=st.integers(0, 2**64),
)
@QUICK
def test_the_reference_agrees(graph, lengths, n_walks, seed):
    f = np.array([1.0, -0.5, 0.25, 2.0])
    if isinstance(lengths, float):
        lengths = Budget.for_learning(Matched(lengths), len(f))
    plan = WalkPlan.of(graph, f, lengths, n_walks, seed)
    deposits = sample_by_length(plan)
    found = deposits.factor(f[: deposits.n_lengths]).toarray()
    assert_allclose(found, reference_rows(plan, range(graph.n_nodes)), rtol=1e-11, atol=1e-13)


def test_lengths_rise_within_an_entry():
    deposits = sample_by_length(plan_of(GRAPHS["weighted, sym"], np.ones(12), 60))
    begins = np.append(0, deposits.ends[:-1])
    for begin, end in zip(begins, deposits.ends, strict=True):
        assert (np.diff(deposits.lengths[begin:end]) > 0).all()


@pytest.mark.parametrize("walks", ["independent", 9])
def test_same_bits_for_any_number_of_threads_and_any_buffers(monkeypatch, walks):
    W = copies(GRAPHS["weighted, sym"].adjacency, 200)
    plan = plan_of(W, np.ones(12), walks, n_walks=140)
    wanted = sample_by_length(plan, n_jobs=1)
    more_threads = sample_by_length(plan, n_jobs=3)
    monkeypatch.setattr(LengthWalker.__init__, "__defaults__", (1,))
    for found in (more_threads, sample_by_length(plan)):
        for name in PARTS:
            assert_array_equal(getattr(found, name), getattr(wanted, name))


def test_refusals():
    with pytest.raises(InputError, match="must hold 4 numbers") as info:
        sample_by_length(plan_of(karate(), np.ones(4), 3)).factor(np.ones(5))
    assert info.value.argument == "modulation"
    large = Graph(np.array([[0, 1e200], [1e200, 0]]))
    for walks in ("independent", 9):
        with pytest.raises(InputError, match="overflow"):
            sample_by_length(plan_of(large, np.ones(5), walks))
    budget = Budget.by_importance(np.ones(MAX_LENGTHS), 9.0)
    with pytest.raises(InputError, match="lengths are kept apart"):
        sample_by_length(WalkPlan.of(GRAPHS["one node"], np.ones(9), budget, 1, 0))


# --- plans ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("walks", ["pooled", "independent"])
@pytest.mark.parametrize(("law", "longest"), [(Geometric(0.1), 11), (FixedLength(5), 5)])
def test_lengths_follow_another_law_and_by_default_a_pool_is_for_all(walks, law, longest):
    plan = plan_by_length(karate(), 12, WalkOptions(walks=walks, termination=law, n_walks=3))
    assert plan.is_pooled == (walks == "pooled")
    assert plan.lengths.max_length == longest
    assert_allclose(plan.lengths.survival, law.survival(np.arange(longest + 1)))
    plan = plan_by_length(karate(), 12, WalkOptions(n_walks=3, seed=7))
    assert plan.is_pooled
    assert (plan.lengths.max_length, plan.n_walks, plan.seed) == (11, 3, 7)
    assert plan.expected_steps == pytest.approx(27)


# --- an exact head -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("n_exact", [0, 1, 3])
def test_an_exact_head_puts_powers_before_the_sampled_lengths(name, n_exact):
    graph = GRAPHS[name]
    W, deposits = graph.adjacency.toarray(), sample_by_length(plan_of(graph, np.ones(4), 3))
    found = with_exact_head(deposits, graph, n_exact)
    assert found.n_lengths == 4 + n_exact
    for k, unit in enumerate(np.eye(found.n_lengths)):
        if k < n_exact:
            wanted = matrix_power(W, k)
        else:
            rest = deposits.factor(np.eye(4)[k - n_exact]).toarray()
            wanted = matrix_power(W, n_exact) @ rest
        assert_allclose(found.factor(unit).toarray(), wanted, rtol=1e-12, atol=1e-14)
    entries = found.factor(np.ones(found.n_lengths)).tocoo().coords
    assert len(set(zip(*entries, strict=True))) == len(found.columns)


# --- many graphs ---------------------------------------------------------------------------------

BATCH = [irregular(), weighted(), irregular()]


def powers(sources, part, **options):
    walks = BatchLengths.of(GraphBatch.of(sources), 3, WalkOptions(**{"seed": 1, **options}))
    return [each.toarray() for each in walks.powers(part)]


@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_means_of_a_batch_are_the_powers(walks):
    W = GraphBatch.of(BATCH).graph.normalized("sym").adjacency.toarray()
    options = {"walks": walks, "n_walks": 2, "termination": "geometric:0.3"}
    samples = np.array([powers(BATCH, range(3), seed=seed, **options) for seed in range(400)])
    wanted = np.array([matrix_power(W, k) for k in (1, 2, 3)])
    spread = samples.std(axis=0, ddof=1) / 20
    varies = spread > 1e-12
    assert varies.any()
    assert_allclose(samples.mean(axis=0)[~varies], wanted[~varies], atol=1e-9)
    z = (samples.mean(axis=0) - wanted)[varies] / spread[varies]
    assert np.sqrt(np.mean(z**2)) < 1.3


@pytest.mark.parametrize("walks", ["pooled", "independent"])
def test_a_graph_of_a_batch_is_walked_as_if_it_were_alone(walks):
    options = {"walks": walks, "n_walks": 2, "termination": "geometric:0.3"}
    together = powers(BATCH, range(3), **options)
    for number, start in ((0, 0), (1, len(BATCH[0]))):
        block = slice(start, start + len(BATCH[number]))
        alone = powers(BATCH[number : number + 1], range(1), **options)
        part = powers(BATCH, range(number, number + 1), **options)
        for a, b, c in zip(alone, part, together, strict=True):
            assert_array_equal(b, a)
            assert_array_equal(c[block, block], a)
    with pytest.raises(InputError) as info:  # a law that ends too early
        powers(BATCH, range(1), termination="fixed:2")
    assert info.value.argument == "n_lengths"
