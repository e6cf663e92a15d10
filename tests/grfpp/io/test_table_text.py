"""Text edge lists of every dialect."""

import csv
import gzip
import io
import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from io_helpers import file_holding, file_refusal, read_text, refusal, weight_matrices

from grfpp import convert
from grfpp.errors import InputWarning
from grfpp.graph import Graph
from grfpp.io import table_text
from grfpp.io.table_options import INTEGER
from grfpp.io.table_text import TEXT_SUFFIXES

FEW = settings(deadline=None, max_examples=20)
# Not white space at the ends, which is cut off; `\r` is a line end.
CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0\r\t\v\f\x1c\x1d\x1e\x1f\x85")
NAMES = st.one_of(
    st.sampled_from(["a", "b", "C#", "02139", "New York", "Smith, J.", 'the "x"', "é", "7", "12"]),
    st.text(CHARACTERS, min_size=1, max_size=20).filter(lambda name: name == name.strip()),
)
EDGES = st.lists(
    st.tuples(NAMES, NAMES, st.floats(0, 1e6, allow_subnormal=False)), min_size=1, max_size=12
)


def refused_line(content, suffix=".txt", **options):
    """The line that is named in the error about a file."""
    found = re.match(r"FILE, line (\d+): ", file_refusal(content, suffix, **options))
    return found and int(found[1])


@FEW
@given(
    weight_matrices(with_edge=True),
    st.sampled_from([" ", "\t", ",", ";", ", ", " ; ", "  "]),
    st.sampled_from(TEXT_SUFFIXES),
    st.booleans(),
)
def test_round_trip(matrix, separator, suffix, gzipped):
    symmetric = bool((matrix == matrix.T).all())
    rows, columns = np.nonzero(np.triu(matrix) if symmetric else matrix)
    ends = zip(rows.tolist(), columns.tolist(), strict=True)
    lines = [separator.join(map(repr, (u, v, float(matrix[u, v])))) for u, v in ends]
    content = "\n".join(lines).encode()
    suffix, content = (suffix + ".gz", gzip.compress(content)) if gzipped else (suffix, content)
    graph = read_text(content, suffix, directed=not symmetric, n_nodes=len(matrix))
    np.testing.assert_array_equal(graph.adjacency.toarray(), matrix)
    assert graph.node_ids is None


@FEW
@given(
    EDGES,
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.booleans(),
    st.booleans(),
)
def test_what_the_csv_module_writes(edges, separator, quoting, end, encoding, named, directed):
    # A name at the beginning of a line that begins a comment, which csv does not quote.
    assume(quoting != csv.QUOTE_MINIMAL or not any(u[0] in "#%" for u, _, _ in edges))
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=separator, quoting=quoting, lineterminator=end)
    if named:
        writer.writerow(["id", "to", "kind, or so", "from", "how much"])
    writer.writerows([i, v, "", u, w] for i, (u, v, w) in enumerate(edges))
    graph = read_text(
        stream.getvalue().encode(encoding),
        ".csv",
        columns=("from", "to", "how much") if named else (3, 1, 4),
        separator=separator,
        header=named,
        directed=directed,
        duplicates="sum",
    )
    names = list(dict.fromkeys(name for u, v, _ in edges for name in (u, v)))
    if all(map(INTEGER.fullmatch, names)):
        edges = [(int(u), int(v), w) for u, v, w in edges]
    expected = Graph(edges, directed=directed, duplicates="sum")
    assert graph.node_ids == expected.node_ids
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected.adjacency.toarray())


def test_an_edge_listed_once_counts_both_ways_and_a_second_listing_is_told_of():
    content = "0 1 2.5\n1 2 1\n2 2 4\n"
    graph = read_text(content)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2.5, 0], [2.5, 0, 1], [0, 1, 4]])
    one_way = read_text(content, directed=True).adjacency.toarray()
    np.testing.assert_array_equal(one_way, [[0, 2.5, 0], [0, 0, 1], [0, 0, 4]])
    message = file_refusal("# c\na b\nb c\n\nb a\n", duplicates="error")
    assert "FILE, line 5: the edge 'b' - 'a' is listed again, after line 2" in message
    assert read_text("a b\nb a\n", directed=True, duplicates="error").n_edges == 1
    assert "the edge '0' - '0'" in file_refusal("0 0\n0 0\n0 007", duplicates="error")
    content = "a b 2\nb a 2\nb c 1\nc b 1\na a 1\n"
    with pytest.warns(InputWarning, match=r"file\.txt lists every edge in both"):
        assert read_text(content).weights.tolist() == [1, 4, 4, 2, 2]
    assert read_text(content, duplicates="max").weights.tolist() == [1, 2, 2, 1, 1]


def test_comments_blank_lines_and_line_ends():
    content = "\ufeff# SNAP\r\n% KONECT\r\n\r\n  0\t1  # loop next\r\n1 1\r0 2"
    graph = read_text(content)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 1], [1, 1, 0], [1, 0, 0]])
    graph = read_text("% KONECT\nPython,C#,5\n# more\nC#,100% Java,2\n", ".csv")
    assert graph.node_ids == ["Python", "C#", "100% Java"]
    assert read_text("Python C# # as seen\nC# F# %\n").node_ids == ["Python", "C#", "F#"]
    assert read_text("a\tb # c\n", ".tsv").node_ids == ["a", "b # c"]
    assert read_text("0\t1\n\t\n1\t2\n", ".tsv").n_edges == 2
    assert read_text(" a1 b2 \n b2 c3 ").node_ids == ["a1", "b2", "c3"]
    assert refused_line("0,1\n , \n1,2\n", ".csv") == 2
    assert "rename it to .mtx" in file_refusal("%%MatrixMarket matrix coordinate\n3 3 2\n1 2 1\n")


def test_whole_number_labels_are_sorted():
    assert read_text("10 -3\n7 10\n").node_ids == [-3, 7, 10]
    assert read_text("2 0\n1 2\n").node_ids is None
    assert read_text(f"{10**18} {10**18 + 1}\n").node_ids == [10**18, 10**18 + 1]
    assert read_text(f"{10**30} 5\n").node_ids == [str(10**30), "5"]  # more than 64 bits
    assert read_text("1.5 2\n").node_ids == ["1.5", "2"]
    for name in ("02139", "+5", "-0", "00", "007"):  # names, not numbers
        assert read_text(f"{name} 2139\n2139 5\n").node_ids == [name, "2139", "5"]
        assert read_text(f"person,city,w\n1,{name},2\n", ".csv").node_ids == ["1", name]


def test_labels_with_spaces_between_commas_tabs_and_quotes():
    assert read_text("New York,Boston,3\n", ".csv").node_ids == ["New York", "Boston"]
    assert read_text("New York\tBoston\t3\n", ".tsv").node_ids == ["New York", "Boston"]
    assert read_text('"Smith, J.","Doe, A.",1\n', ".csv").node_ids == ["Smith, J.", "Doe, A."]
    assert read_text('"a" , "b" ,1\n b , c ,2\n', ".csv").node_ids == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("content", "n_edges"),
    [
        ("source,target,weight\n0,1,2\n", 1),
        ("from;to;cost\n5;6;2\n", 1),
        ("node_a,node_b,w\n5,6,2\n", 1),  # words over whole numbers
        ("a b w\n5 6 2\n", 1),
        ("a b w\nx y 2\n", 1),  # a word for a weight
        ("src dst\nx y\n", 1),  # usual names of columns
        ("person,friend\n1,2\n-1,2\n", 2),
        ("ann,bob\nbob,cy\n", 2),  # bob is a node
        ("u,v\n", 1),
        ("u,1\n2,3\n", 2),
        ("u,v,1\n2,3,4\n", 2),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".txt"])
def test_column_names_and_edges(content, suffix, n_edges):
    assert read_text(content, suffix).n_edges == n_edges


@pytest.mark.parametrize(
    "content", ["person,friend\nann,bob\nbob,cy\n", "node1 node2\nnode2 node3\n"]
)
def test_a_header_in_doubt_is_refused(content):
    assert "may be the names of the columns" in file_refusal(content, ".csv")
    assert refused_line("# c\n" + content, ".csv") == 2
    n_lines = content.count("\n")
    assert read_text(content, ".csv", header=True).n_edges == n_lines - 1
    assert read_text(content, ".csv", header=False).n_edges == n_lines


def test_columns():
    graph = read_text("weight,target,source\n1,2,3\n", ".csv", directed=True)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 0], [1, 0]])
    gephi = "Source,Target,Type,Id,Label,Weight\na,b,Undirected,0,,2.5\n"
    assert read_text(gephi, ".csv").weights.tolist() == [2.5, 2.5]
    assert read_text(",source,target\n0,a,b\n", ".csv").node_ids == ["a", "b"]  # as pandas writes
    table = "when;who;n;whom\n2020-01-01;ann;3;bob\n2020-01-02;bob;;cy\n"
    assert read_text(table, ".csv", columns=("who", "whom")).node_ids == ["ann", "bob", "cy"]
    assert refused_line(table, ".csv", columns=("who", "whom", "n")) == 3
    assert refused_line(table, ".csv", columns=("who", "what")) == 1
    assert refused_line(table, ".csv") == refused_line(table, ".csv", header=True) == 1
    log = "9 ann bob hello\n8 bob cy good bye\n7 cy ann\n"
    assert read_text(log, columns=(1, 2)).node_ids == ["ann", "bob", "cy"]
    assert read_text(log, columns=(1, 2, 0)).weights.sum() == 48
    assert refused_line(log) == 1
    assert refused_line(log, columns=(1, 3)) == 3
    assert refused_line("source,target,timestamp\na,b,1700000000\n", ".csv") == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "latin-1", "utf-16-le"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(encoding, end):
    content = end.join(["source;target;weight", "zoë;adam;2", "adam;Ünal;0.5", ""]).encode(encoding)
    given = {"encoding": encoding} if encoding in ("latin-1", "utf-16-le") else {}
    graph = read_text(content, ".csv", **given)
    assert graph.node_ids == ["zoë", "adam", "Ünal"]
    assert graph.weights.tolist() == [2, 2, 0.5, 0.5]


def test_separators():
    assert read_text("a|b c|2\n", separator="|").node_ids == ["a", "b c"]
    films = "1::2::5::978\n1::3::4::979\n"
    assert read_text(films, columns=(0, 1, 2), separator="::").weights.sum() == 18
    assert read_text("Smith,J  Doe,A  2\n", separator=" ").node_ids == ["Smith,J", "Doe,A"]
    assert read_text("New York\tBoston\t3\n", separator="\t").node_ids == ["New York", "Boston"]
    assert "pass separator" in file_refusal("a|b|2\n")
    with file_holding("", ".mtx") as path:
        assert "separator is for" in refusal(path, separator=",")


def test_quotes():
    assert read_text('"from" "to" "weight"\n"New York" "x" 2\n').node_ids == ["New York", "x"]
    lines = '"a, ""b""","two\nlines",1\n"# c",d,2\nd,5" pipe,3\n'
    graph = read_text(lines, ".csv")
    assert graph.node_ids == ['a, "b"', "two\nlines", "# c", "d", '5" pipe']
    assert read_text('"x;y",b,1\nb,c,2\n', ".csv").node_ids == ["x;y", "b", "c"]
    assert refused_line('"a","two\nlines",1\nb,c,1\nx,"y\nz,w,2\n', ".csv") == 4
    assert refused_line('"a","two\nlines",1\nb,c,1\nx,y,-2\n', ".csv") == 4


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("0 1\n\n# c\n0 1 2 3\n", 4),
        ("0 1\n5\n", 2),
        ("0 1 1.5\n1 2 x\n", 2),
        ("0 1 1.5\n1 2 1_0\n", 2),
        ("1 2 x\n3 4 5\n", 1),
        ("a b 1\nc d nan\n", 2),
        ("0 1 1e999\n", 1),
        ("0 1 1\n2 3 -0.5\n", 2),
        ("0;1;0,5\n", 1),
        ("0,1,1\n1,,2\n", 2),
        ("0 1 1\n# c\n1 2\n", 3),
        ("0,1,\n", 1),
        ("0,1\n2 3,4\n", 2),
        ("0 1\n2, 3\n", 2),
        ('a,b\n"c,d\n', 2),
        ("a,b,5 # five\n", 1),
        ("u,v,w\nc,d,2\na,b,NA\n", 3),
        (b"0 1\n\xff\xfe\x00\n", 2),
        (b"0 1\n1\x002\n", 2),
        ("0 1\n".encode("utf-16-le"), 1),
        ("0 1\n1 2".encode("utf-16") + b"\n", 2),
        ("a b {}\nb c 3\n", 2),
        ("a b {}\nb c {__import__('os')}\n", 2),
        ("a b {" + "-" * 10**6 + "1}\n", 1),
        ("a b {'\\d', 1}\n", 1),
    ],
)
def test_refusals_name_the_line(content, line):
    assert refused_line(content, ".txt") == line
    if "{" not in str(content):
        assert refused_line(content, ".csv") == line


def test_lists_without_edges_and_weights_of_many_digits():
    for content in ("", "\n \n# only words\n", "source,target\n"):
        assert "holds no edges" in file_refusal(content, ".csv")
    content = f"a,b,0.{'1' * 60}\nb,c,1{'0' * 40}\n# c\n"
    assert read_text(content, ".csv").weights.tolist() == [1 / 9, 1 / 9, 1e40, 1e40]


@pytest.mark.parametrize("size", [1, 13, 64])
def test_chunks_of_any_size_give_the_same(monkeypatch, size):
    lines = ["# " + "x" * 50] * 3 + ["source,target,weight"]
    lines += [f'"a\n{n % 5}","b ""{n % 7}""",{n}\n# c' for n in range(40)]
    text = "\r\n".join(lines)
    whole = read_text(text, ".csv")
    monkeypatch.setattr(table_text, "_CHUNK", size)
    parts = read_text(text, ".csv")
    assert parts.node_ids == whole.node_ids
    np.testing.assert_array_equal(parts.weights, whole.weights)
    assert refused_line(text + "\nx,y,-1\n", ".csv") == text.count("\n") + 2
    assert refused_line(b"a b\n" * 9 + b"\xc3") == 10


NAMED = nx.relabel_nodes(nx.karate_club_graph(), lambda i: f"p{i}")


@pytest.mark.parametrize("graph", [nx.path_graph(5), nx.karate_club_graph(), NAMED])
@pytest.mark.parametrize("data", [True, False, ["weight"]])
@pytest.mark.parametrize(("suffix", "mark"), [(".txt", " "), (".csv", ","), (".tsv", "\t")])
def test_all_that_networkx_writes(tmp_path, graph, data, suffix, mark):
    path = tmp_path / f"list{suffix}"
    nx.write_edgelist(graph, path, data=data, delimiter=mark)
    found, wanted = Graph(path), Graph(graph)
    order = found.index(list(graph))
    expected = wanted.adjacency.toarray() if data else wanted.adjacency.toarray() > 0
    np.testing.assert_array_equal(found.adjacency.toarray()[np.ix_(order, order)], expected)


def test_attributes_beside_the_weight():
    graph = read_text(
        "# by networkx\na b {'x': {'y': 1}, 'weight': 2, 'z': ', {'}\n\nb c {'weight': 3}"
    )
    assert graph.weights.tolist() == [2, 2, 3, 3]
    assert read_text("1 2 {'x': 1, 'y': 2}\n2 3 {'weight': 3}").weights.tolist() == [1, 1, 3, 3]
    assert "line 1: the weight must be" in file_refusal("a b {'weight': -3}")
    assert "line 1: expected an edge and a dict" in file_refusal("a b {'weight': '3'}")
    with file_holding("a b {}\nb c {'weight': 3}\n", ".txt") as path:
        assert convert(path, path.with_suffix(".grf")).weights.tolist() == [1, 1, 3, 3]
