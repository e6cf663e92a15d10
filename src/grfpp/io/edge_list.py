"""Text edge lists: one edge ``u v [w]`` a line."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.io.edges import arcs, undirected_once
from grfpp.io.text import Lines, decode, naming, number_table, shown
from grfpp.typing import FloatArray, IntArray

SUFFIXES = (".txt", ".tsv", ".csv", ".edges", ".edgelist")

_COMMENT = re.compile(r"[#%][^\n]*")
_FIRST_LINE = re.compile(r"^.*\S.*$", re.MULTILINE)
_INTEGER = re.compile(r"[+-]?[0-9]{1,300}")  # Python refuses to convert thousands of digits
_HEADERS = {
    ("source", "target"), ("src", "dst"), ("src", "tgt"), ("from", "to"), ("head", "tail"),
    ("fromnodeid", "tonodeid"), ("node1", "node2"), ("node_1", "node_2"), ("id1", "id2"),
    ("id_1", "id_2"),
}  # fmt: skip


def read_edge_list(
    data: bytes, name: str, suffix: str, *, directed: bool | None = None, n_nodes: int | None = None
) -> tuple[sp.coo_array, Sequence[Any] | None]:
    """Read a text edge list.

    Fields are separated by ``;``, else by ``,`` (in ``.tsv`` files by tabs), else by white space:
    the first of these that the first edge shows. Text from ``#`` or ``%`` on is a comment. A first
    line of column names is skipped. Labels that are whole numbers are sorted, others keep the
    order in which they appear; with `n_nodes` the nodes are 0 to ``n_nodes - 1``, whether or not
    they have an edge.

    If `directed`, each line is one arc. By default an edge listed once counts in both directions;
    where both directions are listed their weights must agree, and the edge counts once. Lines that
    repeat an edge in the same direction are summed.
    """
    text = decode(data, name)
    if "#" in text or "%" in text:
        text = _COMMENT.sub("", text)
    first = _FIRST_LINE.search(text)
    if first is None:
        raise InputError(f"{name} holds no edges: it is empty, or has nothing but comments")
    separator = _separator(first.group(), suffix)
    # Most files are nothing but numbers: they are parsed in C, and gone through line by line only
    # when that fails, to say where.
    table = _parse_numbers(text[first.start() :], separator)
    ends, weights = table or _parse_lines(text, separator, name, suffix)
    (rows, columns), n, labels = _numbered(ends, name, n_nodes)
    if directed:
        return arcs(rows, columns, weights, n), labels
    with naming(name):
        return undirected_once(rows, columns, weights, n, labels or range(n)), labels


def _separator(line: str, suffix: str) -> str | None:
    if suffix == ".tsv" and "\t" in line.strip():
        return "\t"
    return next((mark for mark in ";," if mark in line), None)


def _parse_numbers(text: str, separator: str | None) -> tuple[IntArray, FloatArray] | None:
    """Parse a table of numbers in C, with or without column names; ``None`` when it is not one."""
    line, _, rest = text.partition("\n")
    fields = [field.strip() for field in line.split(separator)]
    if len(fields) not in (2, 3):
        return None
    if _is_header(fields, over_integers=True) and not _misplaced_names(fields) and rest.strip():
        text = rest
    columns: list[tuple[str, Any]] = [("u", np.int64), ("v", np.int64), ("w", np.float64)]
    table = number_table(text, columns[: len(fields)], delimiter=separator, ndmin=1)
    if table is None:
        return None
    weights = table["w"] if len(fields) == 3 else np.ones(len(table))
    usable = np.isfinite(weights).all() and (weights >= 0).all()
    return (np.stack([table["u"], table["v"]]), weights) if usable else None


def _parse_lines(
    text: str, separator: str | None, name: str, suffix: str
) -> tuple[IntArray | list[list[Any]], FloatArray]:
    """Parse line by line, with care: text labels, quotes, and an error that names the line."""
    with Lines(text, name, split=lambda line: _fields(line, separator)) as lines:
        rows = [(lines.number, fields) for fields in lines]
        (lines.number, first), following = rows[0], rows[1:]
        if _misplaced_names(first):
            raise InputError(
                "the columns must be source, target and weight in this order, found "
                + ", ".join(first)
            )
        labels = (label for _, fields in following for label in fields[:2])
        over_integers = bool(following) and all(map(_INTEGER.fullmatch, labels))
        if _is_header(first, over_integers, named_columns=suffix in (".csv", ".tsv")):
            rows = following
        weights = []
        for lines.number, fields in rows:
            weights.append(_weight(fields) if len(fields) == 3 else 1.0)
    if not rows:
        raise InputError(f"{name} holds no edges, only the column names in line {lines.number}")
    ends = [[fields[end] for _, fields in rows] for end in (0, 1)]
    return _whole_numbers(ends), np.array(weights)


def _fields(line: str, separator: str | None) -> list[str]:
    if separator is None:
        fields = line.split()
        if "," in line or ";" in line:
            raise InputError(
                f"{shown(line.strip())} has a comma or semicolon, but the lines before are "
                "separated by white space"
            )
    else:
        if '"' in line:
            try:
                fields = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
            except csv.Error as error:
                raise InputError(f"cannot be split into fields ({error})") from None
        else:
            fields = line.split(separator)
        fields = [field.strip() for field in fields]
    if len(fields) not in (2, 3):
        marks = {None: "white space", "\t": "tabs", ",": "commas", ";": "semicolons"}
        raise InputError(
            f"expected 2 or 3 fields (source, target, weight) separated by {marks[separator]}, "
            f"found {len(fields)} in {shown(line.strip())}"
        )
    for field in fields:
        if not field:
            raise InputError(f"an empty field in {shown(line.strip())}")
        if " " in field and all(_is_number(part) for part in field.split()):
            raise InputError(f"{shown(field)} is separated otherwise than the lines before")
    return fields


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    # Python reads 1_000 and the digits of all scripts; other readers do not.
    return "_" not in field and field.isascii()


def _weight(fields: list[str]) -> float:
    if not _is_number(fields[2]):
        raise InputError(f"the weight {shown(fields[2])} is not a number")
    weight = float(fields[2])
    if not math.isfinite(weight) or weight < 0:
        raise InputError(f"weights must be finite and not negative, found {shown(fields[2])}")
    return weight


def _is_header(fields: list[str], over_integers: bool, named_columns: bool = False) -> bool:
    """Tell whether the first line holds column names rather than an edge.

    It does when the names are known ones, or when they stand over nothing but whole numbers. Where
    columns usually have names, a word in place of the weight tells too. A line with a whole number
    for a label or with a proper weight is an edge.
    """
    if _known_names(fields[0], fields[1]):
        return True
    word_for_weight = len(fields) == 3 and not _is_number(fields[2])
    if any(map(_INTEGER.fullmatch, fields[:2])) or (len(fields) == 3 and not word_for_weight):
        return False
    return over_integers or (named_columns and word_for_weight)


def _known_names(first: str, second: str) -> bool:
    return (first.strip().lower(), second.strip().lower()) in _HEADERS


def _misplaced_names(fields: Sequence[str]) -> bool:
    """Tell column names of which source and target are not the first two."""
    return len(fields) == 3 and any(
        _known_names(fields[i], fields[j]) for i, j in ((0, 2), (1, 2), (1, 0), (2, 0), (2, 1))
    )


def _whole_numbers(ends: list[list[str]]) -> IntArray | list[list[Any]]:
    """Turn labels into whole numbers where all of them are, into an array where 64 bits do."""
    if not all(_INTEGER.fullmatch(label) for labels in ends for label in labels):
        return ends
    numbers = [[int(label) for label in labels] for labels in ends]
    try:
        return np.array(numbers, dtype=np.int64)
    except OverflowError:
        return numbers


def _numbered(
    ends: IntArray | list[list[Any]], name: str, n_nodes: int | None
) -> tuple[IntArray, int, list[Any] | None]:
    """Number the nodes: the numbers of the ends, how many there are, and what they are called."""
    if not isinstance(ends, np.ndarray):
        names = list(dict.fromkeys(label for pair in zip(*ends, strict=True) for label in pair))
        if isinstance(names[0], int):
            names.sort()
        position = {label: i for i, label in enumerate(names)}
        return np.array([[position[label] for label in end] for end in ends]), len(names), names
    if n_nodes is None:
        labels, places = np.unique(ends, return_inverse=True)
        plain = labels[0] == 0 and labels[-1] == len(labels) - 1
        return places.reshape(2, -1), len(labels), None if plain else labels.tolist()
    least, largest = int(ends.min()), int(ends.max())
    if least < 0 or largest >= n_nodes:
        raise InputError(
            f"{name} names node {least if least < 0 else largest}, but n_nodes={n_nodes} "
            f"allows 0 to {n_nodes - 1}"
        )
    return ends, n_nodes, None
