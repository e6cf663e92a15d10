"""Tables of the paper that lie as text files beside the experiments which quote them."""

from __future__ import annotations

from importlib.resources import files


def quoted_cells(experiment: str, name: str) -> dict[tuple[str, str], str]:
    """The cells of a table, by the first word of their line and by the head of their column.

    Examples
    --------
    >>> quoted_cells("normals", "cosines.txt")["64", "GRF++"]
    '.3889'
    """
    text = (files("grfpp_lab.experiments") / experiment / name).read_text(encoding="utf-8")
    header, *lines = (line.split() for line in text.splitlines())
    return {
        (line, column): cell
        for line, *cells in lines
        for column, cell in zip(header[1:], cells, strict=True)
    }
