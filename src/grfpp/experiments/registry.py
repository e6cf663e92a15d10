"""All experiments, in the order of the page."""

from __future__ import annotations

from collections.abc import Sequence

from grfpp.errors import InputError
from grfpp.experiments import (
    equal_cost,
    estimation,
    halting,
    long_range,
    other_kernels,
    reuse,
    scaling,
    speed,
    theory,
)
from grfpp.experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    each.name: each
    for each in (
        estimation.EXPERIMENT,
        long_range.EXPERIMENT,
        halting.EXPERIMENT,
        halting.LONG,
        reuse.EXPERIMENT,
        speed.EXPERIMENT,
        scaling.EXPERIMENT,
        other_kernels.EXPERIMENT,
        equal_cost.EXPERIMENT,
        theory.EXPERIMENT,
    )
}


def chosen_experiments(names: Sequence[str]) -> list[Experiment]:
    """The experiments of these names, in the order of the page; ``all`` is all of them."""
    unknown = [name for name in names if name not in EXPERIMENTS and name != "all"]
    if unknown:
        raise InputError(
            f"there is no experiment {unknown[0]!r}; there are {', '.join(EXPERIMENTS)}, and all"
        )
    if "all" in names:
        return list(EXPERIMENTS.values())
    return [each for name, each in EXPERIMENTS.items() if name in names]
