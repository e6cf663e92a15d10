"""The graphs of the experiments."""

from grfpp_lab.experiments import graphs, measuring


def test_generated_graphs_are_always_at_hand(monkeypatch, tmp_path):
    monkeypatch.delenv("GRFPP_DATA", raising=False)
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path))
    graphs.load.cache_clear()
    found, skipped = graphs.at_hand([*graphs.EIGHT, *graphs.FAR])
    generated = {"er-20", "er-100", "binary-tree", "regular", "karate", "infection"}
    assert generated == set(found)
    assert "graphs/eurosis.gml is not at hand" in skipped["eurosis"]
    for name in found:
        assert graphs.load(name).n_nodes == graphs.n_nodes_of(name)
    graphs.load.cache_clear()


def test_graphs_of_the_table_are_as_far_apart_as_it_says():
    found, _ = graphs.at_hand(graphs.FAR)
    for name in found:
        graph, paper = graphs.load(name), graphs.FAR[name]
        assert abs(graph.n_nodes - paper.n_nodes) <= 15, name
        assert measuring.diameter(name) == paper.diameter, name
