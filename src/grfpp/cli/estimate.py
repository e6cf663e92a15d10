"""`grfpp estimate`: from a file with a graph to a file with a kernel estimate."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

import typer

from grfpp.accuracy import relative_error
from grfpp.cli import console, options
from grfpp.cli.outcome import Outcome
from grfpp.cli.outputs import check_output, write_csv
from grfpp.cli.rows import find_rows, labels_of, split_rows
from grfpp.errors import InputError
from grfpp.estimate import KernelEstimate
from grfpp.graph import Graph
from grfpp.io.archive import save_arrays
from grfpp.kernels import kernel_from_spec
from grfpp.sampling import sample
from grfpp.termination import termination_from_spec
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

\b
Examples:
  grfpp estimate graph.txt --check
  grfpp estimate graph.mtx -k inverse-power:4 --scale 0.8 --output k.npz
  grfpp estimate mesh.off -k diffusion:5 -t poisson:4 --project 64 -o xy.npz
  grfpp estimate graph.gml --rows "Anna,Ben" --output rows.csv
"""


class Normalization(StrEnum):
    """How weights are divided by degrees."""

    SYM = "sym"
    RW = "rw"
    NONE = "none"


#: What `Graph.normalized` calls them.
_KINDS: dict[Normalization, Literal["sym", "rw"] | None] = {
    Normalization.SYM: "sym",
    Normalization.RW: "rw",
    Normalization.NONE: None,
}


class OnInfiniteVariance(StrEnum):
    """What to do about walk lengths that make the variance infinite."""

    RAISE = "raise"
    WARN = "warn"
    IGNORE = "ignore"


def estimate(
    graph: Annotated[
        Path,
        typer.Argument(
            metavar="GRAPH",
            help="File with the graph: an edge list (.txt .tsv .csv), .gml, .graphml, .mtx, .npz, "
            "or a mesh (.stl .off .ply .obj); all but .npz may be packed (.gz .zip).",
            show_default=False,
        ),
    ],
    kernel: Annotated[
        str,
        typer.Option(
            "--kernel",
            "-k",
            metavar="KERNEL",
            help="The kernel; see below.",
        ),
    ] = "diffusion",
    normalize: Annotated[
        Normalization,
        typer.Option(
            metavar="sym|rw|none",
            help="Weights: D^-1/2 A D^-1/2 (sym), D^-1 A (rw), or A as it is (none).",
        ),
    ] = Normalization.SYM,
    scale: Annotated[float, typer.Option(metavar="X", help="Factor on all weights.")] = 1.0,
    degree: options.Degree = 2,
    walks: options.Walks = 16,
    termination: Annotated[
        str,
        typer.Option(
            "--termination",
            "-t",
            metavar="LAW",
            help="The law of the walk lengths; see below.",
        ),
    ] = "geometric:0.1",
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Of the walks, and of --project.")
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="FILE.npz for the estimate (with --project: the arrays X and Y); "
            "FILE.csv for the rows of --rows.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="ROW,ROW,...",
            help="Show these rows of the kernel: node labels where the file has some, else row "
            "numbers from 0.",
            show_default=False,
        ),
    ] = None,
    project: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="R",
            help="Write dense features X, Y of R components with K = X Y^T.",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Measure the relative error: exactly up to 3000 nodes, by random probes beyond.",
        ),
    ] = False,
    directed: options.Directed = False,
    reuse_walks: options.ReuseWalks = False,
    truncate: Annotated[
        bool,
        typer.Option("--truncate", help="Accept the bias of walk lengths that are bounded."),
    ] = False,
    on_infinite_variance: Annotated[
        OnInfiniteVariance,
        typer.Option(
            metavar="raise|warn|ignore",
            help="What to do about walk lengths with infinite variance.",
        ),
    ] = OnInfiniteVariance.RAISE,
    float32: Annotated[
        bool, typer.Option("--float32", help="Store the factors in single precision.")
    ] = False,
    jobs: options.Jobs = -1,
    as_json: options.AsJson = False,
) -> None:
    """Estimate a graph kernel by stitched random walks.

    Reads the graph, normalises its weights, walks, and tells what it did. Files are written whole
    or not at all.
    """
    names = None if rows is None else split_rows(rows)
    _check_outputs(output, names, project)
    function, law = kernel_from_spec(kernel), termination_from_spec(termination)

    began = perf_counter()
    with console.status(f"reading {graph}"):
        source = Graph(graph, directed=True if directed else None)
        chosen = [] if names is None else find_rows(source, names)
        W = source.normalized(_KINDS[normalize], scale)
    read = perf_counter()
    K = sample(
        W,
        function,
        degree=degree,
        n_walks=walks,
        termination=law,
        seed=seed,
        reuse_walks=reuse_walks,
        n_jobs=jobs,
        progress=console.shows_progress(),
        dtype="float32" if float32 else "float64",
        truncate=truncate,
        on_infinite_variance=on_infinite_variance.value,
    )
    walked = perf_counter()

    values = K.rows(chosen) if chosen else None
    if output is not None:
        with console.status(f"writing {output}"):
            _write(output, K, labels_of(source), names or [], values, project, seed)
    error = None
    if check:
        with console.status("measuring the error"):
            error = relative_error(K, function, W)
    done = Outcome(
        path=graph,
        graph=source,
        normalize=normalize.value,
        scale=scale,
        kernel=function,
        law=law,
        K=K,
        seconds_read=read - began,
        seconds_walk=walked - read,
        rows=chosen,
        values=values,
        error=error,
        output=output,
    )
    if as_json:
        console.print_json(done.document())
    else:
        console.print_facts(done.facts())


def _check_outputs(output: Path | None, names: list[str] | None, project: int | None) -> None:
    """Refuse what cannot be written before anything is read."""
    if output is None:
        if project is not None:
            raise InputError("--project needs --output FILE.npz for the features")
        return
    check_output(output, (".npz", ".csv"))
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
    values: FloatArray | None,
    project: int | None,
    seed: int,
) -> None:
    if output.suffix.lower() == ".csv":
        assert values is not None
        columns = zip(*values.tolist(), strict=True)
        write_csv(
            output,
            ["node", *names],
            [[label, *column] for label, column in zip(labels, columns, strict=True)],
        )
    elif project is not None:
        X, Y = K.project(project, seed=seed)
        save_arrays(output, FEATURES_FORMAT, {"X": X, "Y": Y}, {"made_by": K.meta})
    else:
        K.save(output)
