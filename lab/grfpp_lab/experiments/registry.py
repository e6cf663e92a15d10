"""All experiments, in the order of the page, and the groups that they form."""

import tomllib
from collections.abc import Sequence
from importlib.resources import files

from grfpp.errors import InputError
from grfpp_lab.experiments.classification import experiment as classification
from grfpp_lab.experiments.clustering import experiment as clustering
from grfpp_lab.experiments.gp import experiment as gp
from grfpp_lab.experiments.gps import experiment as gps
from grfpp_lab.experiments.labels import experiment as labels
from grfpp_lab.experiments.normals import experiment as normals
from grfpp_lab.experiments.refined import experiment as refined
from grfpp_lab.experiments.study import equal_cost, errors, scaling, speed, theory
from grfpp_lab.experiments.vit import experiment as vit
from grfpp_lab.harness.experiment import Experiment

_TEXTS = tomllib.loads(files("grfpp_lab.experiments").joinpath("texts.toml").read_text("utf-8"))


def _described(*experiments: Experiment) -> tuple[Experiment, ...]:
    return tuple(each.with_texts(_TEXTS[each.name]) for each in experiments)


#: The paper's estimation study, and what pooled walks add to it.
STUDY = _described(
    *(errors.ESTIMATION, errors.LONG_RANGE, errors.HALTING, errors.HALTING_LONG, errors.REUSE),
    *(speed.EXPERIMENT, scaling.EXPERIMENT, errors.OTHER_KERNELS, equal_cost.EXPERIMENT),
    *(theory.EXPERIMENT, refined.EXPERIMENT),
)
#: What kernels are used for.
TASKS = _described(
    clustering.EXPERIMENT, normals.EXPERIMENT, labels.EXPERIMENT, classification.EXPERIMENT
)
#: Transformers and Gaussian processes, which need torch.
MODELS = _described(vit.EXPERIMENT, gps.EXPERIMENT, gp.EXPERIMENT)

EXPERIMENTS: dict[str, Experiment] = {each.name: each for each in (*STUDY, *TASKS, *MODELS)}
#: Names that stand for several experiments.
GROUPS: dict[str, Sequence[Experiment]] = {
    "all": tuple(EXPERIMENTS.values()),
    "estimation-study": STUDY,
    "tasks": TASKS,
    "models": MODELS,
}


def chosen_experiments(names: Sequence[str]) -> list[Experiment]:
    """The experiments and groups of these names, in the order of the page."""
    unknown = [name for name in names if name not in EXPERIMENTS and name not in GROUPS]
    if unknown:
        raise InputError(
            f"there is no experiment {unknown[0]!r}; there are {', '.join(EXPERIMENTS)}, "
            f"and the groups {', '.join(GROUPS)}"
        )
    wanted = {each.name for name in names for each in GROUPS.get(name, ())} | set(names)
    return [each for name, each in EXPERIMENTS.items() if name in wanted]
