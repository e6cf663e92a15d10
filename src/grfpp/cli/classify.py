"""`grfpp classify`: how well graphs are told apart by the spectra of their kernels."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grfpp.cli import console, options
from grfpp.cli.classified import SETTINGS, Classified
from grfpp.cli.outputs import check_output, write_csv
from grfpp.errors import InputError

if TYPE_CHECKING:
    from grfpp.datasets import TUDataset

#: Shown below the options.
NOTES = """
\b
Every graph becomes the smallest eigenvalues of its kernel; a random forest tells the classes apart.
Width, number of walks and number of eigenvalues are chosen anew for each fold, from the other
folds alone. Lists such as 8,16,32 are what is chosen among.

\b
Features:
  spectrum       the smallest eigenvalues of the kernel
  same-label     of the kernel without the edges between nodes of different labels
  both-spectra   both of them
  label-pairs    the first, and the sums of the kernel over pairs of labels

\b
Examples:
  grfpp classify MUTAG
  grfpp classify NCI1 --method exact
  grfpp classify PTC_MR --method grf --walks 4,16 --folds 5
  grfpp classify ENZYMES --features label-pairs --output folds.csv
  grfpp classify data/MY_SET.zip --seed 1 --json
"""


class Method(StrEnum):
    """Where the kernel comes from."""

    EXACT = "exact"
    GRF = "grf"
    GRFPP = "grf++"


class Features(StrEnum):
    """What graphs are told apart by."""

    SPECTRUM = "spectrum"
    SAME_LABEL = "same-label"
    BOTH = "both-spectra"
    PAIRS = "label-pairs"


def classify(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="A collection of TUDataset (grfpp datasets lists them), or the path of a .zip "
            "file in its format.",
            show_default=False,
        ),
    ],
    method: Annotated[
        Method,
        typer.Option(
            "--method",
            "-m",
            metavar="exact|grf|grf++",
            help="The kernel itself, or its estimate by walks.",
        ),
    ] = Method.GRFPP,
    features: Annotated[
        Features, typer.Option(metavar="KIND", help="What graphs are told apart by; see below.")
    ] = Features.SPECTRUM,
    kernel: Annotated[
        str,
        typer.Option(
            "--kernel", "-k", metavar="KERNEL", help="As for grfpp estimate, which lists them."
        ),
    ] = "diffusion",
    sigma: Annotated[
        str,
        typer.Option(metavar="X,...", help="Widths: W = X^2 D^-1/2 A D^-1/2."),
    ] = "0.5,0.6,0.8,0.9",
    walks: Annotated[
        str, typer.Option(metavar="M,...", help="Walks from every node for every factor.")
    ] = "16",
    degree: Annotated[
        int, typer.Option("--degree", "-l", min=1, metavar="L", help="Stitching degree of grf++.")
    ] = 2,
    termination: options.Law = "geometric:0.1",
    eigenvalues: Annotated[
        str, typer.Option(metavar="K,...", help="How many eigenvalues; small graphs have zeros.")
    ] = "8,16,32",
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Folds.")] = 10,
    trees: Annotated[int, typer.Option(min=1, metavar="N", help="Trees of the forests.")] = 200,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.csv",
            help="Write what was chosen in each fold, and its accuracy.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Of the walks, folds and forests.")
    ] = 0,
    jobs: options.Jobs = -1,
    as_json: options.AsJson = False,
) -> None:
    """Classify the graphs of a data set, and tell the accuracy by cross-validation."""
    if output is not None:
        check_output(output, (".csv",))
    grid: dict[str, Any] = {
        "sigmas": _numbers(sigma, "--sigma", float),
        "n_walks": _numbers(walks, "--walks", int),
        "n_eigenvalues": _numbers(eigenvalues, "--eigenvalues", int),
    }
    from grfpp.kernels import kernel_from_spec
    from grfpp.parallel import thread_count
    from grfpp.tasks.graphs.candidates import candidate_features
    from grfpp.tasks.graphs.nested import nested_forest_scores, stratified_folds

    kernel_from_spec(kernel)
    n_threads = thread_count(jobs)
    with console.status(f"reading {dataset}"):
        data = _read(dataset)
    stratified_folds(data.labels, folds, seed)  # refuses what cannot be cut before the walks
    options: dict[str, Any] = {
        "kernel": kernel,
        "estimate": "exact" if method is Method.EXACT else "walks",
        "degree": 1 if method is Method.GRF else degree,
        "termination": termination,
        "random_state": seed,
        "n_jobs": n_threads,
    }
    began = perf_counter()
    with console.status("making features"):
        graphs = _graphs(data, features)
        candidates = candidate_features(graphs, kind=features.value, **grid, **options)
    made = perf_counter()
    with console.status("growing forests"):
        scores = nested_forest_scores(
            candidates, data.labels, n_folds=folds, seed=seed, n_trees=trees, n_jobs=n_threads
        )
    done = Classified(
        data=data,
        method=_described(method, kernel, degree, termination),
        features=features.value,
        grid={name: list({getattr(each, name): None for each in candidates}) for name in SETTINGS},
        scores=scores,
        seed=seed,
        seconds_features=made - began,
        seconds_forests=perf_counter() - made,
        output=output,
    )
    if output is not None:
        write_csv(output, *done.table())
    if as_json:
        console.print_json(done.document())
    else:
        console.print_facts(done.facts())


def _numbers(text: str, option: str, convert: type) -> list[Any]:
    try:
        return [convert(part) for part in text.split(",")]
    except ValueError:
        kind = "whole numbers" if convert is int else "numbers"
        raise InputError(f"{option} {text!r} is not a list of {kind} such as 8,16") from None


def _read(name: str) -> TUDataset:
    from grfpp.datasets import load_tudataset, read_tudataset

    if name.lower().endswith(".zip"):
        return read_tudataset(name)
    return load_tudataset(name)


def _graphs(data: TUDataset, features: Features) -> Any:
    from grfpp.tasks.graphs.labelled import labelled_graphs

    return list(data.graphs) if features is Features.SPECTRUM else labelled_graphs(data)


def _described(method: Method, kernel: str, degree: int, termination: str) -> str:
    if method is Method.EXACT:
        return f"{kernel}, exact"
    stitched = 1 if method is Method.GRF else degree
    return f"{kernel}, walks with stitching degree {stitched}, lengths {termination}"
