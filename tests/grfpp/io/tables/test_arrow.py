"""Names in all the forms that Arrow has for them."""

import numpy as np
import pyarrow as pa
import pytest

from grfpp.graph import Graph
from grfpp.io.tables import arrow

KINDS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.uint16(), pa.string()),
    pa.dictionary(pa.int64(), pa.large_string()),
]


def drawn(n, n_names, seed):
    rng = np.random.default_rng(seed)
    names = [f"{'é' * (i % 3)}n{i}" for i in range(n_names)]
    return [[names[i] for i in rng.integers(0, n_names, n)] for _ in range(2)]


def in_chunks(values, kind, sizes):
    """Some chunks, each with a dictionary of its own where there are any, and an empty one."""
    parts, begin = [], 0
    for size in sizes:
        # Cut out of more than is wanted: buffers begin elsewhere then.
        plain = pa.array(["?", *values[begin : begin + size], "!"])
        part = plain.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else plain
        parts.append((part if part.type == kind else plain.cast(kind)).slice(1, size))
        begin += size
    return pa.chunked_array(parts, type=kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS[:4])
@pytest.mark.parametrize("n_names", [3, 60])
@pytest.mark.parametrize("batch", [4, 1 << 16])
def test_names_in_every_form(monkeypatch, kind, other, n_names, batch):
    monkeypatch.setattr(arrow, "_BATCH", batch)
    us, vs = drawn(40, n_names, seed=1)
    table = pa.table(
        {"source": in_chunks(us, kind, [7, 0, 33]), "target": in_chunks(vs, other, [20, 20])}
    )
    found, wanted = Graph(table), Graph(list(zip(us, vs, strict=True)))
    assert found.node_ids == wanted.node_ids
    np.testing.assert_array_equal(found.adjacency.toarray(), wanted.adjacency.toarray())


def test_empty_names_and_large_dictionaries_of_small_chunks():
    for names in (["", ""], ["", "a"], ["a", ""]):
        graph = Graph(pa.table({"source": names[:1], "target": names[1:]}))
        assert graph.node_ids == list(dict.fromkeys(names))
    chunks = [
        pa.DictionaryArray.from_arrays([i], [f"n{(i + j) % 5}" for j in range(50)])
        for i in range(4)
    ]
    column = pa.chunked_array(chunks)
    found = Graph(pa.table({"source": column, "target": column.slice(0, 4)}))
    assert found.node_ids == ["n0", "n2", "n4", "n1"]


def test_names_twice_in_a_dictionary_and_names_that_are_not_used():
    twice = pa.DictionaryArray.from_arrays([0, 1, 2], ["x", "y", "x"])
    other = pa.DictionaryArray.from_arrays([1, 1, 0], ["z", "y"])
    graph = Graph(pa.table({"source": twice, "target": other}))
    assert graph.node_ids == ["x", "y", "z"]
    unused = pa.DictionaryArray.from_arrays([3, 1], ["a", "b", "c", "d"])
    assert Graph(pa.table({"source": unused, "target": unused})).node_ids == ["d", "b"]
