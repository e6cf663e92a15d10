"""`grfpp estimate`: what goes in, what comes out, what is refused."""

import csv
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_helpers import accepted, document, facts, refused, warned
from independent_walks import IN_WORDS, INDEPENDENT

import grfpp
from grfpp.cli import options as reading
from grfpp.cli import run


def library(path, degree=2, n_walks=16, kind="sym", scale=1.0, directed=None, **options):
    W = grfpp.Graph(path, directed=directed).normalized(kind, scale)
    options.setdefault("seed", 0)
    kernel = options.pop("kernel", grfpp.Diffusion(1.0))
    return grfpp.sample(W, kernel, degree, n_walks, **options)


def same(first, second):
    return all(
        np.array_equal(a.toarray(), b.toarray()) and a.dtype == b.dtype
        for pair in zip(first.factors, second.factors, strict=True)
        for a, b in zip(*pair, strict=True)
    )


def test_writes_what_the_library_samples(capsys, karate):
    out = accepted(capsys, "estimate", karate, "--output", "k.npz", *IN_WORDS)
    assert same(grfpp.KernelEstimate.load("k.npz"), library(karate, **INDEPENDENT))
    told = facts(out)
    assert told["graph"].endswith("karate.txt: 34 nodes, 78 edges, undirected")
    assert told["kernel"] == "Diffusion(lam=1.0), stitching degree 2"
    assert "Geometric(p_halt=0.1), seed 0: 576 steps a node" in told["walks"]
    assert told["factors"].startswith("4 with ")
    assert told["wrote"].startswith("k.npz, ")
    assert " s walking" in told["time"]


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--seed", "7"], {"seed": 7}),
        (["--degree", "3", "--walks", "5"], {"degree": 3, "n_walks": 5}),
        (["--kernel", "diffusion:0.5"], {"kernel": grfpp.Diffusion(0.5)}),
        (["--kernel", "p-step:2:3"], {"kernel": grfpp.PStep(2, 3)}),
        (["--termination", "poisson:4"], {"termination": grfpp.Poisson(4)}),
        (["--normalize", "rw", "--scale", "0.5"], {"kind": "rw", "scale": 0.5}),
        (["--normalize", "none", "--scale", "0.01"], {"kind": None, "scale": 0.01}),
        (["--directed"], {"directed": True}),
        (["--reuse-walks"], {"reuse_walks": True}),
        (["-t", "fixed:3", "--truncate"], {"termination": "fixed:3", "truncate": True}),
        (["--float32", "--jobs", "1"], {"dtype": "float32"}),
    ],
)
def test_options_reach_the_library(capsys, karate, arguments, options):
    accepted(capsys, "estimate", karate, "--output", "k.npz", *arguments)
    assert same(grfpp.KernelEstimate.load("k.npz"), library(karate, **options))


def test_symmetrised_estimates_are_reported(capsys, karate):
    arguments, options = ["--deflate", "3", "--symmetrize"], {"symmetrize": True, "deflate": 3}
    out = accepted(capsys, "estimate", karate, *arguments, "--output", "k.npz")
    assert facts(out)["factors"].endswith("symmetrised, 3 eigenvectors exact")
    loaded, wanted = grfpp.KernelEstimate.load("k.npz"), library(karate, **options)
    np.testing.assert_array_equal(loaded.toarray(), wanted.toarray())
    told = document(capsys, "estimate", karate, *arguments)
    assert {name: told[name] for name in options} == options
    assert ", symmetrised" not in accepted(capsys, "estimate", karate, "--no-symmetrize")


def test_json_is_all_there_is_on_stdout(capsys, karate):
    asked = ("--json", "--rows", "33,0", "--check", "--output", "k.npz", *IN_WORDS)
    told = json.loads(accepted(capsys, "estimate", karate, *asked))
    K = library(karate, **INDEPENDENT)
    assert (told["graph"]["n_nodes"], told["graph"]["n_edges"]) == (34, 78)
    assert told["kernel"] == {"kernel": "diffusion", "lam": 1.0}
    assert told["steps_per_node"] == pytest.approx(576)
    assert [row["row"] for row in told["rows"]] == [33, 0]
    np.testing.assert_array_equal([row["values"] for row in told["rows"]], K.rows([33, 0]))
    W = grfpp.Graph(karate).normalized("sym")
    exact = grfpp.relative_error(K, grfpp.Diffusion(1.0), W)
    error = {"value": pytest.approx(exact), "standard_error": 0.0, "n_probes": 0}
    assert told["relative_error"] == error
    assert told["output"]["n_bytes"] == Path("k.npz").stat().st_size
    assert told["n_bytes"] > told["n_entries"] > 0


def test_reused_walks_are_counted_once_and_said_to_be_biased(capsys, karate):
    once = document(capsys, "estimate", karate, "--reuse-walks")
    each = document(capsys, "estimate", karate)
    assert 3 * once["n_entries"] < each["n_entries"]
    assert "biased" in accepted(capsys, "estimate", karate, "--reuse-walks")


def test_large_graphs_are_probed(capsys, tmp_path):
    path = tmp_path / "path.txt"
    path.write_text("".join(f"{i} {i + 1}\n" for i in range(3000)))
    command = ("estimate", path, "--check", *IN_WORDS)
    told = document(capsys, *command)["relative_error"]
    assert told["n_probes"] > 1
    assert 0 < told["standard_error"] < told["value"] < 0.2
    assert "± " in accepted(capsys, *command)


def test_rows_by_label_as_a_table(capsys, novel):
    names = ["Valjean", "Cosette"]
    out = accepted(capsys, "estimate", novel, "--rows", ",".join(names), "--output", "rows.csv")
    assert "\nrow Valjean  Valjean: 1." in out
    header, *lines = csv.reader(Path("rows.csv").read_text().splitlines())
    graph = grfpp.Graph(novel)
    assert header == ["node", *names]
    assert [line[0] for line in lines] == list(graph.node_ids)
    wanted = library(novel).rows([graph.node_ids.index(name) for name in names])
    np.testing.assert_array_equal([[float(x) for x in line[1:]] for line in lines], wanted.T)


def test_projected_features(capsys, karate):
    accepted(capsys, "estimate", karate, "--project", "8", "--seed", "3", "--output", "xy.npz")
    X, Y = library(karate, seed=3).project(8, seed=3)
    with np.load("xy.npz") as arrays:
        np.testing.assert_array_equal(arrays["X"], X)
        np.testing.assert_array_equal(arrays["Y"], Y)


def test_refuses_outputs_before_it_reads_anything(capsys, monkeypatch, karate):
    monkeypatch.setattr(reading, "Graph", lambda *_, **__: pytest.fail("the graph was read"))
    for arguments in (["-o", "k.txt"], ["-o", "lost/k.npz"], ["-k", "x"], ["-t", "x"]):
        refused(capsys, "estimate", karate, *arguments)


@pytest.mark.parametrize("arguments", [["-o", "k.npz"], ["--project", "2", "-o", "k.npz"]])
def test_a_write_that_fails_leaves_what_was_there(capsys, monkeypatch, karate, arguments):
    def full(stream, **_):
        stream.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    assert "No space left" in refused(capsys, "estimate", karate, *arguments)
    assert list(Path().iterdir()) == [Path("karate.txt")]
    Path("k.npz").write_text("before")
    refused(capsys, "estimate", karate, *arguments)
    assert Path("k.npz").read_text() == "before"
    assert sorted(Path().iterdir()) == [Path("k.npz"), Path("karate.txt")]


def test_progress_on_a_terminal_only(monkeypatch, capsys, karate):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    assert run(["estimate", str(karate), "--json", "--check"]) == 0
    assert all(word in terminal.getvalue() for word in ("reading", "walking", "measuring"))
    json.loads(capsys.readouterr().out)


@pytest.mark.filterwarnings("always")
def test_kernels_of_random_walks_take_their_weights_and_doubt_others(capsys, karate):
    told = document(capsys, "estimate", karate, "-k", "heat:1", "--tol", "0.5")
    assert told["graph"]["normalize"] == "rw"
    assert (told["tol"], told["tol_kind"]) == (0.5, "frobenius")
    err = warned(capsys, "estimate", karate, "--kernel", "heat:1", "--normalize", "sym")
    assert err.startswith("grfpp: warning: W is normalised symmetrically")
    assert "--normalize rw" in err
    assert err.count("\n") == 1
