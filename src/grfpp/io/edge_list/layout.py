"""Where in the lines of an edge list its edges stand, and one line as an edge."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from grfpp.errors import InputError
from grfpp.io.edge_list.dialect import Dialect
from grfpp.io.edge_list.header import columns_of, is_missing
from grfpp.io.numerals import is_number
from grfpp.io.options import Column
from grfpp.io.text import shown


@dataclass(frozen=True)
class Layout:
    """The columns of source, target and weight, and how many fields a line has.

    Parameters
    ----------
    dialect
        How lines are split.
    chosen
        The places of source, target and, if there may be one, weight.
    usual
        How many fields most lines have.
    allowed
        How many they may have.
    """

    dialect: Dialect
    chosen: tuple[int, ...]
    usual: int
    allowed: range

    @classmethod
    def of_header(
        cls, dialect: Dialect, names: Sequence[str], asked: Sequence[Column] | None
    ) -> Layout:
        """That of a table with named columns: every line has them all."""
        n = len(names)
        return cls(dialect, columns_of(names, asked), n, range(n, n + 1))

    @classmethod
    def of_first(
        cls, dialect: Dialect, fields: Sequence[str], asked: Sequence[Column] | None
    ) -> Layout:
        """That of a list without names, by its first line and the numbers of its columns."""
        n = len(fields)
        if asked is None:
            return cls(dialect, (0, 1, 2), n, range(2, 4))
        chosen = tuple(each for each in asked if isinstance(each, int))
        return cls(dialect, chosen, n, range(max(chosen) + 1, sys.maxsize))

    def edge(self, fields: Sequence[str]) -> tuple[str, str, str]:
        """Source, target and weight of a line, checked; without a weight it is 1."""
        if len(fields) not in self.allowed:
            raise self._wrong_number(fields)
        picked = [fields[place] for place in self.chosen if place < len(fields)]
        if not all(picked):
            raise InputError(f"an empty field in {shown(' '.join(fields))}")
        source, target, weight = picked if len(picked) == 3 else (*picked, "1")
        _check_weight(weight)
        return source, target, weight

    def _wrong_number(self, fields: Sequence[str]) -> InputError:
        least, most = self.allowed.start, self.allowed.stop - 1
        wanted = "2 or 3 fields (source, target, weight)"
        if most > 3 or least == most:
            wanted = f"{least} fields" + ("" if least == most else " at least")
        found = f"found {len(fields)} in {shown(' '.join(fields))}"
        remedy: tuple[object, ...] = ()
        if len(fields) < least and least != most:
            remedy = ("separator", "\t", ...)
        elif least != most:
            remedy = ("columns", (0, 1), (0, 1, 2))
        return InputError(
            f"expected {wanted} separated by {self.dialect.described}, {found}", option=remedy
        )


def _check_weight(text: str) -> None:
    if not is_number(text):
        if is_missing(text):
            raise InputError(f"the weight is missing: {shown(text)} is not a number")
        raise InputError(f"the weight {shown(text)} is not a number")
    weight = float(text)
    if not math.isfinite(weight) or weight < 0:
        raise InputError(f"weights must be finite and not negative, found {shown(text)}")
