"""The picture of clusters."""

import networkx as nx
import pytest

from grfpp.tasks import SpectralKernelClustering


@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_nodes_and_eigenvalues_are_drawn(k, tmp_path):
    pytest.importorskip("matplotlib")
    clustering = SpectralKernelClustering(k, random_state=0).fit(nx.karate_club_graph())
    figure = clustering.plot()
    nodes, eigenvalues = figure.axes
    assert len(nodes.collections[0].get_offsets()) == 34
    assert nodes.get_title() == f"34 nodes, {k} clusters"
    drawn = sum(len(line.get_xdata()) for line in eigenvalues.lines[:2])
    assert drawn == len(clustering.eigenvalues_)
    figure.savefig(tmp_path / "clusters.png")


def test_on_axes_that_are_there():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = figure.subplots()
    clustering = SpectralKernelClustering(2, random_state=0).fit(nx.karate_club_graph())
    assert clustering.plot(axes) is figure
    assert figure.axes == [axes]
    assert axes.get_xlabel().startswith("first direction")
