"""Data frames, Parquet and Feather files, lists of tuples."""

import io
import sys
from functools import partial

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from io_helpers import dense, file_holding, read_text, refusal
from little_memory import only

from grfpp._imports import MissingPackageError
from grfpp.errors import InputError
from grfpp.graph import Graph

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
EDGES = st.lists(st.tuples(NAMES, NAMES, st.floats(0.1, 1e6)), min_size=1, max_size=8)
FEW = settings(deadline=None, max_examples=4)
KINDS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.uint16(), pa.string()),
    pa.dictionary(pa.int64(), pa.large_string()),
]
MAKERS = [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table]


WRITERS = {
    ".parquet": pyarrow.parquet.write_table,
    ".feather": partial(pyarrow.feather.write_feather, compression="zstd"),
}


def read_table(table, suffix, **options):
    with file_holding(b"", suffix) as path:
        WRITERS[suffix](pa.table(table), path)
        return Graph(path, **options)


@FEW
@given(EDGES, st.booleans())
def test_names_of_any_text_go_round(edges, directed):
    u, v, w = map(list, zip(*edges, strict=True))
    options = {"directed": directed, "duplicates": "sum"}
    expected = Graph(edges, **options)
    table = {"u": u, "v": v, "w": w}
    graphs = [read_table(table, suffix, **options) for suffix in WRITERS]
    graphs += [Graph(make(table), **options) for make in MAKERS]
    graphs.append(Graph(pa.table({"x": w, "source": u, "weight": w, "target": v}), **options))
    for graph in graphs:
        assert graph.node_ids == expected.node_ids
        np.testing.assert_array_equal(graph.adjacency.toarray(), expected.adjacency.toarray())


@FEW
@given(st.lists(st.tuples(st.integers(-5, 9), st.integers(-5, 9)), min_size=1, max_size=8))
def test_whole_numbers_go_round(edges):
    u, v = map(list, zip(*edges, strict=True))
    expected = Graph(edges, duplicates="max")
    for make in MAKERS:
        graph = Graph(make({"a": u, "b": v}), duplicates="max")
        assert graph.node_ids == expected.node_ids
        np.testing.assert_array_equal(graph.adjacency.toarray(), expected.adjacency.toarray())


def test_what_pandas_writes_is_what_it_holds():
    names = {"from": ["a, b", 'c"d', "02139"], "to": ["é", "a, b", "x"]}
    frame = pd.DataFrame({**names, "n": [1, 2, 3]})
    held = Graph(frame, directed=True)
    for index in (True, False):
        text = frame.rename(columns={"n": "weight"}).to_csv(index=index)
        written = read_text(text, ".csv", directed=True)
        assert written.node_ids == held.node_ids
        np.testing.assert_array_equal(written.adjacency.toarray(), held.adjacency.toarray())
    assert Graph(nx.to_pandas_edgelist(nx.les_miserables_graph())).n_edges == 254


CALLS = {"day": [1, 2], "who": ["ann", "bob"], "whom": ["bob", "cy"], "n": [3, 1]}


@pytest.mark.parametrize("make", MAKERS)
def test_columns_by_name_or_number(make):
    graph = Graph.from_frame(make(CALLS), "who", "whom", "n")
    assert graph.node_ids == ["ann", "bob", "cy"]
    assert graph.weights.tolist() == [3, 3, 1, 1]
    assert Graph.from_frame(make(CALLS), source=1, target=2).weights.tolist() == [1, 1, 1, 1]
    assert Graph(make(CALLS), columns=("who", "whom", "n")).weights.tolist() == [3, 3, 1, 1]
    renamed = {"day": [1, 2], "from": ["a", "b"], "to": ["b", "c"], "n": [3, 1]}
    assert Graph.from_frame(make(renamed), weight="n", directed=True).weights.tolist() == [3, 1]
    assert "called source and target" in refusal(make(CALLS))
    assert "'why', found 'day', 'who', 'whom', 'n'" in refusal(make(CALLS), columns=("who", "why"))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"u": ["a", None], "v": ["b", "c"]}, "the frame, row 1: column 'u'"),
        ({"u": ["a", "b"], "v": ["b", "c"], "w": [1, None]}, "row 1: column 'w'"),
        ({"u": ["a"], "v": ["b"], "w": [-1.0]}, "row 0: column 'w'"),
        ({"u": ["a"], "v": ["b"], "w": ["x"]}, "weights must be real numbers"),
        ({"u": ["a"], "v": [1]}, "all text, or all whole numbers"),
        ({"u": [1.5], "v": [1.0]}, "row 0: column 'u'"),
        ({"u": [True], "v": [False]}, "all text, or all whole numbers"),
        ({"u": np.array([2**64 - 1], "u8"), "v": [1]}, "column 'u'"),
        ({"u": ["a", "b"], "v": ["b", "a"], "w": [1, 2]}, "row 1: the edge 'b' - 'a' is listed"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_row(table, words):
    assert words in refusal(pa.table(table), duplicates="error")
    assert words in refusal(pl.DataFrame(table), duplicates="error")


def test_other_refusals():
    assert "no edges" in refusal(pd.DataFrame({"a": [], "b": []}))
    mixed = pd.DataFrame({"a": [1, "x"], "b": ["x", "y"], "c": [1, 1]})
    assert "all text or all numbers" in refusal(mixed)
    assert "separator is for" in refusal(pd.DataFrame(CALLS), separator=",")
    assert "the frame cannot be read" in refusal(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    levels = pd.MultiIndex.from_product([["x"], ["u", "v"]])
    assert "names of 2 levels" in refusal(pd.DataFrame([["a", "b"]], columns=levels))
    twice = pd.DataFrame([["a", "b", "c"]], columns=["source", "target", "source"])
    assert "\n" not in refusal(twice)
    assert "zero bytes" in refusal(pa.table({"source": ["a", "a\0"], "target": ["b", "c"]}))


def test_kinds_of_columns():
    floats = pd.DataFrame({"u": [1.0, 2.0], "v": [2.0, 3.0]})
    assert Graph(floats).node_ids == [1, 2, 3]
    categories = pd.DataFrame({"u": ["x", "y"], "v": ["y", "z"]}, dtype="category")
    assert Graph(categories).node_ids == ["x", "y", "z"]
    assert Graph(pl.DataFrame(categories)).node_ids == ["x", "y", "z"]
    unused = pd.Categorical(["y", "x"], categories=["z", "x", "y"])
    both = pd.DataFrame({"u": unused, "v": unused[::-1]})
    assert Graph(both, directed=True).node_ids == ["y", "x"]
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", "a"]))
    assert Graph(pa.table({"u": twice, "v": ["b", "c"]})).node_ids == ["a", "b", "c"]
    parts = {"u": ["b"], "v": ["a"]}, {"u": ["c"], "v": ["b"]}
    assert Graph(pa.concat_tables(map(pa.table, parts))).node_ids == ["b", "a", "c"]
    assert Graph(pa.RecordBatch.from_pydict({"u": [0], "v": [1]})).n_edges == 1
    assert Graph(pa.table({"u": ["", "a"], "v": ["a", ""]}), directed=True).node_ids == ["", "a"]


def test_a_square_frame_whose_index_is_its_columns_is_a_matrix():
    frame = pd.DataFrame([[0, 2], [3, 0]], index=["x", "y"], columns=["x", "y"])
    graph = Graph(frame)
    assert graph.node_ids == ["x", "y"]
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2], [3, 0]])
    turned = Graph(frame[["y", "x"]])  # the columns in another order than the rows
    assert turned.node_ids == ["x", "y"]
    np.testing.assert_array_equal(turned.adjacency.toarray(), [[0, 2], [3, 0]])
    assert Graph(pd.DataFrame(np.eye(5))).node_ids is None
    sparse = frame.astype(pd.SparseDtype(float, 0.0))
    np.testing.assert_array_equal(Graph(sparse).adjacency.toarray(), [[0, 2], [3, 0]])
    assert "finite" in refusal(frame.astype(float).replace(2.0, np.nan))
    assert "real numbers" in refusal(frame.astype(str))
    assert "duplicates is for" in refusal(frame, duplicates="max")
    edges = Graph.from_frame(pd.DataFrame([[0, 1], [1, 2]]), 0, 1)
    assert edges.n_nodes == 3
    assert "from_frame(frame, 0, 1)" in refusal(pd.DataFrame([[0, 1]] * 3))
    numbers = [10, 20, 30]
    frame = pd.DataFrame([[0, 1.0, 0], [1, 0, 2], [0, 2, 0]], numbers, numbers)
    graph = Graph(pd.read_csv(io.StringIO(frame.to_csv()), index_col=0))  # as it was in a file
    np.testing.assert_array_equal(graph.adjacency.toarray(), frame)
    assert graph.node_ids == numbers


def test_files_that_are_damaged():
    for suffix in (".parquet", ".feather", ".arrow"):
        with file_holding(b"PAR1 and nothing else", suffix) as path:
            assert f"{path} is truncated, or not a {suffix} file" in refusal(path)
    with file_holding(b"", ".parquet") as path:
        pyarrow.parquet.write_table(pa.table(CALLS), path)
        assert f"{path}: none of the columns" in refusal(path)
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        assert "truncated" in refusal(path)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match=r"needs pyarrow.*frames"):
        Graph(pd.DataFrame(CALLS))
    frame = pd.DataFrame(np.eye(2), index=["a", "b"], columns=["a", "b"])
    assert Graph(frame).node_ids == ["a", "b"]  # a matrix does without


def test_offsets_and_codes_beyond_the_text_are_refused():
    """Compiled code would read memory that is not theirs."""
    good = pa.array(["a", "b"])
    offsets = np.array([0, 10**9, 2], np.int32)
    wild = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), good.buffers()[2]])
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 7]), good, safe=False)
    for bad in (wild, codes):
        with pytest.raises(InputError, match="malformed table"):
            Graph(pa.table({"source": bad, "target": good}))


@pytest.mark.parametrize("suffix", WRITERS)
def test_rows_that_pack_well_are_counted(tmp_path, monkeypatch, suffix):
    table = pa.table({"source": np.zeros(10**6, int), "target": np.ones(10**6, int)})
    path = tmp_path / f"edges{suffix}"
    WRITERS[suffix](table, path)
    assert path.stat().st_size < 2_000_000
    only(monkeypatch, 50_000_000)
    with pytest.raises(InputError, match=r"rows of .*edges"):
        Graph(path)


INDEX = [0, 2, 3]  # not evenly spaced, as after a filter
LEFT = pd.DataFrame({"source": list("acd"), "target": list("bde"), "weight": [1.0, 2, 3]}, INDEX)


@pytest.mark.parametrize("how", ["frame", "parquet", "feather", "arrow", "named"])
def test_the_index_of_pandas_is_no_column(tmp_path, how):
    def graph_of(frame):
        path = tmp_path / f"edges.{how}"
        if how == "parquet":
            frame.to_parquet(path)
        elif how == "feather":
            pyarrow.feather.write_feather(pa.Table.from_pandas(frame), path)
        else:
            columns = dict(zip(("source", "target", "weight"), frame.columns, strict=False))
            makers = {"frame": Graph, "arrow": lambda f: Graph(pa.Table.from_pandas(f)),
                      "named": lambda f: Graph.from_frame(f, **columns)}  # fmt: skip
            return makers[how](frame)
        return Graph(path)

    for index in (INDEX, ["x", "y", "z"]):
        frame = LEFT.set_axis(index)
        assert graph_of(frame).weights.tolist() == [1, 1, 2, 2, 3, 3]
        assert graph_of(frame[["source", "target"]]).weights.tolist() == [1] * 6


@pytest.mark.parametrize("names", [("node", "weight"), ("source", "target", "source")])
def test_columns_that_are_called_otherwise_are_not_taken(names):
    table = pa.table([pa.array([1, 2])] * len(names), list(names))
    with pytest.raises(InputError, match="columns"):
        Graph(table)
    with pytest.raises(InputError, match="at least two columns"):
        Graph(pa.table({"source": [1]}))


@pytest.mark.parametrize("kind", KINDS)
def test_names_in_every_form(kind):
    plain = pa.chunked_array([["a", "é"], [], ["", "a"]], pa.string())
    coded = plain.dictionary_encode() if pa.types.is_dictionary(kind) else plain
    first, *_, last = coded.cast(kind).chunks
    column = pa.chunked_array([first, first.slice(1, 0), last])  # empty, but not from 0
    graph = Graph(pa.table({"source": column.slice(0, 3), "target": column.slice(1)}))
    assert graph.node_ids == ["a", "é", ""] and graph.n_edges == 3


def test_two_or_three_edges_are_not_a_matrix():
    graph = Graph([(0, 1), (1, 2)])
    assert repr(graph) == "Graph(n_nodes=3, n_edges=2, undirected)"
    graph = Graph([(0, 1, 5), (1, 2, 6), (2, 0, 7)], directed=True)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 5, 0], [0, 0, 6], [7, 0, 0]])
    np.testing.assert_array_equal(dense([[0, 1], [1, 2]]), [[0, 1], [1, 2]])  # lists of lists are


def test_options_of_tuples():
    edges = [(0, 1, 2.0), (1, 0, 3.0)]
    assert Graph(edges, duplicates="max", n_nodes=5).adjacency.sum() == 6
    assert "separator is for" in refusal(edges, separator=",")
    assert Graph([(np.int32(7), 5)]).node_ids == [5, 7]


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([(0, 1), [1, 2]], "found [1, 2]"),
        ([(0, 1, 1, 0)] * 4, "list of lists or as an array"),
        ([(0,)], "found (0,)"),
        ([(0, "a")], "all text or all whole numbers"),
        ([(True, False)], "all text or all whole numbers"),
        ([(0, 1, "x")], "found 'x' for the edge (0, 1)"),
        ([(0, 1, 1), (1, 2, -1)], "not negative, found (1, 2, -1)"),
        ([(0, 1), (1, 2, 3.0)], "found (1, 2, 3.0)"),
        ([(0, 1, float("nan"))], "must be finite"),
        ([(0, 10**30)], "pass them as text"),
        (((0, 1, 2), (1, 2, 3), (2, 0, 1)), "a tuple of tuples"),
    ],
)
def test_refused_tuples(edges, words):
    assert words in refusal(edges)
