"""Pooled walks: graphs, plans, the smallest size, and verdicts on rows made by hand."""

import numpy as np
import pytest
from verdict_case import NO, OPEN, YES, check_claims, verdicts

import grfpp
from grfpp_lab.experiments.measuring import EIGHT, seeds
from grfpp_lab.experiments.refined import claims, measuring
from grfpp_lab.experiments.refined import experiment as refined
from grfpp_lab.experiments.refined.claims import Bar, Ratio, judge_bars
from grfpp_lab.experiments.refined.measuring import AVERAGED, INDEPENDENT, POOLED
from grfpp_lab.harness.experiment import Settings, Size


def test_log_normal_weights_stand_on_the_same_edges_both_ways():
    plain, weighted = measuring.load("karate"), measuring.load(f"karate{measuring.LOG_NORMAL}")
    assert not weighted.is_directed
    np.testing.assert_array_equal(plain.indices, weighted.indices)
    logs = np.log(weighted.weights)
    assert abs(logs.std() - measuring.SIGMA) < 0.3
    assert measuring.title_of(f"karate{measuring.LOG_NORMAL}") == "Karate, log-normal"


@pytest.mark.parametrize(
    "name", [measuring.SCALE_FREE, measuring.GRID, measuring.RANDOM, measuring.DENSE]
)
def test_sizes_are_known_before(name):
    assert measuring.load(name).n_nodes == measuring.n_nodes_of(name)


def test_points_are_joined_by_gaussian_weights():
    few = measuring.nearest_neighbours(60)
    assert not few.is_directed
    assert few.out_degree.min() >= measuring.N_NEIGHBOURS
    points = np.random.default_rng(0).standard_normal((60, 5))
    i, j = few.adjacency.nonzero()
    distance = np.linalg.norm(points[i] - points[j], axis=1)
    np.testing.assert_allclose(few.adjacency.toarray()[i, j], np.exp(-((distance / 0.3) ** 2)))
    all_pairs = measuring.dense(30)
    assert all_pairs.n_edges == 30 * 29 / 2
    # The same generator, and so the same first points.
    weight = np.exp(-(np.linalg.norm(points[0] - points[1]) ** 2) / 0.5)
    assert all_pairs.adjacency.toarray()[0, 1] == pytest.approx(weight)


def test_what_is_not_at_hand(no_data):
    for name in (measuring.MESH + measuring.LOG_NORMAL, measuring.CORA):
        assert "is not at hand" in measuring.why_not(name)
    assert measuring.why_not(measuring.LARGE_REGULAR) is measuring.why_not("er-20") is None


CELL = {
    **{"graph": "karate", "termination": "geometric:0.1", "seed": 3, "kernel": "diffusion:1"},
    **{"scale": 1.0, "name": "exp(W)", "repeats": 2, "columns": 34, "budgets": [144]},
    **{"method": measuring.POOLED, "degree": 2},
}
W = measuring.load("karate").normalized("sym")
KERNEL = grfpp.Diffusion(1.0)


def test_errors_with_and_without_the_diagonal():
    exact = KERNEL.exact(W)
    truth = measuring.truth("karate", 1.0, "diffusion:1", 34)
    np.testing.assert_allclose(truth.exact, exact, atol=1e-11)
    some = measuring.truth("karate", 1.0, "diffusion:1", 5)
    np.testing.assert_allclose(some.exact, exact[:, some.nodes], atol=1e-11)
    assert truth.errors(exact + np.eye(34))[1] == pytest.approx(0, abs=1e-10)
    ones = truth.errors(exact + 1)
    assert ones[0] == pytest.approx(34 / np.linalg.norm(exact))
    off = exact - np.diag(np.diag(exact))
    assert ones[1] == pytest.approx(np.sqrt(34 * 33) / np.linalg.norm(off))


def test_walks_have_the_errors_of_their_estimates():
    plain, averaged = measuring.rows_of(CELL)
    assert [plain["method"], averaged["method"]] == [measuring.POOLED, measuring.AVERAGED]
    identity = {name: each for name, each in CELL.items() if name not in ("repeats", "budgets")}
    estimates = [
        grfpp.sample(W, KERNEL, 2, 4, seed=seed, symmetrize=False)
        for seed in seeds(2, **identity, budget=144)
    ]
    errors = [grfpp.relative_error(K, KERNEL, W) for K in estimates]
    assert plain["error"] == pytest.approx(np.mean(errors), rel=1e-6)
    assert plain["steps_per_node"] == pytest.approx(144)
    stored = sum(factor.nnz for pair in estimates[-1].factors for factor in pair) / 34
    assert plain["entries"] == averaged["entries"] == pytest.approx(stored)
    assert averaged["error"] < plain["error"]
    (paper,) = measuring.rows_of({**CELL, "method": measuring.INDEPENDENT})
    assert paper["steps_per_node"] == pytest.approx(144, rel=1e-3)
    assert paper["error"] > 10 * plain["error"]


def test_polynomials_are_better_and_take_no_less_time_with_a_smaller_tolerance():
    rows = measuring.rows_of({**CELL, "method": measuring.CHEBYSHEV, "degree": None})
    errors, seconds = ([row[name] for row in rows] for name in ("error", "seconds"))
    assert errors == sorted(errors, reverse=True)
    assert seconds == sorted(seconds)
    assert errors[-1] < 1e-7


def test_the_largest_entries():
    options = {"method": measuring.LARGEST, "degree": None, "entries": [3, 34, 99]}
    rows = measuring.rows_of({**CELL, **options})
    assert [row["entries"] for row in rows] == [3, 34]
    exact = KERNEL.exact(W)
    left = np.sort(np.abs(exact), axis=0)[:-3]
    assert rows[0]["error"] == pytest.approx(np.linalg.norm(left) / np.linalg.norm(exact), rel=1e-6)
    assert rows[1]["error"] == 0


def test_the_smallest_size_gives_rows_verdicts_charts_and_tables(no_data):
    plan = refined.plan(Settings(Size.TINY, seed=3))
    rows = [row for cell in plan.cells for row in refined.EXPERIMENT.run(cell)]
    methods = {INDEPENDENT, POOLED, AVERAGED, measuring.CHEBYSHEV, measuring.LARGEST}
    assert {row["method"] for row in rows} >= methods
    check_claims(refined.EXPERIMENT, rows)
    by_name = {claim.name: claim.judge(rows).holds for claim in refined.EXPERIMENT.claims}
    assert by_name["refined-off"] is YES


def test_the_full_size_has_all_kernels_on_all_graphs_at_the_same_steps(no_data):
    plan = refined.plan(Settings())
    found = {(cell["graph"], cell["name"]) for cell in plan.cells}
    names = {graph for graph, _ in found}
    assert len(found) == len(names) * len(measuring.KERNELS)
    large = {measuring.LARGE_REGULAR, measuring.LARGE_SCALE_FREE, measuring.GRID, measuring.DENSE}
    # Without data, a sphere in place of the mesh.
    assert measuring.MESH in plan.skipped
    assert {*large, measuring.SPHERE, measuring.SPHERE + measuring.LOG_NORMAL} <= names
    steps = [(each, 18 * cell["degree"]) for cell in plan.cells for each in cell.get("budgets", ())]
    assert not any(budget % unit for budget, unit in steps)


def test_series_that_diverge_are_refused():
    with pytest.raises(grfpp.InputError, match="refined: with --scale 1 the series"):
        refined.plan(Settings(scale=1.0))


def row(graph, method, error, degree=2, budget=576, kernel=measuring.FAST, **more):
    """A row whose error without the diagonal is twice that of the whole matrix."""
    return {
        **{"graph": graph, "n_nodes": 2000, "columns": 100, "kernel": kernel, "method": method},
        **{"degree": degree, "budget": budget, "steps_per_node": budget, "repeats": 2},
        **{"entries": 0.5 * (budget or 0), "seconds": 0.01 * (budget or 0)},
        **{"error": error, "standard_error": 0.001 * error},
        **{"off_error": 2 * error, "off_standard_error": 0.002 * error},
        **more,
    }


def beside(graph, ratio, error=0.1, **more):
    """Independent and pooled walks whose errors have this ratio; averaged ones have 0.7 of it."""
    return [
        row(graph, INDEPENDENT, error, **more),
        row(graph, POOLED, error / ratio, **more),
        row(graph, AVERAGED, 0.7 * error / ratio, **more),
    ]


def test_all_must_be_met_and_ratios_are_told_as_parts():
    met, missed = Bar("a", 0.01, 0.02), Bar("b", 0.03, 0.02)
    assert judge_bars("small", []).holds is OPEN
    assert judge_bars("small", [met]).holds is YES
    both = judge_bars("small", [met, missed], ["more"])
    assert both.holds is NO
    assert both.measured == "1 of 2 bars met: a 0.01, b 0.03 (bar 0.02, missed); more"
    assert both.paper == "nothing of pooled walks; our bar: small"
    assert Ratio("a", 0.001, 0.02).words() == "a 1/1,000"
    assert Ratio("a", 0.1, 0.05).words() == "a 1/10 (bar 1/20, missed)"
    assert Ratio("a", 1.3, 1.0).words() == "a × 1.3 (bar × 1, missed)"


def steps(plain, hubs):
    rows = [each for graph in EIGHT[:-1] for each in beside(graph, plain)]
    return rows + [each for graph in claims.WITH_HUBS for each in beside(graph, hubs)]


CHEAP = [{**each, "budget": 144} for each in steps(100, 30)]
EVERYWHERE = [
    each
    for graph in ("karate", "Cora")
    for kernel in (measuring.FAST, measuring.SLOW)
    for each in beside(graph, 10, kernel=kernel)
]
#: Below in the whole matrix, and above without the diagonal.
NOT_OFF = [EVERYWHERE[0], {**EVERYWHERE[1], "off_error": 9.0}, *EVERYWHERE[2:]]


def entries(ratio, best):
    return [
        *beside(measuring.GRID, ratio),
        row(measuring.GRID, INDEPENDENT, 0.05, budget=2304, entries=1152),
        *beside(measuring.MESH, ratio, entries=200),
        row(measuring.GRID, measuring.LARGEST, best, None, None, entries=288),
    ]


#: Compared with walks that store at least as many.
UNEQUAL = [
    row(measuring.GRID, INDEPENDENT, 0.2, budget=144, entries=100),
    row(measuring.GRID, POOLED, 0.01, entries=150),
    row(measuring.GRID, INDEPENDENT, 0.1, budget=2304, entries=900),
]


def slow(diffusion, inverse):
    return [
        row(measuring.CORA, method, error, degree, kernel=kernel)
        for kernel, last in ((measuring.SLOW, diffusion), (measuring.SLOW_INVERSE, inverse))
        for method, error, degree in (
            *((INDEPENDENT, 0.4, 2), (AVERAGED, 0.3, 8)),
            *((measuring.DEFLATED, 0.2, 4), (measuring.DEFLATED, last, 8)),
        )
    ]


def weighted(part, **more):
    found = []
    for (graph, kernel), (most, most_off) in claims.WEIGHTED_BARS.items():
        off = {"off_error": 0.9 * most_off, **more}
        found.append(row(graph, AVERAGED, part * most, kernel=kernel, **off))
        found.append(row(graph, INDEPENDENT, 3.0, kernel=kernel, **more))
    return found


def stitching(high):
    return [
        row(graph, POOLED, error, degree, kernel=kernel)
        for graph in ("karate", "Cora")
        for kernel in (measuring.SLOW, measuring.MIDDLE)
        for degree, error in ((2, 0.1), (8, high if kernel == measuring.SLOW else 9.0))
    ]


def seconds(ratio):
    return [
        *beside("Cora", ratio),
        row("Cora", measuring.CHEBYSHEV, 1e-9, None, None, seconds=40.0),
        *({**each, "n_nodes": 30} for each in beside("karate", 0.1)),
    ]


HUBS = "Eurosis 1/43, Barabási–Albert 2,000 1/43; not averaged 1/100"
SIZES = "Grid 100 × 100, 288 entries, 1/50, mesh 57084, 200 entries, 1/50"
BEST_ENTRIES = "the 288 largest entries of each row have 0.0001, better than pooled"
DEFLATED = "exp(20 W), pooled, averaged, deflated, degree 8: 0.013"
MET = "12 of 12 bars met: kNN 1,500, Gaussian, exp(W), 0.001"

test_verdicts = verdicts(
    [
        (claims.judge_steps, steps(100, 30), YES, "9 of 9 bars met: ER(20, 0.2) 1/143", HUBS),
        (claims.judge_steps, steps(50, 30), NO, "Karate 1/71 (bar 1/80, missed)"),
        (claims.judge_steps, steps(100, 10), NO),
        (claims.judge_steps, CHEAP, OPEN),
        (claims.judge_everywhere, EVERYWHERE, YES, "4 of 4, error × 0.10", "diagonal in 4 of 4"),
        (claims.judge_everywhere, NOT_OFF, NO, "independent in 4 of 4", "diagonal in 3 of 4"),
        (claims.judge_entries, entries(50, 1e-4), YES, SIZES, BEST_ENTRIES),
        (claims.judge_entries, entries(50, 0.5), YES, "worse than pooled"),
        (claims.judge_entries, entries(10, 1e-4), NO),
        (claims.judge_entries, UNEQUAL, NO, "150 entries, 1/10 (bar 1/20, missed)"),
        (claims.judge_entries, UNEQUAL[:2], OPEN),
        (claims.judge_slow, slow(0.013, 0.08), YES, DEFLATED, "walks have 0.4 for exp(20 W)"),
        (claims.judge_slow, slow(0.013, 0.1), NO),
        (claims.judge_slow, slow(0.03, 0.08), NO),
        (claims.judge_weighted, weighted(0.5), YES, MET, "walks: 3, 3, 3, 3, 3, 3"),
        (claims.judge_weighted, weighted(1.5), NO),
        (claims.judge_weighted, weighted(0.5, off_error=1.0), NO, "6 of 12 bars met"),
        (claims.judge_stitching, stitching(0.05), YES, "degree 2 in 2 of 2, error × 0.50"),
        (claims.judge_stitching, stitching(0.05), YES, "on Cora × 0.50 at 576 steps"),
        (claims.judge_stitching, stitching(0.2), NO),
        (claims.judge_seconds, seconds(100), YES, "1 of 1 bars met: Cora 1/143", "in 40 s"),
        (claims.judge_seconds, seconds(100), YES, "for all columns, 0.02 s for one"),
        (claims.judge_seconds, seconds(0.5), NO),
    ]
)
