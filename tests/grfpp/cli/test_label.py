"""`grfpp label`: what goes in, what comes out, what is refused."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from cli_helpers import accepted, document, facts, table

import grfpp
from grfpp.cli import run
from grfpp.tasks import KernelLabelPropagation

KNOWN = (0, 1, 2, 3, 13, 32, 33, 30, 23, 29)


@pytest.fixture
def club(tmp_path, monkeypatch):
    """The karate club with the parties of ten members, in several files, and a loner."""
    monkeypatch.chdir(tmp_path)
    graph = nx.karate_club_graph()
    parties = [graph.nodes[node]["club"] for node in graph]
    for node in graph:
        del graph.nodes[node]["club"]
        if node in KNOWN:
            graph.nodes[node]["party"] = parties[node]
    nx.write_gml(graph, "club.gml")
    nx.write_graphml(graph, "club.graphml")
    nx.write_weighted_edgelist(graph, "club.txt")
    lines = [f"{node},{parties[node]}" for node in KNOWN]
    Path("known.csv").write_text("\n".join(["member,party", *lines]) + "\n")
    return parties


def test_tells_what_it_did_and_writes_the_others(capsys, club):
    arguments = ["label", "club.gml", "--labels-from", "party", "--output", "labels.csv"]
    told = facts(accepted(capsys, *arguments))
    assert told["graph"] == "club.gml: 34 nodes, 78 edges, undirected"
    assert told["labels"] == "10 known, 2 different ones"
    assert told["predicted"].startswith("24 nodes: Mr. Hi ")
    lines = table("labels.csv")
    hidden = [node for node in range(34) if node not in KNOWN]
    assert [line["node"] for line in lines] == [str(node) for node in hidden]
    right = [line["label"] == club[node] for line, node in zip(lines, hidden, strict=True)]
    assert np.mean(right) > 0.85
    assert all(0.5 <= float(line["probability"]) <= 1 for line in lines)
    model = KernelLabelPropagation(grfpp.Graph("club.gml")).fit(
        np.sort(KNOWN), np.array(club)[np.sort(KNOWN)]
    )
    assert [line["label"] for line in lines] == model.predict(hidden).tolist()


@pytest.mark.parametrize("path", ["club.gml", "club.graphml"])
def test_a_table_says_what_an_attribute_does(capsys, club, path):
    arguments = ("label", path, "--kernel", "diffusion:2", "--how", "propagation")
    first = document(capsys, *arguments, "--labels-from", "party")
    second = document(capsys, *arguments, "--labels", "known.csv")
    assert (first["labels"], first["nodes"]) == (second["labels"], second["nodes"])


def test_json_and_labels_held_out(capsys, club):
    arguments = ["label", "club.txt", "--labels", "known.csv", "--how", "kriging"]
    told = document(capsys, *arguments, "--hold-out", 0.4, "--kernel", "diffusion:2")
    assert told["held_out"]["n"] == 4
    assert told["held_out"]["accuracy"] >= 0.75
    assert 0 <= told["held_out"]["calibration_error"] <= 1
    assert (told["kernel"], told["how"]) == ("Diffusion(lam=2.0)", "kriging")
    assert len(told["labels"]) == len(told["probabilities"]) == 24
    assert document(capsys, *arguments)["held_out"] is None
    told = facts(accepted(capsys, *arguments, "--hold-out", 0.4))
    assert "of 4 labels are right" in told["held"]
    # 45 % of three is one, in each of ten classes; the only label of the last one stays.
    Path("known.csv").write_text("".join(f"{node},{node // 3}\n" for node in range(31)))
    arguments = ("--hold-out", 0.45, "--how", "propagation", "--kernel", "diffusion:2")
    told = document(capsys, "label", "club.gml", "--labels", "known.csv", *arguments)
    assert told["held_out"]["n"] == 10


def test_nodes_that_no_label_reaches(capsys, club):
    Path("club.txt").write_text(Path("club.txt").read_text() + "34 35 1\n")
    told = accepted(capsys, "label", "club.txt", "--labels", "known.csv")
    assert "at 2 nodes, which no label reaches" in told


@pytest.mark.filterwarnings("always")
def test_empty_labels_are_none_and_one_a_class_is_not_held_out(capsys, club):
    Path("known.csv").write_text("0,a\n1,\n\n33,b\n")
    assert run(["label", "club.gml", "--labels", "known.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["n_labelled"] == 2
    assert len(told["labels"]) == 32
    assert told["held_out_score"] is None
    Path("two.csv").write_text("0,a\n33,b\n")
    assert run(["label", "club.gml", "--labels", "two.csv"]) == 0
    shown = capsys.readouterr()
    assert "fewer than two classes have labels to hold out" in shown.err
    assert facts(shown.out)["right"] == "not known: too few labels to hold some out"
