"""Names that do not exist are refused with the closest one; `dir` and `help` show what exists."""

import pydoc
import subprocess
import sys

import networkx as nx
import pytest

import grfpp
from grfpp.cli.app import run
from grfpp.errors import UnknownOptionError

W = grfpp.Graph(nx.cycle_graph(6)).normalized("sym")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: grfpp.sample(W, "diffusion:1", nwalks=3), "n_walks"),
        (lambda: grfpp.sample_submatrix(W, "diffusion:1", [0], n_walk=3), "n_walks"),
        (lambda: grfpp.WalkOptions.of(deflation=3), "deflate"),
        (lambda: grfpp.Graph("edges.txt", seperator=";"), "separator"),
        (lambda: grfpp.Graph("edges.txt", direct=True), "directed"),
        (lambda: grfpp.convert("edges.txt", "x.grf", duplicate="sum"), "duplicates"),
    ],
)
def test_a_misspelt_option_is_an_input_error_and_a_type_error(call, name):
    with pytest.raises(UnknownOptionError, match=f"is not an option here; did you mean '{name}'"):
        call()
    for kind in (grfpp.InputError, TypeError, ValueError):
        with pytest.raises(kind):
            call()


def test_where_no_option_is_close():
    with pytest.raises(grfpp.InputError, match="zzz is not an option here; see the help"):
        grfpp.sample(W, "diffusion:1", zzz=3)
    with pytest.raises(grfpp.InputError, match="zzz is not an option here; there are columns, dir"):
        grfpp.Graph("edges.txt", zzz=3)


def test_misspelt_commands(capsys):
    assert run(["estimat", "edges.txt"]) == 2
    assert "no such command 'estimat'; did you mean 'estimate'?" in capsys.readouterr().err
    assert run(["zzz"]) == 2
    assert "there are " in capsys.readouterr().err


def test_dir_lists_public_names_only():
    names = dir(grfpp)
    assert {"tasks", "torch", "datasets", "distributed", "sample", "Graph"} <= set(names)
    assert not [name for name in names if name.startswith("_")]
    assert set(grfpp.__all__) == set(names) - {"torch", "distributed"}
    module = {}
    exec("from grfpp import *", module)
    assert set(module) - {"__builtins__"} == set(grfpp.__all__)


def test_help_is_a_page_that_names_everything():
    text = pydoc.plain(pydoc.render_doc(grfpp))
    assert len(text.splitlines()) < 100
    words = set(grfpp.__doc__.replace(",", " ").replace(";", " ").replace(":", " ").split())
    assert set(dir(grfpp)) <= words


def test_help_needs_no_extra():
    program = "import sys, pydoc; sys.modules['torch'] = None; import grfpp; "
    program += "pydoc.render_doc(grfpp); assert 'grfpp.distributed' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
