"""The nodes of an edge list, numbered; and whether its first line was an edge at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grfpp.errors import InputError
from grfpp.io.edge_list.first_line import FirstLine
from grfpp.io.edge_list.parse import Edges
from grfpp.io.tables.labels import number_pieces, number_whole, require_within, whole_or_text
from grfpp.io.tables.numerals import INTEGER
from grfpp.io.tables.words import Words
from grfpp.io.text import at_line, shown
from grfpp.typing import AnyInts


def number_nodes(
    edges: Edges, first: FirstLine, name: str, n_nodes: int | None
) -> tuple[Edges, AnyInts, int, Sequence[Any] | None]:
    """Number the nodes of edges; the first of these is taken off if it is column names.

    Returns
    -------
    edges, ends, n_nodes, labels
        Row ``i`` of ``ends`` are the numbers of the nodes that edge ``i`` joins.
    """
    doubtful = first.named is None and len(first.fields) == 2 and len(edges.lines) > 1
    words = Words(edges.buffer)
    listed = below(edges) if doubtful else edges
    whole = words.whole_numbers(listed.starts.ravel(), listed.lengths.ravel())
    if whole is not None:  # words over nothing but numbers are column names
        return listed, *number_whole(whole.reshape(-1, 2), name, n_nodes)
    numbers, texts = number_pieces(words, edges.buffer, edges.starts.ravel(), edges.lengths.ravel())
    ends = numbers.reshape(-1, 2)
    if doubtful and not np.isin(ends[1:], ends[0]).any():
        n_names = int(ends[0].max()) + 1  # they are the first to appear
        if not all(map(INTEGER.fullmatch, texts[n_names:])):
            raise doubt(first, name)
        edges, ends, texts = listed, ends[1:] - n_names, texts[n_names:]
    if first.named and first.found_out and any(field in texts for field in first.fields[:2]):
        raise doubt(first, name)
    places, labels = whole_or_text(texts)
    if places is None and first.named is None and len(first.fields) == 3:
        raise first.no_weight(name)
    if places is None:
        return edges, ends, len(labels), labels
    if n_nodes is not None:
        require_within(labels[0], labels[-1], name, n_nodes)
    return edges, places[ends], len(labels), labels


def below(edges: Edges) -> Edges:
    """All but the first."""
    return replace(
        edges,
        starts=edges.starts[1:],
        lengths=edges.lengths[1:],
        weights=edges.weights[1:],
        lines=edges.lines[1:],
    )


def doubt(first: FirstLine, name: str) -> InputError:
    """What to say of a first line that may be names of columns, or an edge."""
    told = " and ".join(shown(field) for field in first.fields[:2])
    return at_line(
        name,
        first.number,
        f"{told} may be the names of the columns or of two nodes",
        option=("header", True, False),
    )
