"""The errors that grfpp raises for input it cannot use.

All are :class:`ValueError`, so code that does not know grfpp catches them too.
"""


class InputError(ValueError):
    """Something that was handed to grfpp cannot be used; the message says what to do."""


class DivergentSeriesError(InputError):
    """The kernel's power series, or its root, does not converge on this graph."""


class InfiniteVarianceError(InputError):
    """The walk lengths make the estimate's variance infinite for this kernel and graph."""


class TruncationError(InputError):
    """The walk lengths are bounded too tightly: the estimate would be biased."""


class MissingDataError(InputError):
    """A data set is not at hand and cannot be downloaded; the message says where to put it."""
