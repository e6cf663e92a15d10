"""Errors and warnings about input that grfpp cannot use.

Errors are instances of :class:`ValueError`. Their fields are the argument, the problem and the
advice.
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Collection, Iterable
from typing import Any

#: Packages whose frames a warning skips, so that it points at the user's line.
_LIBRARIES = {"grfpp", "torch", "gpytorch", "linear_operator", "sklearn", "joblib"}

#: Largest number of characters of a value in a message, so that it stays on one line.
_MAX_SHOWN = 80
#: Names that functions and estimators have for the same thing.
_SYNONYMS = {"random_state": "seed", "seed": "random_state"}
#: Largest number of characters of the names that are listed for one that is not known.
_MAX_NAMES = 140


class _WithAdvice(Exception):  # noqa: N818  # not raised by itself
    """Base of errors and warnings: fields, and the message that is made of them."""

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
        What is wrong and what was found; the message begins with the argument's name, if any.
    argument
        Name of the argument.
    advice
        The remedy. Parameters are written as in Python (``n_walks=4``); commands show them as
        options.

    Examples
    --------
    >>> error = InputError("must be >= 1, found 0", argument="n_walks", advice="pass n_walks=16")
    >>> str(error), error.argument
    ('n_walks must be >= 1, found 0; pass n_walks=16', 'n_walks')
    """


class InputWarning(_WithAdvice, RuntimeWarning):
    """A warning with the fields of `InputError`; grfpp continues.

    Its text is the same each time, so that Python shows it once a line of the user's code.

    Attributes
    ----------
    details
        What was measured, by name.

    Examples
    --------
    >>> warning = InputWarning("may be lost", argument="tol", relative_error=0.7)
    >>> str(warning), warning.details
    ('tol may be lost', {'relative_error': 0.7})
    """

    def __init__(
        self,
        problem: str,
        *,
        argument: str | None = None,
        advice: str | None = None,
        **details: Any,
    ) -> None:
        super().__init__(problem, argument=argument, advice=advice)
        self.details = details


class DivergentSeriesError(InputError):
    """The kernel's power series, or its root, does not converge on this graph.

    Attributes
    ----------
    radius
        The radius of convergence, if it is known.
    spectral_radius
        The spectral radius of the graph.
    scale
        A scale of the normalisation with which the series converges.
    factor
        A factor of the weights with which the series converges.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> graph, kernel = grfpp.Graph(nx.cycle_graph(6)), grfpp.InversePower(2)
    >>> try:
    ...     grfpp.sample(graph, kernel)
    ... except grfpp.DivergentSeriesError as error:
    ...     print(f"{error.spectral_radius:.3f} is not below {error.radius:.3f}")
    ...     K = grfpp.sample(graph.normalized("sym", error.scale), kernel, seed=0)
    2.000 is not below 1.000
    >>> K
    KernelEstimate(n_nodes=6, degree=2, kernel=InversePower(power=2, of=1))
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
        normalization: str = "sym",
    ) -> None:
        if scale is not None:
            use_scale = f"use the normalisation {normalization!r} with scale={scale:g}"
            advice = use_scale if advice is None else f"{use_scale}, or {advice}"
        super().__init__(problem, advice=advice)
        self.radius, self.spectral_radius = radius, spectral_radius
        self.scale, self.factor = scale, factor


class InfiniteVarianceError(InputError):
    """The walk lengths give the estimate infinite variance for this kernel and graph.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym", scale=0.8)
    >>> try:
    ...     grfpp.sample(W, grfpp.InversePower(2), walks="independent", termination="poisson:4")
    ... except grfpp.InfiniteVarianceError as error:
    ...     print(error.advice)
    use termination='geometric:0.2' or longer walks
    """


class TruncationError(InputError):
    """The longest walks are too short: the estimate would be biased.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> W = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
    >>> try:
    ...     grfpp.sample(W, grfpp.Diffusion(1.0), termination=grfpp.FixedLength(4))
    ... except grfpp.TruncationError as error:
    ...     print(error.advice)
    use termination='geometric:0.1' or accept it with truncate=True
    """


class UnknownOptionError(InputError, TypeError):
    """A keyword that is no option of a function; a ``TypeError`` too, as Python's own.

    Examples
    --------
    >>> import grfpp
    >>> try:
    ...     grfpp.sample([[0, 1], [1, 0]], "diffusion:1", nwalks=3)
    ... except TypeError as error:
    ...     print(error)
    nwalks is not an option here; did you mean 'n_walks'?
    """


def require_options(given: Iterable[str], known: Collection[str]) -> None:
    """Raise `UnknownOptionError` unless all keywords are known options; it has the closest one."""
    for name in sorted(set(given) - set(known)):
        raise UnknownOptionError(
            "is not an option here", argument=name, advice=did_you_mean(name, known)
        )


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The closest known name, as a question; all of them where none is close and they are few."""
    close, names = difflib.get_close_matches(name, known, 1), ", ".join(sorted(known))
    close = [_SYNONYMS[name]] if _SYNONYMS.get(name) in known else close
    if close:
        return f"did you mean {close[0]!r}?"
    return f"there are {names}" if len(names) <= _MAX_NAMES else "see the help of this function"


class MissingDataError(InputError):
    """A data set is neither stored nor downloadable; the message says where to put its file."""


def shown(value: Any) -> str:
    """A value for a message: on one line, shortened if it is long, arrays with their shape.

    Examples
    --------
    >>> shown("1"), shown(10**5000), len(shown([0] * 10**6))
    ("'1'", '<int>', 80)
    """
    try:
        text = " ".join(repr(value).split("\n"))
    except Exception:  # such as Python's for whole numbers of 4,301 digits
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
