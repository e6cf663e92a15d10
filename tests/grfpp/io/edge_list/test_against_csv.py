"""Edge lists as other programs write them, against the plainest reader of all."""

import csv
import io

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from io_helpers import FUZZ, read_text

from grfpp.errors import InputError
from grfpp.io.edge_list import parse
from grfpp.io.edge_list.dialect import Dialect
from grfpp.io.edge_list.layout import Layout
from grfpp.io.tables.numerals import INTEGER
from grfpp.io.tables.words import Words

# Not white space at the ends, which is cut off; `\r` is a line end.
CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0\r\v\f\x1c\x1d\x1e\x1f\x85")
NAMES = st.one_of(
    st.sampled_from(["a", "b", "C#", "02139", "New York", "Smith, J.", 'the "x"', "é", "7", "12"]),
    st.text(CHARACTERS, min_size=1, max_size=20).filter(lambda name: name == name.strip()),
)
WEIGHTS = st.floats(0, 1e6, allow_subnormal=False)
EDGES = st.lists(st.tuples(NAMES, NAMES, WEIGHTS), min_size=1, max_size=12)


def plain_graph(edges, directed):
    """Sum the weights by pairs of names."""
    names = list(dict.fromkeys(name for u, v, _ in edges for name in (u, v)))
    if all(map(INTEGER.fullmatch, names)):
        names.sort(key=int)
    matrix = np.zeros((len(names), len(names)))
    for u, v, w in edges:
        i, j = names.index(u), names.index(v)
        matrix[i, j] += w
        if not directed and i != j:
            matrix[j, i] += w
    return names, matrix


@FUZZ
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
    columns = ("from", "to", "how much") if named else (3, 1, 4)
    graph = read_text(
        stream.getvalue().encode(encoding),
        ".csv",
        columns=columns,
        separator=separator,
        header=named,
        directed=directed,
        duplicates="sum",
    )
    names, matrix = plain_graph(edges, directed)
    found = range(len(names)) if graph.node_ids is None else graph.node_ids
    assert [str(name) for name in found] == names
    np.testing.assert_allclose(graph.adjacency.toarray(), matrix, rtol=1e-12)


LINES = st.lists(
    st.sampled_from(
        ["a b 1", "0 1 2.5", "c\td 0", "", "# x", " e  f 3 ", "a,b,1", "a, b ,2", "1,2,3",
         '"q","r",1',
         '"x, y",z,1', "u;v;1", "a b 1 # y", "C#,D%,4", "5 6", "7,8", "a b x", "1,2,-3", "1 2,3,4",
         "é,ü,1", "02,3,1", "% z", "a\t#b\t1", '"a" b 1', "x,y,1_0", "x,y,nan", "x,y,"]
    ),
    min_size=1, max_size=6,
)  # fmt: skip


@FUZZ
@given(LINES, st.sampled_from([None, ",", ";", "\t"]), st.booleans(), st.sampled_from([2, 3]))
def test_arrays_tell_the_same_as_going_line_by_line(lines, separator, given_, n_fields):
    layout = Layout.of_first(Dialect(separator, given_), [""] * n_fields, None)
    block = whole = ("\n".join(lines) + "\n").encode()
    plain = parse._plain_edges(block, layout)
    if plain is None:
        try:
            (starts, lengths, weights, rows), block = parse._other_edges(block, 0, layout, "file")
        except InputError:
            return
    else:
        starts, lengths, weights, rows = plain
    written, numbers = parse._careful_edges(whole, 0, layout, "file")
    table = Words(block).table(starts.ravel(), lengths.ravel()).reshape(-1, 2).tolist()
    again = [field.encode() for field in written.decode().split("\0")[:-1]]
    assert table == [again[i : i + 2] for i in range(0, len(again), 3)]
    assert weights.tolist() == [float(field) for field in again[2::3]]
    assert rows.tolist() == numbers.tolist()


def test_blocks_of_any_size_give_the_same(monkeypatch):
    text = "source,target,weight\n" + "".join(
        f'"n{i % 7}, x",m{i % 5},{i}\n# c\n' if i % 9 == 0 else f"n{i % 7},m{i % 5},{i}\n"
        for i in range(50)
    )
    whole = read_text(text, ".csv")
    for size in (1, 10, 100):
        monkeypatch.setattr(parse, "_BLOCK", size)
        parts = read_text(text, ".csv")
        assert parts.node_ids == whole.node_ids
        np.testing.assert_array_equal(parts.adjacency.toarray(), whole.adjacency.toarray())
