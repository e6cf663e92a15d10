"""`WalkOptions`: the options of sampling, as one frozen value."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from grfpp._checks import one_of, positive, truth, whole
from grfpp._parallel import thread_count
from grfpp.errors import InputError, shown
from grfpp.termination import Geometric, Matched, Termination, termination_from_spec

Walks = Literal["independent", "pooled"]
Degree = int | Literal["auto"]
Storage = Literal["memory", "recompute"]
OnInfiniteVariance = Literal["raise", "warn", "ignore"]
ToleranceKind = Literal["frobenius", "entry"]

#: The default law of the walk lengths: both take nine steps a walk.
DEFAULT_LAWS: dict[Walks, Termination] = {"independent": Geometric(0.1), "pooled": Matched(9.0)}
#: No use of stitching is known beyond single digits; this refuses absurd requests.
MAX_DEGREE = 1024
#: Rounding allows no smaller tolerance.
LEAST_TOLERANCE = 1e-12
#: Error bars of so many replicates have a standard error of 2 %.
MAX_GROUPS = 1024
#: Walkers are numbered in 32 bits.
MAX_WALKS = 2**31 - 1

#: Takes a value and the option's name, and returns the checked value.
Check = Callable[[Any, str], Any]


def _option(default: Any, check: Check, flags: str = "", *, of_estimates: bool = False) -> Any:
    """A field of `WalkOptions`; those `of_estimates` need a whole estimate.

    Commands have the options with `flags`. Their help is the first sentence about the option in the
    docstring of `WalkOptions`.
    """
    metadata = {"check": check, "flags": flags, "of_estimates": of_estimates}
    return field(default=default, metadata=metadata)


def _choice(kind: Any) -> Check:
    return lambda value, name: one_of(value, name, get_args(kind))


def _number_or_auto(least: int, most: int | None = None) -> Check:
    def check(value: Any, name: str) -> Any:
        if isinstance(value, str) and value == "auto":
            return value
        try:
            return whole(value, name, least, most)
        except InputError as error:
            raise InputError(error.problem, argument=name, advice="or use 'auto'") from None

    return check


@dataclass(frozen=True, kw_only=True)
class WalkOptions:
    """How a kernel is estimated by walks; checked when it is made.

    Samplers hold one of these and pass it on as a whole.

    Parameters
    ----------
    degree
        Stitching degree; 1 is a regular GRF; ``"auto"``: that of least predicted error. The
        estimate is a product of ``2 l`` independent factors, ``l`` the degree. ``"auto"`` takes the
        steps that degree 2 would take in all (`grfpp.estimate.degree.with_fixed_degree`).
    n_walks
        Walks from every node for every factor. Of a pool it is how much the pool may walk.
    termination
        The law of the walk lengths; ``matched:9`` if not given, ``geometric:0.1`` for independent
        walks. A law such as ``Poisson(4)``, or text such as ``"poisson:4"``. Of a pool it is the
        budget: with ``Matched(mean)`` its ``n_walks · mean`` steps are shared by what still
        matters; with another law ``n_walks · P(length ≥ k)`` are for step ``k``, and what a step
        leaves goes to later ones.
    seed
        Of the walks. A whole number; the result is the same to the last bit for any number of
        threads. ``None`` draws one.
    reuse_walks
        One set of walks for all factors: cheaper, biased. The bias is largest on the diagonal, at
        degree 1; it comes from factors that are no longer independent.
    truncate
        Accept the bias of walk lengths that are bounded. They cut off a part of the kernel's
        series.
    on_infinite_variance
        What to do about walk lengths with infinite variance. ``"raise"``, ``"warn"`` or
        ``"ignore"``; this goes for large errors (`check_error`) too.
    full_walks
        Walk on where all later ``f(k)`` are zero in float64. This changes no number; it is for
        studies of how long walks take.
    dtype
        Store the factors in single precision. float64 or float32; sums are made in float64.
    storage
        ``"memory"`` keeps the factors. ``"recompute"`` walks them again for every product, with the
        same numbers: for graphs whose factors do not fit.
    n_jobs
        Threads; -1 for all cores. The result is the same.
    walks
        Walkers of a node move together (pooled), or independently as in the paper. A pool is a
        sparse vector of masses, with a small part of the noise at the same number of steps.
    symmetrize
        Average the estimate with its transpose: less error, twice the products; if not given, for
        pooled walks on undirected graphs. ``(K̂ + K̂ᵀ) / 2`` is unbiased and exactly symmetric, with
        0.71 of the off-diagonal error (`symmetrizes`).
    deflate
        Number of eigenvectors of undirected graphs to take exactly, for slow kernels; ``"auto"``:
        as many as pay. Walks estimate the kernel on their orthogonal complement: unbiased, for
        kernels such as ``exp(20 W)`` of which a few eigenvectors hold most. Often none pay
        (`grfpp.estimate.deflation.deflation_of`).
    n_groups
        Further estimates to keep in the file, for error bars. Error bars (``return_std=True``) come
        from these replicates: 2 at least, sampled and kept with the estimate, as large as it each.
        With 0, sixteen are sampled whenever an error bar is asked for.
    check_error
        Compare one random product of the estimate with the exact one and, where it is far off,
        measure the error and warn if that is above one half. This takes about a tenth of the time
        of sampling.
    tol
        Walk until the estimate has this relative error, for any `n_walks`. See
        `grfpp.estimate.tolerance`.
    tol_kind
        What `tol` is for: the whole matrix, or single entries. ``"frobenius"``:
        ``‖K̂ − K‖_F / ‖K‖_F``. ``"entry"``: the largest ``|K̂_ij − K_ij|`` of up to 64 rows, over
        their largest ``|K_ij|``.
    max_steps
        With `tol`: the most steps a node in all factors. Without this and `max_seconds`, more than
        100,000 steps are refused.
    max_seconds
        With `tol`: about the most seconds.

    Examples
    --------
    >>> options = WalkOptions.of(degree=4, termination="poisson:4", seed=7)
    >>> options.termination
    Poisson(mean=4.0)
    >>> options.changed(degree=1).degree
    1
    >>> WalkOptions.of(n_walks=0)
    Traceback (most recent call last):
    grfpp.errors.InputError: n_walks must be a whole number >= 1, found 0
    """

    degree: Degree = _option(2, _number_or_auto(1, MAX_DEGREE), "--degree -l")
    n_walks: int = _option(16, lambda value, name: whole(value, name, 1, MAX_WALKS), "--walks -m")
    termination: Termination = _option(None, lambda value, _: law_of(value), "--termination -t")
    seed: int = _option(None, lambda value, name: whole(value, name, 0), "--seed")
    reuse_walks: bool = _option(False, truth, "--reuse-walks", of_estimates=True)
    truncate: bool = _option(False, truth, "--truncate")
    on_infinite_variance: OnInfiniteVariance = _option(
        "raise", _choice(OnInfiniteVariance), "--on-infinite-variance"
    )
    full_walks: bool = _option(False, truth)
    dtype: np.dtype[Any] = _option(np.float64, lambda value, _: _value_type(value), "--float32")
    storage: Storage = _option("memory", _choice(Storage), of_estimates=True)
    n_jobs: int = _option(
        -1, lambda value, _: thread_count(value) and operator.index(value), "--jobs -j"
    )
    walks: Walks = _option("pooled", _choice(Walks), "--walks-kind")
    symmetrize: bool | None = _option(
        None, truth, "--symmetrize/--no-symmetrize", of_estimates=True
    )
    deflate: int | Literal["auto"] = _option(0, _number_or_auto(0), "--deflate", of_estimates=True)
    n_groups: int = _option(0, lambda value, _: _group_count(value), "--groups", of_estimates=True)
    check_error: bool = _option(True, truth, of_estimates=True)
    tol: float | None = _option(None, positive, "--tol", of_estimates=True)
    tol_kind: ToleranceKind = _option(
        "frobenius", _choice(ToleranceKind), "--tol-kind", of_estimates=True
    )
    max_steps: float | None = _option(None, positive, "--max-steps", of_estimates=True)
    max_seconds: float | None = _option(None, positive, "--max-seconds", of_estimates=True)

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            # ``None`` stands for no value where it is the default.
            if value is not None or option.default is not None:
                self._store(option.name, option.metadata["check"](value, option.name))
        if self.termination is None:
            self._store("termination", DEFAULT_LAWS[self.walks])
        if self.seed is None:
            self._store("seed", drawn_seed())
        if self.walks == "independent" and isinstance(self.termination, Matched):
            raise InputError(
                f"{self.termination!r} is a budget for pooled walks: use walks='pooled', or a law "
                "such as Geometric(0.1)",
            )
        self._check_tolerance()

    def _store(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_tolerance(self) -> None:
        if self.tol is None:
            for name in ("max_steps", "max_seconds"):
                if getattr(self, name) is not None:
                    raise InputError("is a cap for tol, and there is no tol", argument=name)
            return
        if not LEAST_TOLERANCE <= self.tol < 1:
            problem = f"must be at least {LEAST_TOLERANCE:g} and below 1, found {self.tol:g}"
            raise InputError(problem, argument="tol")
        for name, needed in (("storage", "memory"), ("reuse_walks", False)):
            if getattr(self, name) != needed:
                problem = f"must be {needed!r} with tol, found {getattr(self, name)!r}"
                raise InputError(problem, argument=name, advice="leave out tol")

    @classmethod
    def of(cls, *, without: Collection[str] = (), **options: Any) -> Self:
        """The options that these keywords ask for; those named in `without` are refused."""
        for name in sorted(set(without) & set(options)):
            raise InputError("is not an option here", argument=name)
        return cls(**options)

    def changed(self, **options: Any) -> Self:
        """The same but for some options."""
        return replace(self, **options)

    @property
    def stitching_degree(self) -> int:
        """The degree as a number, where it has to be one."""
        if isinstance(self.degree, int):
            return self.degree
        raise InputError("must be a number here: 'auto' is for single graphs", argument="degree")

    @property
    def measures_error(self) -> bool:
        """Whether the error of an estimate is checked; not where all warnings are off."""
        silent = self.on_infinite_variance == "ignore"
        return self.check_error and self.storage == "memory" and not silent

    def symmetrizes(self, *, directed: bool) -> bool:
        """Whether estimates of such a graph are symmetrised: what ``symmetrize=None`` means.

        ``None`` is yes for pooled walks: they are for a small error at given steps, and solvers
        such as ``eigsh`` and conjugate gradients need an exactly symmetric operator. It is no for
        independent walks, which are the paper's estimate as it stands, for directed graphs, whose
        kernels are not symmetric, and for reused walks, of which degree 1 is symmetric already.
        """
        if self.symmetrize is None:
            return self.walks == "pooled" and not directed and not self.reuse_walks
        return self.symmetrize

    def check_direction(self, *, directed: bool) -> None:
        """Refuse what needs symmetric weights where they are not; ``"auto"`` is no such request."""
        for name in ("symmetrize", "deflate"):
            if directed and getattr(self, name) not in (None, 0, "auto"):
                raise InputError(
                    "needs symmetric weights, and this graph is directed",
                    argument=name,
                    advice="leave it out, or normalise with 'sym', which keeps undirected graphs "
                    "symmetric ('rw' does not)",
                )


#: Options of whole estimates, which rows, encodings and learnable kernels do not have.
OF_ESTIMATES = tuple(
    option.name for option in fields(WalkOptions) if option.metadata["of_estimates"]
)


def law_of(termination: Termination | str) -> Termination:
    """A law of walk lengths, given as such or as the command line writes it.

    Examples
    --------
    >>> law_of("poisson:4")
    Poisson(mean=4.0)
    """
    if isinstance(termination, Termination):
        return termination
    if isinstance(termination, str):
        return termination_from_spec(termination)
    raise InputError(
        "must be a law such as Geometric(0.1), or text such as 'geometric:0.1', not "
        f"{shown(termination)}",
        argument="termination",
    )


def drawn_seed() -> int:
    """A random seed."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def _group_count(value: Any) -> int:
    if (number := whole(value, "n_groups", 0, MAX_GROUPS)) == 1:
        raise InputError("must be 0, or 2 at least for error bars, found 1", argument="n_groups")
    return number


def _value_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    try:
        value_type = np.dtype(dtype)
    except Exception:  # numpy parses text, and raises what its parser does
        value_type = np.dtype(object)
    if value_type not in (np.float64, np.float32):
        raise InputError(f"must be float64 or float32, not {shown(dtype)}", argument="dtype")
    return value_type
