"""The store of encodings."""

import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

import torch
from encoding_helpers import data, molecules

from grfpp.torch import AddGRFPE
from grfpp.torch.encodings.cache import EncodingCache, key_of
from grfpp.torch.encodings.edge_lists import read_graphs


def test_a_cached_encoding_is_nobodys_to_change():
    (graph,) = molecules(1)
    transform = AddGRFPE()
    made = transform(graph)
    kept = made.grf_pe.clone()
    made.grf_pe.zero_()
    assert torch.equal(transform(graph).grf_pe, kept)


def test_the_cache_is_bounded_and_drops_the_oldest():
    cache = EncodingCache(100)
    for number in range(4):
        cache.put(bytes([number]), torch.full((10,), float(number)))
        cache.get(bytes([0]))
    assert cache.n_bytes == 80
    assert [cache.get(bytes([number])) is None for number in range(4)] == [False, True, True, False]
    cache.put(b"large", torch.zeros(26))
    assert cache.get(b"large") is None
    cache.put(bytes([0]), torch.ones(1))
    assert cache.n_bytes == 80
    none = AddGRFPE(cache_mb=0)
    (graph,) = molecules(1)
    assert torch.equal(none(graph).grf_pe, none(graph).grf_pe)
    assert len(none.cache) == 0


def test_keys_of_the_cache_tell_graphs_apart():
    graphs = [
        *molecules(30),
        data([[0, 1], [1, 0]]),
        data([[0, 2], [2, 0]]),
        data([[0, 1, 0], [1, 0, 0], [0, 0, 0]]),
    ]
    keys = [key_of(each) for each in read_graphs(graphs, "edge_weight")]
    assert len(set(keys)) == len(graphs)
