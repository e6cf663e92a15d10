"""Options that several commands have, each declared once.

The help of an option is what a docstring says about the parameter of its name. Groups of options
(`graph_options`, `kernel_options`, `walk_options`, `cluster_option`) are decorators: they add the
options to a command, which receives one value made of them.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from importlib import import_module
from inspect import cleandoc, getdoc
from pathlib import Path
from textwrap import indent
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

from grfpp._checks import whole
from grfpp._imports import require
from grfpp.cli.results import check_output, require_other
from grfpp.errors import InputError, shown
from grfpp.graph import Graph
from grfpp.io.meshes import MeshWeights
from grfpp.io.table_options import Duplicates, EdgeListOptions
from grfpp.kernels import kernel_from_spec
from grfpp.linalg.symmetrize import Symmetrize
from grfpp.operators import METHODS
from grfpp.operators.kernel_choice import KernelChoice
from grfpp.options import WalkOptions

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

PATH = click.Path(path_type=Path)
#: Seconds to wait for a Dask scheduler, enough for one on another continent.
_DASK_TIMEOUT = 10
#: Largest number of processes of ``local:N``: more are a typing error.
_MAX_DASK_WORKERS = 1024
_EXACT_METHODS = [name for name in METHODS if name != "walks"]
#: Separators that shells make hard to type.
_SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}


class OutputFile(click.Path):
    """A file to write, or a folder `.grf`, which is checked before the work begins."""

    def __init__(self, *suffixes: str) -> None:
        super().__init__(path_type=Path)
        self.suffixes = suffixes

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> Any:
        """Return the path, if it can be written."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        check_output(path, self.suffixes, _shown_name(param))
        return path


def _shown_name(parameter: click.Parameter) -> str:
    """The longest flag of an option, or the name of an argument."""
    is_option = isinstance(parameter, click.Option)
    return max(parameter.opts, key=len) if is_option else parameter.human_readable_name


def _add_help(parameters: Iterable[click.Parameter], docstring: str | None) -> str:
    """Take the help of options from the parameters of a docstring; return what precedes these."""
    text, _, section = cleandoc(docstring or "").partition("\nParameters\n----------\n")
    entries = dict(re.findall(r"^(\w+)\n((?:    .+(?:\n|\Z))+)", section, re.M))
    for parameter in parameters:
        if parameter.name in entries:
            vars(parameter)["help"] = " ".join(entries[parameter.name].split())
    return text


class Command(click.Command):
    """A command that writes to no file that it reads, with lists of definitions in its help.

    Parameters
    ----------
    definitions
        Lists of terms and their meanings, by title, which help shows before the epilog.
    """

    def __init__(self, *arguments: Any, definitions: Any = None, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.help = _add_help(self.params, self.help)
        self.definitions: dict[str, list[tuple[str, str]]] = definitions or {}

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, unless an output is also an input or another output."""
        options = [option for option in self.params if isinstance(option.type, click.Path)]
        files = {option: path for option in options if (path := ctx.params.get(f"{option.name}"))}
        for output, path in files.items():
            if isinstance(output.type, OutputFile):
                others = [other for parameter, other in files.items() if parameter is not output]
                require_other(_shown_name(output), path, others)
        return super().invoke(ctx)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the definitions and the epilog; paragraphs without indented lines are wrapped."""
        for title, definitions in self.definitions.items():
            with formatter.section(title):
                formatter.write_dl(definitions)
        for paragraph in (self.epilog or "").split("\n\n"):
            formatter.write_paragraph()
            with formatter.indentation():
                if "\n  " in paragraph:
                    formatter.write(indent(paragraph, "  ") + "\n")
                else:
                    formatter.write_text(paragraph)


def command(function: Callable[..., Any]) -> Command:
    """A command that is called as the function, with its docstring for help."""
    return click.command(cls=Command)(function)


def option(*flags: str, **more: Any) -> Decorator:
    """An option of a command; its default is shown."""
    return click.option(*flags, **{"show_default": True, **more})


def path_option(*flags: str, metavar: str, **more: Any) -> Decorator:
    """An option that names a file."""
    return option(*flags, metavar=metavar, type=PATH, **more)


def output_option(
    metavar: str = "FILE.csv", *suffixes: str, flags: str = "--output -o"
) -> Decorator:
    """An option that names a file to write."""
    type = OutputFile(*(suffixes or [Path(metavar).suffix]))
    return option(*flags.split(), metavar=metavar, type=type)


def how_option(*algorithms: str, default: str | None = None) -> Decorator:
    """The option ``--how``: one of the algorithms of a task."""
    return option("--how", type=click.Choice(algorithms), default=default)


def kernel_option(default: str | None, *letters: str) -> Decorator:
    """The option ``--kernel``."""
    return option("--kernel", *letters, default=default, metavar="KERNEL")


json_option = option(
    "--json", "as_json", help="Print one JSON document instead of text.", is_flag=True
)
# `grfpp classify` has another ``--method``: it compares the paper's methods, "grf" and "grf++".
method_option = option(
    "--method",
    help="Estimate the kernel by walks, or compute it; auto takes the method of least predicted "
    f"time, and {', '.join(_EXACT_METHODS)} are these methods.",
    type=click.Choice(["walks", "exact", "auto", *_EXACT_METHODS]),
    metavar="walks|exact|auto|...",
)
# `grfpp classify` takes a list of scales; `grfpp interpolate` needs to know whether one is given.
scale_option = option("--scale", help="Factor on all weights.", default=1.0)
std_option = option("--std", is_flag=True)
mesh_weights_option = option("--mesh-weights", type=click.Choice(get_args(MeshWeights)))


def method_parameters(method: str) -> dict[str, Any]:
    """The parameters `estimate` and `method` of an estimator that ``--method`` sets."""
    if method in ("walks", "exact"):
        return {"estimate": method, "method": None}
    return {"estimate": "exact", "method": method}


def given(*names: str) -> list[str]:
    """The flags of those options that are on the command line of the running command."""
    context, line = click.get_current_context(), ParameterSource.COMMANDLINE
    chosen = {name for name in names if context.get_parameter_source(name) == line}
    return [_shown_name(option) for option in context.command.params if option.name in chosen]


def algorithm(how: str | None, default: str, needs_paper: bool) -> str:
    """The value of ``--how``; ``paper`` by default where options are given that it alone has."""
    if how == default and needs_paper:
        problem = f"must be paper for options about walks and --method, found {default}"
        raise InputError(problem, argument="how", advice="leave those options out")
    return how or ("paper" if needs_paper else default)


def number_or_word(text: Any) -> Any:
    """A whole number if the text is one, else the text, which the library checks."""
    return int(text) if isinstance(text, str) and text.isdecimal() and len(text) < 40 else text


def numbers(text: str, name: str, convert: type) -> list[Any]:
    """Numbers with commas between them."""
    try:
        return [convert(part) for part in text.split(",")]
    except ValueError:
        kind = "whole numbers" if convert is int else "numbers"
        problem = f"must be a list of {kind} such as 8,16, found {shown(text)}"
        raise InputError(problem, argument=name) from None


def _option_group(target: str, make: Callable[..., Any], *options: Decorator) -> Decorator:
    """A decorator that adds options to a command, which receives them as one argument, `target`.

    `make` returns its value from those of the options; its docstring has the help of the options.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        names: list[str] = []

        @wraps(function)
        def call(**values: Any) -> Any:
            value = make(**{name: values.pop(name) for name in names})
            return function(**values, **{target: value})

        decorated: Any = call
        for add in reversed(options):
            decorated = add(decorated)
        parameters = decorated.__click_params__[-len(options) :]
        names += [parameter.name for parameter in parameters]
        _add_help(parameters, make.__doc__)
        return call

    return decorate


def shows_result(function: Callable[..., Any]) -> Callable[..., None]:
    """Give a command ``--json``; it returns a `Result`, which is printed as text or as JSON."""

    @wraps(function)
    def call(as_json: bool, **values: Any) -> None:
        function(**values).show(as_json)

    return json_option(call)


# Kernels


def _kernel_choice(kernel: str, normalize: str | None, scale: float) -> KernelChoice:
    """Check the options about the kernel.

    Parameters
    ----------
    kernel
        The kernel; grfpp estimate --help lists them.
    normalize
        Weights: D^-1/2 A D^-1/2 (sym), D^-1 A (rw), or A as it is (none); if not given, rw for
        personalized-pagerank and heat, else sym.
    """
    if kernel.isdecimal():
        advice = f"-k is a kernel such as diffusion:{kernel}; query has --top for a number of nodes"
        raise InputError(f"there is no kernel {kernel!r}", advice=advice)
    function = kernel_from_spec(kernel)
    kind: Any = normalize or function.normalization
    return KernelChoice.of(
        kernel=function, normalization=None if kind == "none" else kind, scale=scale
    )


#: Gives a command options about the kernel; it receives `choice`, a `KernelChoice`.
kernel_options = _option_group(
    "choice",
    _kernel_choice,
    kernel_option("diffusion", "-k"),
    option("--normalize", type=click.Choice(["sym", "rw", "none"])),
    scale_option,
)


# Walks

#: Options about walks that the estimators of `grfpp.tasks` have too.
_OF_TASKS = ("degree", "n_walks", "termination", "seed", "reuse_walks", "n_jobs", "walks")
#: Further settings of click, by field.
_CLICK: dict[str, dict[str, Any]] = {
    "termination": {"metavar": "LAW"},
    "seed": {"default": 0},
    "dtype": {"flag_value": "float32", "default": "float64", "show_default": False},
}
_FLAGS: dict[str, list[str]] = {
    item.name: item.metadata["flags"].split() for item in fields(WalkOptions)
}


def _walk_option(name: str) -> Decorator:
    """The option that sets a field of `WalkOptions`; its help is the first sentence about it."""
    settings = {"default": WalkOptions.__dataclass_fields__[name].default, **_CLICK.get(name, {})}
    annotation = get_type_hints(WalkOptions)[name]
    types = get_args(annotation) or (annotation,)
    if get_origin(annotation) is Literal:
        settings["type"] = click.Choice(types)
    elif Literal["auto"] in types:
        settings.update(type=number_or_word, metavar="N|auto")
    elif bool in types:
        settings["is_flag"] = True
    elif name != "dtype":
        settings["type"] = next((type for type in (int, float) if type in types), str)
    entry = re.search(rf"^{name}\n    (.*?\.)(?=\s|\Z)", getdoc(WalkOptions) or "", re.M | re.S)
    text = " ".join(entry[1].split()) if entry else ""
    text = re.sub(r"(?<!`)`(\w+)`(?!`)", lambda match: _FLAGS[match[1]][0], text)
    return option(*_FLAGS[name], name, help=re.sub('[`"]', "", text), **settings)


def walk_options(*, without: Collection[str] = (), sampling: bool = False) -> Decorator:
    """Give a command the options about walks; it receives ``walks``, a `WalkOptions`.

    Parameters
    ----------
    without
        Names of options that the command does not have.
    sampling
        Whether it has those that only `grfpp.sample` takes.
    """
    taken = _FLAGS if sampling else _OF_TASKS
    names = [name for name in _FLAGS if _FLAGS[name] and name in taken and name not in without]
    return _option_group("walks", WalkOptions.of, *map(_walk_option, names))


seed_option, jobs_option = _walk_option("seed"), _walk_option("n_jobs")


def asks_for_walks() -> bool:
    """Whether the running command was given an option that only walks have."""
    return bool(given(*(name for name in _OF_TASKS if name not in ("seed", "n_jobs"))))


def estimator_parameters(walks: WalkOptions, without: Collection[str] = ()) -> dict[str, Any]:
    """Options about walks as the estimators of `grfpp.tasks` take them."""
    names = {name: name for name in _OF_TASKS if name not in without} | {"seed": "random_state"}
    return {parameter: getattr(walks, name) for name, parameter in names.items()}


# Reading graphs


@dataclass(frozen=True)
class GraphFile:
    """The file with a graph, and the parameters of `Graph` that say how it is read."""

    path: Path
    parameters: dict[str, Any]

    def read(self) -> Graph:
        """Read the graph."""
        return Graph(self.path, **self.parameters)


def _graph_file(
    graph: Path,
    directed: bool,
    undirected: Symmetrize | None,
    mesh_weights: MeshWeights | None,
    columns: str | None,
    separator: str | None,
    **edges: Any,
) -> GraphFile:
    """Check the options about reading a graph.

    Parameters
    ----------
    graph
        File with the graph: an edge list (.txt .tsv .csv .parquet .feather), .gml, .graphml, .mtx,
        .npz, or a mesh (.stl .off .ply .obj .glb .vtk); text and meshes may be compressed (.gz
        .zip); or a folder that grfpp convert wrote (.grf).
    directed
        Each line of an edge list is one arc.
    undirected
        Make a directed graph undirected: edges get the larger weight of both directions, the mean,
        the sum, or the smaller (mutual: none where one direction is missing).
    mesh_weights
        The edges of a mesh weigh 1 (unit; the default), the inverse of their length, or half the
        cotangents of the opposite angles.
    duplicates
        Edges that are listed more than once, in either order: their sum (the default), the largest,
        the first, or an error.
    columns
        The columns of source, target and, if there is one, weight: names, or numbers from 0.
    separator
        Between fields; tab; space for any white space.
    encoding
        Of the text; utf-8 if not given.
    header
        Whether the first line of an edge list holds the names of the columns.
    """
    names = None if columns is None else tuple(map(number_or_word, columns.split(",")))
    separator = _SEPARATORS.get(str(separator), separator)
    parameters = EdgeListOptions(columns=names, separator=separator, **edges).given
    parameters |= {"symmetrize": undirected, "mesh_weights": mesh_weights}
    return GraphFile(graph, {"directed": directed or None, **parameters})


#: Gives a command GRAPH, and options about how it is read; it receives `file`, a `GraphFile`.
graph_options = _option_group(
    "file",
    _graph_file,
    click.argument("graph", metavar="GRAPH", type=PATH),
    option("--directed", is_flag=True),
    option("--undirected", type=click.Choice(get_args(Symmetrize))),
    mesh_weights_option,
    option("--duplicates", type=click.Choice(get_args(Duplicates))),
    option("--columns", metavar="U,V[,W]"),
    option("--separator", metavar="TEXT"),
    option("--encoding", metavar="NAME"),
    option("--header/--no-header", default=None),
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
        number = number_or_word(address.removeprefix("local:"))
        n_workers = whole(number, "--dask local:N", 1, _MAX_DASK_WORKERS)
        from grfpp.distributed.cluster import NO_STEALING

        with (
            require("dask").config.set(NO_STEALING),
            distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
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
        problem = f"must be the address of a scheduler, found {address} ({reason})"
        advice = "start one with 'dask scheduler', or use local:N"
        raise InputError(problem, argument="dask", advice=advice) from None
    with client:
        yield client


async def _connect(distributed: Any, address: str) -> None:
    """Raise if no scheduler answers. A client would keep trying in the background."""
    security = distributed.Security().get_connection_args("client")
    connect = import_module("distributed.comm").connect
    await (await connect(address, timeout=_DASK_TIMEOUT, **security)).close()
