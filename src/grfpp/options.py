"""`WalkOptions`: what a user can choose about walks, as one value."""

from __future__ import annotations

import operator
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypedDict, Unpack, cast, get_args

import numpy as np
import numpy.typing as npt

from grfpp.arguments import one_of, positive, truth, whole
from grfpp.errors import InputError, shown
from grfpp.parallel import thread_count
from grfpp.termination import Geometric, Matched, Termination, termination_from_spec

Walks = Literal["independent", "pooled"]
Degree = int | Literal["auto"]
Storage = Literal["memory", "recompute"]
OnInfiniteVariance = Literal["raise", "warn", "ignore"]
ToleranceKind = Literal["frobenius", "entry"]

#: The law of the walk lengths where none is asked for: both take nine steps a walk.
DEFAULT_LAWS: dict[Walks, Termination] = {"independent": Geometric(0.1), "pooled": Matched(9.0)}
#: No use of stitching is known beyond single digits; this keeps absurd requests out.
MAX_DEGREE = 1024
#: Rounding allows no less.
LEAST_TOLERANCE = 1e-12
#: Error bars of so many groups are known to 2 %.
MAX_GROUPS = 1024
#: Walkers are numbered in 32 bits.
MAX_WALKS = 2**31 - 1
#: Options that only whole estimates have: those of one chain, of which rows are not all.
OF_ESTIMATES = (
    *("reuse_walks", "storage", "symmetrize", "deflate", "n_groups"),
    *("check_error", "tol", "tol_kind", "max_steps", "max_seconds"),
)
_DIRECTED = (
    "needs symmetric weights, and this graph is directed; leave it out, or make the weights "
    "symmetric: normalisation 'sym' keeps those of undirected graphs so, 'rw' does not"
)


class MoreWalkKeywords(TypedDict, total=False):
    """The options that are seldom given, as keywords; see `WalkOptions`."""

    reuse_walks: bool
    truncate: bool
    on_infinite_variance: OnInfiniteVariance
    full_walks: bool
    dtype: npt.DTypeLike
    storage: Storage
    n_jobs: int
    walks: Walks
    symmetrize: bool | None
    deflate: int | Literal["auto"]
    n_groups: int
    check_error: bool
    tol: float | None
    tol_kind: ToleranceKind
    max_steps: float | None
    max_seconds: float | None


class WalkKeywords(MoreWalkKeywords, total=False):
    """All options as keywords, in the forms that users may give."""

    degree: Degree
    n_walks: int
    termination: Termination | str | None
    seed: int | None


@dataclass(frozen=True, kw_only=True)
class WalkOptions:
    """How a kernel is estimated by walks; checked when it is made.

    Everything that walks holds one of these and passes it on whole.

    Parameters
    ----------
    degree
        Stitching degree ``l``: the estimate is a product of ``2 l`` independent factors. Degree 1
        is the method of regular graph random features. ``"auto"``: that of least predicted error
        at the steps that degree 2 would take in all (`grfpp.sampling.degree.settle_degree`).
    n_walks
        Walks from every node for every factor; of a pool, how much it may walk.
    termination
        The law of the walk lengths: a law, how the command line writes it (``"geometric:0.1"``), or
        ``None`` for ``Matched(9)`` (pooled walks) and ``Geometric(0.1)`` (independent ones). Of a
        pool it is the budget: with ``Matched(mean)`` its ``n_walks · mean`` steps are shared by
        what still matters; with another law ``n_walks · P(length ≥ k)`` are for step ``k``, and
        what a step leaves goes to later ones.
    seed
        A whole number; the result is the same to the last bit for any number of threads. ``None``
        draws one.
    reuse_walks
        Use one set of walks for all factors. This saves walking and is biased (most of all on the
        diagonal, at degree 1), because the factors are no longer independent.
    truncate
        Accept a law with bounded lengths although it cuts off a part of the kernel's series.
    on_infinite_variance
        What to do about a law that makes the variance infinite: ``"raise"``, ``"warn"``,
        ``"ignore"``, which goes for large errors (`check_error`) too.
    full_walks
        Walk on where all later ``f(k)`` are zero in float64. This changes no number; it is for
        studies of how long walks take.
    dtype
        Of the stored factors, float64 or float32; sums are made in float64.
    storage
        ``"memory"`` keeps the factors. ``"recompute"`` walks them again for every product, with the
        same numbers: for graphs whose factors do not fit.
    n_jobs
        Threads; -1 for all cores.
    walks
        ``"pooled"``: the walkers of one row move together, as a sparse vector of masses. They take
        as many steps and leave a small part of the noise. ``"independent"``: walkers that know
        nothing of each other, the paper's way.
    symmetrize
        Estimate by ``(K̂ + K̂ᵀ) / 2``, for symmetric weights: unbiased, exactly symmetric, with
        0.71 of the error off the diagonal, at twice the products. ``None`` is yes for pooled walks
        and no for independent ones (`symmetrizes`).
    deflate
        Take so many eigenvectors of symmetric weights exactly, and estimate the kernel beside them:
        unbiased, for slow kernels such as ``exp(20 W)``, whose walks are long and of which a few
        eigenvectors hold most. ``"auto"`` takes as many as pay, often none
        (`grfpp.estimate.deflation.deflation_of`).
    n_groups
        Further estimates of the same kind, which error bars (``return_std=True``) come from. They
        are walked and kept beside the estimate, also in its file, and take as much time and memory
        as it each: 2 at least. With 0, sixteen are walked whenever an error bar is asked for.
    check_error
        Look at one random product of the estimate and, where that is far off, measure its error
        and warn if that is above one half. This takes about a tenth of the walking time.
    tol
        Walk until the estimate has this relative error; `n_walks` is then not used
        (`grfpp.sampling.tolerance`).
    tol_kind
        ``"frobenius"``: `tol` is for ``‖K̂ − K‖_F / ‖K‖_F``. ``"entry"``: for the largest
        ``|K̂_ij − K_ij|`` of up to 64 rows, over their largest ``|K_ij|``.
    max_steps, max_seconds
        Where walking for `tol` ends all the same: after so many steps a node in all factors, or
        after about so many seconds. Without either, more than 100,000 steps are refused.

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

    degree: Degree = 2
    n_walks: int = 16
    termination: Termination = None  # type: ignore[assignment]  # a law once it is checked
    seed: int = None  # type: ignore[assignment]  # drawn once it is checked
    reuse_walks: bool = False
    truncate: bool = False
    on_infinite_variance: OnInfiniteVariance = "raise"
    full_walks: bool = False
    dtype: np.dtype[Any] = np.float64  # type: ignore[assignment]  # a dtype once it is checked
    storage: Storage = "memory"
    n_jobs: int = -1
    walks: Walks = "pooled"
    symmetrize: bool | None = None
    deflate: int | Literal["auto"] = 0
    n_groups: int = 0
    check_error: bool = True
    tol: float | None = None
    tol_kind: ToleranceKind = "frobenius"
    max_steps: float | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        for name, most in (("degree", MAX_DEGREE), ("n_walks", MAX_WALKS)):
            if name == "degree" and _is_auto(self.degree):
                continue
            object.__setattr__(self, name, whole(getattr(self, name), name, 1, most))
        one_of(self.on_infinite_variance, "on_infinite_variance", get_args(OnInfiniteVariance))
        one_of(self.storage, "storage", get_args(Storage))
        walks = one_of(self.walks, "walks", get_args(Walks))
        law = DEFAULT_LAWS[walks] if self.termination is None else law_of(self.termination)
        if walks == "independent" and isinstance(law, Matched):
            raise InputError(
                f"{law!r} is a budget for pooled walks: use walks='pooled', or a law such as "
                "Geometric(0.1)",
            )
        thread_count(self.n_jobs)
        checked: dict[str, Any] = {
            "n_jobs": operator.index(self.n_jobs),
            "termination": law,
            "seed": drawn_seed() if self.seed is None else whole(self.seed, "seed", 0),
            "reuse_walks": truth(self.reuse_walks, "reuse_walks"),
            "truncate": truth(self.truncate, "truncate"),
            "full_walks": truth(self.full_walks, "full_walks"),
            "dtype": _value_type(self.dtype),
            "n_groups": _group_count(self.n_groups),
            "check_error": truth(self.check_error, "check_error"),
        }
        one_of(self.tol_kind, "tol_kind", get_args(ToleranceKind))
        for name in ("tol", "max_steps", "max_seconds"):
            if getattr(self, name) is not None:
                checked[name] = positive(getattr(self, name), name)
        self._check_tolerance()
        if self.symmetrize is not None:
            checked["symmetrize"] = truth(self.symmetrize, "symmetrize")
        if isinstance(self.deflate, str):
            if self.deflate != "auto":
                raise InputError(
                    f"must be a whole number >= 0 or 'auto', found {shown(self.deflate)}",
                    argument="deflate",
                )
        else:
            checked["deflate"] = whole(self.deflate, "deflate", 0)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _check_tolerance(self) -> None:
        if self.tol is None:
            for name in ("max_steps", "max_seconds"):
                if getattr(self, name) is not None:
                    raise InputError("is for walks to a tol, and there is none", argument=name)
            return
        if not LEAST_TOLERANCE <= self.tol < 1:
            problem = f"must be at least {LEAST_TOLERANCE:g} and below 1, found {self.tol:g}"
            raise InputError(problem, argument="tol")
        for name, needed, words in (
            ("storage", "memory", "must be 'memory' for"),
            ("reuse_walks", False, "is not for"),
        ):
            if getattr(self, name) != needed:
                raise InputError(f"{words} walks to a relative error", argument=name, without="tol")

    @classmethod
    def of(cls, *, without: Collection[str] = (), **options: Unpack[WalkKeywords]) -> Self:
        """The options that these keywords ask for, in any of the forms that users give.

        Those named in `without`, because there is no such option there, are refused.
        """
        for name in sorted(set(without) & set(options)):
            raise InputError("is not an option here", argument=name)
        return cls(**cast(Any, options))

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
        """Whether an estimate is looked at when it is walked; not where all warnings are off."""
        unwanted = self.on_infinite_variance == "ignore"
        return self.check_error and self.storage == "memory" and not unwanted

    def symmetrizes(self, *, directed: bool) -> bool:
        """Whether estimates of such a graph are symmetrised: what ``symmetrize=None`` means.

        ``None`` is yes for pooled walks: they are there for a small error at given steps, and both
        orders of the factors are walked already; solvers such as ``eigsh`` and conjugate gradients
        need an operator that is exactly symmetric, too. It is no for independent walks, which are
        the paper's estimate as it stands, for directed graphs, whose kernels are not symmetric, and
        for reused walks, of which degree 1 is symmetric already.
        """
        if self.symmetrize is None:
            return self.walks == "pooled" and not directed and not self.reuse_walks
        return self.symmetrize

    def check_direction(self, *, directed: bool) -> None:
        """Refuse what needs symmetric weights where they are not; ``"auto"`` is no such request."""
        for name in ("symmetrize", "deflate"):
            if directed and getattr(self, name) not in (None, 0, "auto"):
                raise InputError(_DIRECTED, argument=name)


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
        "termination must be a law such as Geometric(0.1), or text such as 'geometric:0.1', "
        f"not {shown(termination)}"
    )


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def drawn_seed() -> int:
    """A seed that nobody has asked for."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def _group_count(number: Any) -> int:
    """None, or as many as a spread can be told from."""
    if (found := whole(number, "n_groups", 0, MAX_GROUPS)) == 1:
        raise InputError("must be 0, or 2 at least for error bars, found 1", argument="n_groups")
    return found


def _value_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    try:
        found = np.dtype(dtype)
    except Exception:  # numpy parses text, and raises what its parser does
        raise InputError(f"dtype must be float64 or float32, not {shown(dtype)}") from None
    if found not in (np.float64, np.float32):
        raise InputError(f"dtype must be float64 or float32, not {found}")
    return found
