"""`grfpp update` and `grfpp compact`."""

from cli_helpers import accepted, document, facts, refused

from grfpp import Graph


def test_update_and_compact(tmp_path, capsys):
    path, changes = tmp_path / "path.grf", tmp_path / "changes.csv"
    Graph([("a", "b"), ("b", "c")]).save(path)
    changes.write_text("operation,source,target\nadd,c,d\nremove,a,b\n")
    told = facts(accepted(capsys, "update", path, changes))
    assert told["graph"].endswith("path.grf: 4 nodes, 2 edges, undirected")
    assert set(told) == {"graph", "time", "wrote"}
    nearest = document(capsys, "query", path, "--node", "d", "--top", "2")["nodes"][0]["top"]
    assert [entry["node"] for entry in nearest] == ["d", "c"]
    message = refused(capsys, "update", path, changes)
    assert message.startswith("add lists 'c' - 'd', which is an edge already")
    told = document(capsys, "compact", path)
    assert told["graph"] == {"path": str(path), "n_nodes": 4, "n_edges": 2, "directed": False}
    assert not list(path.glob("*.seg")) and Graph.open(path).index("d") == 3
    assert "No such file" in refused(capsys, "update", tmp_path / "none.grf", changes)
