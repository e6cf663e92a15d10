"""Neighbours from a file instead of a map: the same bits, and errors instead of wrong ones."""

import gc
import os

import networkx as nx
import numpy as np
import pytest

import grfpp
from grfpp import Graph, InputError, LocalKernel
from grfpp.local import plan as planning
from grfpp.local.blocks import side

HEAT = grfpp.Diffusion(2.0)
NODES = np.arange(0, 400, 13)

pytestmark = pytest.mark.skipif(not hasattr(os, "pread"), reason="no reads at places here")


@pytest.fixture
def always_read(monkeypatch):
    monkeypatch.setattr(planning, "_MAX_MAPPED_BYTES", 0)


def saved(folder, weighted=False):
    graph = nx.barabasi_albert_graph(400, 3, seed=0)
    if weighted:
        rng = np.random.default_rng(0)
        for _, _, data in graph.edges(data=True):
            data["weight"] = rng.uniform(0.5, 2.0)
    Graph(graph).save(folder / "graph.grf")
    return folder / "graph.grf"


def local_kernel(path, kernel=HEAT):
    graph = Graph.open(path).normalized(kernel.normalization)
    return LocalKernel(graph, kernel, budget=300, seed=4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [HEAT, grfpp.PersonalizedPageRank(0.15)], ids=repr)
def test_the_same_bits_as_from_a_map(tmp_path, monkeypatch, kernel, weighted):
    path = saved(tmp_path, weighted)
    mapped = local_kernel(path, kernel).block(NODES)
    monkeypatch.setattr(planning, "_MAX_MAPPED_BYTES", 0)
    assert np.array_equal(local_kernel(path, kernel).block(NODES), mapped)


def test_large_graphs_are_read_and_small_ones_mapped(tmp_path, monkeypatch):
    path = saved(tmp_path)
    size = (path / "indices.bin").stat().st_size
    for most, is_read in ((size, False), (size - 1, True)):
        monkeypatch.setattr(planning, "_MAX_MAPPED_BYTES", most)
        assert (local_kernel(path).plan.read_layout.file is not None) == is_read


@pytest.mark.usefixtures("always_read")
def test_what_cannot_be_read_is_an_error(tmp_path):
    path = saved(tmp_path)
    plan = local_kernel(path).plan
    side(plan, NODES)
    os.truncate(path / "indices.bin", 100)
    with pytest.raises(InputError, match="cannot be read from its folder any more"):
        side(plan, NODES)


@pytest.mark.usefixtures("always_read")
def test_the_file_is_closed_with_the_graph(tmp_path):
    near = local_kernel(saved(tmp_path))
    near.entry(0, 1)
    file = near.graph.indices_file()
    assert os.fstat(file).st_size == near.graph.indices.nbytes
    del near
    gc.collect()
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(file)


@pytest.mark.usefixtures("always_read")
def test_graphs_in_memory_have_no_file():
    near = LocalKernel(nx.karate_club_graph(), grfpp.Diffusion(0.1))
    assert near.graph.indices_file() is None
    assert near.plan.read_layout.file is None
