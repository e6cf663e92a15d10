"""Positional encodings of nodes."""

from grfpp.imports.lazy import lazy_names

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "transform": "AddGRFPE grf_pe",
    },
)
