"""`convert`: the same graph as `Graph` reads, whatever the list looks like."""

import gzip
import os
import resource
import subprocess
import sys
import warnings
import zipfile

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import grfpp
from grfpp import Graph, InputError
from grfpp.conversion import memory_size
from grfpp.io.table_sql import Database

NAMES = st.one_of(
    st.integers(0, 12).map(str),
    st.sampled_from(["007", "-3", "é", "ann", "99999999999999999999", "a b", "Zoë", "#1"]),
)
WHOLE = st.integers(0, 9).map(str)
WEIGHTS = st.sampled_from(["1", "1.0", "2.5", "0", "1e-3", "0.1", "3"])


def assert_same(one: Graph, other: Graph) -> None:
    """The same edges, weights to the last bit, names and order."""
    for part in ("n_nodes", "is_directed", "n_edges", "indptr", "indices", "weights"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
    assert one.node_ids == (None if other.node_ids is None else list(other.node_ids))


def outcomes(path, target, **options):
    """What both ways come to: graphs, or what is wrong."""
    found = []
    for make in (lambda: Graph(path, **options), lambda: grfpp.convert(path, target, **options)):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                result = make()
            except InputError as error:
                result = str(error)
        found.append((result, sorted({str(each.message) for each in warned})))
    return found


def compare(path, **options):
    (one, warned), (other, also) = outcomes(path, path.parent / "made.grf", **options)
    if isinstance(one, str) or isinstance(other, str):
        assert one.partition(" and 1 more")[0] == other
        return None
    assert warned == also
    assert_same(one, other)
    rows = one.normalized("rw")
    assert rows.is_directed == other.normalized("rw").is_directed
    np.testing.assert_array_equal(rows.weights, other.normalized("rw").weights)
    return other


@st.composite
def lists(draw):
    """The text of an edge list, with its suffix."""
    marks = [(".txt", " "), (".csv", ","), (".tsv", "\t"), (".csv", ";")]
    suffix, mark = draw(st.sampled_from(marks))
    names = draw(st.sampled_from([NAMES, WHOLE]))
    weighted = draw(st.booleans())
    lines = draw(st.lists(st.tuples(names, names, WEIGHTS), min_size=1, max_size=14))
    header = draw(st.sampled_from([None, ["source", "target", "weight"], ["x", "y", "z"]]))
    rows = [list(line)[: 2 + weighted] for line in lines]
    if header is not None:
        rows.insert(0, header[: 2 + weighted])
    quote = mark != " " and draw(st.booleans())
    rows = [[f'"{f}"' if quote and " " in f else f for f in row] for row in rows]
    text = [mark.join(row) for row in rows]
    if draw(st.booleans()):
        text.insert(draw(st.integers(0, len(text))), "# a comment")
    end = draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    return suffix, end.join(text) + draw(st.sampled_from(["", end]))


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    lists(),
    st.sampled_from([None, True]),
    st.sampled_from([None, "sum", "max", "first", "error"]),
    st.sampled_from(["", ".gz", ".zip"]),
)
def test_the_same_graph_or_the_same_error(tmp_path_factory, listed, directed, duplicates, packed):
    suffix, text = listed
    path = tmp_path_factory.mktemp("lists") / f"edges{suffix}{packed}"
    write(path, text.encode(), suffix)
    compare(path, directed=directed, duplicates=duplicates)


def write(path, data, suffix):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"edges{suffix}", data)
    else:
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_table(path, table):
    write = pq.write_table if path.suffix == ".parquet" else pyarrow.feather.write_feather
    write(table, path)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("x y\n1 2\n2 3\n", {}),  # words over numbers
        ("x y\n1 2\n2 z\n", {}),  # names of columns, or of nodes?
        ("x y\n1 2\ny 3\n", {}),  # of nodes
        ("0 1\n1 2\n", {"n_nodes": 5}),
        ("0 1\n1 7\n", {"n_nodes": 5}),
        ("0 99999999999999999999\n", {"n_nodes": 5}),
        ("a b\n", {"n_nodes": 5}),
        ("1 2\n2 1\n2 3\n3 2\n", {}),  # every edge in both orders: a warning
        ("1 2 1e308\n1 2 1e308\n", {}),
        ("1 2 0\n2 3 1\n", {}),  # an edge that is none, whose node stays
        ("1 2 0\n", {"directed": True}),
        ("1 2\n" * 3 + "2 1\n", {"duplicates": "error"}),
        ("b a\nc d\nd c\na b\n", {"directed": True, "duplicates": "error"}),
        ("1 2\n2 1\n2 2\n", {"directed": True}),  # arcs that all have their like
        ("1 2 3 4\n5 6 7 8\n", {"columns": (3, 0, 2)}),
    ],
)
def test_lists_of_all_kinds(tmp_path, text, options):
    path = tmp_path / "edges.txt"
    path.write_bytes(text.encode())
    compare(path, **options)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize(
    "columns",
    [
        {"source": ["a", "b", "007"], "target": ["b", "c", "a"], "weight": [1.0, 2.5, 3.0]},
        {"source": ["1", "2", "3"], "target": ["2", "3", "1"]},  # text, though it spells numbers
        {"u": [5, -3, 5], "v": [7, 5, 7]},
        {"u": [0.5, 1.0], "v": [1.0, 2.0]},
        {"u": ["a", "b"], "v": [1, 2]},
        {"u": [1, 2], "v": [2, 3], "weight": [1.0, -2.0]},
        {"u": [], "v": []},
    ],
)
def test_tables(tmp_path, suffix, columns):
    path = tmp_path / f"edges{suffix}"
    write_table(path, pa.table(columns))
    compare(path)
    if "weight" in columns:
        compare(path, columns=[*columns][:2], directed=True)


def test_tables_with_categories_and_many_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("grfpp.io.convert._NODES_PER_BATCH", 7)
    monkeypatch.setattr("grfpp.io.table_sql._NAMES_PER_BATCH", 5)
    monkeypatch.setattr(Database.batches, "__defaults__", (10,))
    rng = np.random.default_rng(0)
    names = pa.array([f"n{n}" for n in rng.integers(0, 20, 55)])
    table = pa.table({"s": names.dictionary_encode(), "t": names[::-1], "w": rng.random(55)})
    pq.write_table(table, tmp_path / "edges.parquet", row_group_size=25)
    compare(tmp_path / "edges.parquet", duplicates="max")
    compare(tmp_path / "edges.parquet", directed=True)
    pyarrow.feather.write_feather(table, tmp_path / "edges.feather", chunksize=7)
    compare(tmp_path / "edges.feather")


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".txt.gz", ".txt.zip"])
def test_files_that_are_cut(tmp_path, suffix):
    path = tmp_path / f"edges{suffix}"
    if ".txt" in suffix:
        write(path, "".join(f"{n} {n * n}\n" for n in range(5000)).encode(), ".txt")
    else:
        write_table(path, pa.table({"u": np.arange(5000), "v": np.arange(5000)[::-1]}))
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(InputError, match=r"edges\..* is truncated|cannot read .*edges\."):
        grfpp.convert(path, tmp_path / "made.grf")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_everything_else_that_graphs_are_read_from(tmp_path):
    club = nx.karate_club_graph()
    nx.write_gml(club, tmp_path / "club.gml")
    for source in (club, tmp_path / "club.gml", np.ones((3, 3)), [("a", "b"), ("b", "c")]):
        assert_same(Graph(source), grfpp.convert(source, tmp_path / "made.grf"))
    again = grfpp.convert(tmp_path / "made.grf", tmp_path / "made.grf")
    assert_same(Graph([("a", "b"), ("b", "c")]), again)
    arcs = Graph([("a", "b"), ("b", "c")], directed=True)
    turned = grfpp.convert(arcs, tmp_path / "x.grf", symmetrize="max")
    assert not turned.is_directed


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"memory": "1MB"}, "memory must be at least 50MB"),
        ({"memory": "much"}, "memory must be a number of bytes"),
        ({"n_nodes": 0}, "n_nodes must be"),
        ({"directed": "yes"}, "directed must be"),
        ({"symmetrize": "max"}, "symmetrize is not available"),
        ({"duplicates": "mean"}, "duplicates must be"),
    ],
)
def test_bad_arguments(tmp_path, options, problem):
    (tmp_path / "edges.txt").write_text("1 2\n")
    with pytest.raises(InputError, match=problem):
        grfpp.convert(tmp_path / "edges.txt", tmp_path / "made.grf", **options)
    assert [each.name for each in tmp_path.iterdir()] == ["edges.txt"]


def test_bad_targets_and_sources(tmp_path):
    (tmp_path / "edges.txt").write_text("1 2\n")
    targets = [("edges.txt", target) for target in ("made.npz", "made", "nowhere/made.grf")]
    sources = [(source, "made.grf") for source in ("nothing.txt", "edges.odd", ".")]
    for source, target in targets + sources:
        with pytest.raises(InputError):
            grfpp.convert(tmp_path / source, tmp_path / target)


def test_odd_names_of_folders_progress_and_sizes(tmp_path):
    folder = tmp_path / "it's [a] *?{b} 'folder'"
    folder.mkdir()
    path, told = folder / "edges.txt", []
    path.write_text("a b\nb c\n")
    found = grfpp.convert(
        path, folder / "made 'x'[0].grf", progress=lambda *step: told.append(step)
    )
    assert_same(Graph(path), found)
    steps = list(dict.fromkeys(step for step, *_ in told))
    assert steps == ["reading", "naming", "sorting", "writing"]
    assert all(done <= total for _, done, total in told)
    assert memory_size("2 GiB") == 2 * 10**9 and memory_size("100m") == 10**8


def many_edges(path, n_lines=100_000):
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n_lines // 4, (n_lines, 2))
    path.write_text("".join(f"n{u} n{v}\n" for u, v in ends))


def test_more_edges_than_memory(tmp_path, monkeypatch):
    """DuckDB keeps on disk what does not fit."""
    many_edges(tmp_path / "edges.txt", 200_000)
    spilled = []

    class Watched(Database):
        def run(self, query, values=None):
            result = super().run(query, values)
            files = (self.folder / "spilled").glob("*")
            spilled.append(sum(each.stat().st_size for each in files))
            return result

    monkeypatch.setattr("grfpp.io.convert.Database", Watched)
    monkeypatch.setattr("grfpp.conversion._MIN_MEMORY", 0)
    monkeypatch.setattr("grfpp.io.table_sql._MAX_THREADS", 2)
    graph = grfpp.convert(tmp_path / "edges.txt", tmp_path / "made.grf", memory="20MB")
    assert_same(Graph(tmp_path / "edges.txt"), graph)
    assert sum(spilled) > 10**6
    with pytest.raises(InputError, match=r"needs more than 1000000 bytes of memory"):
        grfpp.convert(tmp_path / "edges.txt", tmp_path / "made.grf", memory="1MB")


@pytest.mark.parametrize("limit", [1_000, 500_000, 700_000])
def test_a_full_disk(tmp_path, limit):
    """In the tables, in DuckDB's own files, in the arrays."""
    many_edges(tmp_path / "edges.txt", 50_000)
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / "made.grf"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    try:
        with pytest.raises(InputError) as caught:
            grfpp.convert(tmp_path / "edges.txt", target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    text = str(caught.value)
    assert text.startswith(f"cannot write {target}: ") and "\n" not in text
    assert "too large" in text or "space" in text
    assert list((tmp_path / "out").iterdir()) == []


def test_a_killed_conversion_leaves_what_the_next_one_removes(tmp_path):
    many_edges(tmp_path / "edges.txt")
    (tmp_path / "out").mkdir()
    code = "import sys, grfpp; grfpp.convert(sys.argv[1], sys.argv[2])"
    arguments = [str(tmp_path / "edges.txt"), str(tmp_path / "out" / "made.grf")]
    child = subprocess.Popen([sys.executable, "-c", code, *arguments])
    while not list((tmp_path / "out").glob(".made*/*/listed.txt")):
        assert child.poll() is None
    child.kill()
    child.wait()
    (leftover,) = (tmp_path / "out").glob(".made.grf.*")
    for each in (*leftover.iterdir(), leftover):
        os.utime(each, (0, 0))  # a day later
    graph = grfpp.convert(*arguments)
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["made.grf"]
    assert_same(Graph(arguments[0]), graph)
