"""The kernels: fast ones, large near the diagonal, and slow ones, which tasks choose."""

from __future__ import annotations

from typing import NamedTuple


class Setting(NamedTuple):
    """A kernel as the command line writes it, and the scale of its weights."""

    kernel: str
    scale: float


FAST, MIDDLE, SLOW = "exp(W)", "exp(5 W)", "exp(20 W)"
INVERSE, SLOW_INVERSE = "(I − 0.8 W)^-2", "(I − 0.95 W)^-2"
KERNELS = {
    FAST: Setting("diffusion:1", 1.0),
    MIDDLE: Setting("diffusion:5", 1.0),
    SLOW: Setting("diffusion:20", 1.0),
    INVERSE: Setting("inverse-power:2", 0.8),
    SLOW_INVERSE: Setting("inverse-power:2", 0.95),
}
