"""The errors that grfpp raises for input it cannot use.

All are :class:`ValueError`, so code that does not know grfpp catches them too. An error carries
what is wrong and what would help as fields; its message says both as one would write it in Python,
and callers whose users write something else (options of a command, parameters of an estimator)
word it anew from the fields.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

#: Whose lines a user can do nothing about.
_LIBRARIES = {"grfpp", "torch", "gpytorch", "linear_operator", "sklearn", "joblib"}

#: So much of a value is shown in a message.
_SHOWN = 80

#: From the name of a remedy and its value to words; `None` where a caller has no such thing.
Wording = Mapping[str, Callable[[Any], str | None]]


def if_any(text: str) -> Callable[[Any], str | None]:
    """Words for a number or a truth; none for 0 and False, where there is no such remedy."""
    return lambda value: text.format(value) if value else None


def _with_option(option: tuple[Any, ...]) -> str:
    """``("header", True, False)``: the option `header` with either; ``...`` for the like."""
    if not option:
        return ""
    name, *values = option
    words = ["the like" if each is ... else f"{name}={each!r}" for each in values]
    return f"pass {' or '.join(words)}"


AS_AFFINITIES = "turn distances d into weights such as exp(-d**2 / s**2)"

#: How remedies are written in Python.
IN_PYTHON: Wording = {
    "option": _with_option,
    "scale": lambda scale: f"use graph.normalized('sym', scale={scale:g})",
    "normalization": lambda kind: f"use graph.normalized({kind!r})",
    "factor": lambda factor: f"multiply the weights by {factor:g}",
    "smaller weights": lambda why: (
        f"{why}: scale the weights down (graph.normalized('sym', scale))"
    ),
    "law": lambda law: f"use {type(law).__name__}({law.p_halt:g}) or longer walks",
    "other": str,
    "degree": lambda degree: f"a degree that makes the series finite (degree={degree} does)",
    # How walks come to a smaller error: from degree, whether to deflate, and walks.
    "finer": lambda now: (
        (f"take a higher degree than {now[0]} (degree='auto'), " if now[0] else "")
        + ("deflate='auto', " if now[1] else "")
        + f"more walks than {now[2]}, or grfpp.kernel_operator(W, kernel), which finds a way"
    ),
    "operator": lambda _: "use grfpp.kernel_operator(W, kernel, tol), which need not walk",
    "cap": if_any("raise {}"),
    "capped": lambda cap: f"give {cap} to see how far walks come",
    "without": lambda name: f"leave out {name}",
    "truncate": lambda _: "pass truncate=True to accept the bias",
    # How a graph may be meant.
    "from_points": lambda _: "use Graph.from_points(X)",
    "affinities": lambda how: AS_AFFINITIES + (f" and pass symmetrize={how!r}" if how else ""),
    "undirected": lambda hows: (
        f"pass symmetrize={hows[0]!r} for edges in both directions ({hows[1]!r} for those that are "
        "there in both)"
    ),
    "as_it_is": lambda directed: f"pass directed={directed}: as it is, without this note",
    # What would fit into memory.
    "most_degree": if_any("degree={} fits"),
    "most_walks": if_any("n_walks={} fits"),
    "recompute": if_any("storage='recompute' keeps no factors"),
    "float32": if_any("dtype='float32' takes less"),
    "most_components": if_any("project(n_components={}) fits"),
    "most_rows": if_any("{} at a time fit"),
}


class _Worded(Exception):  # noqa: N818  # not raised by itself
    """What errors and warnings share: fields, and words made of them."""

    def __init__(self, problem: str, *, argument: str | None = None, **remedies: Any) -> None:
        self.problem = problem
        self.argument = argument
        self.remedies = remedies
        super().__init__(self.worded(IN_PYTHON))

    def worded(self, wording: Wording, names: Mapping[str, str] | None = None) -> str:
        """The message in other words.

        Parameters
        ----------
        wording
            How to write the remedies; those that it does not know are left out.
        names
            What arguments are called, where that is not what they are called in Python.
        """
        text = self.problem
        if self.argument is not None:
            text = f"{(names or {}).get(self.argument, self.argument)} {text}"
        offers = [wording[name](value) for name, value in self.remedies.items() if name in wording]
        advice = ", or ".join(offer for offer in offers if offer)
        if not advice:
            return text
        if text.endswith("."):
            return f"{text} {advice[0].upper()}{advice[1:]}."
        return f"{text}; {advice}"


class InputError(_Worded, ValueError):
    """Something that was handed to grfpp cannot be used; the message says what to do.

    Parameters
    ----------
    problem
        What is wrong; after the argument's name where there is one. If it ends with a full stop,
        so does the message.
    argument
        The name of the argument that cannot be used.
    **remedies
        What would help, by the names of `IN_PYTHON`.

    Examples
    --------
    >>> error = InputError("must be a whole number >= 1, found 0", argument="n_walks")
    >>> str(error)
    'n_walks must be a whole number >= 1, found 0'
    >>> error = InputError("the series diverges", scale=0.81, factor=0.9)
    >>> str(error)
    "the series diverges; use graph.normalized('sym', scale=0.81), or multiply the weights by 0.9"
    >>> error.worded({"scale": lambda scale: f"--scale {scale}"})
    'the series diverges; --scale 0.81'
    """


class InputWarning(_Worded, RuntimeWarning):
    """As `InputError`, where grfpp goes on all the same."""


class DivergentSeriesError(InputError):
    """The kernel's power series, or its root, does not converge on this graph.

    Attributes
    ----------
    radius
        The radius of convergence, where one number tells it.
    spectral_radius
        That of the graph.
    """

    def __init__(
        self,
        problem: str,
        *,
        radius: float | None = None,
        spectral_radius: float | None = None,
        **remedies: Any,
    ) -> None:
        super().__init__(problem, **remedies)
        self.radius = radius
        self.spectral_radius = spectral_radius

    @property
    def scale(self) -> float | None:
        """A scale of the symmetric normalisation with which it converges."""
        return self.remedies.get("scale")

    @property
    def factor(self) -> float | None:
        """A factor of the weights with which it converges."""
        return self.remedies.get("factor")


class InfiniteVarianceError(InputError):
    """The walk lengths make the estimate's variance infinite for this kernel and graph."""


class TruncationError(InputError):
    """The walk lengths are bounded too tightly: the estimate would be biased."""


class MissingDataError(InputError):
    """A data set is not at hand and cannot be downloaded; the message says where to put it."""


def shown(value: Any) -> str:
    """What was found instead, as a message shows it: on one line, and not all of it if it is long.

    Examples
    --------
    >>> shown("1"), shown(10**5000), len(shown([0] * 10**6))
    ("'1'", '<int>', 80)
    """
    try:
        text = " ".join(repr(value).split("\n"))
    except Exception:  # whatever is wrong with the value: whole numbers of 4,301 digits have none
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def warn_user(message: str | Warning, category: type[Warning] = RuntimeWarning) -> None:
    """Warn at the line of the user's that led here, however deep in libraries this is."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _LIBRARIES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
