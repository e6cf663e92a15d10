"""Text that spells numbers."""

from __future__ import annotations

import re

#: Whole numbers as computers write them; not `007` or `+5`, which are names. Python refuses to
#: convert thousands of digits.
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,299}")


def is_number(text: str) -> bool:
    """Whether the text spells a number, as other readers than Python see it, too.

    Examples
    --------
    >>> is_number("1e-3"), is_number("1_000"), is_number("٣")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()
