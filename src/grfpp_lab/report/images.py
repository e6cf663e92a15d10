"""Figures of matplotlib as bytes, made without pyplot: no global state, no display."""

from __future__ import annotations

import io
from typing import Literal

import matplotlib as mpl
from matplotlib.figure import Figure
from PIL import Image

#: The colour of letters and lines.
INK = "#24292f"


def image_bytes(figure: Figure, kind: Literal["svg", "png", "pdf"], dpi: int = 200) -> bytes:
    """Save a figure; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    undated = {"svg": "Date", "png": "Software", "pdf": "CreationDate"}
    with mpl.rc_context({"svg.hashsalt": "grfpp"}):
        figure.savefig(buffer, format=kind, dpi=dpi, metadata={undated[kind]: None})
    has_images = any(axes.images for axes in figure.axes)
    return _fewer_colours(buffer) if kind == "png" and not has_images else buffer.getvalue()


def _fewer_colours(png: io.BytesIO) -> bytes:
    """Drawings have few colours; saying so makes the file a third as large."""
    small = io.BytesIO()
    Image.open(png).convert("RGB").quantize(255, dither=Image.Dither.NONE).save(
        small, "png", optimize=True
    )
    return small.getvalue()
