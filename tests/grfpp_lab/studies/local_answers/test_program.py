"""The program in a small way: what it prints, and that verdicts are what was measured."""

import re

import networkx as nx
import pytest
from experiment_cases import run_cells_here

import grfpp
from grfpp_lab.studies.local_answers import __main__ as local_answers
from grfpp_lab.studies.local_answers import asking, blocks
from grfpp_lab.studies.local_answers import process as cold
from grfpp_lab.studies.local_answers.asking import Verdict


@pytest.fixture
def small(monkeypatch):
    graph = grfpp.Graph(nx.barabasi_albert_graph(400, 3, seed=1))
    monkeypatch.setattr(asking, "enron", lambda: ("a small graph", graph))
    monkeypatch.setattr(asking, "N_TIMED", 5)
    monkeypatch.setattr(blocks, "N_ROWS", 8)
    monkeypatch.setattr(local_answers, "warmup", lambda: None)


def test_all_parts(small, tmp_path, capsys, monkeypatch):
    run_cells_here(monkeypatch)
    asked = ["--nodes", "4", "--sizes", "300", "900", "--block-nodes", "400", "--block-rows", "30"]
    asked += ["--scale", "9"]
    local_answers.main([*asked, "--folder", str(tmp_path)])
    out = capsys.readouterr().out
    verdicts = re.findall(r"^  -> .*   (met|NOT MET)$", out, re.MULTILINE)
    assert len(verdicts) == 15
    assert out.endswith(f"\n{verdicts.count('met')} of 15 met\n")
    titles = re.findall(r"^\S.*", out, re.MULTILINE)[:4]
    starts = ("a small graph", "a small graph", "scale-free graphs")
    assert "PageRank on an R-MAT graph" in titles.pop(2)
    assert all(title.startswith(start) for title, start in zip(titles, starts, strict=True))
    assert "exp(W), 900 nodes: under 1 ms, precision at least 0.98" in out
    own = re.findall(r"LocalKernel\.top_k.*precision@10 (\S+)", out)
    assert len(own) == 3 and min(map(float, own)) >= 0.9
    names = {f"scale-free-{n}.grf" for n in (300, 900)}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert "Python alone" in out
    assert out.count(" MB read") == 2 * (cold.COLD_N_ENTRIES + 1)


def test_settling(small, monkeypatch, capsys):
    graph = grfpp.Graph(nx.barabasi_albert_graph(200, 3, seed=1))
    monkeypatch.setattr(asking, "graphs", lambda: {"another": graph})
    monkeypatch.setattr(asking, "BUDGETS", (50, 500))
    local_answers.main(["--settle", "--nodes", "3"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "another"
    assert len(lines) == 2 + 2 * len(asking.QUESTIONS)


def test_verdicts_say_what_was_measured():
    assert str(Verdict("under 1 s", "2 s", met=False)) == "  -> under 1 s: 2 s   NOT MET"

    def size(n, ms, share):
        found = {name: asking.Found(ms / 1e3, ms / 1e3, []) for name in asking.QUESTIONS}
        return asking.Size(n, found, dict.fromkeys(asking.QUESTIONS, share))

    def met(*results):
        return [line.met for line in asking.lines_sizes(results) if isinstance(line, Verdict)]

    assert met(size(10, 0.5, 0.99), size(100, 0.9, 0.98)) == [True] * 4
    assert met(size(10, 0.5, 0.99), size(100, 1.1, 0.97)) == [False, False, True, True]
    assert met(size(10, 30.0, 0.99), size(100, 51.0, 0.94)) == [False, True, False, False]


def test_a_generated_graph_in_place_of_missing_data(no_data, monkeypatch):
    monkeypatch.setattr(asking, "scale_free", lambda *sizes, **more: sizes)
    title, sizes = asking.enron()
    assert "in place of email-Enron" in title and sizes[0] == 36_000


def test_query_seconds_asks_all_nodes_in_every_pass():
    asked = []
    assert asking.query_seconds(asked.append, [4, 5, 6], n_passes=2) >= 0
    assert asked == [4, 5, 6, 4, 5, 6]
