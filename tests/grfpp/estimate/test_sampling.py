import json
import threading

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_graphs import directed, karate

from grfpp import (
    Cosine,
    Diffusion,
    FixedLength,
    Geometric,
    Graph,
    InputError,
    Kernel,
    Poisson,
    TaylorKernel,
    sample,
)
from grfpp.termination import termination_from_dict
from grfpp.walks import WalkPlan, sample_factor, sampling
from grfpp.walks.convergence import modulation_table

KERNEL = Diffusion(0.7)
LAW = Geometric(0.25)
DIRECTED = Graph(directed()).normalized("rw", 0.8)


def sampled(graph=None, degree=2, **options):
    few = {"n_walks": 5, "termination": LAW, "check_error": False}
    options = {**few, "seed": 7, "walks": "independent", **options}
    return sample(karate() if graph is None else graph, KERNEL, degree, **options)


def matrices(K):
    return [matrix for pair in K.factors for matrix in pair]


def assert_same_bits(found, wanted):
    for a, b in zip(matrices(found), matrices(wanted), strict=True):
        for part in ("indptr", "indices", "data"):
            assert_array_equal(getattr(a, part), getattr(b, part))


def our_threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("grfpp")]


# --- what is sampled -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graph", "degree"), [*((karate(), degree) for degree in (1, 2, 3)), (DIRECTED, 2)], ids=str
)
def test_every_factor_has_its_own_streams_and_right_ones_walk_the_transpose(graph, degree):
    K, f = sampled(graph, degree), modulation_table(KERNEL, degree, LAW)
    sides = graph, Graph(graph.adjacency.T)
    assert K.degree == degree
    for number, found in enumerate(matrices(K)):
        plan = WalkPlan.of(sides[number % 2], f, LAW, 5, seed=7).with_factor(number)
        assert_array_equal(found.toarray(), sample_factor(plan).toarray())
    assert len({matrix.data.tobytes() for matrix in matrices(K)}) == 2 * degree


def test_types_of_stored_factors():
    for dtype in (np.float32, "float32", np.float64, float, np.dtype("f8")):
        K = sampled(dtype=dtype)
        assert {matrix.dtype for matrix in matrices(K)} == {np.dtype(dtype)}
        assert K.dtype == np.float64
        assert_allclose(K.toarray(), sampled().toarray(), rtol=1e-5, atol=1e-6)


# --- reused walks --------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize(("graph", "n_factors"), [(karate(), 1), (DIRECTED, 2)])
def test_reused_walks_are_one_factor_or_one_for_each_side(degree, graph, n_factors):
    K = sampled(graph, degree, reuse_walks=True)
    assert K.degree == degree
    assert len({id(matrix) for matrix in matrices(K)}) == n_factors
    wanted = matrices(sampled(graph, degree))[:n_factors]
    for left, right in K.factors:
        assert_array_equal(left.toarray(), wanted[0].toarray())
        assert_array_equal(right.toarray(), wanted[-1].toarray())


def test_one_seed_one_result():
    assert_same_bits(sampled(seed=3), sampled(seed=np.int64(3)))
    assert (sampled(seed=3).toarray() != sampled(seed=4).toarray()).any()
    first, second = sampled(seed=None), sampled(seed=None)  # drawn and recorded
    assert first.meta["seed"] != second.meta["seed"]
    assert_same_bits(sampled(seed=first.meta["seed"]), first)


# --- what made the estimate ----------------------------------------------------------------------


def test_meta_suffices_to_sample_again():
    K = sample(karate(), Cosine(0.5), 3, n_walks=4, termination=Poisson(40.0), seed=11)
    meta = json.loads(json.dumps(K.meta))
    assert meta == K.meta
    again = sample(
        karate(),
        Kernel.from_dict(meta["kernel"]),
        meta["degree"],
        meta["n_walks"],
        termination_from_dict(meta["termination"]),
        meta["seed"],
        reuse_walks=meta["reuse_walks"],
        walks=meta["walks"],
    )
    assert_same_bits(again, K)


def test_kernels_by_function_are_described_in_words():
    kernel = TaylorKernel(lambda k: 2.0**-k, radius=2.0)
    K = sample(karate(0.5), kernel, 1, n_walks=1, termination=Geometric(0.5), seed=0)
    assert K.meta["kernel"] == repr(kernel)
    json.dumps(K.meta)


@pytest.mark.parametrize(("reuse", "n_factors"), [(False, 4), (True, 1)])
def test_steps_per_node_are_those_of_all_factors(reuse, n_factors):
    law = FixedLength(12)
    K = sampled(n_walks=6, termination=law, reuse_walks=reuse)
    assert K.meta["steps_per_node"] == n_factors * 6 * 12


def test_directed_graphs_are_not_symmetrised():
    assert sampled(DIRECTED).meta["symmetrize"] is False
    # It is the weights that count, not how they came about.
    for graph in (DIRECTED, Graph(nx.star_graph(3)).normalized("rw")):
        with pytest.raises(InputError) as caught:
            sampled(graph, symmetrize=True)
        assert caught.value.argument == "symmetrize"
    assert sampled(Graph(nx.cycle_graph(5)).normalized("rw"), symmetrize=True).symmetrized


# --- progress ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_progress_counts_the_rows_of_all_factors(monkeypatch, n_jobs):
    monkeypatch.setattr(sampling, "TASK_STEPS", 150)
    calls = []
    sampled(degree=2, n_jobs=n_jobs, progress=lambda done, n: calls.append((done, n)))
    done = [call[0] for call in calls]
    assert {call[1] for call in calls} == {4 * 34}
    assert done == sorted(set(done)) and done[-1] == 4 * 34
    assert {34, 68, 102} < set(done)


def test_a_bar_is_drawn_on_the_terminals_error_stream(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes any stream for a terminal
    monkeypatch.setenv("TERM", "xterm")
    sampled(progress=True)
    output = capsys.readouterr()
    assert output.out == "" and "walking" in output.err


@pytest.mark.parametrize("n_jobs", [1, 4])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("when", [1, 5, 12])
def test_an_exception_in_the_callback_interrupts_and_leaves_no_threads(
    monkeypatch, n_jobs, error, when
):
    monkeypatch.setattr(sampling, "TASK_STEPS", 150)
    calls = []

    def stop(done, n):
        calls.append(done)
        if len(calls) == when:
            raise error("enough")

    with pytest.raises(error, match="enough"):
        sampled(n_jobs=n_jobs, progress=stop)
    assert len(calls) == when
    assert our_threads() == []


@pytest.mark.parametrize(
    "options", [{"kernel": None}, {"kernel": Diffusion}, {"W": np.ones((2, 3))}, {"progress": "x"}]
)
def test_refusals(options):
    with pytest.raises(InputError):
        sample(**{"W": karate(), "kernel": KERNEL, **options})
