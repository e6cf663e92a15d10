"""What an estimate knows of itself: its error as a whole, and error bars of its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import numpy.typing as npt

from grfpp.arguments import truth
from grfpp.errors import InputError
from grfpp.estimate.error_bars import N_REPLICATES, standard_error
from grfpp.estimate.indexing import NodeMatrix
from grfpp.estimate.meta import EstimateMeta
from grfpp.estimate.origin import Origin
from grfpp.estimate.own_error import OwnError, own_error


class SelfMeasuring(NodeMatrix):
    """A random matrix that can tell how far it is from its mean."""

    #: What is estimated, and how to walk further replicates; ``None`` where nobody knows.
    origin: Origin | None
    #: Independent estimates of the same kind, which error bars come from.
    replicates: tuple[Self, ...]
    _made_by: dict[str, Any]

    def product(self, V: npt.ArrayLike, *, return_std: bool = False) -> Any:
        """``K̂ @ V``; with `return_std` the standard errors of its numbers too."""
        with_std = truth(return_std, "return_std")
        return self._with_std(lambda K: K @ V) if with_std else self @ V

    def measure_error(self) -> OwnError:
        """The error of this very estimate, by random products against polynomials of the weights.

        Its numbers are in `meta` from then on: ``relative_error`` is ``‖K̂ − K‖_F / ‖K‖_F``,
        ``off_diagonal_error`` the same beside the diagonal; ``relative_error_std`` and
        ``off_diagonal_error_std`` are what is not known about them. It takes some twenty products
        with a vector, of the estimate and of the kernel's polynomial (`grfpp.estimate.own_error`).
        """
        if self.origin is None:
            raise InputError(
                "the error of this estimate cannot be measured: nobody knows its graph (it comes "
                "from a file or from factors); grfpp.relative_error(K, kernel, W) does it"
            )
        found = own_error(self, self.origin.kernel, self.origin.graph)
        self._made_by |= found.to_meta()
        return found

    @property
    def meta(self) -> EstimateMeta:
        """What made the estimate and, measured when it is first asked for, its error.

        A copy: what is written to it is gone with it.
        """
        # Not kept: a circle, in which large factors would wait to be freed.
        return EstimateMeta(self._made_by, self._measured)

    def _measured(self) -> Mapping[str, Any] | None:
        return None if self.origin is None else self.measure_error().to_meta()

    def _with_std(self, question: Callable[[Self], Any]) -> tuple[Any, Any]:
        """The answer to a question, and its standard error.

        From the replicates that are kept, else from 16 that are walked for it, one after the other:
        then it takes as long as sampling 16 times, but for single rows and entries of graphs on
        which walks from far away do not come so far.
        """
        if len(self.replicates) == 1:
            raise InputError("this estimate has one replicate, and error bars need two at least")
        if self.replicates:
            others: Iterator[Self] = iter(self.replicates)
        elif self.origin is not None:
            others = map(self.origin.replicate, range(N_REPLICATES))
        else:
            raise InputError(
                "this estimate has no replicates to tell its error from: estimates in files have "
                "them when they are sampled with n_groups=16 or so"
            )
        value = question(self)
        return value, standard_error(question, value, others)
