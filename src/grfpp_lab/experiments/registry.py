"""All experiments, in the order of the page, and the groups that they form."""

from __future__ import annotations

from collections.abc import Sequence

from grfpp.errors import InputError
from grfpp_lab.experiments.classification import experiment as classification
from grfpp_lab.experiments.clustering import experiment as clustering
from grfpp_lab.experiments.gp import experiment as gp
from grfpp_lab.experiments.gps import experiment as gps
from grfpp_lab.experiments.labels import experiment as labels
from grfpp_lab.experiments.normals import experiment as normals
from grfpp_lab.experiments.refined import experiment as refined
from grfpp_lab.experiments.study import (
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
from grfpp_lab.experiments.vit import experiment as vit
from grfpp_lab.harness.experiment import Experiment

#: The paper's estimation study, and what pooled walks add to it.
STUDY = (
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
    refined.EXPERIMENT,
)
#: What kernels are used for.
TASKS = (
    clustering.EXPERIMENT,
    normals.EXPERIMENT,
    labels.EXPERIMENT,
    classification.EXPERIMENT,
)
#: Transformers and Gaussian processes, which need torch.
MODELS = (vit.EXPERIMENT, gps.EXPERIMENT, gp.EXPERIMENT)

EXPERIMENTS: dict[str, Experiment] = {each.name: each for each in (*STUDY, *TASKS, *MODELS)}
#: Names that stand for several experiments.
GROUPS: dict[str, Sequence[Experiment]] = {
    "all": tuple(EXPERIMENTS.values()),
    "estimation-study": STUDY,
    "tasks": TASKS,
    "models": MODELS,
}
#: What groups were once called.
ALIASES = {"everything": "all"}


def chosen_experiments(names: Sequence[str]) -> list[Experiment]:
    """The experiments and groups of these names, in the order of the page."""
    names = [ALIASES.get(name, name) for name in names]
    unknown = [name for name in names if name not in EXPERIMENTS and name not in GROUPS]
    if unknown:
        raise InputError(
            f"there is no experiment {unknown[0]!r}; there are {', '.join(EXPERIMENTS)}, "
            f"and the groups {', '.join(GROUPS)}"
        )
    wanted = {each.name for name in names for each in GROUPS.get(name, ())} | set(names)
    return [each for name, each in EXPERIMENTS.items() if name in wanted]
