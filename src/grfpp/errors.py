"""Errors and warnings about input that grfpp cannot use.

Errors are :class:`ValueError`. They carry the argument, the problem and the advice as fields.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

#: Packages whose frames a warning skips, to point at the user's line.
_LIBRARIES = {"grfpp", "torch", "gpytorch", "linear_operator", "sklearn", "joblib"}

#: Characters of a value that a message shows.
_MAX_SHOWN = 80


class _WithAdvice(Exception):  # noqa: N818  # not raised by itself
    """Base of errors and warnings: fields, and the message that they make."""

    def __init__(
        self, problem: str, *, argument: str | None = None, advice: str | None = None
    ) -> None:
        self.problem = problem
        self.argument = argument
        self.advice = advice
        text = problem if argument is None else f"{argument} {problem}"
        super().__init__(f"{text}; {advice}" if advice else text)


class InputError(_WithAdvice, ValueError):
    """An argument or a file that grfpp cannot use.

    Parameters
    ----------
    problem
        What is wrong and what was found; it follows the argument's name where there is one.
    argument
        The name of the argument that cannot be used.
    advice
        What to do about it. Parameters are written as in Python (``n_walks=4``); commands show them
        as options.

    Examples
    --------
    >>> error = InputError("must be >= 1, found 0", argument="n_walks", advice="pass n_walks=16")
    >>> str(error), error.argument
    ('n_walks must be >= 1, found 0; pass n_walks=16', 'n_walks')
    """


class InputWarning(_WithAdvice, RuntimeWarning):
    """As `InputError`, where grfpp continues."""


class DivergentSeriesError(InputError):
    """The kernel's power series, or its root, does not converge on this graph.

    Attributes
    ----------
    radius
        The radius of convergence, if it is known.
    spectral_radius
        That of the graph.
    scale
        A scale of the symmetric normalisation with which the series converges.
    factor
        A factor of the weights with which it converges.
    """

    def __init__(
        self,
        problem: str,
        *,
        advice: str | None = None,
        radius: float | None = None,
        spectral_radius: float | None = None,
        scale: float | None = None,
        factor: float | None = None,
    ) -> None:
        if scale is not None:
            use_scale = f"use the normalisation 'sym' with scale={scale:g}"
            advice = use_scale if advice is None else f"{use_scale}, or {advice}"
        super().__init__(problem, advice=advice)
        self.radius, self.spectral_radius = radius, spectral_radius
        self.scale, self.factor = scale, factor


class InfiniteVarianceError(InputError):
    """The walk lengths make the estimate's variance infinite for this kernel and graph."""


class TruncationError(InputError):
    """The walk lengths are bounded too tightly: the estimate would be biased."""


class MissingDataError(InputError):
    """A data set is not at hand and cannot be downloaded; the message says where to put it."""


def shown(value: Any) -> str:
    """A value as messages show it: on one line, an array with its shape, shortened if it is long.

    Examples
    --------
    >>> shown("1"), shown(10**5000), len(shown([0] * 10**6))
    ("'1'", '<int>', 80)
    """
    try:
        text = " ".join(repr(value).split("\n"))
    except Exception:  # such as that of Python for whole numbers of 4,301 digits
        text = f"<{type(value).__name__}>"
    if isinstance(shape := getattr(value, "shape", ()), tuple) and shape:
        text = f"shape {tuple(shape)}: {text}"
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."


def warn_user(message: str | Warning, category: type[Warning] = RuntimeWarning) -> None:
    """Warn at the line of the user's code, however deep in libraries the warning is raised."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _LIBRARIES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
