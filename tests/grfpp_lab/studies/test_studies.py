"""Studies at their smallest size: what they print, and what they measure."""

import re
from importlib import import_module
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from datasets_helpers import needs_data
from experiment_cases import run_cells_here

from grfpp import Graph, InputError
from grfpp.kernels import Diffusion
from grfpp.tasks.normals import vertex_normals
from grfpp_lab.datasets.planetoid import load_planetoid
from grfpp_lab.graphs import block_model, grid, scale_free
from grfpp_lab.studies import (
    auto_degree,
    confidence,
    coverage,
    interpolation,
    newcomer,
    own_error,
    planner,
    reading,
    tolerance,
    when_to_use,
)
from grfpp_lab.studies.planner import Case, Point


@pytest.fixture(autouse=True)
def without_warmup(monkeypatch):
    """Do not compile everything first."""
    for study in (confidence, planner, when_to_use):
        monkeypatch.setattr(study, "warmup", lambda: None)


def some(kernels, first):
    return dict(list(kernels.items())[first::3])


SMALL_GRID = {"graphs": lambda: {"a grid": grid(144)}}
DIRECTED = {"directed": coverage.graphs()["directed"]}
CLUB = [("club", Graph(nx.karate_club_graph())), ("grid", grid(64))]
#: Study, arguments, what is put in place of its own, patterns and how often they are printed.
PRINTED = [
    (
        *("push", "--graphs scale-free --nodes 300 --queries 4"),
        {"warmup": lambda: None, "pyg": lambda graph, kernel: None},
        {r"^(Pers|Heat).*LocalKernel.top_k .* precision@10 (0.9[89]|1)": 3, "push (from|in)": 3},
    ),
    (
        *("push", "--graphs scale-free --nodes 300 --load 200"),
        {"warmup": lambda: None},
        {"^ *(1|2|16) threads .* answers equal": 3},
    ),
    (
        *("node_defaults", "features --graphs 1 --first 1 --names karate"),
        {"KERNELS": ("diffusion:5",), "EIGENVECTORS": (0,)},
        {"^(blocks 1|karate): default .* best": 2, "^default over best": 1},
    ),
    (
        *("node_defaults", "labels --graphs 1 --first 1 --counts 1 --names karate", {}),
        {"^(contacts|blocks), 1 a class: default": 2, "^karate, 5 %": 1, "^mean over all": 1},
    ),
    (
        *("auto_degree", "--graphs 25"),
        {"graphs": lambda: {"25": grid(25)}, "KERNELS": some(auto_degree.KERNELS, 0)},
        {"^25, .* degree .* best": 4, "^4 cases: median × ": 1},
    ),
    (
        *("confidence", "--queries 4 --scale 20"),
        {"KERNELS": (Diffusion(1.0),), "enron": lambda: ("a grid", grid(64))},
        {"5 seeds .* times one seed$": 3, "fixed budget right .* certain": 3},
    ),
    (
        *("coverage", "--repeats 20 --degrees 1"),
        {"KERNELS": (Diffusion(1.0),), "graphs": lambda: DIRECTED},
        {r"^directed, Diffusion\(lam=1.0\), degree 1, walks=independent": 1, "of 8 shares": 1},
    ),
    (
        *("encoding_settings", "--tiny --seeds 1 --datasets pattern --candidates contrast", {}),
        {"^pattern, seed 0, (none|contrast): ": 2, "^mean of pattern, contrast: ": 1},
    ),
    (
        *("gp_fields", "--brief --graphs blocks --methods kriging --cases"),
        {"SHARES": (0.05,), "NOISES": (0.3,)},
        {"^blocks  length ": 4, "^(kriging|exact, by likelihood): error at most": 2},
    ),
    (
        *("gp_search", "--brief --runs 1 --fields blocks"),
        {"LIMIT": 6},
        {"^blocks, (ei|thompson), (sym|rw): median": 4, "^blocks, breadth-first: median": 1},
    ),
    (
        *("gp_search", "--large grid scale-free --nodes 900", {}),
        {"^(grid|scale-free), (ei|thompson): fit to 20 .* the same: True": 4},
    ),
    (
        *("gp_speed", "--cases tiny"),
        {"GRIDS": {"tiny": (10, 20)}},
        {"^tiny +20  columns ": 1, "^processor seconds": 1},
    ),
    (
        *("interpolation", "--surfaces hull,tiny --repeats 1 --kernels 3:16 --noises 0.001", {}),
        {"^surface +nodes +paper": 1, "^hull, tiny": 1, "^default above paper on 1 of 1$": 1},
    ),
    (
        *("label_settings", "--seeds 1 --kinds small --hows kriging process"),
        {"GRAPHS": {"small": lambda seed: block_model(300, 2, 8.0, 0.9, n_parts=1, seed=seed)}},
        {"mean by 500 labels, kriging: ": 1, "small, seed 0, by folds, process: ": 1},
    ),
    (
        *("newcomer", "", {"graphs": lambda folder, n: CLUB, "data_folder": lambda: "somewhere"}),
        {"4 products, kinds beyond 0.001: 0": 1},
    ),
    (
        *("node_gp", "--observed 60 --noise 0.3 --repeats 2 --grid 5 10 --intervals"),
        {"graph": lambda: ("a graph", scale_free(300, 4, seed=2))},
        {"^a graph: 300 nodes": 1, "^2 data sets: error × ": 1, "\n": 6},
    ),
    ("own_error", "--runs 1", SMALL_GRID, {"within 10 % in": len(own_error.KERNELS)}),
    (
        *("own_error", "--cost --cost-of-bars", {"_MADE": {"grid": lambda n: grid(100)}}),
        {"with the pilot run": 2, "n_groups=": 2, "two rows ×": 2},
    ),
    ("planner", "--graphs karate --budget 0.001", {}, {"\n": 4, "^3 cases: ": 1}),
    (
        *("reading", "--edges 500 --names 40 --kinds .csv", {}),
        {"^kind +edges +names": 1, r"^\.csv +500 +40 ": 1, "\n": 2},
    ),
    (
        *("updates", "--nodes 500 --changes 100 --queries 5", {}),
        {"^(equal|weighted|directed), 500 nodes": 3, "changed, .* the same bits$": 12},
    ),
]


@pytest.mark.parametrize(("name", "arguments", "patches", "printed"), PRINTED)
def test_printed(name, arguments, patches, printed, monkeypatch, capsys):
    needs = {"encoding_settings": "torch_geometric", "node_gp": "gpytorch", "gp_speed": "gpytorch"}
    pytest.importorskip(needs.get(name, "numpy"))
    study = import_module(f"grfpp_lab.studies.{name}")
    for attribute, value in patches.items():
        monkeypatch.setattr(study, attribute, value)
    run_cells_here(monkeypatch)
    study.main([word.replace(",", ", ") for word in arguments.split()])
    out = capsys.readouterr().out
    for pattern, count in printed.items():
        assert len(re.findall(pattern, out, re.MULTILINE)) == count, (pattern, out)


@pytest.mark.parametrize("options", [{"walks": "pooled"}, {"deflate": 2, "n_walks": 4}])
def test_shares_of_intervals(options):
    W = coverage.graphs()["families"]
    found = coverage.coverage("one", W, Diffusion(2.0), 40, 0, degree=2, **options)
    assert found.case == "one"
    assert all(0.8 < share <= 1 for share in found[1:])


def test_settings_of_encodings_are_judged_by_gains_on_other_data_and_every_kind_is_timed(
    capsys, monkeypatch
):
    pytest.importorskip("torch_geometric")
    from grfpp_lab.studies import encoding_settings, encodings

    assert encoding_settings.gain("mnist", 0.5, 0.25) == 25
    assert encoding_settings.gain("peptides-struct", 0.5, 0.25) == -25  # less error is better
    assert encoding_settings.DRAW != 0 and encoding_settings.SEED != 0
    monkeypatch.setattr(encodings, "_SOME", 3)
    graphs = encodings.small_graphs(2)
    assert all(graph.num_nodes == 30 and graph.is_undirected() for graph in graphs)
    encodings.main(["--graphs", "20"])
    lines = capsys.readouterr().out.splitlines()[1:]
    others = ["PyG random walk", "PyG Laplacian"]
    assert [line[:16].strip() for line in lines] == [*encodings.KINDS, *others]
    assert all(float(line.split()[-1]) >= 0 for line in lines)
    encodings.main(["--large", "300"])
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(encodings.KINDS)


def test_the_grid_of_interpolation_is_sorted(capsys):
    kernels = ["--kernels", "3:16", "0:4", "--noises", "0.001", "0.1"]
    interpolation.main(["--grid", "--surfaces", "box, tiny", "--repeats", "1", *kernels])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("best setting of every task: 0.")
    assert sum("kernel " in line for line in lines) == 4
    cosines = [float(line.split()[0]) for line in lines[1:]]
    assert cosines == sorted(cosines, reverse=True)
    assert len(interpolation.MAKERS) == 33


@pytest.mark.parametrize("name", [name for name in interpolation.MAKERS if "tiny" in name])
def test_normals_point_outwards_and_surfaces_are_a_function_of_the_seed(name):
    mesh = interpolation.surface(name, 0)
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() > 0  # six times the volume
    assert vertex_normals(mesh.vertices, mesh.faces).any(axis=1).all()
    np.testing.assert_array_equal(interpolation.surface(name, 0).vertices, mesh.vertices)
    if name != "box, tiny":
        assert not np.array_equal(interpolation.surface(name, 1).vertices, mesh.vertices)


def test_public_test_nodes_are_left_out_of_settings_for_labels():
    from grfpp_lab.studies import label_settings

    needs_data()
    made, split = label_settings.task_of("cora", 1)
    test = load_planetoid("cora", download=False).test
    used = np.concatenate(split)
    assert len(np.unique(used)) == len(used) == made.graph.n_nodes - len(test)
    assert not np.isin(used, test).any()


def test_errors_and_methods_of_newcomers(monkeypatch):
    error, method = newcomer.error_of(grid(400).normalized("sym"))
    assert 0 <= error <= newcomer.TOL
    assert method in ("dense", "chebyshev", "lanczos")
    exact = np.array([1e200, 1e199])  # squares are out of range
    assert newcomer.distance(1.01 * exact, exact) == pytest.approx(0.01)
    monkeypatch.setattr(newcomer, "data_folder", lambda: None)
    with pytest.raises(InputError, match="GRFPP_DATA"):
        newcomer.main([])


def test_the_default_process_and_the_exact_one_answer_the_same_question(no_data, monkeypatch):
    pytest.importorskip("gpytorch")
    from grfpp_lab.studies import node_gp

    data = node_gp.problem(scale_free(500, 4, seed=2).normalized("sym"), 120, 0.3, seed=0)
    ours = node_gp.by_default(data, "exact")
    same = node_gp.exact(data, ours.lam, intervals=True)
    # At one λ they differ by where noise and size were looked for.
    assert ours.rmse == pytest.approx(same.rmse, rel=0.02)
    assert ours.noise == pytest.approx(0.3, rel=0.3)
    assert abs(ours.coverage_noisy - same.coverage_noisy) < 0.05
    assert 0.85 < same.coverage_noisy <= 1
    assert 0 < ours.mean_seconds <= ours.seconds
    monkeypatch.setattr(node_gp, "scale_free", lambda *sizes, seed: sizes)
    assert node_gp.graph() == ("scale-free", (20_000, 8))


def test_combinations_that_are_judged_are_not_those_that_settled():
    judged, settling = planner.judged(), planner.settling()
    assert len(set(judged)) == 24
    assert {each.n_columns for each in judged} == {1, 16, 1000}
    assert {each.kernel for each in judged} == set(planner.KERNELS)
    for field in ("graph", "kernel"):
        assert not {getattr(a, field) for a in judged} & {getattr(b, field) for b in settling}


def test_the_planner_beside_all_methods():
    found = planner.regret_of(Case("karate", "exp(W)", 16), budget=0.001)
    assert found.error <= planner.TOL
    assert {"dense", "chebyshev", "lanczos"} <= set(found.others)
    assert "solve" not in found.others
    assert found.regret > 0
    assert found.best in found.others
    points = list(planner.curves(Case("scale-free 100", "exp(2 W)", 8), [1e-2, 1e-6]))
    assert {point.method for point in points} == {"dense", "chebyshev", "lanczos", "walks"}
    for point in points:
        if point.method in ("chebyshev", "lanczos"):
            assert point.error <= float(point.setting.removeprefix("tol="))


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are read as Linux has them"
)
@pytest.mark.parametrize(
    ("kind", "n_edges", "n_names", "limit"),
    [(".csv", 200_000, 400_000, 250e6), (".parquet", reading.N_EDGES, 100_000, 300e6)],
)
def test_long_lists_take_little_memory(kind, n_edges, n_names, limit):
    """Names that are all different, and names that are repeated."""
    row = reading.measure(kind, n_edges, n_names)
    assert row["n_nodes"] == n_names
    assert row["peak_bytes"] < limit and row["seconds"] > 0


@pytest.mark.parametrize("n_names", [50, 400])
def test_all_kinds_of_lists_hold_the_same(tmp_path, n_names):
    graphs = []
    for kind in reading.KINDS:
        reading.write(tmp_path / f"list{kind}", 200, n_names)
        graphs.append(Graph(tmp_path / f"list{kind}"))
    assert graphs[0].n_nodes == n_names
    for graph in graphs[1:]:
        assert graph.node_ids == graphs[0].node_ids
        assert (graph.adjacency != graphs[0].adjacency).nnz == 0


def test_tolerances_are_kept(monkeypatch, capsys):
    monkeypatch.setattr(tolerance, "graphs", lambda: {"grid": grid(49)})
    monkeypatch.setattr(tolerance, "KERNELS", {"exp(2 W)": (Diffusion(2.0), 1.0, 0.02)})
    (found,) = tolerance.kept_promises(3, n_fixed=3)
    assert max(found.errors) <= found.tol == 0.02
    assert 36 <= found.best_steps <= 4 * max(found.steps)
    tolerance.main(["--runs", "2"])
    assert "kept in 100.0% of 2 runs" in capsys.readouterr().out


def test_the_fastest_that_is_good_enough(tmp_path, capsys):
    one = Case("karate", "exp(W)", 16)
    points = [
        Point(one, "walks", "few", 0.1, 0.05),
        Point(one, "chebyshev", "tol=0.001", 0.2, 1e-4),
        Point(one, "dense", "", 0.3, 1e-15),
    ]
    found = when_to_use.fastest(points)
    assert [best.method for _, _, best in found] == ["walks", "chebyshev", "chebyshev", "dense"]
    assert when_to_use.fastest(points[:1])[-1] == (one, 1e-6, None)
    chart = tmp_path / "chart.png"
    when_to_use.main(["--graphs", "karate", "--kernels", "exp(W)", "--out", str(chart)])
    out = capsys.readouterr().out
    assert "chebyshev" in out and "to 1e-06" in out
    assert chart.read_bytes().startswith(b"\x89PNG")
