"""`grfpp demo`, on fewer and smaller graphs than users see, and what commands share."""

import json
from pathlib import Path

import pytest
from cli_helpers import accepted, refused

from grfpp.cli import run
from grfpp_lab.commands import demo, shared
from grfpp_lab.demo import measure


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measure, "N_REPEATS", 2)
    monkeypatch.setattr(
        measure, "demo_graphs", lambda: [measure.karate_club(), measure.sphere(n_subdivisions=1)]
    )


def test_prints_a_table_and_writes_a_page(capsys):
    out = accepted(capsys, "demo")
    written = sorted(Path("out/demo").iterdir())
    assert [path.name for path in written] == ["index.html", "kernel-row.png"]
    assert written[1].read_bytes().startswith(b"\x89PNG")
    columns = ("graph", "nodes", "method", "walks", "steps per node", "relative error", "seconds")
    assert all(column in out.splitlines()[2] for column in columns)
    assert out.count("GRF++ degree 4 *") == 2
    assert out.count("pooled degree 2 *") == 2
    assert "Karate club" in out
    assert f"wrote {Path('out/demo/index.html')}" in out


def test_json(capsys, monkeypatch):
    monkeypatch.setattr("grfpp_lab.demo.page.demo_page", lambda *_: "drawn by others")
    told = json.loads(accepted(capsys, "demo", "--json", "--seed", "2", "--out", "elsewhere"))
    assert told["seed"] == 2
    assert len(told["results"]) == 2 * 12
    keys = {"graph", "n_nodes", "method", "n_walks", "steps_per_node", "error"}
    assert keys <= set(told["results"][0])
    assert [Path(each).name for each in told["written"]] == ["index.html", "kernel-row.png"]
    assert all(Path(path).exists() for path in told["written"])


def test_without_matplotlib_the_table_is_still_printed(capsys, monkeypatch):
    monkeypatch.setattr(demo, "missing_packages", lambda: ["matplotlib", "jinja2"])
    assert run(["demo"]) == 0
    out, err = capsys.readouterr()
    assert "GRF++ degree 2" in out
    assert err.startswith("grfpp: no page was written, because matplotlib and jinja2 are not")
    assert "pip install '.[plot]' in a clone of grfpp" in err
    assert err.count("\n") == 1
    assert not Path("out").exists()
    shared.say_no_page([])
    assert capsys.readouterr() == ("", "")
    shared.say_no_page(["matplotlib"])
    assert "because matplotlib is not installed: pip" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_refused_at_once(capsys, monkeypatch):
    monkeypatch.setattr(measure, "warm_up", lambda: pytest.fail("it began to work"))
    Path("file").touch()
    for folder in ("file", "file/below"):
        assert f"--out {folder}" in refused(capsys, "demo", "--out", folder)
    for _ in range(2):
        shared.make_folder(Path("a/b"))
    assert Path("a/b").is_dir()


def test_the_seed_changes_the_walks(capsys, monkeypatch):
    monkeypatch.setattr(demo, "missing_packages", lambda: ["matplotlib"])
    monkeypatch.setattr(measure, "demo_graphs", lambda: [measure.karate_club()])

    def errors(*arguments):
        assert run(["demo", "--json", *arguments]) == 0
        results = json.loads(capsys.readouterr().out)["results"]
        return [result["error"] for result in results]

    assert errors() == errors("--seed", "0") != errors("--seed", "1")


def test_one_missing_package_is_told_in_the_singular(capsys):
    shared.say_no_page([])
    assert capsys.readouterr() == ("", "")
    shared.say_no_page(["matplotlib"])
    err = capsys.readouterr().err
    assert err.startswith("grfpp: no page was written, because matplotlib is not installed: pip")
