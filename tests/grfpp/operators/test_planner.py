"""What is picked on a machine whose speed is stated."""

import sys
from dataclasses import astuple, replace

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp.operators import planner
from grfpp.operators.costs import Costs, MachineCosts
from grfpp.operators.planner import choose
from grfpp.operators.problem import Problem
from grfpp_lab.graphs import dense, grid, random_regular

MACHINE = MachineCosts()


def picked(graph, kernel, n_columns, tol=1e-3, machine=MACHINE, **options):
    costs = Costs(machine, learns=False)  # else it counts the loading of numba too
    return choose(Problem(graph, kernel, tol), n_columns, costs, **options)


def test_sparse_graphs_are_multiplied_by_polynomials():
    plan = picked(grid(10_000).normalized("sym"), grfpp.Diffusion(1.0), 16)
    assert plan.method == "chebyshev"
    assert plan["dense"].seconds() > plan["chebyshev"].seconds()
    assert plan["solve"].ineligible_reason == "the kernel is no inverse power"
    assert "chebyshev reaches" in plan["walks"].ineligible_reason


def test_walks_that_cannot_reach_the_tolerance_are_told_from_what_can():
    W = grid(900).normalized("sym", 0.99)
    plan = picked(W, grfpp.InversePower(1), 16)
    assert "would have an error of about" in plan["walks"].ineligible_reason
    assert f"{plan.method} reaches 0.001" in plan["walks"].ineligible_reason


def test_small_graphs_with_many_columns_are_dense():
    W = dense(300, 60).normalized("sym")
    assert picked(W, grfpp.Diffusion(20.0), 5000).method == "dense"
    assert picked(W, grfpp.Diffusion(20.0), 1).method != "dense"
    assert picked(W, grfpp.Diffusion(20.0), 1, n_products=10**5).method == "dense"
    slow = replace(MACHINE, eigen_cube=1e-3)
    assert picked(W, grfpp.Diffusion(20.0), 5000, machine=slow).method != "dense"


def test_steps_that_were_seen_speak_for_lanczos():
    problem = Problem(random_regular(50_000).normalized("sym", 0.99), grfpp.InversePower(1), 1e-3)
    assert problem.optimistic_steps < 0.6 * problem.n_terms
    mesh = Problem(grid(10_000).normalized("sym"), grfpp.Diffusion(20.0), 1e-3)
    assert mesh.optimistic_steps == mesh.n_terms
    problem.lanczos_steps = problem.n_terms
    assert choose(problem, 1, Costs(MACHINE)).method == "chebyshev"
    problem.lanczos_steps = 8
    assert choose(problem, 1, Costs(MACHINE)).method in ("lanczos", "solve")


def test_directed_graphs_have_two_ways():
    W = grfpp.Graph(nx.gnp_random_graph(200, 0.05, seed=0, directed=True)).normalized("rw")
    plan = picked(W, grfpp.Diffusion(1.0), 4)
    eligible = {each.method for each in plan.estimates if each.ineligible_reason is None}
    assert eligible >= {"dense", "chebyshev"}
    assert "directed" in plan["lanczos"].ineligible_reason
    assert "power series" in plan["chebyshev"].note


def test_memory_takes_methods_out(monkeypatch):
    monkeypatch.setattr(planner, "fits", lambda n_bytes: n_bytes < 1e6)
    W = grid(900).normalized("sym")
    plan = picked(W, grfpp.Diffusion(20.0), 1, n_products=10**6)
    assert "of memory" in plan["dense"].ineligible_reason
    assert plan.method == "chebyshev"
    monkeypatch.setattr(planner, "fits", lambda n_bytes: False)
    with pytest.raises(grfpp.InputError, match="no method can multiply"):
        picked(W, grfpp.Diffusion(20.0), 1)


def test_walks_are_tried_where_they_are_cheap():
    W = dense(400, 100).normalized("sym")
    slow = MachineCosts(*(1e3 * seconds for seconds in astuple(MACHINE)))
    fast = {"wide": 1e-14, "narrow": 1e-14, "far": 1e-14, "far_narrow": 1e-14}
    fast_walks = replace(slow, walk=1e-12, number=1e-15, far_number=1e-15, **fast)
    assert picked(W, grfpp.Diffusion(1.0), 100, 0.1, fast_walks).method == "walks"
    assert picked(W, grfpp.Diffusion(1.0), 100, 1e-3, fast_walks).method != "walks"


def test_plans_are_tables():
    plan = picked(grid(10_000).normalized("sym", 0.9), grfpp.InversePower(1), 16)
    lines = str(plan).splitlines()
    assert lines[0].startswith("InversePower(power=1, of=1) of 10,000 nodes, 39,600 entries, 16 c")
    methods = "method dense chebyshev lanczos solve walks"
    assert [line[2:12].strip() for line in lines[1:]] == methods.split()
    assert sum(line.startswith("*") for line in lines) == 1
    assert repr(plan) == str(plan)


def test_terms_are_those_that_are_needed():
    W = grid(10_000).normalized("sym")
    problem = Problem(W, grfpp.Diffusion(20.0), 1e-3)
    K = grfpp.kernel_operator(W, grfpp.Diffusion(20.0), method="chebyshev")
    K @ np.random.default_rng(0).normal(size=(W.n_nodes, 2))
    assert abs(int(K.used.split()[1]) + 1 - problem.n_terms) <= 4


def test_repeatable_plans_do_not_depend_on_imports(monkeypatch):
    """The error of walks is predicted whether numba has been imported before or not."""
    monkeypatch.setattr(planner, "predicted_walk_error", lambda problem: 1.0)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    problem = Problem(grid(900).normalized("sym"), grfpp.Diffusion(1.0), 1e-2)
    plan = choose(problem, 16, Costs(MACHINE, learns=False))
    assert "would have an error of about 1" in plan["walks"].ineligible_reason
