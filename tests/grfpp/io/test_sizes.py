"""Graphs that cannot fit."""

import pytest
import scipy.sparse as sp
from io_helpers import refusal

from grfpp.errors import InputError
from grfpp.io.sizes import check_node_count


def test_sizes_beyond_memory_are_refused_before_allocation(monkeypatch):
    monkeypatch.setattr("grfpp.memory.available_bytes", lambda: 10**8)
    assert "bytes" in refusal(([[0], [10**9]], None))
    assert "bytes" in refusal(([[0], [1]], None), n_nodes=10**9)
    assert "bytes" in refusal(sp.coo_array((10**9, 10**9)))


def test_graphs_that_cannot_be_numbered():
    check_node_count(2**20, "someone")
    with pytest.raises(InputError, match=r"someone asks for 2,147,483,648 nodes, more than"):
        check_node_count(2**31, "someone")
