"""Options that several commands have, with the same letters and the same words."""

from __future__ import annotations

from typing import Annotated

import typer

Degree = Annotated[
    int,
    typer.Option(
        "--degree", "-l", min=1, metavar="L", help="Stitching degree; 1 is a regular GRF."
    ),
]
Walks = Annotated[
    int,
    typer.Option(
        "--walks", "-m", min=1, metavar="M", help="Walks from every node for every factor."
    ),
]
Law = Annotated[
    str,
    typer.Option("--termination", "-t", metavar="LAW", help="The law of the walk lengths."),
]
ReuseWalks = Annotated[
    bool,
    typer.Option("--reuse-walks", help="One set of walks for all factors: cheaper, biased."),
]
Directed = Annotated[bool, typer.Option("--directed", help="Each line of an edge list is one arc.")]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs", "-j", metavar="N", help="Threads; -1 for all cores. The result is the same."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
