"""`grfpp estimate`: from a file with a graph to a file with a kernel estimate.

Example commands:
  grfpp estimate graph.txt --check
  grfpp estimate graph.mtx -k inverse-power:4 --scale 0.8 --output k.npz
  grfpp estimate mesh.off -k diffusion:5 -t poisson:4 --project 64 -o xy.npz
  grfpp estimate graph.gml --rows "Anna,Ben" --output rows.csv
  grfpp estimate graph.grf --dask tcp://scheduler:8786 --project 64 -o xy.npz
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from inspect import getdoc
from pathlib import Path
from typing import Any

import click
import numpy as np

from grfpp._memory import readable_bytes
from grfpp.cli import console, options, results
from grfpp.distributed.cluster import Cluster
from grfpp.distributed.estimate import ClusterBackend
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.estimate.accuracy import relative_error
from grfpp.estimate.batches import LOCAL_BACKEND
from grfpp.estimate.sampling import sample_estimate
from grfpp.io.archive import save_arrays
from grfpp.kernels import TaylorKernel
from grfpp.kernels.named import KERNELS
from grfpp.operators.kernel_choice import KernelChoice
from grfpp.options import WalkOptions
from grfpp.termination import LAWS

FEATURES_FORMAT = "grfpp-features-1"
#: Relative errors below this depend on the processor's rounding.
_ROUNDING_ERROR = 1e-13
#: Kernels and laws with any number of parameters.
_LISTS = {"taylor": "taylor:A0:A1:...", "custom": "custom:P0:P1:..."}


def _definitions(kinds: Mapping[str, type]) -> list[tuple[str, str]]:
    """The text forms of kernels or laws, and the first lines of their docstrings."""
    definitions = []
    for name, kind in kinds.items():
        parameters = [] if name in _LISTS else [item.name.upper() for item in fields(kind)]
        meaning = (getdoc(kind) or "").partition("\n")[0].replace("`", "")
        definitions.append((_LISTS.get(name, ":".join([name, *parameters])), meaning))
    return definitions


_TERMS = {
    "Kernels, with numbers that may be left out": _definitions({**KERNELS, "taylor": TaylorKernel}),
    "Laws of the walk lengths": _definitions(LAWS),
}


@click.command(cls=options.Command, definitions=_TERMS)
@options.kernel_options
@options.walk_options(sampling=True)
@options.output_option("FILE", ".npz", ".csv")
@options.option("--rows", metavar="ROW,ROW,...")
@options.std_option
@options.option("--project", metavar="R", type=click.IntRange(1))
@options.option("--check", is_flag=True)
@options.cluster_option
@options.graph_options
@options.shows_result
def estimate(
    *,
    file: options.GraphFile,
    choice: KernelChoice,
    walks: WalkOptions,
    output: Path | None,
    rows: str | None,
    std: bool,
    project: int | None,
    check: bool,
    client: Any,
) -> results.Result:
    """Estimate a graph kernel by stitched random walks.

    Reads the graph, normalises its weights, samples walks, and reports the error of the estimate.
    Files are written whole or not at all.

    Parameters
    ----------
    kernel
        The kernel; see below.
    seed
        Of the walks, and of --project.
    output
        FILE.npz for the estimate (with --project: the arrays X and Y); FILE.csv for the rows of
        --rows.
    rows
        Show these rows of the kernel: node names where the file has some, else indices from 0.
    std
        Standard errors of the rows, from 16 further estimates: takes 16 times as long.
    project
        Write dense features X, Y of R components with K = X Y^T.
    check
        Compare with the exact kernel too: whole matrices up to 3000 nodes, random probes beyond.
    """
    names = [] if rows is None else split_rows(rows)
    suffix = None if output is None else output.suffix.lower()
    if project and suffix != ".npz":
        raise InputError("needs a file", argument="project", advice="give --output FILE.npz")
    if suffix == ".csv" and not names:
        problem, advice = "needs --rows for a .csv file", "write estimates to a .npz file"
        raise InputError(problem, argument="output", advice=advice)
    if std and not names:
        raise InputError("needs rows", argument="std", advice="give --rows ROW,ROW,...")
    if walks.n_groups and not std and (project or suffix != ".npz"):
        advice = "give --output FILE.npz without --project, or --std"
        raise InputError("needs a file or --std", argument="n_groups", advice=advice)

    result = results.Result()
    with result.timed("read", f"reading {file.path}"):
        source = file.read()
        nodes = [source.names.index_of_text(name, "rows") for name in names]
        W = choice.weights(source)
    with result.timed("walk"):
        backend = LOCAL_BACKEND if client is None else ClusterBackend(Cluster(client))
        K = sample_estimate(W, choice.kernel, walks, console.shows_progress(), backend)

    labels = results.node_names(source)
    values: Any = np.zeros((0, K.n_nodes))
    errors: Any = [None] * len(nodes)
    if nodes:
        with console.status("sampling again for the error bars" if std else "rows"):
            values, errors = K.rows(nodes, return_std=True) if std else (K.rows(nodes), errors)
    with console.status("measuring the error"):
        measured = K.measure_error()
    if output is not None:
        with console.status(f"writing {output}"):
            if suffix == ".csv":
                columns = np.vstack([values, errors]) if std else values
                header = ["node", *names, *(f"{name} std" for name in names)][: 1 + len(columns)]
                results.write_csv(output, header, zip(labels, *columns.tolist(), strict=True))
            elif project is not None:
                X, Y = K.project(project, seed=K.meta["seed"])
                save_arrays(output, FEATURES_FORMAT, {"X": X, "Y": Y}, {"made_by": K.meta})
            else:
                K.save(output)

    result.add_graph(file.path, source, choice)
    result.add("kernel", f"{choice.kernel!r}, stitching degree {K.degree}", **K.meta)
    n, steps = K.meta["n_walks"], K.meta["steps_per_node"]
    text = f"{walks.walks}, {n} a node and factor, lengths {walks.termination!r}, seed {walks.seed}"
    kind = "walked" if "tol" in K.meta else "expected"
    result.add("walks", f"{text}: {steps:.6g} steps a node {kind}")
    _add_factors(result, K, walks)
    result.add_cluster(client)
    result.add_time(read="reading", walk="walking")
    row_documents = []
    for node, row, row_std in zip(nodes, values, errors, strict=True):
        result.add(f"row {labels[node]}", results.row_text(labels, row, row_std))
        numbers = {"values": row.tolist(), "std": None if row_std is None else row_std.tolist()}
        row_documents.append({"row": node, "node": results.json_name(labels[node]), **numbers})
    relative = (measured.relative, measured.relative_std)
    off_diagonal = (measured.off_diagonal, measured.off_diagonal_std)
    text = f"{_with_std(*relative)} relative to the kernel, off-diagonal {_with_std(*off_diagonal)}"
    if max(measured.relative, measured.off_diagonal) < _ROUNDING_ERROR:
        text = "none but rounding"
    document: dict[str, Any] = {"rows": row_documents}
    document["relative_error"] = _error_document(*relative, measured.n_probes)
    document["off_diagonal_error"] = _error_document(*off_diagonal, measured.n_probes)
    result.add("error", text, **document)
    if check:
        with console.status("comparing with the exact kernel"):
            error = relative_error(K, choice.kernel, W)
        how = "" if error.n_probes else " (whole matrices compared)"
        document = _error_document(float(error), error.standard_error, error.n_probes)
        result.add("check", f"{error!r}{how}", relative_error=document)
    result.add(output=result.add_file(output))
    return result


def _add_factors(result: results.Result, K: KernelEstimate, walks: WalkOptions) -> None:
    """Add the size of the factors, of which each counts once even if it occurs in several links."""
    factors = {link.factor for link in K.chain.links}
    n_entries = sum(factor.n_entries for factor in factors)
    index_bytes = 4 if n_entries < 2**31 else 8
    n_bytes = n_entries * (4 + walks.dtype.itemsize) + len(factors) * index_bytes * (K.n_nodes + 1)
    text = f"{len(factors)} with {n_entries:,} entries, {readable_bytes(n_bytes)}"
    if walks.reuse_walks:
        text += " (walks reused: the estimate is biased)"
    if K.symmetrized:
        text += ", symmetrised"
    if K.deflation is not None:
        text += f", {K.deflation.n_vectors} eigenvectors exact"
    result.add("factors", text, n_entries=n_entries, n_bytes=n_bytes)


def split_rows(text: str) -> list[str]:
    """Split ``0,5,9``; a name with a comma is in double quotes.

    Examples
    --------
    >>> split_rows('0, 5,"Smith, J."')
    ['0', '5', 'Smith, J.']
    """
    names: list[str] = []
    with suppress(csv.Error, ValueError):
        (names,) = csv.reader([text], skipinitialspace=True, strict=True)
    names = [name.strip() for name in names]
    if not names or not all(names):
        raise InputError(f"must be a list such as 0,5,9, found {text!r}", argument="rows")
    return names


def _error_document(value: float, standard_error: float, n_probes: int) -> dict[str, Any]:
    return {"value": value, "standard_error": standard_error, "n_probes": n_probes}


def _with_std(value: float, std: float) -> str:
    return f"{value:.3g}" + (f" ± {std:.1g}" if std else "")
