"""Whatever options say, commands end with 0 or with 2 and one line: never with a traceback."""

import contextlib
import io

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from junk import FEW

from grfpp import Graph
from grfpp.cli import run
from grfpp.cli.app import COMMANDS, app

#: Arguments with which a command runs, or would but for the last of them where it takes long.
GOOD = {
    "estimate": ["path.txt"],
    "query": ["path.txt", "--node", "0"],
    "convert": ["path.txt", "path.grf"],
    "update": ["path.grf", "changes.csv"],
    "compact": ["path.grf"],
    "cluster": ["path.gml", "-k", "1"],
    "interpolate": ["mesh.off"],
    "label": ["path.gml", "--labels", "known.csv"],
    "gp": ["path.txt", "--values", "numbers.csv"],
    "classify": ["no-such-file.zip"],
    "datasets": ["karate"],
    "demo": ["--no-such-option"],
    "bench": ["--no-such-option"],
    "reproduce": ["no-such-experiment"],
    "warmup": ["--no-such-option"],
}
TEXTS = [
    *("", "-1", "0", "1", "0.5", "nan", "inf", "1e400", "9" * 400, "9" * 5000, "-", "--", "²", "é"),
    *("1,2", "0,", ":", "a:b", "diffusion:", "taylor:", "poisson:nan", "geometric:0", "custom:1"),
    *("none", "auto", "/", "..", "/dev/null/x.csv", "path.txt", "path.csv/x.csv", "\0", "{}", "%s"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graph = nx.path_graph(3)
    nx.write_edgelist(graph, "path.txt", data=False)
    nx.write_gml(graph, "path.gml")
    (tmp_path / "known.csv").write_text("0,a\n1,b\n")
    (tmp_path / "numbers.csv").write_text("0,1\n1,2\n")
    Graph(graph).save("path.grf")
    (tmp_path / "changes.csv").write_text("operation,source,target\nadd,0,2\n")
    corners = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
    (tmp_path / "mesh.off").write_text(f"OFF\n4 4 0\n{corners}3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")


def test_every_command_is_tried():
    assert set(GOOD) == set(COMMANDS)


@pytest.mark.parametrize("command", GOOD)
def test_junk_options(folder, command):
    with app.make_context("grfpp", [command, "--help"], resilient_parsing=True) as context:
        parameters = app.get_command(context, command).params

    @FEW
    @given(st.sampled_from(parameters), st.sampled_from(TEXTS) | st.text(max_size=4))
    def try_it(parameter, text):
        first, *others = GOOD[command]
        flag = next((each for each in parameter.opts if each.startswith("--")), None)
        is_option = flag is not None
        arguments = [first, *others, f"{flag}={text}"] if is_option else [text, *others]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run([command, *arguments])
        assert code in (0, 2)
        if code == 2:
            assert err.getvalue().startswith("grfpp: ")
            assert (out.getvalue(), err.getvalue().count("\n")) == ("", 1)

    try_it()
