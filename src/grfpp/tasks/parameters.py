"""The parameters that the estimators share, written once.

Estimators are dataclasses: the constructor that `dataclass` writes has one keyword for each
parameter and only stores them, which is what scikit-learn asks for. Those about walks are the
fields of `grfpp.WalkOptions`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, make_dataclass
from typing import Any

import numpy as np

from grfpp.arguments import whole
from grfpp.kernels import Kernel
from grfpp.operators import KernelChoice, scale_of
from grfpp.options import WalkOptions

#: What estimators have no parameter for. `random_state` is their seed; lists of graphs are not
#: walked with one set of walks for all factors.
_LEFT_OUT = {"seed", "storage", "dtype", "full_walks", "truncate", "on_infinite_variance"}
_ONE_GRAPH = {"reuse_walks"}

WalkParameters: Any = make_dataclass(
    "WalkParameters",
    [
        (each.name, Any, each.default)
        for each in fields(WalkOptions)
        if each.name not in _LEFT_OUT | _ONE_GRAPH
    ],
    kw_only=True,
    eq=False,
    repr=False,
)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelParameters(WalkParameters):  # type: ignore[misc]  # made above
    """Which kernel, and how it is estimated; see `grfpp.tasks.kernels.kernel_operator`."""

    kernel: str | Kernel = "diffusion"
    estimate: str = "walks"
    scale: float = 1.0
    sigma: float | None = None
    random_state: Any = None

    def _choose(self) -> KernelChoice:
        """Check the parameters and settle the seed, as the first step of a fit."""
        parameters = {each.name: getattr(self, each.name) for each in fields(self)}
        walks = {each.name for each in fields(WalkOptions)} & parameters.keys()
        self._choice = KernelChoice(
            kernel=parameters["kernel"],
            estimate=self.estimate,
            scale=scale_of(self.scale, self.sigma),
            normalization=parameters.get("normalization", "sym"),
            options=walk_options(self.random_state, **{name: parameters[name] for name in walks}),
        )
        self.seed_ = self._choice.options.seed
        return self._choice


@dataclass(kw_only=True, eq=False, repr=False)
class OneGraphParameters(KernelParameters):
    """Those of estimators whose samples are the nodes of one graph."""

    normalization: str | None = "sym"
    reuse_walks: bool = False


def walk_options(random_state: Any = None, n_jobs: int | None = -1, **walks: Any) -> WalkOptions:
    """Options about walks as scikit-learn has them: a random state, and ``None`` for one thread."""
    return WalkOptions(seed=seed_of(random_state), n_jobs=1 if n_jobs is None else n_jobs, **walks)


def seed_of(random_state: Any) -> Any:
    """The seed of the walks: a whole number, or ``None`` for one that is drawn."""
    if random_state is None:
        return None
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    return whole(random_state, "random_state", 0)
