"""`grfpp estimate`: from a file with a graph to a file with a kernel estimate.

Kernels (the last numbers may be left out):
  diffusion:LAM                         exp(LAM W)
  regularized-laplacian:POWER:SIGMA2    (I - c W)^-POWER, c = SIGMA2 / (1 + SIGMA2)
  p-step:P:A                            (A I + W)^P
  cosine:LAM                            cos(LAM W) + sin(LAM W)
  inverse-power:POWER:OF                (I - W^OF)^-POWER, OF is 1 or 2
  squared-diffusion:LAM                 exp(LAM W^2)
  personalized-pagerank:ALPHA           ALPHA (I - (1 - ALPHA) W)^-1; with --normalize rw
  heat:T                                exp(-T (I - W)); with --normalize rw
  taylor:A0:A1:...                      A0 I + A1 W + ...

Walk lengths:
  geometric:P_HALT                      halt with this probability before each step
  poisson:MEAN
  negative-binomial:N_HALTS:P_HALT      halt at the N-th signal
  first-step:P_NEXT                     one step, each further one with P_NEXT
  fixed:N  uniform:N                    exactly N steps; 0 to N, equally likely
  custom:P0:P1:...                      k steps with probability Pk
  matched:MEAN                          shared by what still matters; for pooled walks

Example commands:
  grfpp estimate graph.txt --check
  grfpp estimate graph.mtx -k inverse-power:4 --scale 0.8 --output k.npz
  grfpp estimate mesh.off -k diffusion:5 -t poisson:4 --project 64 -o xy.npz
  grfpp estimate graph.gml --rows "Anna,Ben" --output rows.csv
  grfpp estimate graph.grf --dask tcp://scheduler:8786 --project 64 -o xy.npz
"""

from __future__ import annotations

import csv
from contextlib import suppress
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
from grfpp.estimate.batches import HERE
from grfpp.estimate.error_bars import EstimateError
from grfpp.estimate.sampling import sample_estimate
from grfpp.io.archive import save_arrays
from grfpp.kernels import kernel_from_spec
from grfpp.options import WalkOptions
from grfpp.typing import FloatArray

FEATURES_FORMAT = "grfpp-features-1"
#: Relative errors below this depend on the processor's rounding.
_ROUNDING_ERROR = 1e-13


@options.command
@options.graph_argument
@options.kernel_option("The kernel; see below.", "diffusion", "-k")
@options.normalize_option
@options.scale_option
@options.walk_options(sampling=True, seed="Of the walks, and of --project.")
@options.output_option(
    "FILE.npz for the estimate (with --project: the arrays X and Y); FILE.csv for the rows of "
    "--rows.",
    "FILE",
)
@options.option(
    "--rows",
    help="Show these rows of the kernel: node names where the file has some, else indices from 0.",
    metavar="ROW,ROW,...",
)
@options.option(
    "--std",
    help="Standard errors of the rows, from 16 further estimates: takes 16 times as long.",
    is_flag=True,
)
@options.option(
    "--project",
    help="Write dense features X, Y of R components with K = X Y^T.",
    type=click.IntRange(1),
)
@options.option(
    "--check",
    help="Compare with the exact kernel too: whole matrices up to 3000 nodes, random probes "
    "beyond.",
    is_flag=True,
)
@options.directed_option
@options.cluster_option
@options.reading_options
@options.json_option
def estimate(
    graph: Path,
    *,
    kernel: str,
    normalize: str | None,
    scale: float,
    walks: WalkOptions,
    output: Path | None,
    rows: str | None,
    std: bool,
    project: int | None,
    check: bool,
    directed: bool,
    client: Any,
    reading: options.Reading,
    as_json: bool,
) -> None:
    """Estimate a graph kernel by stitched random walks.

    Reads the graph, normalises its weights, walks, and reports the error of the estimate. Files are
    written whole or not at all.
    """
    names = [] if rows is None else split_rows(rows)
    _check_request(graph, output, names, project, std=std, n_groups=walks.n_groups)
    function = kernel_from_spec(kernel)

    seconds: dict[str, float] = {}
    with console.timed(seconds, "read", f"reading {graph}"):
        source = reading.graph(graph, directed=directed)
        nodes = [source.names.written(name, "rows") for name in names]
        W, normalization = options.normalized(source, function, normalize, scale)
    with console.timed(seconds, "walk"):
        backend = HERE if client is None else ClusterBackend(Cluster(client))
        K = sample_estimate(W, function, walks, console.shows_progress(), backend)

    labels = results.node_names(source)
    values, errors = np.zeros((0, K.n_nodes)), None
    if nodes:
        with console.status("sampling again for the error bars" if std else "rows"):
            values, errors = K.rows(nodes, return_std=True) if std else (K.rows(nodes), None)
    with console.status("measuring the error"):
        measured = K.measure_error()
    if output is not None:
        with console.status(f"writing {output}"):
            _write(output, K, labels, names, values, errors, project)
    error = None
    if check:
        with console.status("comparing with the exact kernel"):
            error = relative_error(K, function, W)

    factors = {link.factor for link in K.chain.links}  # each once, though it may stand twice
    n_entries = sum(factor.n_entries for factor in factors)
    index_bytes = 4 if n_entries < 2**31 else 8
    n_bytes = n_entries * (4 + walks.dtype.itemsize) + len(factors) * index_bytes * (K.n_nodes + 1)
    factor_words = [f"{len(factors)} with {n_entries:,} entries, {readable_bytes(n_bytes)}"]
    if walks.reuse_walks:
        factor_words[0] += " (walks reused: the estimate is biased)"
    if K.symmetrized:
        factor_words.append("symmetrised")
    if K.deflation is not None:
        factor_words.append(f"{K.deflation.n_vectors} eigenvectors exact")
    steps = K.meta["steps_per_node"]
    facts = [
        results.graph_fact(graph, source),
        ("weights", f"normalize {normalization}, scale {scale:g}"),
        ("kernel", f"{function!r}, stitching degree {K.degree}"),
        (
            "walks",
            f"{walks.walks}, {K.meta['n_walks']} a node and factor, lengths {walks.termination!r}, "
            f"seed {walks.seed}: "
            + (f"{steps:,.0f} steps a node walked" if "tol" in K.meta else "")
            + (f"{steps:.6g} steps a node expected" if "tol" not in K.meta else ""),
        ),
        ("factors", ", ".join(factor_words)),
        *options.cluster_fact(client),
        ("time", f"{seconds['read']:.2f} s reading, {seconds['walk']:.2f} s walking"),
    ]
    row_documents = []
    for number, node in enumerate(nodes):
        row_std = None if errors is None else errors[number]
        facts.append((f"row {labels[node]}", results.row_text(labels, values[number], row_std)))
        row_documents.append(
            {
                "row": node,
                "node": results.json_name(labels[node]),
                "values": values[number].tolist(),
                "std": None if row_std is None else row_std.tolist(),
            }
        )
    facts.append(("error", _error_text(measured)))
    if error is not None:
        facts.append(
            ("check", f"{error!r}{'' if error.n_probes else ' (whole matrices compared)'}")
        )
    document = {
        "graph": {
            **results.graph_document(graph, source),
            "normalize": normalization,
            "scale": scale,
        },
        **K.meta,
        "n_entries": n_entries,
        "n_bytes": n_bytes,
        "cluster": options.cluster_document(client),
        "seconds": seconds,
        "rows": row_documents,
        "relative_error": _error_document(
            *(measured.relative, measured.relative_std, measured.n_probes)
            if error is None
            else (float(error), error.standard_error, error.n_probes)
        ),
        "off_diagonal_error": _error_document(
            measured.off_diagonal, measured.off_diagonal_std, measured.n_probes
        ),
        "output": None if output is None else results.file_document(output),
    }
    results.show(facts, document, as_json, [output])


def split_rows(text: str) -> list[str]:
    """Split ``0,5,9``; a name with a comma stands in double quotes.

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
        raise InputError(f"--rows {text!r} is not a list such as 0,5,9")
    return names


def _check_request(
    graph: Path,
    output: Path | None,
    names: list[str],
    project: int | None,
    *,
    std: bool,
    n_groups: int,
) -> None:
    """Refuse what cannot be written, and error bars of nothing, before anything is read."""
    results.check_output(output, ".npz", ".csv", others=[graph])
    suffix = None if output is None else output.suffix.lower()
    if suffix is None and project is not None:
        raise InputError("--project needs --output FILE.npz for the features")
    if suffix == ".csv" and (not names or project is not None):
        raise InputError(
            f"--output {output}: a .csv file is for the rows of --rows; "
            "estimates and features of --project go to .npz files"
        )
    if std and not names:
        raise InputError("--std is for the rows of --rows: name some")
    if n_groups and not (std or (suffix == ".npz" and project is None)):
        raise InputError(
            "--groups keeps further estimates with the estimate, for error bars: give --output "
            "FILE.npz without --project, or --rows and --std"
        )


def _error_document(value: float, standard_error: float, n_probes: int) -> dict[str, Any]:
    return {"value": value, "standard_error": standard_error, "n_probes": n_probes}


def _error_text(error: EstimateError) -> str:
    """The error of an estimate, for people."""
    if max(error.relative, error.off_diagonal) < _ROUNDING_ERROR:
        return "none but rounding"
    whole, off_diagonal = (
        f"{value:.3g}" + (f" ± {std:.1g}" if std else "")
        for value, std in (
            (error.relative, error.relative_std),
            (error.off_diagonal, error.off_diagonal_std),
        )
    )
    return f"{whole} relative to the kernel, off-diagonal {off_diagonal}"


def _write(
    output: Path,
    K: KernelEstimate,
    labels: Any,
    names: list[str],
    values: FloatArray,
    errors: FloatArray | None,
    project: int | None,
) -> None:
    if output.suffix.lower() == ".csv":
        columns = values if errors is None else np.vstack([values, errors])
        header = names if errors is None else [*names, *(f"{name} std" for name in names)]
        rows = zip(labels, columns.T.tolist(), strict=True)
        results.write_csv(output, ["node", *header], ([label, *row] for label, row in rows))
    elif project is not None:
        X, Y = K.project(project, seed=K.meta["seed"])
        save_arrays(output, FEATURES_FORMAT, {"X": X, "Y": Y}, {"made_by": K.meta})
    else:
        K.save(output)
