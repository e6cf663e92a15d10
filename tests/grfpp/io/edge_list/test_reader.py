import gzip
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK, file_holding, file_refusal, read_text, refusal, weight_matrices

from grfpp.errors import InputWarning
from grfpp.graph import Graph
from grfpp.io import edge_list


def lines_of(matrix, separator=" ", undirected=False):
    """Write a matrix as an edge list; each edge once when undirected."""
    rows, cols = np.nonzero(np.triu(matrix) if undirected else matrix)
    return (
        "".join(
            f"{u}{separator}{v}{separator}{matrix[u, v]!r}\n"
            for u, v in zip(rows.tolist(), cols.tolist(), strict=True)
        )
        .replace("np.float64(", "")
        .replace(")", "")
    )


@QUICK
@given(
    weight_matrices(with_edge=True),
    st.sampled_from([" ", "\t", ",", ";", ", ", " ; ", "  "]),
    st.sampled_from(edge_list.SUFFIXES),
    st.booleans(),
)
def test_round_trip(matrix, separator, suffix, gzipped):
    symmetric = bool((matrix == matrix.T).all())
    content = lines_of(matrix, separator, undirected=symmetric).encode()
    suffix, content = (suffix + ".gz", gzip.compress(content)) if gzipped else (suffix, content)
    graph = read_text(content, suffix, directed=not symmetric, n_nodes=len(matrix))
    np.testing.assert_array_equal(graph.adjacency.toarray(), matrix)
    assert graph.node_ids is None


def test_an_edge_listed_once_counts_both_ways():
    content = "0 1 2.5\n1 2 1\n2 2 4\n"
    graph = read_text(content)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2.5, 0], [2.5, 0, 1], [0, 1, 4]])
    one_way = read_text(content, directed=True).adjacency.toarray()
    np.testing.assert_array_equal(one_way, [[0, 2.5, 0], [0, 0, 1], [0, 0, 4]])


def test_both_orders_of_an_edge_are_one():
    once = read_text("a b 1\na b 2\n").adjacency.toarray()
    np.testing.assert_array_equal(once, [[0, 3], [3, 0]])
    np.testing.assert_array_equal(read_text("a b 1\nb a 2\n").adjacency.toarray(), once)
    for rule, weight in (("sum", 3), ("max", 2), ("first", 1)):
        for lines in ("a b 1\na b 2\n", "a b 1\nb a 2\n"):
            assert read_text(lines, duplicates=rule).weights.tolist() == [weight, weight]


def test_a_second_listing_is_refused_with_its_line():
    message = file_refusal("# c\na b\nb c\nb a\n", duplicates="error")
    assert "FILE, line 4: the edge 'b' - 'a' is listed again, after line 2" in message
    assert "duplicates='sum'" in message
    assert read_text("a b\nb a\n", directed=True, duplicates="error").n_edges == 1


def test_a_list_that_is_mirrored_is_told_of():
    with pytest.warns(InputWarning, match=r"file\.txt lists every edge in both.*duplicates='max'"):
        graph = read_text("a b 2\nb a 2\nb c 1\nc b 1\na a 1\n")
    assert graph.weights.tolist() == [1, 4, 4, 2, 2]
    once = read_text("a b 2\nb a 2\nb c 1\nc b 1\na a 1\n", duplicates="max")
    assert once.weights.tolist() == [1, 2, 2, 1, 1]
    read_text("a b 2\nb a 3\n")  # no warning: these are two things


def test_comments_blank_lines_and_line_ends():
    content = "\ufeff# SNAP\r\n% KONECT\r\n\r\n  0\t1  # loop next\r\n1 1\r0 2"
    graph = read_text(content)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 1], [1, 1, 0], [1, 0, 0]])


def test_whole_number_labels_are_sorted():
    graph = read_text("10 -3\n7 10\n")
    assert graph.node_ids == [-3, 7, 10]
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert read_text("2 0\n1 2\n").node_ids is None
    assert read_text("1 2\n2 3\n").node_ids == [1, 2, 3]


@pytest.mark.parametrize("name", ["02139", "+5", "-0", "00"])
def test_numbers_that_are_not_written_as_such_are_names(name):
    graph = read_text(f"{name} 2139\n2139 5\n")
    assert graph.node_ids == [name, "2139", "5"]
    assert read_text(f"person,city,w\n1,{name},2\n", ".csv").node_ids == ["1", name]


def test_huge_whole_numbers_are_labels_too():
    graph = read_text(f"{10**18} {10**18 + 1}\n")
    assert graph.node_ids == [10**18, 10**18 + 1]
    assert read_text(f"{10**30} 5\n").node_ids == [5, 10**30]
    assert read_text("9" * 5000 + " 5\n").node_ids == ["9" * 5000, "5"]


def test_text_labels_keep_their_order():
    graph = read_text("zoë adam 2\nadam 7 1\n")
    assert graph.node_ids == ["zoë", "adam", "7"]
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2, 0], [2, 0, 1], [0, 1, 0]])
    assert read_text("1.5 2\n").node_ids == ["1.5", "2"]


def test_labels_with_spaces_between_commas_tabs_and_quotes():
    assert read_text("New York,Boston,3\n", ".csv").node_ids == ["New York", "Boston"]
    assert read_text("New York\tBoston\t3\n", ".tsv").node_ids == ["New York", "Boston"]
    assert read_text('"Smith, J.","Doe, A.",1\n', ".csv").node_ids == ["Smith, J.", "Doe, A."]


@pytest.mark.parametrize(
    "content",
    [
        "source,target,weight\n0,1,2\n",
        "Source,Target\n0,1\n1,2\n",
        "from;to;cost\n5;6;2\n",
        "node_a,node_b,w\n5,6,2\n",  # words over whole numbers
        "a b w\n5 6 2\n",
        "src dst\nx y\n",  # names known as column names
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".txt"])
def test_column_names_are_skipped(content, suffix):
    expected = content.count("\n") - 1
    assert read_text(content, suffix).n_edges == expected


def test_a_word_for_a_weight_is_a_column_name_in_tables_only():
    assert read_text("a,b,w\nx,y,2\n", ".csv").node_ids == ["x", "y"]
    assert "line 1: the weight 'w' is not a number" in file_refusal("a b w\nx y 2\n")


@pytest.mark.parametrize("content", ["u,v\nv,w\n", "u,1\n2,3\n", "u,v,1\n2,3,4\n"])
def test_a_first_line_that_may_be_an_edge_is_one(content):
    assert read_text(content, ".csv").n_edges == 2


def test_columns_are_found_by_their_names():
    graph = read_text("weight,target,source\n1,2,3\n", ".csv", directed=True)
    assert graph.node_ids == [2, 3]
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 0], [1, 0]])
    gephi = "Source,Target,Type,Id,Label,Weight\na,b,Undirected,0,,2.5\n"
    assert read_text(gephi, ".csv").weights.tolist() == [2.5, 2.5]
    assert read_text(",source,target\n0,a,b\n", ".csv").node_ids == ["a", "b"]  # as pandas writes


TABLE = "when;who;n;whom\n2020-01-01;ann;3;bob\n2020-01-02;bob;;cy\n"


def test_columns_are_chosen_by_name_or_number():
    assert read_text(TABLE, ".csv", columns=("who", "whom")).node_ids == ["ann", "bob", "cy"]
    assert "line 3: an empty field" in file_refusal(TABLE, ".csv", columns=("who", "whom", "n"))
    assert "there is no column 'what'" in file_refusal(TABLE, ".csv", columns=("who", "what"))
    assert "line 1: there are 4 columns" in file_refusal(TABLE, ".csv")
    assert "columns=" in file_refusal(TABLE, ".csv", header=True)
    log = "9 ann bob hello\n8 bob cy good bye\n"
    assert read_text(log, columns=(1, 2)).node_ids == ["ann", "bob", "cy"]
    assert read_text(log, columns=(1, 2, 0)).weights.tolist() == [9, 9, 8, 8]
    message = file_refusal(log)
    assert "line 1: expected 2 or 3 fields" in message
    assert "columns=(0, 1)" in message


def test_numbers_that_are_no_weights_are_asked_for():
    message = file_refusal("source,target,timestamp\na,b,1700000000\n", ".csv")
    assert "which of the columns is the weight" in message
    assert "columns=('source', 'target') or columns=('source', 'target', 'timestamp')" in message


def test_a_two_column_header_is_never_an_edge():
    assert read_text("person,friend\n1,2\n", ".csv").node_ids == [1, 2]
    assert read_text("person,friend\n-1,2\n", ".csv").node_ids == [-1, 2]
    message = file_refusal("person,friend\nann,bob\nbob,cy\n", ".csv")
    assert "line 1: 'person' and 'friend' may be the names of the columns or of two" in message
    assert "header=True or header=False" in message
    assert read_text("person,friend\nann,bob\n", ".csv", header=True).node_ids == ["ann", "bob"]
    assert read_text("person,friend\nann,bob\n", ".csv", header=False).n_edges == 2
    assert read_text("ann,bob\nbob,cy\n", ".csv").n_edges == 2  # bob is a node
    assert "line 1: 'node1' and 'node2' may be" in file_refusal("node1 node2\nnode2 node3\n")


def test_comments_stand_where_they_can():
    graph = read_text("% KONECT\nPython,C#,5\n# more\nC#,100% Java,2\n", ".csv")
    assert graph.node_ids == ["Python", "C#", "100% Java"]
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 5, 0], [5, 0, 2], [0, 2, 0]])
    assert read_text("Python C# # as seen\nC# F# %\n").node_ids == ["Python", "C#", "F#"]
    assert "separator=" in file_refusal("a\tb # c\n", ".tsv")
    assert read_text("a\tb # c\n", ".tsv", separator="\t").node_ids == ["a", "b # c"]


@pytest.mark.parametrize("word", ["NA", "n/a", "null", "None", "-", "?", ""])
def test_missing_weights_are_refused_with_their_line(word):
    for lines in (f"a,b,{word}\nc,d,2\n", f"u,v,w\nc,d,2\na,b,{word}\n"):
        n = lines[: lines.index("a,b,")].count("\n") + 1
        message = file_refusal(lines, ".csv")
        assert f"line {n}: " in message
        assert "missing" in message or "an empty field" in message
    assert "line 3: expected 3 fields" in file_refusal("u,v,w\nc,d,2\na,b\n", ".csv")


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
    assert read_text(films, columns=(0, 1, 2), separator="::").n_edges == 2
    assert read_text("Smith,J  Doe,A  2\n", separator=" ").node_ids == ["Smith,J", "Doe,A"]
    assert read_text("New York\tBoston\t3\n", separator="\t").node_ids == ["New York", "Boston"]
    message = file_refusal("a|b|2\n")
    assert "line 1: expected 2 or 3 fields" in message
    assert "separator=" in message


def test_quotes():
    assert read_text('"from" "to" "weight"\n"New York" "x" 2\n').node_ids == ["New York", "x"]
    lines = '"a, ""b""","two\nlines",1\n"# c",d,2\nd,5" pipe,3\n'
    graph = read_text(lines, ".csv")
    assert graph.node_ids == ['a, "b"', "two\nlines", "# c", "d", '5" pipe']
    assert "line 4" in file_refusal('"a","two\nlines",1\nb,c,1\nx,"y\nz,w,2\n', ".csv")


def test_options_that_mean_nothing_are_refused():
    with file_holding("", ".mtx") as path:
        for option, kinds in [({"separator": ","}, "text edge lists"),
                              ({"duplicates": "max"}, "edge lists and frames")]:  # fmt: skip
            (name,) = option
            assert f"{name} is for {kinds}, not for .mtx files" in refusal(path, **option)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("0 1\n\n# c\n0 1 2 3\n", "line 4: expected 2 or 3 fields"),
        ("0 1\n5\n", "line 2: expected 2 or 3 fields"),
        ("0,1\n1,2,3,4\n", "separated by commas, found 4"),
        ("0 1 1.5\n1 2 x\n", "line 2: the weight 'x' is not a number"),
        ("0 1 1.5\n1 2 1_0\n", "line 2: the weight '1_0' is not a number"),
        ("1 2 x\n3 4 5\n", "line 1: the weight 'x' is not a number"),
        ("a b 1\nc d nan\n", "line 2: weights must be finite"),
        ("0 1 nan\n", "line 1: weights must be finite"),
        ("0 1 1\n0 1 inf\n", "line 2: weights must be finite"),
        ("0 1 1e999\n", "line 1: weights must be finite"),
        ("0 1 1\n2 3 -0.5\n", "line 2: weights must be finite and not negative, found '-0.5'"),
        ("0;1;0,5\n", "line 1: the weight '0,5' is not a number"),
        ("0,1,1\n1,,2\n", "line 2: an empty field"),
        ("0,1,1\n1,2\n2,3,1\n", "line 2: expected 3 fields, as in the first line"),
        ("0 1 1\n# c\n1 2\n", "line 3: expected 3 fields, as in the first line"),
        ("34 78\n0 1 1.5\n1 2 0.5\n", "line 2: expected 2 fields, as in the first line"),
        ("0,1,\n", "line 1: an empty field"),
        ("0,1\n2 3,4\n", "line 2: '2 3' is separated otherwise"),
        ("0 1\n2, 3\n", "line 2: '2, 3' has a comma"),
        ('a,b\n"c,d\n', "line 2"),
        ("a b 0x10\n", "line 1: the weight '0x10' is not a number; pass header=True"),
        ("a;b;1,5\n", "line 1: the weight '1,5' is not a number"),
        ("a,b,5 # five\n", "line 1: the weight '5 # five' is not a number"),
        ("", "no edges"),
        ("\n \n# only words\n", "no edges"),
        ("source,target\n", "only the column names"),
        (b"0 1\n\xff\xfe\x00\n", "line 2: not UTF-8"),
        (b"0 1\n1\x002\n", "line 2: a zero byte"),
        ("0 1\n".encode("utf-16-le"), "encoding='utf-16-le'"),
        (b"0 1\nz\xeb 2\n", "encoding='latin-1'"),
    ],
)
def test_refusals_name_the_line(content, words):
    assert words in file_refusal(content, ".csv")
    assert words in file_refusal(content, ".txt")


def test_n_nodes():
    assert read_text("0 1\n", n_nodes=5).n_nodes == 5
    assert read_text("0 3\n", n_nodes=5).node_ids is None
    assert "names node 5, but 5 nodes are 0 to 4" in file_refusal("0 5\n", n_nodes=5)
    assert "names node -1" in file_refusal("0 -1\n", n_nodes=5)
    assert "5, but FILE has 2 nodes" in file_refusal("a b\n", n_nodes=5)


def test_a_long_list_takes_the_fast_path(monkeypatch):
    def careful(*_):
        raise AssertionError("the careful reader was called")

    monkeypatch.setattr("grfpp.io.edge_list.parse._careful_edges", careful)
    for content, n_edges in [
        ("0 1\n1 2\n", 2),
        ("0,1,0.5\n1,2,1\n", 2),
        ("# c\nsource\ttarget\n0\t1\n", 1),
        ('"a" , "b" ,1\nb,c,2\n', 2),
        ("a  b 1\n\n b c 2 \n", 2),
        ("a,b,1", 1),
        ("a,b,1\n\n# c\nb,c,1\n", 2),
    ]:
        assert read_text(content, ".tsv").n_edges == n_edges


def test_memory_is_a_few_times_the_file(monkeypatch):
    monkeypatch.setattr("grfpp.io.edge_list.parse._BLOCK", 1 << 17)
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 20_000, (40_000, 2)).tolist()
    lines = [f"user_{u:07},user_{v:07},0.5" for u, v in edges]
    content = "\n".join(["source,target,weight", *lines]).encode()
    tracemalloc.start()
    Graph(edge_list.read_edge_list(content, "it", ".csv")[0])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * len(content)


def test_weights_of_many_digits():
    content = f"a,b,0.{'1' * 60}\nb,c,1{'0' * 40}\n# c\n"
    assert read_text(content, ".csv").weights.tolist() == [1 / 9, 1 / 9, 1e40, 1e40]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('"a\nx","b",1\n"b","c",2\n', ["a\nx", "b", "c"]),
        ('"x;y",b,1\nb,c,2\n', ["x;y", "b", "c"]),
    ],
)
def test_separators_are_not_looked_for_in_quotes(text, names):
    assert read_text(text, ".csv").node_ids == names


def test_a_matrix_market_file_by_another_name():
    text = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1.0\n2 3 1\n"
    assert "call it .mtx" in file_refusal(text)
