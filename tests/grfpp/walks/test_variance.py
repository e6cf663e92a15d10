import re
import warnings

import networkx as nx
import numpy as np
import pytest
from checked_laws import INVERSE, accepted, check, plan_of
from independent_walks import sample
from numpy.testing import assert_allclose
from small_graphs import GRAPHS, karate, weighted

import grfpp
from grfpp import (
    Cosine,
    CustomLength,
    Diffusion,
    FirstStepThenGeometric,
    FixedLength,
    Geometric,
    Graph,
    InfiniteVarianceError,
    InputError,
    InversePower,
    NegativeBinomial,
    Poisson,
    PStep,
    RegularizedLaplacian,
    SquaredDiffusion,
    TaylorKernel,
    UniformLength,
    relative_error,
)
from grfpp.walks.lengths import resolvable_length
from grfpp.walks.transition import UniformSteps
from grfpp.walks.variance import growth_bound, moment_growth, variance_terms

# --- trap 2: infinite variance -------------------------------------------------------------------


@pytest.mark.parametrize("mean", [0.5, 1.0, 4.0, 9.0, 50.0])
@pytest.mark.parametrize("degree", [1, 2])
def test_poisson_lengths_are_refused_for_inverse_powers(mean, degree):
    with pytest.raises(InfiniteVarianceError) as caught:
        sample(karate(0.8), INVERSE, degree, termination=Poisson(mean), seed=0)
    message = str(caught.value)
    assert f"with Poisson(mean={mean})" in message
    named = re.search(r"Use Geometric\((0\.\d+)\)", message)
    assert named, message
    law = Geometric(float(named.group(1)))
    sample(karate(0.8), INVERSE, degree, termination=law, seed=0)
    sample(karate(0.8), INVERSE, degree, termination=Geometric(law.p_halt / 3), seed=0)


def test_the_refusal_comes_before_any_walk(monkeypatch):
    monkeypatch.setattr("grfpp.walks.sampler.sample_factor", lambda *args, **kwargs: pytest.fail())
    with pytest.raises(InfiniteVarianceError):
        sample(karate(0.8), INVERSE, termination=Poisson(4.0))


def test_warn_warns_and_goes_on():
    with pytest.warns(RuntimeWarning, match=r"variance .* infinite .* Use Geometric\(0\.2\)"):
        check(INVERSE, 1, Poisson(4.0), karate(0.8), "warn")
    with pytest.warns(RuntimeWarning, match="infinite"):
        K = sample(
            karate(0.8),
            INVERSE,
            termination=Poisson(4.0),
            on_infinite_variance="warn",
            truncate=True,
            seed=0,
        )
    assert K.n_nodes == 34


def test_ignore_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(INVERSE, 1, Poisson(4.0), karate(0.8), "ignore")
        sample(
            karate(0.8),
            INVERSE,
            termination=Poisson(4.0),
            on_infinite_variance="ignore",
            truncate=True,
        )


IGNORE = {"on_infinite_variance": "ignore"}
HOPELESS = [
    (Diffusion(20.0), 1, Geometric(0.5)),
    (PStep(40, 1.5), 1, Poisson(1.0)),
]


@pytest.mark.parametrize(("kernel", "degree", "law"), HOPELESS)
def test_a_variance_that_drowns_the_estimate_is_warned_of(kernel, degree, law):
    W = karate()
    with pytest.warns(RuntimeWarning, match="of no use") as caught:
        options = {"walks": "independent", "check_error": False}
        K = grfpp.sample(W, kernel, degree, 16, law, seed=0, **options)
    assert caught[0].filename == __file__
    floor = float(re.search(r"error of ([\d.e+]+) at least", str(caught[0].message)).group(1))
    errors = [
        relative_error(sample(W, kernel, degree, 16, law, seed=seed, **IGNORE), kernel, W)
        for seed in range(8)
    ]
    assert floor > 1
    assert np.sqrt(np.mean(np.square(errors))) > 1
    assert K.shape == (34, 34)


@pytest.mark.parametrize("action", ["raise", "warn"])
@pytest.mark.parametrize("lam", [1.0, 5.0, 10.0])
def test_a_useful_estimate_is_not_warned_of(lam, action):
    W = karate()
    kernel = Diffusion(lam)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        K = sample(W, kernel, 1, 16, Geometric(0.1), seed=0, on_infinite_variance=action)
    assert relative_error(K, kernel, W) < 1


def test_infinite_variance_is_not_hidden_by_accepting_truncation():
    with pytest.raises(InfiniteVarianceError):
        sample(karate(0.8), INVERSE, termination=Poisson(4.0), truncate=True)


@pytest.mark.parametrize("action", ["no", "", None, True])
def test_other_actions_are_refused(action):
    with pytest.raises(InputError, match="on_infinite_variance must be 'raise', 'warn' or"):
        sample(karate(0.8), INVERSE, 1, on_infinite_variance=action)


@pytest.mark.parametrize(
    ("kernel", "scale", "law", "finite"),
    [
        (Diffusion(1.0), 1.0, Poisson(4.0), True),
        (Diffusion(1.0), 1.0, Geometric(0.1), True),
        (Diffusion(1.0), 1.0, Geometric(0.9), True),
        (Diffusion(5.0), 1.0, Poisson(1.0), True),
        (SquaredDiffusion(1.0), 1.0, Geometric(0.5), True),
        # f(2k)² / τ(2k) is about 4^-k / k!² · (2k)! / mean^2k, that is mean^-2k.
        (SquaredDiffusion(1.0), 1.0, Poisson(2.0), True),
        (SquaredDiffusion(1.0), 1.0, Poisson(0.5), False),
        (INVERSE, 0.8, Geometric(0.1), True),
        # The terms are (0.64 / (1 - p))^k.
        (INVERSE, 0.8, Geometric(0.3), True),
        (INVERSE, 0.8, Geometric(0.4), False),
        (INVERSE, 0.8, Geometric(0.9), False),
        (INVERSE, 0.8, NegativeBinomial(3, 0.3), True),
        (INVERSE, 0.8, NegativeBinomial(3, 0.4), False),
        (INVERSE, 0.8, FirstStepThenGeometric(0.7), True),
        (INVERSE, 0.8, FirstStepThenGeometric(0.5), False),
        (InversePower(2, of=2), 0.8, Geometric(0.3), True),
        (InversePower(2, of=2), 0.8, Geometric(0.4), False),
        (InversePower(2, of=2), 0.8, Poisson(4.0), False),
        (RegularizedLaplacian(2, 1.0), 1.0, Geometric(0.5), True),
        (RegularizedLaplacian(2, 1.0), 1.0, Geometric(0.8), False),
        (Cosine(1.0), 0.7, Geometric(0.1), True),
        (Cosine(1.0), 0.7, Poisson(4.0), False),
        (PStep(3, 2.0), 1.0, Geometric(0.5), True),
        (PStep(3, 2.0), 1.0, Poisson(4.0), False),
    ],
    ids=str,
)
def test_which_laws_suit_which_kernels(kernel, scale, law, finite):
    # On an unweighted graph M = D^1/2 (W o W) D^1/2 has the growth scale² exactly.
    assert accepted(kernel, 1, law, karate(scale)) == finite


@pytest.mark.parametrize("scale", [0.5, 0.7, 0.9, 0.97])
@pytest.mark.parametrize("kernel", [INVERSE, InversePower(4), InversePower(2, of=2)], ids=str)
def test_the_named_law_is_always_accepted(scale, kernel):
    for law in (Poisson(3.0), Geometric(0.99)):
        try:
            check(kernel, 1, law, karate(scale))
        except InfiniteVarianceError as error:
            named = re.search(r"Use Geometric\((0\.\d+)\)", str(error))
            assert accepted(kernel, 1, Geometric(float(named.group(1))), karate(scale))
        else:
            pytest.fail(f"{law} was accepted for {kernel} at {scale}")


def test_bounded_laws_have_a_finite_variance():
    for law in (FixedLength(3), UniformLength(30), CustomLength([0.5, 0.5])):
        assert accepted(INVERSE, 1, law, karate(0.99))


@pytest.mark.parametrize("law", [Poisson(0.5), Poisson(4.0), Geometric(0.9), Geometric(0.1)])
def test_a_modulation_that_ends_has_a_finite_variance(law):
    assert accepted(PStep(2, 2.0), 1, law, karate())  # f = 2, 1
    assert accepted(PStep(6, 1.0), 3, law, karate(3.0))  # f = 1, 1
    assert accepted(TaylorKernel([3.0]), 2, law, karate())


def test_a_long_modulation_that_ends_has_a_finite_variance():
    # The square of 1 + x + ... + x^99: all hundred values of f are one.
    coefficients = np.convolve(np.ones(100), np.ones(100))
    assert accepted(TaylorKernel(coefficients.tolist()), 1, Geometric(0.01), karate())


def test_a_law_that_ends_with_the_modulation_is_enough():
    law = FirstStepThenGeometric(0.0)  # every walk takes one step
    K = sample(karate(), PStep(2, 2.0), 1, n_walks=20_000, termination=law, seed=0)
    exact = PStep(2, 2.0).exact(karate())
    assert np.linalg.norm(K.toarray() - exact) < 0.02 * np.linalg.norm(exact)
    assert not accepted(Diffusion(1.0), 1, law, karate())
    assert not accepted(Diffusion(1.0), 1, Geometric(1.0), karate())


def test_right_factors_of_directed_graphs_are_checked_too():
    # Everyone points to node 0 and to the next one. Forward all loads are 0.7; backward the walk
    # chooses among all at node 0, and the loads are 0.35 n there.
    n = 40
    matrix = np.roll(np.eye(n), 1, axis=1)
    matrix[:, 0] = 1.0
    graph = Graph(matrix).normalized("rw", 0.7)
    assert graph.spectral_radius() == pytest.approx(0.7)
    assert accepted(INVERSE, 1, Geometric(0.1), graph)
    assert not accepted(INVERSE, 1, Geometric(0.1), graph.reversed())
    for either in (graph, graph.reversed()):
        with pytest.raises(InfiniteVarianceError, match="scale the weights down"):
            sample(either, INVERSE, 1, termination=Geometric(0.1), seed=0)


def test_where_no_law_helps_the_message_says_so():
    # Unequal weights: M grows by more than one although the series converges.
    graph = Graph(weighted(12, density=0.9)).normalized("sym", 0.95)
    assert np.exp(moment_growth(UniformSteps.carrying(graph))[-1]) > 1
    with pytest.raises(InfiniteVarianceError, match="No law makes it finite: scale the weights"):
        check(INVERSE, 1, Geometric(0.01), graph)


# --- the terms themselves ------------------------------------------------------------------------


def second_moments(graph, n):
    degree = graph.out_degree
    M = graph.adjacency.toarray() ** 2 * degree[:, None]
    vector = np.ones(graph.n_nodes)
    moments = [1.0]
    for _ in range(n):
        vector = M @ vector
        moments.append(vector.mean())
    return np.array(moments)


@pytest.mark.parametrize("name", ["weighted, sym", "directed, rw", "unweighted, None"])
def test_moment_growth_is_the_mean_of_the_second_moments(name):
    found = moment_growth(UniformSteps.carrying(GRAPHS[name]))
    moments = second_moments(GRAPHS[name], len(found) - 2)
    assert_allclose(found[:-1], np.log(moments), rtol=1e-10, atol=1e-10)
    M = GRAPHS[name].adjacency.toarray() ** 2 * GRAPHS[name].out_degree[:, None]
    assert found[-1] == pytest.approx(np.log(np.abs(np.linalg.eigvals(M)).max()), rel=1e-9)


def test_growth_is_right_where_moments_come_in_turns():
    # A cycle of three: single powers of M grow by 100, 100 and 1e-5 times the cube's root.
    cycle = Graph(np.roll(np.diag([10.0, 10.0, 10**-2.5]), 1, axis=1))
    assert moment_growth(UniformSteps.carrying(cycle))[-1] == pytest.approx(np.log(10**-1) / 3)


def test_growth_is_that_of_the_fastest_component():
    blocks = np.zeros((2002, 2002))
    ring = np.arange(2000)
    blocks[ring, (ring + 1) % 2000] = blocks[(ring + 1) % 2000, ring] = 0.1
    blocks[2000, 2001] = blocks[2001, 2000] = 0.9
    assert moment_growth(UniformSteps.carrying(Graph(blocks)))[-1] == pytest.approx(2 * np.log(0.9))


def test_growth_of_unweighted_graphs_is_the_square_of_the_scale():
    assert moment_growth(UniformSteps.carrying(karate(0.8)))[-1] == pytest.approx(2 * np.log(0.8))
    assert moment_growth(UniformSteps.on(karate(0.8)))[-1] == pytest.approx(2 * np.log(0.8))


def test_no_walk_grows_without_edges():
    assert list(moment_growth(UniformSteps.carrying(Graph(np.zeros((3, 3)))))) == [0.0, -np.inf]
    path = moment_growth(UniformSteps.carrying(Graph(np.diag([2.0, 2.0], 1))))
    assert_allclose(path[:-1], np.log([1.0, 8 / 3, 16 / 3]))
    assert path[-1] == -np.inf


@pytest.mark.parametrize("scale", [1e-160, 1e-20, 1e20, 1e160, 1e300])
def test_weights_of_any_size_can_be_measured(scale):
    plain, scaled = (
        moment_growth(UniformSteps.carrying(Graph(weighted()))),
        moment_growth(UniformSteps.carrying(Graph(weighted() * scale))),
    )
    k = np.append(np.arange(len(plain) - 1), 1)
    assert_allclose(scaled, plain + 2 * k * np.log(scale), rtol=1e-10, atol=1e-9)


def test_variance_terms_are_the_sum_of_the_design():
    graph, law = GRAPHS["weighted, sym"], Geometric(0.2)
    plan = plan_of(Diffusion(1.0), 1, law, graph)
    k = np.arange(10)
    moments = second_moments(graph, 9)
    wanted = Diffusion(1.0).modulation(1, 10) ** 2 * moments / law.survival(k)
    terms = np.exp(
        variance_terms(
            plan.modulation, plan.lengths.survival, moment_growth(UniformSteps.carrying(graph))
        )[:10]
    )
    # Each length stands for its neighbour too.
    assert_allclose(terms[1:], np.maximum(wanted[1:], wanted[:-1]), rtol=1e-9)


def test_variance_terms_go_on_at_the_rate_of_the_last_ones():
    graph, law = karate(0.8), Geometric(0.1)
    plan, growth = plan_of(INVERSE, 1, law, graph), moment_growth(UniformSteps.carrying(graph))
    terms = variance_terms(plan.modulation, plan.lengths.survival, growth)
    assert len(terms) == resolvable_length(law) + 1
    assert_allclose(np.diff(terms)[100:600], np.log(0.64 / 0.9), rtol=1e-3)


def test_the_bound_of_the_growth_is_one():
    for graph in GRAPHS.values():
        assert (
            growth_bound(UniformSteps.carrying(graph))[-1]
            >= moment_growth(UniformSteps.carrying(graph))[-1] - 1e-9
        )
    assert growth_bound(UniformSteps.on(karate(0.8)))[-1] == pytest.approx(2 * np.log(0.8))


def test_plain_weights_need_no_iterations(monkeypatch):
    monkeypatch.setattr(
        "grfpp.walks.variance.perron_root", lambda *args, **kwargs: pytest.fail("iterated")
    )
    ring = Graph(np.eye(300, k=1) + np.eye(300, k=-1)).normalized(None, 0.5)
    sample(ring, Diffusion(1.0), 1, 2, seed=0)


# --- pools ----------------------------------------------------------------------------------------


GRID = Graph(nx.to_scipy_sparse_array(nx.grid_2d_graph(30, 30)))


@pytest.mark.parametrize(
    ("kernel", "scale", "degree"),
    [(Diffusion(100.0), 1.0, 2), (Diffusion(60.0), 1.0, 1), (InversePower(1), 0.99, 2)],
    ids=repr,
)
def test_pools_that_are_lost_in_a_kernel_warn_and_say_what_helps(kernel, scale, degree):
    W = GRID.normalized("sym", scale)
    with pytest.warns(RuntimeWarning, match="Take a higher degree") as seen:
        K = grfpp.sample(W, kernel, degree, seed=0, symmetrize=False, check_error=False)
    assert len(seen) == 1
    assert grfpp.relative_error(K, kernel, W) > 0.6
    grfpp.sample(W, kernel, degree, seed=0, on_infinite_variance="ignore")


@pytest.mark.parametrize(
    ("kernel", "scale", "degree"),
    [(Diffusion(20.0), 1.0, 2), (InversePower(2), 0.95, 2), (Diffusion(100.0), 1.0, 8)],
    ids=repr,
)
def test_pools_of_use_are_silent(kernel, scale, degree):
    W = GRID.normalized("sym", scale)
    n_walks = max(1, 32 // degree)
    K = grfpp.sample(W, kernel, degree, n_walks, seed=0)
    assert grfpp.relative_error(K, kernel, W) < 0.5


def test_small_graphs_that_fit_are_silent():
    K = grfpp.sample(karate(), Diffusion(100.0), 2, 64, seed=0)
    assert K.meta["steps_per_node"] > len(karate().indices)


def test_laws_of_pools_are_refused_as_those_of_walkers():
    with pytest.raises(InfiniteVarianceError, match="Poisson"):
        grfpp.sample(karate(0.8), InversePower(2), 1, termination=Poisson(4.0))
