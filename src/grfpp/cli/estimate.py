"""`grfpp estimate`: from a file with a graph to a file with a kernel estimate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from grfpp.accuracy import relative_error
from grfpp.cli import console, options, outputs
from grfpp.cli.reading import with_reading
from grfpp.cli.rows import find_rows, labels_of, split_rows, summary
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.graph import Graph
from grfpp.io.archive import save_arrays
from grfpp.io.options import EdgeListOptions
from grfpp.kernels import kernel_from_spec
from grfpp.memory import readable_bytes
from grfpp.options import WalkOptions
from grfpp.sampling import sample_estimate
from grfpp.typing import FloatArray

FEATURES_FORMAT = "grfpp-features-1"

#: Shown below the options.
NOTES = """
\b
Kernels (the last numbers may be left out):
  diffusion:LAM                         exp(LAM W)
  regularized-laplacian:POWER:SIGMA2    (I - c W)^-POWER, c = SIGMA2 / (1 + SIGMA2)
  p-step:P:A                            (A I + W)^P
  cosine:LAM                            cos(LAM W) + sin(LAM W)
  inverse-power:POWER:OF                (I - W^OF)^-POWER, OF is 1 or 2
  squared-diffusion:LAM                 exp(LAM W^2)
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
"""


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
        Literal["sym", "rw", "none"],
        options.option(
            "Weights: D^-1/2 A D^-1/2 (sym), D^-1 A (rw), or A as it is (none).", "sym|rw|none"
        ),
    ] = "sym",
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
    project: Annotated[
        int | None,
        options.optional(
            "Write dense features X, Y of R components with K = X Y^T.", "R", "--project", min=1
        ),
    ] = None,
    check: Annotated[
        bool,
        options.option(
            "Measure the relative error: exactly up to 3000 nodes, by random probes beyond.",
            None,
            "--check",
        ),
    ] = False,
    directed: options.Directed = False,
    reading: EdgeListOptions,
    as_json: options.AsJson = False,
) -> None:
    """Estimate a graph kernel by stitched random walks.

    Reads the graph, normalises its weights, walks, and tells what it did. Files are written whole
    or not at all.
    """
    names = None if rows is None else split_rows(rows)
    _check_outputs(graph, output, names, project)
    function = kernel_from_spec(kernel)

    seconds: dict[str, float] = {}
    with console.timed(seconds, "read", f"reading {graph}"):
        source = Graph(graph, directed=True if directed else None, **reading.given)
        chosen = [] if names is None else find_rows(source, names)
        W = source.normalized(None if normalize == "none" else normalize, scale)
    with console.timed(seconds, "walk"):
        K = sample_estimate(W, function, walks, console.shows_progress())

    labels = labels_of(source)
    values = K.rows(chosen) if chosen else np.zeros((0, K.n_nodes))
    if output is not None:
        with console.status(f"writing {output}"):
            _write(output, K, labels, names or [], values, project)
    error = None
    if check:
        with console.status("measuring the error"):
            error = relative_error(K, function, W)
    shown = list(zip(chosen, values, strict=True))
    # Factors that stand twice count once.
    matrices = {id(matrix): matrix for pair in K.factors for matrix in pair}.values()
    n_entries = sum(m.nnz for m in matrices)
    n_bytes = sum(m.data.nbytes + m.indices.nbytes + m.indptr.nbytes for m in matrices)
    size = f"{len(matrices)} with {n_entries:,} entries, {readable_bytes(n_bytes)}"
    reused = " (walks reused: the estimate is biased)" if walks.reuse_walks else ""
    averages = ["symmetrised"] if K.symmetrized else []
    if K.deflation is not None:
        averages.append(f"{K.deflation.n_vectors} eigenvectors exact")
    facts = [
        outputs.graph_fact(graph, source),
        ("weights", f"normalize {normalize}, scale {scale:g}"),
        ("kernel", f"{function!r}, stitching degree {K.degree}"),
        (
            "walks",
            f"{walks.walks}, {K.meta['n_walks']} a node and factor, lengths {walks.termination!r}, "
            f"seed {walks.seed}: "
            f"{K.meta['steps_per_node']:.6g} steps a node expected",
        ),
        ("factors", ", ".join([f"{size}{reused}", *averages])),
        ("time", f"{seconds['read']:.2f} s reading, {seconds['walk']:.2f} s walking"),
        *((f"row {labels[row]}", summary(labels, line)) for row, line in shown),
    ]
    if error is not None:
        how = "" if error.n_probes else " (whole matrices compared)"
        facts.append(("error", f"{error!r}{how}"))
    document = {
        "graph": {**outputs.graph_document(graph, source), "normalize": normalize, "scale": scale},
        **K.meta,
        "n_entries": n_entries,
        "n_bytes": n_bytes,
        "seconds": seconds,
        "rows": [
            {"row": row, "node": outputs.plain(labels[row]), "values": line.tolist()}
            for row, line in shown
        ],
        "relative_error": None
        if error is None
        else {
            "value": float(error),
            "standard_error": error.standard_error,
            "n_probes": error.n_probes,
        },
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


def _write(
    output: Path,
    K: KernelEstimate,
    labels: Any,
    names: list[str],
    values: FloatArray,
    project: int | None,
) -> None:
    if output.suffix.lower() == ".csv":
        lines = [[label, *column] for label, column in zip(labels, values.T.tolist(), strict=True)]
        outputs.write_csv(output, ["node", *names], lines)
    elif project is not None:
        X, Y = K.project(project, seed=K.meta["seed"])
        save_arrays(output, FEATURES_FORMAT, {"X": X, "Y": Y}, {"made_by": K.meta})
    else:
        K.save(output)
