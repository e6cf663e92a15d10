"""`grfpp query`: what goes in, what comes out, what is refused."""

import gzip
import json
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


def seeded(novel, **options):
    graph = grfpp.Graph(novel)
    near = grfpp.LocalKernel(graph.normalized("sym"), grfpp.Diffusion(1.0), seed=0)
    places = graph.index(["Valjean", "Cosette"]).tolist()
    return graph, near.top_k(seeds=dict(zip(places, (2.0, -0.5), strict=True)), k=4, **options)


def test_weighted_seeds(capsys, novel):
    asked = ("--from", "Valjean:2", "--from", "Cosette:-0.5", "--top", "4")
    (told,) = document(capsys, "query", novel, *asked)["nodes"]
    graph, (nodes, values) = seeded(novel)
    assert told["seeds"] == {"Valjean": 2.0, "Cosette": -0.5}
    assert [each["node"] for each in told["top"]] == [graph.node_ids[node] for node in nodes]
    assert [each["value"] for each in told["top"]] == values.tolist()
    out = accepted(capsys, "query", novel, *asked, "--output", "near.csv")
    assert "\nfrom Valjean:2 Cosette:-0.5  Valjean: " in out
    assert table("near.csv")[0]["node"] == "Valjean:2 Cosette:-0.5"
    (once,) = document(capsys, "query", novel, "--from", "Valjean", "--from", "Valjean:1")["nodes"]
    assert once["seeds"] == {"Valjean": 2.0}


def test_confidence(capsys, novel):
    asked = ("--from", "Valjean:2", "--from", "Cosette:-0.5", "--top", "4", "--confidence", "0.99")
    (told,) = document(capsys, "query", novel, *asked)["nodes"]
    _, (_, values, certain) = seeded(novel, confidence=0.99)
    assert [each["certain"] for each in told["top"]] == certain.tolist()
    assert [each["value"] for each in told["top"]] == values.tolist()
    out = accepted(capsys, "query", novel, *asked, "--output", "near.csv")
    assert f" (the first {certain.sum()} are certain)" in out
    assert table("near.csv")[0]["certain"] == str(certain[0])


def test_filters(capsys, tmp_path):
    network = nx.les_miserables_graph()
    for number, node in enumerate(network):
        network.nodes[node]["kind"] = ("passage", "entity")[number % 2]
    nx.write_gml(network, tmp_path / "novel.gml")
    asked = ("query", tmp_path / "novel.gml", "--node", "Valjean", "--among", "kind=passage")
    more = ("--among", "Cosette", "--exclude", "Myriel", "--per-degree")
    (told,) = document(capsys, *asked, *more)["nodes"]
    graph = grfpp.Graph(network)
    near = grfpp.LocalKernel(graph.normalized("sym"), grfpp.Diffusion(1.0), seed=0)
    among = [node for node, data in network.nodes(data=True) if data["kind"] == "passage"]
    options = {"among": [*among, "Cosette"], "exclude": ["Myriel"], "normalize": "degree"}
    nodes, values = near.top_k("Valjean", 10, **options)
    assert [each["node"] for each in told["top"]] == [graph.node_ids[node] for node in nodes]
    np.testing.assert_allclose([each["value"] for each in told["top"]], values)
    assert "no node has 'song'" in refused(capsys, *asked, "--exclude", "kind=song")
    assert "sort" in refused(capsys, *asked, "--exclude", "sort=song")
    assert refused(capsys, *asked, "--exclude", "Nobody").startswith("--exclude")


def test_queries_from_a_file_are_streamed(capsys, novel, tmp_path, monkeypatch):
    monkeypatch.setattr("grfpp.cli.query._BATCH", 3)
    sets = [{"Valjean": 2.0, "Cosette": -0.5}, {"Javert": 1}] * 4
    path = tmp_path / "seeds.jsonl"
    path.write_text("\n".join(map(json.dumps, sets)) + "\n\n")
    lines = accepted(capsys, "query", novel, "--queries", path, "--top", "4").splitlines()
    answers = [json.loads(line) for line in lines]
    assert [answer["seeds"] for answer in answers] == sets
    _, (nodes, values) = seeded(novel)
    assert [each["row"] for each in answers[4]["top"]] == nodes.tolist()
    assert [each["value"] for each in answers[4]["top"]] == values.tolist()
    for wrong in ("[1]", '{"Nobody": 1}', '{"Javert": NaN}', "{", "{}", '{"Javert": 0}'):
        path.write_text(f'{{"Valjean": 1}}\n{wrong}\n')
        told = refused(capsys, "query", novel, "--queries", path)
        assert told.startswith("--queries") and "line 2" in told


def test_names_with_colons(capsys, tmp_path):
    nx.write_gml(nx.Graph([("a:1", "b"), ("b", "c")]), tmp_path / "colons.gml")
    asked = ("--from", "a:1", "--from", "a:1:2", "--from", "b:0.5")
    (told,) = document(capsys, "query", tmp_path / "colons.gml", *asked)["nodes"]
    assert told["seeds"] == {"a:1": 3.0, "b": 0.5}


def test_seeds_that_are_refused(capsys, novel, tmp_path):
    assert "--from" in refused(capsys, "query", novel)
    assert "--from" in refused(capsys, "query", novel, "--node", "Javert", "--from", "Javert")
    assert "'Javert'" in refused(capsys, "query", novel, "--from", "Javert:x")
    assert "finite" in refused(capsys, "query", novel, "--from", "Javert:inf")
    assert "weight" in refused(capsys, "query", novel, "--from", "Javert:0")
    assert "Nobody" in refused(capsys, "query", novel, "--from", "Nobody:2")
    assert refused(capsys, "query", novel, "--from", "Javert", "--dask", "local:1").startswith(
        "--dask"
    )
    assert refused(
        capsys, "query", novel, "--queries", tmp_path / "none.jsonl", "--output", "x.csv"
    ).startswith("--output")
