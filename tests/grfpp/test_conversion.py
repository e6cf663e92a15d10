"""`convert`: the same graph as `Graph` reads, whatever the list looks like."""

import gzip
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
from grfpp.io.large.database import Database

NAMES = st.one_of(
    st.integers(0, 12).map(str),
    st.sampled_from(["007", "-3", "é", "ann", "99999999999999999999", "a b", "Zoë", "#1"]),
)
WHOLE = st.integers(0, 9).map(str)
WEIGHTS = st.sampled_from(["1", "1.0", "2.5", "0", "1e-3", "0.1", "3"])


def assert_same(one: Graph, other: Graph) -> None:
    """The same edges, weights to the last bit, names and order."""
    assert one.n_nodes == other.n_nodes
    assert one.is_directed == other.is_directed and one.n_edges == other.n_edges
    np.testing.assert_array_equal(one.indptr, other.indptr)
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_array_equal(one.weights, other.weights)
    ids = one.node_ids
    if ids is not None and any(isinstance(name, int) and abs(name) >= 2**63 for name in ids):
        ids = list(map(str, ids))  # such numbers are kept as text, by which they are found
    assert ids == (None if other.node_ids is None else list(other.node_ids))


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
    suffix, mark = draw(
        st.sampled_from([(".txt", " "), (".csv", ","), (".tsv", "\t"), (".csv", ";")])
    )
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


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
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
    match path.suffix:
        case ".gz":
            path.write_bytes(gzip.compress(data))
        case ".zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(f"edges{suffix}", data)
        case _:
            path.write_bytes(data)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a b {'weight': 2.5}\nb c {}\n# no edge\nc a {'weight': 3, 'x': 'y'}\n", {}),
        ("a b {'weight': 2.5}\nb c {'weight': 'x'}\n", {}),
        ("\ufeffa,b\nb,c\n", {}),
        ("é;ü;1,5\n", {"separator": ";"}),
        ("x y\n1 2\n2 3\n", {}),  # words over numbers
        ("x y\n1 2\n2 z\n", {}),  # names of columns, or of nodes?
        ("x y\n1 2\ny 3\n", {}),  # of nodes
        ("x y\n", {}),
        ("x y w\n1 2 3\n", {}),
        ("x y w\na b 3\n", {}),
        ("source,target\nsource,b\n", {}),
        ("source,target\n", {}),
        ("# nothing\n", {}),
        ("", {}),
        ("0 1\n1 2\n", {"n_nodes": 5}),
        ("0 1\n1 7\n", {"n_nodes": 5}),
        ("0 1\n-1 2\n", {"n_nodes": 5}),
        ("0 99999999999999999999\n", {"n_nodes": 5}),
        ("a b\n", {"n_nodes": 5}),
        ("a b\n", {"n_nodes": 2}),
        ("1 2\n2 1\n2 3\n3 2\n", {}),  # every edge in both orders: a warning
        ("1 2 1\n2 1 1\n2 3 1\n3 2 2\n", {}),
        ("1 2 1e308\n1 2 1e308\n", {}),
        ("1 2 0\n2 3 1\n", {}),  # an edge that is none, whose node stays
        ("1 2 x\n", {"header": False}),
        ("1 2 nan\n2 3 1\n", {}),
        ("1 2 -1\n", {}),
        ("1 2\n2 3 1\n", {}),
        ("1 2 3 4\n", {}),
        ('a,b\n"x\ny",c\n', {"header": False}),
        ('a,b\n"x,c\nd,e\n', {"header": False}),
        ("a|b\n", {"separator": "|"}),
        ("1 2\n" * 3 + "2 1\n", {"duplicates": "error"}),
        ("b a\nc d\nd c\na b\n", {"duplicates": "error"}),
        ("b a\nc d\nd c\na b\n", {"directed": True, "duplicates": "error"}),
        ("1 2\n2 1\n2 2\n", {"directed": True}),  # arcs that all have their like
        ("1 2 3\n2 1 3\n", {"directed": True}),
        ("u,v,w,x\n1,2,3,4\n", {"columns": ("x", "u")}),
        ("1 2 3 4\n5 6 7 8\n", {"columns": (3, 0, 2)}),
    ],
)
@pytest.mark.parametrize("suffix", [".txt", ".csv"])
def test_lists_of_all_kinds(tmp_path, text, options, suffix):
    path = tmp_path / f"edges{suffix}"
    path.write_bytes(text.encode())
    compare(path, **options)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path, monkeypatch, encoding, end):
    monkeypatch.setattr("grfpp.io.large.text_stream._CHUNK", 7)  # within characters and line ends
    path = tmp_path / "edges.txt"
    path.write_bytes(end.join(["é ü", "ü x", "x y", "y é"]).encode(encoding))
    compare(path, encoding="latin-1" if encoding == "latin-1" else None)


@pytest.mark.parametrize(
    "data", [b"a b\n\xff b\n", b"a b\nc\0 d\n", b"a b\n" * 9 + b"\xc3", "é b".encode("utf-16")[:-1]]
)
def test_bytes_that_are_no_text(tmp_path, monkeypatch, data):
    monkeypatch.setattr("grfpp.io.large.text_stream._CHUNK", 5)
    path = tmp_path / "edges.txt"
    path.write_bytes(data)
    one, other = (result for result, _ in outcomes(path, tmp_path / "made.grf"))
    assert one == other and "edges.txt" in one


def test_pieces_that_end_anywhere(tmp_path, monkeypatch):
    """Quotes over several lines, comments, a long head: whatever a piece begins and ends with."""
    path = tmp_path / "edges.csv"
    lines = ["# " + "x" * 50] * 3 + ["source,target,weight"]
    lines += [f'"a\n{n % 5}","b ""{n % 7}""",{n}' for n in range(40)]
    path.write_text("\n".join(lines) + "\n")
    expected = Graph(path)
    for size in (1, 13, 64, 300):
        monkeypatch.setattr("grfpp.io.large.text_stream._CHUNK", size)
        assert_same(expected, grfpp.convert(path, tmp_path / "made.grf"))
    monkeypatch.setattr("grfpp.io.large.text_edges.LONGEST_RECORD", 20)
    with pytest.raises(InputError, match=r"quote is opened and not closed|no edge in the first"):
        grfpp.convert(path, tmp_path / "made.grf")


def test_numbers_until_a_name_comes(tmp_path, monkeypatch):
    monkeypatch.setattr("grfpp.io.large.text_stream._CHUNK", 64)
    path = tmp_path / "edges.txt"
    path.write_text("".join(f"{n % 30} {n * 7 % 30}\n" for n in range(100)) + "x 3\n007 7\n")
    graph = compare(path)
    assert graph.index("007") != graph.index("7") and graph.index("0") == 0


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize(
    "columns",
    [
        {"source": ["a", "b", "007"], "target": ["b", "c", "a"], "weight": [1.0, 2.5, 3.0]},
        {"source": ["1", "2", "3"], "target": ["2", "3", "1"]},  # text, though it spells numbers
        {"u": [5, -3, 5], "v": [7, 5, 7]},
        {"u": [0, 1, 2], "v": [1, 2, 0]},
        {"u": [0.0, 1.0], "v": [1.0, 2.0]},
        {"u": [0.5, 1.0], "v": [1.0, 2.0]},
        {"u": ["a", None], "v": ["b", "c"]},
        {"u": ["a", "b"], "v": [1, 2]},
        {"u": ["a\0", "b"], "v": ["b", "c"]},
        {"u": [1, 2], "v": [2, 3], "weight": [1.0, -2.0]},
        {"u": [1, 2], "v": [2, 3], "weight": ["x", "y"]},
        {"u": [1], "v": [2], "x": [1.0], "y": [2.0]},
        {"u": [], "v": []},
        {"u": [1]},
    ],
)
def test_tables(tmp_path, suffix, columns):
    path = tmp_path / f"edges{suffix}"
    table = pa.table(columns)
    (pq.write_table if suffix == ".parquet" else pyarrow.feather.write_feather)(table, path)
    compare(path)
    if "weight" in columns:
        compare(path, columns=table.column_names[:2], directed=True)


def test_tables_with_categories_and_many_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("grfpp.io.large.arrow_edges._ROWS", 10)
    rng = np.random.default_rng(0)
    names = pa.array([f"n{n}" for n in rng.integers(0, 20, 55)])
    table = pa.table({"s": names.dictionary_encode(), "t": names[::-1], "w": rng.random(55)})
    pq.write_table(table, tmp_path / "edges.parquet", row_group_size=25)
    compare(tmp_path / "edges.parquet", duplicates="max")
    pyarrow.feather.write_feather(table, tmp_path / "edges.feather", chunksize=7)
    compare(tmp_path / "edges.feather")
    weights = rng.random(55)
    weights[52] = -1
    pq.write_table(table.set_column(2, "w", [weights]), tmp_path / "edges.parquet")
    with pytest.raises(InputError, match="row 52: column 'w' holds -1"):
        grfpp.convert(tmp_path / "edges.parquet", tmp_path / "made.grf")


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".txt.gz", ".txt.zip"])
def test_files_that_are_cut(tmp_path, suffix):
    path = tmp_path / f"edges{suffix}"
    table = pa.table({"u": np.arange(5000), "v": np.arange(5000)[::-1]})
    match suffix:
        case ".parquet":
            pq.write_table(table, path)
        case ".feather":
            pyarrow.feather.write_feather(table, path)
        case _:
            write(path, "".join(f"{n} {n * n}\n" for n in range(5000)).encode(), ".txt")
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
        ({"memory": "1MB"}, "memory must be 50MB at least"),
        ({"memory": "much"}, "memory must be a number of bytes"),
        ({"memory": True}, "memory must be a number of bytes"),
        ({"n_nodes": 0}, "n_nodes must be"),
        ({"directed": "yes"}, "directed must be"),
        ({"symmetrize": "max"}, "symmetrize is not for lists"),
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
    for target in ("made.npz", "made", "nowhere/made.grf"):
        with pytest.raises(InputError):
            grfpp.convert(tmp_path / "edges.txt", tmp_path / target)
    for source in ("nothing.txt", "edges.odd", "."):
        with pytest.raises(InputError):
            grfpp.convert(tmp_path / source, tmp_path / "made.grf")


def test_odd_names_of_folders(tmp_path):
    folder = tmp_path / "it's [a] *?{b} 'folder'"
    folder.mkdir()
    (folder / "edges.txt").write_text("a b\nb c\n")
    assert_same(
        Graph(folder / "edges.txt"), grfpp.convert(folder / "edges.txt", folder / "made 'x'[0].grf")
    )


def test_progress_and_sizes(tmp_path):
    (tmp_path / "edges.txt").write_text("a b\nb c\n")
    told = []
    grfpp.convert(
        tmp_path / "edges.txt", tmp_path / "made.grf", progress=lambda *step: told.append(step)
    )
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
    many_edges(tmp_path / "edges.txt", 400_000)
    kept = []

    class Watched(Database):
        def batches(self, query):
            for batch in super().batches(query):
                kept.extend(each.stat().st_size for each in (self._folder / "spilled").iterdir())
                yield batch

    monkeypatch.setattr("grfpp.io.large.convert.Database", Watched)
    monkeypatch.setattr("grfpp.io.large.convert.default_threads", lambda: 2)
    monkeypatch.setattr("grfpp.conversion._LEAST_MEMORY", 0)
    graph = grfpp.convert(tmp_path / "edges.txt", tmp_path / "made.grf", memory="30MB")
    assert sum(kept) > 10**6
    assert_same(Graph(tmp_path / "edges.txt"), graph)
    with pytest.raises(InputError, match=r"needs more than 1000000 bytes of memory .*'2MB'"):
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
    while not list((tmp_path / "out").glob(".made*/unsorted/*.parquet")):
        assert child.poll() is None
    child.kill()
    child.wait()
    assert [each.name.startswith(".made.grf.") for each in (tmp_path / "out").iterdir()] == [True]
    graph = grfpp.convert(*arguments)
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["made.grf"]
    assert_same(Graph(arguments[0]), graph)


def test_a_number_among_names_is_refused_by_its_name(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("0 0\n0 0\n0 007")
    assert compare(path, duplicates="error") is None
    with pytest.raises(InputError, match="the edge '0' - '0' is listed again"):
        grfpp.convert(path, tmp_path / "made.grf", duplicates="error")
