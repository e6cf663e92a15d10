"""All data sets that have files: what they are called and what is known of them."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from itertools import groupby
from typing import get_args

from grfpp.datasets.entries import DataFile, DatasetInfo, Family, record, table
from grfpp.datasets.mesh_table import mesh_entries
from grfpp.errors import InputError

_LISTED = 25


@cache
def all_datasets() -> tuple[DatasetInfo, ...]:
    """Every data set that has files, family by family.

    Examples
    --------
    >>> [info.name for info in all_datasets() if info.family == "graphs"]
    ['karate', 'dolphins', 'polbooks', 'football', 'databases', 'eurosis', 'cora']
    """
    # A row a file; those of one data set follow each other, and the first tells about it.
    by_name = groupby(table("datasets.csv"), key=lambda row: row["name"])
    listed = [_entry(list(rows)) for _, rows in by_name]
    families = get_args(Family)
    return tuple(sorted([*listed, *mesh_entries()], key=lambda info: families.index(info.family)))


def _entry(rows: list[dict[str, str]]) -> DatasetInfo:
    files = [(record(DataFile, row), row["serves_instead"]) for row in rows]
    return record(
        DatasetInfo,
        rows[0],
        files=tuple(file for file, instead in files if not instead),
        instead=next((file for file, instead in files if instead), None),
    )


def dataset_info(name: str, family: str | None = None) -> DatasetInfo:
    """What is known of a data set; upper and lower case do not matter.

    Parameters
    ----------
    name
        What it is called in `all_datasets`.
    family
        Only look among data sets of this kind.
    """
    known = {info.name.lower(): info for info in all_datasets() if family in (None, info.family)}
    info = known.get(str(name).lower())
    if info is not None:
        return info
    kind = "" if family is None else f" among the {family}"
    near = get_close_matches(str(name).lower(), known, n=1, cutoff=0.7)
    if near:
        raise InputError(
            f"there is no data set {name!r}{kind}; did you mean {known[near[0]].name!r}?"
        )
    # Meshes have numbers for names, and there are many.
    names = [info.name for info in known.values() if family or info.family != "meshes"]
    listed = ", ".join(names if len(names) <= _LISTED else [*names[: _LISTED // 3], "..."])
    raise InputError(f"there is no data set {name!r}{kind}; known are {listed}")
