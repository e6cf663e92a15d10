"""`grfpp datasets`: the data sets, and which of them are on this machine.

Files are looked for in the folder that GRFPP_DATA names, then in the cache
(GRFPP_CACHE, or the system's cache folder).

Example commands:
  grfpp datasets
  grfpp datasets meshes
  grfpp datasets cora
  grfpp datasets MUTAG --download
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

import click

from grfpp import datasets as library
from grfpp._memory import readable_bytes
from grfpp.cli import console, options, results
from grfpp.datasets import DataFile, DatasetInfo, where
from grfpp.errors import InputError

#: The family with too many data sets to list with the others.
_LONG_FAMILY = "meshes"


@options.command
@click.argument("name", metavar="NAME", required=False)
@options.option("--download", is_flag=True)
@options.json_option
def datasets(name: str | None, download: bool, as_json: bool) -> None:
    """List the data sets that grfpp can load, or describe one.

    With size, licence and folder; for a single one that is on this machine also with its numbers of
    nodes, edges and classes.

    Parameters
    ----------
    name
        A data set, or the family 'meshes'; all of them if left out.
    download
        Download the data set if it is not on this machine.
    """
    if name is not None and name.lower() != _LONG_FAMILY:
        _describe(library.dataset_info(name), download).show(as_json)
        return
    if download:
        raise InputError("needs one data set", argument="download", advice="name it, as in cora")
    chosen = [d for d in library.all_datasets() if name is None or d.family == _LONG_FAMILY]
    if as_json:
        console.print_json({**_folders(), "datasets": [_document(info) for info in chosen]})
        return
    _print_table(chosen, summarize=name is None)
    for folder, path in _folders().items():
        print(f"{folder}: {path or 'not set'}")


def _folders() -> dict[str, str | None]:
    data, cache = library.data_folder(), library.cache_folder()
    return {"GRFPP_DATA": None if data is None else str(data), "cache": str(cache)}


def _document(info: DatasetInfo) -> dict[str, Any]:
    shown = ("name", "family", "description", "licence", "page", "n_bytes")
    document = {field: getattr(info, field) for field in shown}
    files = {"files": [_file(file) for file in info.files]}
    instead = None if info.instead is None else _file(info.instead)
    return {**document, "at_hand": where(info), **files, "instead": instead}


def _file(file: DataFile) -> dict[str, Any]:
    size = {"n_bytes": file.n_bytes, "sha256": file.sha256}
    return {"path": file.path, **size, "address": file.address or None}


def _print_table(chosen: list[DatasetInfo], summarize: bool) -> None:
    words = ("name", "what", "licence", "at hand")
    table = console.new_table(("name", "what", "size", "licence", "at hand"), words)
    table.columns[0].no_wrap = table.columns[2].no_wrap = True
    for family, members in groupby(chosen, key=lambda info: info.family):
        if summarize and family == _LONG_FAMILY:
            table.add_row(*_mesh_summary(list(members)))
        else:
            for info in members:
                size = readable_bytes(info.n_bytes)
                table.add_row(info.name, info.description, size, info.licence, where(info) or "no")
        table.add_section()
    console.print_table(table)


def _mesh_summary(meshes: list[DatasetInfo]) -> list[str]:
    """One row of the table for all meshes."""
    locations = [folder for info in meshes if (folder := where(info))]
    folders = " and ".join(sorted(set(locations)))
    sizes = [mesh.n_vertices for mesh in library.mesh_table()]
    what = f"{len(meshes)} meshes of {min(sizes)} to {max(sizes):,} vertices, Thingi10K"
    size = readable_bytes(sum(info.n_bytes for info in meshes))
    at_hand = f"{len(locations)} in {folders}" if locations else "no"
    return [_LONG_FAMILY, what, size, "CC or GPL", at_hand]


def _describe(info: DatasetInfo, download: bool) -> results.Result:
    """One data set, with its numbers of nodes, edges and classes if its files are here."""
    result, counts = results.Result(), None
    if download or where(info):
        with console.status(f"reading {info.name}"):
            counts = library.count(info.name, download=download)
    result.add("name", f"{info.name} ({info.family})", **_document(info), counts=counts)
    result.add("what", info.description)
    for what, number in (counts or {}).items():
        result.add(what, f"{number:,}")
    result.add("size", readable_bytes(info.n_bytes))
    result.add("licence", info.licence)
    result.add("page", info.page)
    result.add("at hand", where(info) or "no")
    files = [*(("file", file) for file in info.files), ("or instead", info.instead)]
    for label, file in files:
        if file is not None:
            result.add(label, file.path)
            result.add("", file.address or "no public address is known")
    return result
