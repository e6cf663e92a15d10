"""The parameters that the estimators share, written once.

Estimators are dataclasses: the constructor that `dataclass` writes has one keyword for each
parameter and only stores them, which is what scikit-learn asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from grfpp.kernels import Kernel
from grfpp.termination import Termination


@dataclass(kw_only=True, eq=False, repr=False)
class KernelParameters:
    """Which kernel, and how it is estimated; see `grfpp.tasks.kernels.kernel_operator`."""

    kernel: str | Kernel = "diffusion"
    estimate: str = "walks"
    degree: int = 2
    n_walks: int = 16
    termination: str | Termination = "geometric:0.1"
    sigma: float = 1.0
    random_state: Any = None
    n_jobs: int | None = -1


@dataclass(kw_only=True, eq=False, repr=False)
class OneGraphParameters(KernelParameters):
    """Those of estimators whose samples are the nodes of one graph."""

    normalization: str | None = "sym"
    reuse_walks: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class ManyGraphsParameters(KernelParameters):
    """Those of transformers whose samples are graphs."""

    restrict: Literal["same-label"] | None = None
