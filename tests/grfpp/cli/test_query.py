"""`grfpp query`: what goes in, what comes out, what is refused."""

import gzip
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from cli_helpers import accepted, document, facts, refused, table

import grfpp


def test_says_what_the_library_finds(capsys, karate):
    out = facts(accepted(capsys, "query", karate, "--node", "0", "--top", "4"))
    W = grfpp.Graph(karate).normalized("sym")
    nodes, values = grfpp.LocalKernel(W, grfpp.Diffusion(1.0), seed=0).top_k(0, 4)
    found = ", ".join(f"{i}: {value:.4g}" for i, value in zip(nodes, values, strict=True))
    assert out["node"] == f"0   {found}"
    assert out["weights"] == "normalize sym, scale 1"
    assert out["kernel"] == "Diffusion(lam=1.0)"
    assert out["graph"].endswith("34 nodes, 78 edges, undirected")
    assert out["time"].endswith(" s for 1 node")


@pytest.mark.parametrize(
    ("arguments", "kernel", "kind", "options"),
    [
        (["--seed", "7", "--budget", "20"], grfpp.Diffusion(1.0), "sym", {"seed": 7, "budget": 20}),
        (["-k", "diffusion:5"], grfpp.Diffusion(5.0), "sym", {}),
        (["-k", "diffusion:5", "--normalize", "rw"], grfpp.Diffusion(5.0), "rw", {}),
        (["-k", "diffusion", "--normalize", "none"], grfpp.Diffusion(1.0), None, {}),
        (["-k", "personalized-pagerank:0.2"], grfpp.PersonalizedPageRank(0.2), "rw", {}),
        (["-k", "heat:3", "--jobs", "1"], grfpp.HeatKernel(3.0), "rw", {}),
        (["--tol", "0.1"], grfpp.Diffusion(1.0), "sym", {"tol": 0.1}),
        (["--scale", "0.5", "-k", "inverse-power"], grfpp.InversePower(1), "sym", {"scale": 0.5}),
    ],
)
def test_options_reach_the_library(capsys, karate, arguments, kernel, kind, options):
    told = document(capsys, "query", karate, "--node", "5", *arguments)
    W = grfpp.Graph(karate).normalized(kind, options.pop("scale", 1.0))
    nodes, values = grfpp.LocalKernel(W, kernel, **{"seed": 0, **options}).top_k(5, 10)
    (asked,) = told["nodes"]
    assert [each["row"] for each in asked["top"]] == nodes[nodes >= 0].tolist()
    assert [each["value"] for each in asked["top"]] == values[nodes >= 0].tolist()
    assert told["kernel"] == kernel.to_dict()
    assert told["graph"]["normalize"] == ("none" if kind is None else kind)


def test_names_in_and_out(capsys, novel):
    several = ("--node", "Valjean", "--node", "Cosette", "--no-self", "--top", "3")
    valjean, cosette = document(capsys, "query", novel, *several)["nodes"]
    assert (valjean["node"], cosette["node"]) == ("Valjean", "Cosette")
    graph = grfpp.Graph(novel)
    for asked in (valjean, cosette):
        assert graph.node_ids[asked["row"]] == asked["node"]
        names = [each["node"] for each in asked["top"]]
        assert len(names) == 3 and asked["node"] not in names
        assert graph.index(names).tolist() == [each["row"] for each in asked["top"]]
    told = accepted(capsys, "query", novel, *several)
    assert f"\nnode Cosette  {cosette['top'][0]['node']}: " in told


@pytest.mark.parametrize("packed", [False, True])
def test_nodes_from_a_file(capsys, novel, tmp_path, packed):
    text = "\ufeffValjean\r\n\r\n  Javert \r\nValjean\r\n".encode()
    path = tmp_path / ("names.txt.gz" if packed else "names")
    path.write_bytes(gzip.compress(text) if packed else text)
    nodes = document(capsys, "query", novel, "--nodes-from", path, "--node", "Fantine")["nodes"]
    assert [each["node"] for each in nodes] == ["Fantine", "Valjean", "Javert", "Valjean"]
    assert nodes[1] == nodes[3]


def test_standard_errors(capsys, karate):
    asked = ("--node", "0", "--budget", "30", "--top", "3", "--std")
    told = document(capsys, "query", karate, *asked)
    W = grfpp.Graph(karate).normalized("sym")
    near = grfpp.LocalKernel(W, grfpp.Diffusion(1.0), budget=30, seed=0)
    nodes, values, std = near.top_k(0, 3, return_std=True)
    top = told["nodes"][0]["top"]
    assert [each["row"] for each in top] == nodes.tolist()
    np.testing.assert_array_equal([each["std"] for each in top], std)
    assert (std > 0).all()
    found = facts(accepted(capsys, "query", karate, *asked))["node"]
    assert found.startswith(f"0   {nodes[0]}: {values[0]:.4g} ± {std[0]:.1g}, ")


def test_a_table(capsys, novel):
    asked = ("--node", "Marius", "--node", "Javert", "--top", "4")
    out = accepted(capsys, "query", novel, *asked, "--output", "near.csv")
    assert "\nwrote " in out
    told = document(capsys, "query", novel, *asked)
    assert [list(line.values()) for line in table("near.csv")] == [
        [answer["node"], str(rank), entry["node"], str(entry["value"])]
        for answer in told["nodes"]
        for rank, entry in enumerate(answer["top"], 1)
    ]
    accepted(capsys, "query", novel, *asked, "--std", "--output", "near.csv")
    assert list(table("near.csv")[0]) == ["node", "rank", "other", "value", "std"]


def test_folders_say_the_same(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network = nx.Graph(nx.les_miserables_graph().edges())  # all weigh the same
    nx.write_gml(network, "novel.gml")
    grfpp.Graph("novel.gml").save("novel.grf")
    asked = ("--node", "Valjean", "--budget", "100", "--kernel", "heat:2")
    file, folder = (document(capsys, "query", f"novel.{kind}", *asked) for kind in ("gml", "grf"))
    assert folder["graph"]["path"] == "novel.grf"
    assert folder["nodes"] == file["nodes"]
    told = refused(capsys, "query", "novel.grf", "--node", "Valjan")
    assert "no node is named 'Valjan'; the closest is 'Valjean'" in told
    told = refused(capsys, "query", "novel.grf", *asked, "--duplicates", "max")
    assert told.startswith("--duplicates")
    Path("novel.grf", "header.json").write_text("{}")
    assert "novel.grf" in refused(capsys, "query", "novel.grf", *asked)


def test_few_nodes_are_reached(capsys, tmp_path):
    path = tmp_path / "parts.txt"
    path.write_text("0 1\n2 3\n3 4\n")
    told = document(capsys, "query", path, "--node", "1")
    assert [each["row"] for each in told["nodes"][0]["top"]] == [1, 0]
