"""Edge lists that are not plain, on the command line."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cli_helpers import accepted, document, refused, warned
from sklearn.neighbors import kneighbors_graph

from grfpp import Diffusion, Graph, sample

LOG = "when|who|whom|n\n1|zoë|adam|2\n2|adam|zoë|3\n3|adam|bob|1\n"


def test_options_reach_the_reader(tmp_path, capsys):
    path = tmp_path / "log.txt"
    path.write_bytes(LOG.encode("latin-1"))
    options = ["--separator", "|", "--columns", "who,whom,n", "--encoding", "latin-1"]
    for command in (["estimate"], ["cluster", "-k", "2"]):
        told = document(capsys, *command, path, *options, "--duplicates", "max", "--walks", "2")
        assert told["graph"]["n_edges"] == 2
    refusal = refused(capsys, "estimate", path, *options, "--duplicates", "error")
    assert "line 3" in refusal and "--duplicates max" in refusal


@pytest.mark.parametrize("command", [["estimate"], ["cluster", "-k", "2"]])
@pytest.mark.parametrize("how", ["max", "mean", "sum", "mutual"])
def test_directed_graphs_are_made_undirected(tmp_path, capsys, command, how):
    path = tmp_path / "arcs.txt"
    path.write_text("a b 1\nb a 3\nb c 2\nc d 1\nd c 1\n")
    read = Graph(path, symmetrize=how)
    told = document(capsys, *command, path, "--undirected", how)["graph"]
    assert (told["n_edges"], told["directed"]) == (read.n_edges, False)
    assert read.n_edges == (2 if how == "mutual" else 3)
    assert "--undirected" in refused(capsys, *command, path, "--undirected", "least")


@pytest.mark.parametrize("weights", ["unit", "length", "cotangent"])
def test_weights_of_meshes(tmp_path, capsys, weights):
    path = tmp_path / "mesh.off"
    path.write_text("OFF\n4 2 0\n0 0 0\n0.5 -1 0\n1 0 0\n0.5 2 0\n3 0 1 2\n3 0 2 3\n")
    option = ["--mesh-weights", weights]
    rows = ["--rows", "0", "--normalize", "none", "--scale", "0.1"]
    given = document(capsys, "estimate", path, *option, *rows)
    graph = Graph(path, mesh_weights=weights)
    K = sample(graph.normalized(None, 0.1), Diffusion(1.0), seed=0)
    assert given["rows"][0]["values"] == K.rows([0])[0].tolist()
    accepted(capsys, "cluster", path, "-k", 2, *option)
    told = document(capsys, "interpolate", path, "--mask", "0.5", *option)
    assert told["mesh"]["weights"] == weights


@pytest.mark.filterwarnings("always")
def test_notes_advise_in_options(tmp_path, capsys):
    path = tmp_path / "mesh.off"  # of which edges are left out
    path.write_text("OFF\n4 2 0\n0 0 0\n1 -0.1 0\n2 0 0\n1 0.1 0\n3 0 1 2\n3 0 2 3\n")
    told = warned(capsys, "estimate", path, "--mesh-weights", "cotangent")
    assert "--mesh-weights length" in told
    path = tmp_path / "neighbours.npz"
    points = np.random.default_rng(0).normal(size=(60, 2))
    for mode in ("connectivity", "distance"):
        sp.save_npz(path, kneighbors_graph(points, 5, mode=mode))
        assert "--undirected max" in warned(capsys, "estimate", path, "--walks", "2")
    path = tmp_path / "friends.csv"  # whose list is mirrored
    path.write_text("a,b,1\nb,a,1\n")
    assert "--duplicates max" in warned(capsys, "estimate", path, "--walks", "2")


def test_columns_by_number_and_words_for_white_space(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("a\tb,c\t7\n")
    told = document(capsys, "estimate", path, "--separator", "tab", "--columns", "0,1")
    assert told["graph"]["n_nodes"] == 2
    told = document(capsys, "estimate", path, "--separator", "space", "--no-header")
    assert told["graph"]["n_edges"] == 1


def test_advice_is_in_options(tmp_path, capsys):
    path = tmp_path / "friends.csv"
    path.write_text("person,friend\nann,bob\nbob,cy\n")
    assert "--header or --no-header" in refused(capsys, "estimate", path)
    path.write_bytes(b"zo\xeb,b\n")
    assert "--encoding latin-1" in refused(capsys, "estimate", path)
    path.write_text("a|b|1\n")
    assert "separator" in refused(capsys, "estimate", path)
    path.write_text("a,b,c,d\n1,2,3,4\n")
    assert "columns" in refused(capsys, "estimate", path, "--header")


def test_options_that_mean_nothing_are_refused(tmp_path, capsys):
    path = tmp_path / "edges.parquet"
    pd.DataFrame({"u": ["a"], "v": ["b"]}).to_parquet(path)
    accepted(capsys, "estimate", path, "--walks", "2")
    assert refused(capsys, "estimate", path, "--separator", ",").startswith("--separator")
    assert refused(capsys, "estimate", path, "--columns", "u").startswith("--columns")
