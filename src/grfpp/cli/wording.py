"""Errors and warnings of the library in the words of the command line."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from typing import Any

from grfpp.errors import AS_AFFINITIES, IN_PYTHON, InputError, InputWarning, Wording, if_any
from grfpp.termination import Termination


def in_options(message: Exception | str, options: Collection[str]) -> str:
    """Say with the options of a command what a message says in Python.

    Remedies are left out where the command has no option for them.

    Examples
    --------
    >>> error = InputError("must be a whole number >= 1, found 0", argument="n_walks")
    >>> in_options(error, ["--walks"])
    '--walks must be a whole number >= 1, found 0'
    >>> in_options(InputError("the series diverges", scale=0.81, factor=0.5), ["--scale"])
    'the series diverges; use --scale 0.81'
    """
    if not isinstance(message, InputError | InputWarning):
        return str(message)
    names = {"random_state": "--seed"}
    for option in options:
        name = option.removeprefix("--").replace("-", "_")
        names |= {name: option, f"n_{name}": option}
    if "--undirected" in options and "--symmetrize" not in options:
        names["symmetrize"] = "--undirected"
    has_scale = "--scale" in options
    normalize = "--normalize sym " if "--normalize" in options else ""
    wording: Wording = {
        "option": lambda option: _option(option, options),
        "scale": lambda scale: f"use {normalize}--scale {scale:g}" if has_scale else "",
        "normalization": lambda kind: f"use --normalize {kind}" if normalize else "",
        "factor": lambda factor: IN_PYTHON["factor"](factor) if normalize else "",
        "smaller weights": lambda why: (
            f"{why}: scale the weights down ({normalize}--scale)" if has_scale else why
        ),
        "law": lambda law: f"use --termination {law_text(law)} or longer walks",
        "other": str,
        "degree": lambda degree: f"a degree that makes the series finite (--degree {degree} does)",
        "finer": lambda now: _finer(now, options),
        "cap": lambda cap: f"raise {names[cap]}" if cap in names else "",
        "capped": lambda cap: f"give {names[cap]} to see how far walks come",
        "without": lambda name: f"leave out {names.get(name, name)}",
        "table": lambda _: "use --labels FILE.csv" if "--labels" in options else "",
        "truncate": lambda _: (
            "pass --truncate to accept the bias" if "--truncate" in options else ""
        ),
        "affinities": lambda how: AS_AFFINITIES + (f" and use --undirected {how}" if how else ""),
        "undirected": lambda hows: (
            f"use --undirected {hows[0]} for edges in both directions ({hows[1]} for those that "
            "are there in both)"
        ),
        "as_it_is": lambda directed: (
            "--directed keeps it as it is, without this note" if directed else ""
        ),
        "most_degree": if_any("--degree {} fits"),
        "most_walks": if_any("--walks {} fits"),
        "float32": if_any("--float32 takes less" if "--float32" in options else ""),
    }
    return message.worded(wording, names)


def _option(option: tuple[Any, ...], options: Collection[str]) -> str:
    """An option and the values that it may be given, where the command has it."""
    name, *values = (option[0].replace("_", "-"), *option[1:]) if option else ("",)
    if f"--{name}" not in options:
        return ""
    words = []
    for value in values:
        if value is ...:
            words.append("the like")
        elif isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        else:
            text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words.append(f"--{name} {shlex.quote(text)}")
    return f"use {' or '.join(words)}"


def _finer(now: tuple[int | None, bool, int], options: Collection[str]) -> str:
    """How walks come to a smaller error, with the options that the command has."""
    degree, deflates, n_walks = now
    offers = []
    if degree and "--degree" in options:
        offers.append(f"take a higher degree than {degree} (--degree auto)")
    if deflates and "--deflate" in options:
        offers.append("use --deflate auto")
    if "--walks" in options:
        offers.append(f"take more walks than {n_walks} (--walks)")
    return ", or ".join(offers)


def law_text(law: Termination) -> str:
    """A law of walk lengths as the command line writes it.

    Examples
    --------
    >>> from grfpp.termination import CustomLength, NegativeBinomial
    >>> law_text(NegativeBinomial(2, 0.25)), law_text(CustomLength([0.5, 0.5]))
    ('negative-binomial:2:0.25', 'custom:0.5:0.5')
    """
    name, *parameters = law.to_dict().values()
    numbers = [
        n for each in parameters for n in (each if isinstance(each, list | tuple) else [each])
    ]
    return ":".join([name, *(f"{number:.15g}" for number in numbers)])
