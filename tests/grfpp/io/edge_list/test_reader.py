import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import QUICK, file_refusal, read_text, weight_matrices

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


@QUICK
@given(weight_matrices(directed=False, with_edge=True))
def test_both_directions_of_an_edge_count_once(matrix):
    content = lines_of(matrix)
    graph = read_text(content, n_nodes=len(matrix))
    np.testing.assert_array_equal(graph.adjacency.toarray(), matrix)


@QUICK
@given(weight_matrices(directed=True, with_edge=True), st.randoms())
def test_the_careful_reader_agrees_with_the_fast_one(matrix, random):
    lines = lines_of(matrix).splitlines()
    random.shuffle(lines)
    name = "edges.txt"
    text = "\n".join(lines)
    fast = edge_list._parse_numbers(text, None)
    assert fast is not None
    ends, weights = edge_list._parse_lines(text, None, name, ".txt")
    np.testing.assert_array_equal(fast[0], ends)
    np.testing.assert_array_equal(fast[1], weights)


def test_an_edge_listed_once_counts_both_ways():
    content = "0 1 2.5\n1 2\n2 2 4\n"
    graph = read_text(content)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2.5, 0], [2.5, 0, 1], [0, 1, 4]])
    one_way = read_text(content, directed=True).adjacency.toarray()
    np.testing.assert_array_equal(one_way, [[0, 2.5, 0], [0, 0, 1], [0, 0, 4]])


def test_repeated_edges_are_summed():
    # IMDB-BINARY of the TU data sets lists every direction twice.
    graph = read_text("0 1\n1 0\n0 1\n1 0\n")
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2], [2, 0]])
    np.testing.assert_array_equal(read_text("0 1 1\n0 1 2\n").weights, [3, 3])


def test_directions_that_disagree_are_refused():
    message = file_refusal("a b 1\nb a 2\n")
    assert "'a' - 'b' has weight 1 in one direction and 2 in the other" in message
    assert "directed=True" in message
    assert "30 - 40" in file_refusal("30 40 1\n40 30 2\n")


def test_comments_blank_lines_and_line_ends():
    content = "\ufeff# SNAP\r\n% KONECT\r\n\r\n  0\t1  # loop next\r\n1 1\r0 2"
    graph = read_text(content)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 1], [1, 1, 0], [1, 0, 0]])


def test_whole_number_labels_are_sorted():
    graph = read_text("10 -3\n007 10\n")
    assert graph.node_ids == [-3, 7, 10]
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert read_text("2 0\n1 2\n").node_ids is None
    assert read_text("1 2\n2 3\n").node_ids == [1, 2, 3]


def test_huge_whole_numbers_are_labels_too():
    graph = read_text(f"{10**18} {10**18 + 1}\n")
    assert graph.node_ids == [10**18, 10**18 + 1]
    assert read_text(f"{10**30} 5\n").node_ids == [5, 10**30]
    assert read_text("9" * 5000 + " 5\n").node_ids == ["9" * 5000, "5"]


def test_text_labels_keep_their_order():
    graph = read_text("zoë adam 2\nadam 7\n")
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


def test_columns_in_another_order_are_refused():
    assert "in this order" in file_refusal("weight,source,target\n1,2,3\n", ".csv")
    assert "in this order" in file_refusal("target,source,weight\n1,2,3\n", ".csv")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("0 1\n\n# c\n0 1 2 3\n", "line 4: expected 2 or 3 fields"),
        ("0 1\n5\n", "line 2: expected 2 or 3 fields"),
        ("0,1\n1,2,3,4\n", "separated by commas, found 4"),
        ("0 1 1.5\n1 2 x\n", "line 2: the weight 'x' is not a number"),
        ("0 1 1.5\n1 2 1_0\n", "line 2: the weight '1_0' is not a number"),
        ("1 2 x\n3 4 5\n", "line 1: the weight 'x' is not a number"),
        ("a b\nc d nan\n", "line 2: weights must be finite"),
        ("0 1 nan\n", "line 1: weights must be finite"),
        ("0 1 1\n0 1 inf\n", "line 2: weights must be finite"),
        ("0 1 1e999\n", "line 1: weights must be finite"),
        ("0 1 1\n2 3 -0.5\n", "line 2: weights must be finite and not negative, found '-0.5'"),
        ("0;1;0,5\n", "line 1: the weight '0,5' is not a number"),
        ("0,1\n1,,2\n", "line 2: an empty field"),
        ("0,1,\n", "line 1: an empty field"),
        ("0,1\n2 3,4\n", "line 2: '2 3' is separated otherwise"),
        ("0 1\n2, 3\n", "line 2: '2, 3' has a comma"),
        ('a,b\n"c,d\n', "line 2"),
        ("", "no edges"),
        ("\n \n# only words\n", "no edges"),
        ("source,target\n", "only the column names"),
        (b"0 1\n\xff\xfe\x00\n", "line 2: not UTF-8"),
        (b"0 1\n1\x002\n", "line 2: a zero byte"),
        ("0 1\n".encode("utf-16"), "line 1: not UTF-8"),
    ],
)
def test_refusals_name_the_line(content, words):
    assert words in file_refusal(content, ".csv")
    assert words in file_refusal(content, ".txt")


def test_n_nodes():
    assert read_text("0 1\n", n_nodes=5).n_nodes == 5
    assert read_text("0 3\n", n_nodes=5).node_ids is None
    assert "names node 5, but n_nodes=5 allows 0 to 4" in file_refusal("0 5\n", n_nodes=5)
    assert "names node -1" in file_refusal("0 -1\n", n_nodes=5)
    assert "5, but FILE has 2 nodes" in file_refusal("a b\n", n_nodes=5)


def test_a_long_list_takes_the_fast_path(monkeypatch):
    def careful(*_):
        raise AssertionError("the careful reader was called")

    monkeypatch.setattr(edge_list, "_parse_lines", careful)
    for content in ("0 1\n1 2\n", "0,1,0.5\n1,2,1\n", "# c\nsource\ttarget\n0\t1\n"):
        assert read_text(content, ".tsv").n_edges == content.count("\n") - content.count("sou") * 2
