"""`grfpp cluster`: what goes in, what comes out, what is refused."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from cli_helpers import accepted, document, facts, refused, table
from independent_walks import IN_WORDS, INDEPENDENT

import grfpp
from grfpp.tasks import SpectralKernelClustering
from grfpp.tasks.clustering import pair_error


@pytest.fixture
def club(tmp_path, monkeypatch):
    """The karate club without weights, as GML, GraphML and an edge list."""
    monkeypatch.chdir(tmp_path)
    graph = nx.karate_club_graph()
    for _, _, values in graph.edges(data=True):
        del values["weight"]
    nx.write_gml(graph, "club.gml")
    nx.write_graphml(graph, "club.graphml")
    nx.write_edgelist(graph, "club.txt", data=False)
    return [graph.nodes[node]["club"] for node in graph]


def library(k=2, path="club.gml", **options):
    options = {"random_state": 0, **options}
    return SpectralKernelClustering(k, **options).fit(grfpp.Graph(path)).labels_.tolist()


def test_tells_what_it_did(capsys, club):
    told = facts(accepted(capsys, "cluster", "club.gml", "-k", 2, "--how", "paper", *IN_WORDS))
    assert told["graph"] == "club.gml: 34 nodes, 78 edges, undirected"
    assert told["kernel"] == "Diffusion(lam=1.0), scale 1"
    assert "16 walks a node and factor, lengths geometric:0.1, seed 0" in told["walks"]
    sizes = np.bincount(library(how="paper", **INDEPENDENT))
    assert told["clusters"] == f"2 with {sizes[0]}, {sizes[1]} nodes"
    assert "error" not in told


@pytest.mark.parametrize("path", ["club.gml", "club.graphml"])
def test_compares_with_the_classes_of_the_file(capsys, club, path):
    told = facts(accepted(capsys, "cluster", path, "--labels-from", "club"))
    error = pair_error(library(path=path), club)
    assert told["error"] == f"{error:.4f}: {round(561 * error)} of 561 pairs are wrong"
    assert told["clusters"].startswith("2 with")


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], {}),
        (["--seed", 3], {"random_state": 3}),
        (["--degree", 1, "--walks", 2], {"how": "paper", "degree": 1, "n_walks": 2}),
        (["--method", "exact", "--scale", 0.25], {"estimate": "exact", "scale": 0.25}),
        (["--method", "auto"], {"method": "auto"}),
        (["--method", "walks"], {"estimate": "walks"}),
        (["--method", "walks", "--walks", 9], {"estimate": "walks", "n_walks": 9}),
        (["--method", "exact", "--walks", 9], {"how": "paper", "estimate": "exact"}),
        (["--how", "paper", "--walks", 2], {"how": "paper", "n_walks": 2}),
        (["--how", "paper", "--method", "chebyshev"], {"how": "paper", "method": "chebyshev"}),
        (["-k", "auto"], {"k": "auto"}),
        (["--kernel", "squared-diffusion:2"], {"kernel": "squared-diffusion:2"}),
        (["--termination", "poisson:3", "--jobs", 1], {"how": "paper", "termination": "poisson:3"}),
        (["-k", 5], {"k": 5}),
        (["--reuse-walks"], {"how": "paper", "reuse_walks": True}),
    ],
)
def test_options_reach_the_library(capsys, club, arguments, options):
    told = document(capsys, "cluster", "club.gml", "-k", 2, *arguments)
    assert told["labels"] == library(**options)
    assert told["how"] == options.get("how", "regularized")
    assert told["sizes"] == np.bincount(told["labels"]).tolist()


def test_nodes_without_a_class_are_not_compared(capsys, club):
    graph, half = nx.read_gml("club.gml"), club[:20]
    for node in list(graph)[20:]:
        del graph.nodes[node]["club"]
    nx.write_gml(graph, "half.gml")
    arguments = ("cluster", "half.gml", "--labels-from", "club")
    told = facts(accepted(capsys, *arguments))
    error = pair_error(library()[:20], half)
    assert told["classes"] == "20 of 34 nodes have one; the others are not compared"
    assert told["error"] == f"{error:.4f}: {round(190 * error)} of 190 pairs are wrong"
    told = document(capsys, *arguments, "-o", "labels.csv")
    assert (told["n_compared"], told["n_clusters"], told["pair_error"]) == (20, 2, error)
    assert [line["club"] for line in table("labels.csv")] == half + [""] * 14


def with_attribute(name, values):
    graph = nx.read_gml("club.gml")
    nx.set_node_attributes(graph, dict(zip(graph, values, strict=True)), name)
    nx.write_gml(graph, "other.gml")
    return ("cluster", "other.gml", "--labels-from", name)


@pytest.mark.parametrize("more", [[], ["-k", "3"]])
def test_names_and_measurements_are_no_classes(capsys, club, more):
    several = [f"p{i}" for i in range(34)], [0.5 + i / 7 for i in range(34)], ["x"] * 34
    for values in several:
        assert "other.gml" in refused(capsys, *with_attribute("other", values), *more)


def test_table(capsys, club):
    asked = ("cluster", "club.gml", "--labels-from", "club", "--output", "labels.csv")
    told, lines = document(capsys, *asked), table("labels.csv")
    assert [int(line["cluster"]) for line in lines] == told["labels"] == library()
    assert [line["club"] for line in lines] == club
    assert [line["node"] for line in lines] == told["nodes"] == [str(node) for node in range(34)]
    assert (told["pair_error"], told["output"]) == (pair_error(library(), club), "labels.csv")
    accepted(capsys, "cluster", "club.txt", "-k", 3, "--output", "labels.csv")
    assert Path("labels.csv").read_text().startswith("node,cluster\n0,")
    accepted(capsys, *with_attribute("cluster", club), "-o", "labels.csv")
    lines = table("labels.csv")  # in which a class called cluster has a column of its own
    assert [line["given cluster"] for line in lines] == club
    assert [int(line["cluster"]) for line in lines] == library()


@pytest.mark.parametrize(
    ("arguments", "label", "text"),
    [
        (["--directed"], "graph", "78 edges, directed"),
        (["--how", "paper", "--reuse-walks"], "walks", "a node and factor, reused (biased)"),
        ([], "walks", "none: eigenvectors of the weights"),
    ],
)
def test_says_how_it_read_and_walked(capsys, club, arguments, label, text):
    assert text in facts(accepted(capsys, "cluster", "club.txt", "-k", 2, *arguments))[label]


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_picture(capsys, club, suffix):
    pytest.importorskip("matplotlib")
    path = Path(f"clusters.{suffix}")
    told = accepted(capsys, "cluster", "club.gml", "-k", 2, "--picture", path)
    assert f"wrote     {path}" in told
    assert path.stat().st_size > 5000
