"""Options that several commands have, with the same letters and the same words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from copy import copy
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

import typer

from grfpp.arguments import positive
from grfpp.cli.console import note
from grfpp.errors import InputError
from grfpp.options import OnInfiniteVariance, ToleranceKind, WalkOptions, Walks


def option(help: str, metavar: str | None = None, *flags: str, **more: Any) -> Any:
    """An option of a command, in words."""
    return typer.Option(*flags, metavar=metavar, help=help, **more)


def optional(help: str, metavar: str, *flags: str, **more: Any) -> Any:
    """An option that may be left out: there is no default to show."""
    return option(help, metavar, *flags, show_default=False, **more)


def argument(help: str, metavar: str) -> Any:
    """What a command is about."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


def kernel(help: str = "The kernel.", *letters: str) -> Any:
    """The option ``--kernel``."""
    return option(help, "KERNEL", "--kernel", *letters)


def output(help: str, metavar: str = "FILE.csv") -> Any:
    """The option ``--output``."""
    return optional(help, metavar, "--output", "-o")


def retired_sigma() -> Any:
    """The option ``--sigma``, the root of what is now ``--scale``."""
    return typer.Option("--sigma", hidden=True, callback=_say_retired)


def _say_retired(sigma: Any) -> Any:
    if sigma is not None:
        note("--sigma is now --scale, its square")
    return sigma


GraphFile = Annotated[
    Path,
    argument(
        "File with the graph: an edge list (.txt .tsv .csv .parquet .feather), .gml, .graphml, "
        ".mtx, .npz, or a mesh (.stl .off .ply .obj .glb .vtk); text and meshes may be packed "
        "(.gz .zip); or a folder that grfpp convert wrote (.grf).",
        "GRAPH",
    ),
]
#: What `estimate` of an estimator says, and the planner's methods.
MethodName = Literal["walks", "exact", "auto", "dense", "chebyshev", "lanczos", "solve"]
Method = Annotated[
    MethodName,
    option(
        "Estimate the kernel by walks, or compute it; auto takes the way of least time, and "
        "dense, chebyshev, lanczos, solve are these ways.",
        "walks|exact|auto|...",
    ),
]
#: Of commands that normalise the weights symmetrically.
Scale = Annotated[float, option("The weights are X D^-1/2 A D^-1/2.", "X")]
Sigma = Annotated[float | None, retired_sigma()]
Directed = Annotated[bool, typer.Option("--directed", help="Each line of an edge list is one arc.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]


def _number_or_word(text: str) -> int | str:
    """A whole number where the text is one; what else it may be is checked with the others."""
    return int(text) if text.isdecimal() and len(text) < 40 else text


#: What all commands have that walk, by the names in `WalkOptions`.
_WALKS: dict[str, Any] = {
    "degree": Annotated[
        str,
        option(
            "Stitching degree; 1 is a regular GRF; auto: that of least predicted error.",
            "L|auto",
            "--degree",
            "-l",
            callback=_number_or_word,
        ),
    ],
    "n_walks": Annotated[
        int, option("Walks from every node for every factor.", "M", "--walks", "-m", min=1)
    ],
    "termination": Annotated[
        str | None,
        optional(
            "The law of the walk lengths; matched:9 if not given, geometric:0.1 for independent "
            "walks.",
            "LAW",
            "--termination",
            "-t",
        ),
    ],
    "seed": Annotated[int, option("Of the walks.", "N", "--seed", min=0)],
    "reuse_walks": Annotated[
        bool, option("One set of walks for all factors: cheaper, biased.", None, "--reuse-walks")
    ],
    "walks": Annotated[
        Walks,
        option(
            "Walkers of a node move together (pooled), or know nothing of each other as in the "
            "paper (independent).",
            "pooled|independent",
            "--walks-kind",
        ),
    ],
    "n_jobs": Annotated[
        int, option("Threads; -1 for all cores. The result is the same.", "N", "--jobs", "-j")
    ],
}
#: What only `grfpp estimate` has.
_SAMPLING: dict[str, Any] = {
    "symmetrize": Annotated[
        bool | None,
        option(
            "Average the estimate with its transpose: less error, twice the products.  [default: "
            "for pooled walks on undirected graphs]",
            None,
            "--symmetrize/--no-symmetrize",
            show_default=False,
        ),
    ],
    "deflate": Annotated[
        str,
        option(
            "Take so many eigenvectors of undirected graphs exactly, for slow kernels; auto: as "
            "many as pay.",
            "N|auto",
            "--deflate",
            callback=_number_or_word,
        ),
    ],
    "tol": Annotated[
        float | None,
        optional(
            "Walk until the estimate has this relative error; --walks is not used then.",
            "X",
            "--tol",
        ),
    ],
    "tol_kind": Annotated[
        ToleranceKind,
        option("What --tol is for: the whole matrix, or single entries.", "frobenius|entry"),
    ],
    "max_steps": Annotated[
        float | None, optional("End there: steps a node in all factors.", "N", "--max-steps")
    ],
    "max_seconds": Annotated[
        float | None, optional("End there, about.", "SECONDS", "--max-seconds")
    ],
    "n_groups": Annotated[
        int,
        option("Keep so many further estimates in the file, for error bars.", "N", "--groups"),
    ],
    "truncate": Annotated[
        bool, option("Accept the bias of walk lengths that are bounded.", None, "--truncate")
    ],
    "on_infinite_variance": Annotated[
        OnInfiniteVariance,
        option("What to do about walk lengths with infinite variance.", "raise|warn|ignore"),
    ],
    "dtype": Annotated[
        bool,
        typer.Option(
            "--float32",
            help="Store the factors in single precision.",
            callback=lambda single: "float32" if single else "float64",
        ),
    ],
}
#: What `WalkOptions` says in other words, or not at all because it draws it.
_DEFAULTS: dict[str, Any] = {"degree": "2", "seed": 0, "dtype": False, "deflate": "0"}


def with_walks(
    *, without: Collection[str] = (), sampling: bool = False, **helps: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options about walks, in place of its parameter `walks`.

    Parameters
    ----------
    without
        Those that it does not have.
    sampling
        Whether it has those that only `grfpp.sample` knows.
    **helps
        What some of them say instead.
    """
    chosen = {
        name: _parameter(name, annotation, helps.get(name))
        for name, annotation in {**_WALKS, **(_SAMPLING if sampling else {})}.items()
        if name not in without
    }

    return in_place_of("walks", chosen, lambda values: WalkOptions.of(**cast(Any, values)))


def in_place_of(
    replaced: str, chosen: Mapping[str, Parameter], make: Callable[[dict[str, Any]], Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command several options in place of one parameter, which is made of their values."""

    def added(command: Callable[..., None]) -> Callable[..., None]:
        def called(**values: Any) -> None:
            value = make({name: values.pop(name) for name in chosen})
            command(**values, **{replaced: value})

        written = signature(command, eval_str=True)
        parameters: list[Parameter] = []
        for name, parameter in written.parameters.items():
            parameters += chosen.values() if name == replaced else [parameter]
        called.__doc__ = command.__doc__
        called.__signature__ = written.replace(  # type: ignore[attr-defined]  # typer reads it
            parameters=[each.replace(kind=Parameter.KEYWORD_ONLY) for each in parameters]
        )
        return called

    return added


def _parameter(name: str, annotation: Any, help: str | None) -> Parameter:
    kind, words = get_args(annotation)
    if help is not None:
        words = copy(words)
        words.help = help
    default = _DEFAULTS.get(name, getattr(WalkOptions, name))
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, words]
    )


def for_estimators(walks: WalkOptions, without: Collection[str] = ()) -> dict[str, Any]:
    """Options about walks as the estimators of `grfpp.tasks` take them."""
    return {
        "random_state" if name == "seed" else name: getattr(walks, name)
        for name in _WALKS
        if name not in without
    }


def method_parameters(method: str) -> dict[str, Any]:
    """What `--method` says, as the estimators of `grfpp.tasks` take it."""
    if method in ("walks", "exact"):
        return {"estimate": method, "method": None}
    return {"estimate": "exact", "method": method}


def scale_of(scale: float, sigma: float | None) -> float:
    """The factor of the weights, also where its root was given."""
    if sigma is None:
        return positive(scale, "--scale")
    if scale != 1.0:
        raise InputError("--scale and --sigma say the same: give --scale alone")
    root = positive(sigma, "--sigma")
    return positive(root * root, "the square of --sigma")
