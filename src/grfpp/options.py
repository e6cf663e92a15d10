"""`WalkOptions`: the options of sampling, as one frozen value."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
import numpy.typing as npt

from grfpp._checks import one_of, positive, truth, whole
from grfpp._parallel import thread_count
from grfpp.errors import InputError, require_options, shown
from grfpp.termination import Geometric, Matched, Termination, termination_from_spec

Walks = Literal["independent", "pooled"]
Degree = int | Literal["auto"]
Storage = Literal["memory", "recompute"]
OnInfiniteVariance = Literal["raise", "warn", "ignore"]
ToleranceKind = Literal["frobenius", "entry"]

#: Default laws of the walk lengths, both with nine steps per walk.
DEFAULT_LAWS: dict[Walks, Termination] = {"independent": Geometric(0.1), "pooled": Matched(9.0)}
#: Largest stitching degree, far beyond useful ones, which have one digit.
MAX_DEGREE = 1024
#: Smallest tolerance, above the rounding errors of float64.
MIN_TOLERANCE = 1e-12
#: Largest number of replicates; error bars then have a standard error of 2 %.
MAX_GROUPS = 1024
#: Largest number of walks, which are numbered in 32 bits.
MAX_WALKS = 2**31 - 1

#: Takes a value and the option's name, and returns the checked value.
Check = Callable[[Any, str], Any]


def _option(default: Any, check: Check, flags: str = "", *, of_estimates: bool = False) -> Any:
    """A field of `WalkOptions`; those `of_estimates` apply to whole estimates only.

    With `flags` it is an option of commands too, whose help is the first sentence about it in the
    docstring of `WalkOptions`.
    """
    metadata = {"check": check, "flags": flags, "of_estimates": of_estimates}
    return field(default=default, metadata=metadata)


def _choice(values: Any) -> Check:
    return lambda value, name: one_of(value, name, get_args(values))


def _number_or_auto(low: int, high: int | None = None) -> Check:
    def check(value: Any, name: str) -> Any:
        if isinstance(value, str) and value == "auto":
            return value
        try:
            return whole(value, name, low, high)
        except InputError as error:
            raise InputError(error.problem, argument=name, advice="or use 'auto'") from None

    return check


class StepOptions(NamedTuple):
    """The options that the compiled step of a pool reads, in types that numba compiles.

    Plans and the compiled loops pass them on whole, so that a new field is used where the step is
    (`grfpp.walks.pool`, `grfpp.walks.reference`) and nothing between has to name it. None of the
    present options is needed there: `n_walks` and `termination` act through the plan's budget.
    """


#: The step of plans that are made without `WalkOptions`, such as those of local queries.
DEFAULT_STEP = StepOptions()


@dataclass(frozen=True, kw_only=True)
class WalkOptions:
    """Options of estimating a kernel by walks, as one immutable, checked value.

    Parameters
    ----------
    degree
        Stitching degree; 1 is a regular GRF; ``"auto"`` has the least predicted error. The estimate
        is a product of ``2 l`` independent factors for degree ``l``. ``"auto"`` takes as many steps
        as degree 2 (`grfpp.estimate.degree.with_fixed_degree`).
    n_walks
        Number of walks from every node for every factor. It scales the budget of a pool.
    termination
        Law of the walk lengths; ``matched:9`` by default, ``geometric:0.1`` for independent walks.
        A law such as ``Poisson(4)``, or text such as ``"poisson:4"``. For pools it is the budget:
        ``Matched(mean)`` splits ``n_walks · mean`` steps by the remaining terms of the series;
        other laws give step ``k`` ``n_walks · P(length ≥ k)`` steps. A remainder goes to later
        steps.
    seed
        Seed of the walks. A whole number; the result is the same to the last bit for any number of
        threads. ``None`` draws one.
    reuse_walks
        One set of walks for all factors: cheaper, biased. The factors are then dependent; the bias
        is largest on the diagonal, at degree 1.
    truncate
        Accept the bias of bounded walk lengths. They truncate the kernel's series.
    on_infinite_variance
        Reaction to walk lengths with infinite variance. ``"raise"``, ``"warn"`` or ``"ignore"``;
        ``"ignore"`` also turns off warnings of large errors (`check_error`).
    full_walks
        Continue walks where all later ``f(k)`` are zero in float64. This changes no number; it is
        for studies of the cost of walks.
    dtype
        Store the factors in single precision. float64 or float32; sums are computed in float64.
    storage
        ``"memory"`` stores the factors. ``"recompute"`` samples them again for every product, with
        the same numbers: for graphs whose factors do not fit into memory.
    n_jobs
        Number of threads; -1 for all cores. The result does not depend on it.
    walks
        Walkers of a node move together (pooled), or independently as in the paper. A pool is a
        sparse vector of masses, with much less noise at the same number of steps.
    symmetrize
        Average the estimate with its transpose: less error, twice the products; by default for
        pooled walks on undirected graphs. ``(K̂ + K̂ᵀ) / 2`` is unbiased and exactly symmetric, with
        0.71 of the off-diagonal error (`symmetrizes`).
    deflate
        Number of exact eigenvectors on undirected graphs, for slow kernels; ``"auto"`` chooses it
        by cost. Walks estimate the kernel on their orthogonal complement: unbiased, for kernels
        such as ``exp(20 W)`` that are dominated by a few eigenvectors. ``"auto"`` often chooses
        none (`grfpp.estimate.deflation.deflation_of`).
    n_groups
        Number of replicates to store with the estimate, for error bars. At least 2, each as large
        as the estimate, for ``return_std=True``. With 0, sixteen are sampled for every error bar.
    check_error
        Bound the error from a few rows and, where it may be large, measure it and warn if it is
        above one half. Where the bound is no help (slow kernels, directed graphs, independent
        walks), one random product of the estimate is compared with the exact one.
    tol
        Sample until the estimate has this relative error, for any `n_walks`. See
        `grfpp.estimate.tolerance`.
    tol_kind
        Norm of `tol`: of the whole matrix, or of single entries. ``"frobenius"``:
        ``‖K̂ − K‖_F / ‖K‖_F``. ``"entry"``: the largest ``|K̂_ij − K_ij|`` of up to 64 rows, over
        their largest ``|K_ij|``.
    max_steps
        With `tol`: largest number of steps of a node in all factors. Without this and
        `max_seconds`, more than 100,000 steps are refused.
    max_seconds
        With `tol`: largest duration in seconds, approximately.

    References
    ----------
    K. Choromanski, A. Dubey, A. Sehanobish and I. Reid, Computationally-efficient graph modeling
    with refined graph random features, ICML 2026: stitching degree
    (Lemma 2.1) and laws of the walk lengths (Algorithm 2).

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
            # Where the default is ``None``, it means that no value is given.
            if value is not None or option.default is not None:
                self._store(option.name, option.metadata["check"](value, option.name))
        if self.termination is None:
            self._store("termination", DEFAULT_LAWS[self.walks])
        if self.seed is None:
            self._store("seed", drawn_seed())
        if self.walks == "independent" and isinstance(self.termination, Matched):
            problem = f"{self.termination!r} is a budget for pooled walks"
            advice = "use walks='pooled', or a law such as Geometric(0.1)"
            raise InputError(problem, advice=advice)
        self._check_tolerance()

    def _store(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_tolerance(self) -> None:
        if self.tol is None:
            for name in ("max_steps", "max_seconds"):
                if getattr(self, name) is not None:
                    problem = "limits tol, which is not given"
                    raise InputError(problem, argument=name, advice="give tol, or leave it out")
            return
        if not MIN_TOLERANCE <= self.tol < 1:
            problem = f"must be at least {MIN_TOLERANCE:g} and below 1, found {self.tol:g}"
            raise InputError(problem, argument="tol")
        for name, required in (("storage", "memory"), ("reuse_walks", False)):
            if getattr(self, name) != required:
                problem = f"must be {required!r} with tol, found {getattr(self, name)!r}"
                raise InputError(problem, argument=name, advice="leave out tol")

    @classmethod
    def of(cls, *, without: Collection[str] = (), **options: Any) -> Self:
        """Options from keywords; those named in `without` are refused."""
        require_options(options, {option.name for option in fields(cls)})
        for name in sorted(set(without) & set(options)):
            raise InputError("is not an option here", argument=name)
        return cls(**options)

    def changed(self, **options: Any) -> Self:
        """The same options with some of them replaced."""
        return replace(self, **options)

    @property
    def stitching_degree(self) -> int:
        """The degree as a number; refuses ``"auto"``."""
        if isinstance(self.degree, int):
            return self.degree
        advice = "use a number: 'auto' is for single graphs"
        raise InputError("must be a number here, found 'auto'", argument="degree", advice=advice)

    @property
    def step(self) -> StepOptions:
        """The options that the compiled step of a pool reads."""
        names: tuple[str, ...] = StepOptions._fields
        return StepOptions(*(getattr(self, name) for name in names))

    @property
    def measures_error(self) -> bool:
        """Whether the error of an estimate is measured; not where warnings are ignored."""
        silent = self.on_infinite_variance == "ignore"
        return self.check_error and self.storage == "memory" and not silent

    def symmetrizes(self, *, directed: bool) -> bool:
        """Whether estimates are symmetrised; this resolves ``symmetrize=None``.

        ``None`` means ``True`` for pooled walks: solvers such as ``eigsh`` and conjugate gradients
        need an exactly symmetric operator. It means ``False`` for independent walks, which are the
        paper's estimate, for directed graphs, whose kernels are not symmetric, and for reused
        walks, which are symmetric at degree 1 already.
        """
        if self.symmetrize is None:
            return self.walks == "pooled" and not directed and not self.reuse_walks
        return self.symmetrize

    def check_direction(self, *, directed: bool) -> None:
        """Refuse options that need symmetric weights on directed graphs; ``"auto"`` does not."""
        for name in ("symmetrize", "deflate"):
            if directed and getattr(self, name) not in (None, 0, "auto"):
                raise InputError(
                    "needs symmetric weights, but this graph is directed",
                    argument=name,
                    advice="leave it out, or use the normalisation 'sym' instead of 'rw'",
                )


#: Options of whole estimates, which rows, encodings and learnable kernels do not have.
OF_ESTIMATES = tuple(
    option.name for option in fields(WalkOptions) if option.metadata["of_estimates"]
)


def law_of(termination: Termination | str) -> Termination:
    """A law of walk lengths from a law or from text as on the command line.

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
    except Exception:  # numpy parses text, and its parser raises various errors
        value_type = np.dtype(object)
    if value_type not in (np.float64, np.float32):
        raise InputError(f"must be float64 or float32, not {shown(dtype)}", argument="dtype")
    return value_type
