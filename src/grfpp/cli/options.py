"""Options that several commands have, each declared once.

Groups of options (`walk_options`, `reading_options`, `cluster_option`) are decorators: they add the
options to a command, which receives one value made of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import click

from grfpp._checks import positive
from grfpp._imports import require
from grfpp.errors import InputError, shown
from grfpp.graph import Graph
from grfpp.io.meshes import MeshWeights
from grfpp.io.table_options import Duplicates, EdgeListOptions
from grfpp.kernels import Kernel
from grfpp.linalg.symmetrize import Symmetrize
from grfpp.options import OnInfiniteVariance, ToleranceKind, WalkOptions, Walks

Decorator = Callable[[Callable[..., None]], Callable[..., None]]

PATH = click.Path(path_type=Path)
#: Seconds to wait for a Dask scheduler.
_DASK_TIMEOUT = 10
_MAX_DASK_WORKERS = 1024
_SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}


class Command(click.Command):
    """A command whose epilog is printed as it is written."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog, indented."""
        if self.epilog:
            lines = (f"  {line}".rstrip() for line in self.epilog.splitlines())
            formatter.write("\n" + "\n".join(lines) + "\n")


def command(function: Callable[..., None]) -> Command:
    """A command that is called as the function, with its docstring for help."""
    return click.command(cls=Command)(function)


def argument(name: str, help: str, metavar: str, **more: Any) -> Decorator:
    """An argument of a command."""
    return click.argument(name, help=help, metavar=metavar, **more)


def option(*flags: str, help: str, **more: Any) -> Decorator:
    """An option of a command; its default is shown."""
    return click.option(*flags, help=help, **{"show_default": True, **more})


def choice(*values: str) -> click.Choice[str]:
    """One of several words."""
    return click.Choice(values)


def path_option(*flags: str, help: str, metavar: str, default: str | None = None) -> Decorator:
    """An option that names a file."""
    return option(*flags, help=help, metavar=metavar, type=PATH, default=default)


def output_option(help: str, metavar: str = "FILE.csv") -> Decorator:
    """The option ``--output``."""
    return path_option("--output", "-o", help=help, metavar=metavar)


def kernel_option(help: str, default: str | None = "diffusion", *letters: str) -> Decorator:
    """The option ``--kernel``."""
    return option("--kernel", *letters, help=help, default=default, metavar="KERNEL")


graph_argument = argument(
    "graph",
    "File with the graph: an edge list (.txt .tsv .csv .parquet .feather), .gml, .graphml, .mtx, "
    ".npz, or a mesh (.stl .off .ply .obj .glb .vtk); text and meshes may be compressed (.gz .zip);"
    " or a folder that grfpp convert wrote (.grf).",
    "GRAPH",
    type=PATH,
)
json_option = option(
    "--json", "as_json", help="Print one JSON document instead of text.", is_flag=True
)
directed_option = option("--directed", help="Each line of an edge list is one arc.", is_flag=True)
method_option = option(
    "--method",
    help="Estimate the kernel by walks, or compute it; auto takes the method of least predicted "
    "time, and dense, chebyshev, lanczos, solve are these methods.",
    type=choice("walks", "exact", "auto", "dense", "chebyshev", "lanczos", "solve"),
    metavar="walks|exact|auto|...",
)
normalize_option = option(
    "--normalize",
    help="Weights: D^-1/2 A D^-1/2 (sym), D^-1 A (rw), or A as it is (none); if not given, rw for "
    "personalized-pagerank and heat, else sym.",
    type=choice("sym", "rw", "none"),
)
scale_option = option("--scale", help="Factor on all weights.", default=1.0)
mesh_weights_option = option(
    "--mesh-weights",
    help="The edges of a mesh weigh 1 (unit; the default), the inverse of their length, or half "
    "the cotangents of the opposite angles.",
    type=choice(*get_args(MeshWeights)),
)


def method_parameters(method: str) -> dict[str, Any]:
    """The parameters `estimate` and `method` of an estimator that ``--method`` stands for."""
    if method in ("walks", "exact"):
        return {"estimate": method, "method": None}
    return {"estimate": "exact", "method": method}


def checked_scale(scale: float) -> float:
    """The factor of the weights, checked."""
    return positive(scale, "scale")


def normalized(
    graph: Graph, kernel: Kernel, normalize: str | None, scale: float
) -> tuple[Graph, str]:
    """The weights that ``--normalize`` and ``--scale`` ask for, and the normalisation."""
    kind: Any = normalize or kernel.normalization
    return graph.normalized(None if kind == "none" else kind, checked_scale(scale)), str(kind)


def numbers(text: str, name: str, convert: type) -> list[Any]:
    """Numbers with commas between them."""
    try:
        return [convert(part) for part in text.split(",")]
    except ValueError:
        kind = "whole numbers" if convert is int else "numbers"
        raise InputError(
            f"must be a list of {kind} such as 8,16, found {shown(text)}", argument=name
        ) from None


def _option_group(
    target: str, options: dict[str, Decorator], make: Callable[[dict[str, Any]], Any]
) -> Decorator:
    """A decorator that adds options to a command, which receives them as one value `target`."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def call(**values: Any) -> None:
            value = make({name: values.pop(name) for name in options})
            function(**values, **{target: value})

        decorated: Callable[..., None] = call
        for add in reversed(options.values()):
            decorated = add(decorated)
        return decorated

    return decorate


# Walks


def _number_or_word(context: click.Context, parameter: click.Parameter, text: str) -> int | str:
    """A whole number if the text is one; `WalkOptions` checks the rest."""
    return int(text) if text.isdecimal() and len(text) < 40 else text


def _choices(literal: Any) -> click.Choice[str]:
    return click.Choice(get_args(literal))


#: Options of all commands that walk, by the names in `WalkOptions`: flags, help, parameters.
_WALKS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "degree": (
        "--degree -l",
        "Stitching degree; 1 is a regular GRF; auto: that of least predicted error.",
        {"default": "2", "metavar": "L|auto", "callback": _number_or_word},
    ),
    "n_walks": (
        "--walks -m",
        "Walks from every node for every factor.",
        {"default": 16, "type": click.IntRange(1)},
    ),
    "termination": (
        "--termination -t",
        "The law of the walk lengths; matched:9 if not given, geometric:0.1 for independent walks.",
        {"metavar": "LAW"},
    ),
    "seed": ("--seed", "Of the walks.", {"default": 0, "type": click.IntRange(0)}),
    "reuse_walks": (
        "--reuse-walks",
        "One set of walks for all factors: cheaper, biased.",
        {"is_flag": True},
    ),
    "walks": (
        "--walks-kind",
        "Walkers of a node move together (pooled), or independently as in the paper.",
        {"default": WalkOptions.walks, "type": _choices(Walks)},
    ),
    "n_jobs": ("--jobs -j", "Threads; -1 for all cores. The result is the same.", {"default": -1}),
}
#: Options that only `grfpp.sample` has.
_SAMPLING: dict[str, tuple[str, str, dict[str, Any]]] = {
    "symmetrize": (
        "--symmetrize/--no-symmetrize",
        "Average the estimate with its transpose: less error, twice the products; if not given, "
        "for pooled walks on undirected graphs.",
        {"default": None},
    ),
    "deflate": (
        "--deflate",
        "Number of eigenvectors of undirected graphs to take exactly, for slow kernels; auto: as "
        "many as pay.",
        {"default": "0", "metavar": "N|auto", "callback": _number_or_word},
    ),
    "tol": (
        "--tol",
        "Walk until the estimate has this relative error; --walks is not used then.",
        {"type": float},
    ),
    "tol_kind": (
        "--tol-kind",
        "What --tol is for: the whole matrix, or single entries.",
        {"default": WalkOptions.tol_kind, "type": _choices(ToleranceKind)},
    ),
    "max_steps": (
        "--max-steps",
        "With --tol: the most steps a node in all factors.",
        {"type": float},
    ),
    "max_seconds": ("--max-seconds", "With --tol: about the most seconds.", {"type": float}),
    "n_groups": (
        "--groups",
        "Further estimates to keep in the file, for error bars.",
        {"default": 0},
    ),
    "truncate": (
        "--truncate",
        "Accept the bias of walk lengths that are bounded.",
        {"is_flag": True},
    ),
    "on_infinite_variance": (
        "--on-infinite-variance",
        "What to do about walk lengths with infinite variance.",
        {"default": WalkOptions.on_infinite_variance, "type": _choices(OnInfiniteVariance)},
    ),
    "dtype": (
        "--float32",
        "Store the factors in single precision.",
        {"flag_value": "float32", "default": "float64", "show_default": False},
    ),
}


def walk_options(
    *, without: Collection[str] = (), sampling: bool = False, **helps: str
) -> Decorator:
    """Give a command the options about walks; it receives ``walks``, a `WalkOptions`.

    Parameters
    ----------
    without
        Names of options that the command does not have.
    sampling
        Whether it has those that only `grfpp.sample` knows.
    **helps
        Help texts that replace the usual ones.
    """
    options = {
        name: option(*flags.split(), name, help=helps.get(name, help), **more)
        for name, (flags, help, more) in {**_WALKS, **(_SAMPLING if sampling else {})}.items()
        if name not in without
    }
    return _option_group("walks", options, lambda values: WalkOptions.of(**values))


def _walk_option(name: str) -> Decorator:
    flags, help, more = _WALKS[name]
    return option(*flags.split(), name, help=help, **more)


seed_option, jobs_option = _walk_option("seed"), _walk_option("n_jobs")


def estimator_parameters(walks: WalkOptions, without: Collection[str] = ()) -> dict[str, Any]:
    """Options about walks as the estimators of `grfpp.tasks` take them."""
    return {
        "random_state" if name == "seed" else name: getattr(walks, name)
        for name in _WALKS
        if name not in without
    }


# Reading graphs


@dataclass(frozen=True)
class Reading:
    """How the file with a graph is read: parameters of `Graph`, and those of edge lists."""

    symmetrize: Symmetrize | None = None
    mesh_weights: MeshWeights | None = None
    edges: EdgeListOptions = field(default_factory=EdgeListOptions)

    def parameters(self, *, directed: bool) -> dict[str, Any]:
        """The keywords of `Graph`."""
        return {
            "directed": True if directed else None,
            "symmetrize": self.symmetrize,
            "mesh_weights": self.mesh_weights,
            **self.edges.given,
        }

    def graph(self, path: Path, *, directed: bool) -> Graph:
        """Read a graph."""
        return Graph(path, **self.parameters(directed=directed))


def _reading(values: dict[str, Any]) -> Reading:
    symmetrize, mesh_weights = values.pop("undirected"), values.pop("mesh_weights")
    if values["columns"] is not None:
        values["columns"] = [
            int(name) if name.isdecimal() and len(name) < 19 else name
            for name in values["columns"].split(",")
        ]
    values["separator"] = _SEPARATORS.get(values["separator"], values["separator"])
    return Reading(symmetrize, mesh_weights, EdgeListOptions(**values))


reading_options = _option_group(
    "reading",
    {
        "undirected": option(
            "--undirected",
            help="Make a directed graph undirected: edges get the larger weight of both "
            "directions, the mean, the sum, or the smaller (mutual: none where one direction is "
            "missing).",
            type=choice(*get_args(Symmetrize)),
        ),
        "mesh_weights": mesh_weights_option,
        "duplicates": option(
            "--duplicates",
            help="Edges that are listed more than once, in either order: their sum (the default), "
            "the largest, the first, or an error.",
            type=choice(*get_args(Duplicates)),
        ),
        "columns": option(
            "--columns",
            help="The columns of source, target and, if there is one, weight: names, or numbers "
            "from 0.",
            metavar="U,V[,W]",
        ),
        "separator": option(
            "--separator", help="Between fields; tab; space for any white space.", metavar="TEXT"
        ),
        "encoding": option("--encoding", help="Of the text; utf-8 if not given.", metavar="NAME"),
        "header": option(
            "--header/--no-header",
            help="Whether the first line of an edge list holds the names of the columns.",
            default=None,
        ),
    },
    _reading,
)


# Dask clusters


def cluster_option(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option ``--dask``; it receives `client`, or ``None``."""

    @wraps(function)
    def call(dask: str | None, **values: Any) -> None:
        with dask_client(dask) as client:
            function(**values, client=client)

    return option(
        "--dask",
        help="Work on a Dask cluster: its scheduler's address, or local:N for N processes here. "
        "The result is the same.",
        metavar="ADDRESS|local:N",
    )(call)


@contextmanager
def dask_client(address: str | None) -> Iterator[Any]:
    """A client of the cluster that ``--dask`` names while the block runs; ``None`` without it."""
    if address is None:
        yield None
        return
    distributed = require("distributed", "--dask")
    if address.startswith("local:"):
        number = address.removeprefix("local:")
        if not number.isdecimal() or not 1 <= int(number) <= _MAX_DASK_WORKERS:
            raise InputError(
                f"--dask local:N needs a number of processes from 1 to {_MAX_DASK_WORKERS}, found "
                f"{shown(address)}"
            )
        from grfpp.distributed.cluster import NO_STEALING

        with (
            require("dask").config.set(NO_STEALING),
            distributed.LocalCluster(
                n_workers=int(number), threads_per_worker=1, processes=True, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
        return
    try:
        asyncio.run(_connect(distributed, address))
        client = distributed.Client(address, timeout=_DASK_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"--dask {address}: no scheduler answers there ({reason}); start one with 'dask "
            "scheduler', or use local:N"
        ) from None
    with client:
        yield client


async def _connect(distributed: Any, address: str) -> None:
    """Fail if no scheduler answers. A client that fails would try on in the background."""
    security = distributed.Security().get_connection_args("client")
    connect = import_module("distributed.comm").connect
    await (await connect(address, timeout=_DASK_TIMEOUT, **security)).close()


def cluster_fact(client: Any) -> list[tuple[str, str]]:
    """The cluster that a command used, for people."""
    if (cluster := cluster_document(client)) is None:
        return []
    n = cluster["n_workers"]
    workers = "1 worker" if n == 1 else f"{n} workers"
    return [("cluster", f"{workers} with {cluster['n_threads']} threads in all")]


def cluster_document(client: Any) -> dict[str, int] | None:
    """The same for programs."""
    if client is None:
        return None
    threads = client.nthreads()
    return {"n_workers": len(threads), "n_threads": sum(threads.values())}
