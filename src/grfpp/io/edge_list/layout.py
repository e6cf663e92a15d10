"""Where in the lines of an edge list its edges stand, and one line as an edge."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from grfpp.errors import InputError
from grfpp.io.edge_list.dialect import Dialect
from grfpp.io.tables.header import columns_of, is_missing
from grfpp.io.tables.numerals import is_number
from grfpp.io.tables.options import Column
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
    named
        Whether the columns have names.
    """

    dialect: Dialect
    chosen: tuple[int, ...]
    usual: int
    allowed: range
    named: bool = False

    @classmethod
    def of_header(
        cls, dialect: Dialect, names: Sequence[str], asked: Sequence[Column] | None
    ) -> Layout:
        """That of a table with named columns: every line has them all."""
        n = len(names)
        return cls(dialect, columns_of(names, asked), n, range(n, n + 1), named=True)

    @classmethod
    def of_first(
        cls, dialect: Dialect, fields: Sequence[str], asked: Sequence[Column] | None
    ) -> Layout:
        """That of a list without names, by its first line and the numbers of its columns.

        Where these are not given, every line has a weight, or none has.
        """
        n = len(fields)
        if asked is None:
            return cls(dialect, (0, 1, 2), n, range(n, n + 1) if n in (2, 3) else range(2, 4))
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
        least, most, n = self.allowed.start, self.allowed.stop - 1, len(fields)
        found = f"separated by {self.dialect.described}, found {n} in {shown(' '.join(fields))}"
        if self.named:
            return InputError(f"expected {least} fields {found}")
        if most > 3:
            remedy = _OTHER_SEPARATOR if n < 2 else ()
            return InputError(f"expected {least} fields at least {found}", option=remedy)
        if least == most and n in (2, 3):
            told = (
                f"expected {least} fields, as in the first line, {found}: either all lines have a "
                "weight or none has. Write those that are missing, or take "
            )
            if n == 3:
                return InputError(f"{told}the first line out if it is no edge")
            return InputError(f"{told}the ends alone.", option=("columns", (0, 1)))
        return InputError(
            f"expected 2 or 3 fields (source, target, weight) {found}",
            option=_OTHER_SEPARATOR if n < 2 else ("columns", (0, 1), (0, 1, 2)),
        )


_OTHER_SEPARATOR = ("separator", "\t", ...)


def _check_weight(text: str) -> None:
    if not is_number(text):
        if is_missing(text):
            raise InputError(f"the weight is missing: {shown(text)} is not a number")
        raise InputError(f"the weight {shown(text)} is not a number")
    weight = float(text)
    if not math.isfinite(weight) or weight < 0:
        raise InputError(f"weights must be finite and not negative, found {shown(text)}")
