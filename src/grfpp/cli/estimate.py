"""`grfpp estimate`: from a file with a graph to a file with a kernel estimate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from grfpp.accuracy import relative_error
from grfpp.cli import console, options, outputs
from grfpp.cli.dask import cluster_document, cluster_fact, with_cluster
from grfpp.cli.reading import Reading, with_reading
from grfpp.cli.rows import find_rows, labels_of, split_rows, summary
from grfpp.distributed.backend import ClusterBackend
from grfpp.distributed.cluster import Cluster
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.estimate.own_error import OwnError
from grfpp.io.storage.archive import save_arrays
from grfpp.kernels import kernel_from_spec
from grfpp.memory import readable_bytes
from grfpp.options import WalkOptions
from grfpp.sampling import sample_estimate
from grfpp.sampling.backend import HERE
from grfpp.typing import FloatArray

FEATURES_FORMAT = "grfpp-features-1"

#: Shown below the options.
#: Errors below this depend on the processor.
_ROUNDING = 1e-13

NOTES = """
\b
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

\b
Walk lengths:
  geometric:P_HALT                      halt with this probability before each step
  poisson:MEAN
  negative-binomial:N_HALTS:P_HALT      halt at the N-th signal
  first-step:P_NEXT                     one step, each further one with P_NEXT
  fixed:N  uniform:N                    exactly N steps; 0 to N, equally likely
  custom:P0:P1:...                      k steps with probability Pk
  matched:MEAN                          shared by what still matters; for pooled walks

\b
Examples:
  grfpp estimate graph.txt --check
  grfpp estimate graph.mtx -k inverse-power:4 --scale 0.8 --output k.npz
  grfpp estimate mesh.off -k diffusion:5 -t poisson:4 --project 64 -o xy.npz
  grfpp estimate graph.gml --rows "Anna,Ben" --output rows.csv
  grfpp estimate graph.grf --dask tcp://scheduler:8786 --project 64 -o xy.npz
"""


@with_cluster
@with_reading
@options.with_walks(
    sampling=True,
    seed="Of the walks, and of --project.",
)
def estimate(
    graph: options.GraphFile,
    *,
    kernel: Annotated[str, options.kernel("The kernel; see below.", "-k")] = "diffusion",
    normalize: Annotated[
        Literal["sym", "rw", "none"] | None,
        options.optional(
            "Weights: D^-1/2 A D^-1/2 (sym), D^-1 A (rw), or A as it is (none); if not given, rw "
            "for personalized-pagerank and heat, else sym.",
            "sym|rw|none",
        ),
    ] = None,
    scale: Annotated[float, options.option("Factor on all weights.", "X")] = 1.0,
    walks: WalkOptions,
    output: Annotated[
        Path | None,
        options.output(
            "FILE.npz for the estimate (with --project: the arrays X and Y); FILE.csv for the rows "
            "of --rows.",
            "FILE",
        ),
    ] = None,
    rows: Annotated[
        str | None,
        options.optional(
            "Show these rows of the kernel: node labels where the file has some, else row numbers "
            "from 0.",
            "ROW,ROW,...",
        ),
    ] = None,
    std: Annotated[
        bool,
        options.option(
            "Standard errors of the rows, from 16 further estimates: takes 16 times as long.",
            None,
            "--std",
        ),
    ] = False,
    project: Annotated[
        int | None,
        options.optional(
            "Write dense features X, Y of R components with K = X Y^T.", "R", "--project", min=1
        ),
    ] = None,
    check: Annotated[
        bool,
        options.option(
            "Compare with the exact kernel too: whole matrices up to 3000 nodes, random probes "
            "beyond.",
            None,
            "--check",
        ),
    ] = False,
    directed: options.Directed = False,
    client: Any,
    reading: Reading,
    as_json: options.AsJson = False,
) -> None:
    """Estimate a graph kernel by stitched random walks.

    Reads the graph, normalises its weights, walks, and tells what it did. Files are written whole
    or not at all.
    """
    names = None if rows is None else split_rows(rows)
    _check_outputs(graph, output, names, project)
    _check_bars(output, names, project, std=std, n_groups=walks.n_groups)
    function = kernel_from_spec(kernel)

    seconds: dict[str, float] = {}
    with console.timed(seconds, "read", f"reading {graph}"):
        source = reading.graph(graph, directed=directed)
        chosen = [] if names is None else find_rows(source, names)
        kind = normalize or function.normalization
        W = source.normalized(None if kind == "none" else kind, scale)
    with console.timed(seconds, "walk"):
        backend = HERE if client is None else ClusterBackend(Cluster(client))
        K = sample_estimate(W, function, walks, console.shows_progress(), backend)

    labels = labels_of(source)
    values = errors = np.zeros((0, K.n_nodes))
    if chosen:
        with console.status("walking again for the error bars" if std else "rows"):
            values, errors = K.rows(chosen, return_std=True) if std else (K.rows(chosen), values)
    with console.status("measuring the error"):
        own = K.measure_error()
    if output is not None:
        with console.status(f"writing {output}"):
            _write(output, K, labels, _columns(names or [], values, errors), project)
    error = None
    if check:
        with console.status("comparing with the exact kernel"):
            error = relative_error(K, function, W)
    bars: list[FloatArray | None] = list(errors) if std else [None] * len(chosen)
    shown = list(zip(chosen, values, bars, strict=True))
    factors = {link.factor for link in K.chain.links}  # those that stand twice count once
    n_entries = sum(each.n_entries for each in factors)
    row_ends = 4 if n_entries < 2**31 else 8
    n_bytes = n_entries * (4 + walks.dtype.itemsize) + len(factors) * row_ends * (K.n_nodes + 1)
    size = f"{len(factors)} with {n_entries:,} entries, {readable_bytes(n_bytes)}"
    reused = " (walks reused: the estimate is biased)" if walks.reuse_walks else ""
    averages = ["symmetrised"] if K.symmetrized else []
    if K.deflation is not None:
        averages.append(f"{K.deflation.n_vectors} eigenvectors exact")
    facts = [
        outputs.graph_fact(graph, source),
        ("weights", f"normalize {kind}, scale {scale:g}"),
        ("kernel", f"{function!r}, stitching degree {K.degree}"),
        (
            "walks",
            f"{walks.walks}, {K.meta['n_walks']} a node and factor, lengths {walks.termination!r}, "
            f"seed {walks.seed}: {_steps(K)}",
        ),
        ("factors", ", ".join([f"{size}{reused}", *averages])),
        *cluster_fact(client),
        ("time", f"{seconds['read']:.2f} s reading, {seconds['walk']:.2f} s walking"),
        *((f"row {labels[row]}", summary(labels, line, bar)) for row, line, bar in shown),
        ("error", _told(own)),
    ]
    if error is not None:
        how = "" if error.n_probes else " (whole matrices compared)"
        facts.append(("check", f"{error!r}{how}"))
    document = {
        "graph": {**outputs.graph_document(graph, source), "normalize": kind, "scale": scale},
        **K.meta,
        "n_entries": n_entries,
        "n_bytes": n_bytes,
        "cluster": cluster_document(client),
        "seconds": seconds,
        "rows": [
            {
                "row": row,
                "node": outputs.plain(labels[row]),
                "values": line.tolist(),
                "std": None if bar is None else bar.tolist(),
            }
            for row, line, bar in shown
        ],
        "relative_error": _document(
            *(own.relative, own.relative_std, own.n_probes)
            if error is None
            else (float(error), error.standard_error, error.n_probes)
        ),
        "off_diagonal_error": _document(own.off_diagonal, own.off_diagonal_std, own.n_probes),
        "output": None if output is None else outputs.file_document(output),
    }
    console.tell([*facts, *outputs.wrote(output)], document, as_json)


def _check_outputs(
    graph: Path, output: Path | None, names: list[str] | None, project: int | None
) -> None:
    """Refuse what cannot be written before anything is read."""
    if output is None:
        if project is not None:
            raise InputError("--project needs --output FILE.npz for the features")
        return
    outputs.check_output(output, ".npz", ".csv", others=[graph])
    if output.suffix.lower() == ".csv" and (names is None or project is not None):
        raise InputError(
            f"--output {output}: a .csv file is for the rows of --rows; "
            "estimates and features of --project go to .npz files"
        )


def _check_bars(
    output: Path | None, names: list[str] | None, project: int | None, *, std: bool, n_groups: int
) -> None:
    """Refuse error bars of nothing, and further estimates that nobody gets to see."""
    if std and names is None:
        raise InputError("--std is for the rows of --rows: name some")
    is_kept = output is not None and output.suffix.lower() == ".npz" and project is None
    if n_groups and not (std or is_kept):
        raise InputError(
            "--groups keeps further estimates with the estimate, for error bars: give --output "
            "FILE.npz without --project, or --rows and --std"
        )


def _steps(K: KernelEstimate) -> str:
    """How much was walked: what laws of lengths make one expect, or what a tolerance took."""
    steps = K.meta["steps_per_node"]
    if "tol" in K.meta:
        return f"{steps:,.0f} steps a node walked"
    return f"{steps:.6g} steps a node expected"


def _document(value: float, standard_error: float, n_probes: int) -> dict[str, Any]:
    return {"value": value, "standard_error": standard_error, "n_probes": n_probes}


def _told(error: OwnError) -> str:
    """The error of an estimate, for people."""
    if max(error.relative, error.off_diagonal) < _ROUNDING:
        return "none but rounding"
    parts = [
        f"{value:.3g}" + (f" ± {std:.1g}" if std else "")
        for value, std in (
            (error.relative, error.relative_std),
            (error.off_diagonal, error.off_diagonal_std),
        )
    ]
    return f"{parts[0]} of the kernel's size, beside the diagonal {parts[1]}"


def _columns(
    names: list[str], values: FloatArray, errors: FloatArray
) -> tuple[list[str], FloatArray]:
    """What a table of rows has in its columns: values and, if known, their standard errors."""
    if not len(errors):
        return names, values
    return [*names, *(f"{name} std" for name in names)], np.vstack([values, errors])


def _write(
    output: Path,
    K: KernelEstimate,
    labels: Any,
    columns: tuple[list[str], FloatArray],
    project: int | None,
) -> None:
    if output.suffix.lower() == ".csv":
        names, values = columns
        lines = [[label, *column] for label, column in zip(labels, values.T.tolist(), strict=True)]
        outputs.write_csv(output, ["node", *names], lines)
    elif project is not None:
        X, Y = K.project(project, seed=K.meta["seed"])
        save_arrays(output, FEATURES_FORMAT, {"X": X, "Y": Y}, {"made_by": K.meta})
    else:
        K.save(output)
