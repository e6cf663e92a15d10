"""Labels of papers from those of a few, by citations alone."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from grfpp.typing import FloatArray
from grfpp_lab.experiments.graphs import at_hand, why_absent
from grfpp_lab.experiments.labels import verdicts, views
from grfpp_lab.experiments.labels.data import (
    CORA,
    GENERATED,
    N_NODES,
    PLANETOID,
    PUBMED,
    RANDOM,
    LabelTask,
    label_task,
    read,
)
from grfpp_lab.experiments.labels.rivals import (
    OF_NETWORK,
    OF_SKLEARN,
    rival_scores,
    why_no_network,
)
from grfpp_lab.experiments.labels.views import BY_HOW, FOLDS, OURS
from grfpp_lab.experiments.measuring import pick, seeds
from grfpp_lab.harness import experiment as lab
from grfpp_lab.label_graphs import N_LABELLED, N_VALIDATION


@dataclass(frozen=True)
class Parameters:
    """What is measured: graphs, and random splits of each."""

    data: tuple[str, ...]
    repeats: int


PARAMETERS = {
    lab.Size.FULL: Parameters((CORA, PUBMED), 10),
    lab.Size.QUICK: Parameters((CORA, PUBMED), 10),
    lab.Size.TINY: Parameters((GENERATED,), 1),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """A cell for every split and method."""
    mine = PARAMETERS[settings.size]
    names, skipped = at_hand(mine.data, lambda name: why_absent(name, read))
    absent = why_no_network()
    if absent is not None:
        skipped[", ".join(OF_NETWORK)] = absent
    methods = [OURS, FOLDS, *BY_HOW, *OF_SKLEARN, *(() if absent else OF_NETWORK)]
    cells: list[lab.Cell] = []
    for name in names:
        kinds = [(PLANETOID, 0)] if name != GENERATED else []
        kinds += [(RANDOM, repeat) for repeat in range(mine.repeats)]
        cells += [
            {
                "data": name,
                "split": kind,
                "repeat": repeat,
                "method": method,
                "seed": settings.seed,
            }
            for kind, repeat in kinds
            for method in methods
        ]
    return lab.Plan(
        cells,
        {
            "Planetoid": "the public split of the whole graph: 20 labels a class, 500 nodes to "
            "choose by, 1,000 to judge",
            "random": f"{mine.repeats} splits of the largest component: {N_LABELLED} labels a "
            f"class, {N_VALIDATION} nodes to choose by, all others to judge",
            "kernels": "diffusion for times from 1 to 80, (I − c W)^-2 with c from 0.5 to 0.99",
        },
        skipped,
    )


def run(cell: lab.Cell) -> list[lab.Row]:
    """One method on one split."""
    (seed,) = seeds(1, **pick(cell, "data", "split", "repeat", "seed"))
    task = label_task(cell["data"], cell["split"], seed % 2**32)
    began = perf_counter()
    probabilities, chosen = _predicted(cell["method"], task)
    seconds = perf_counter() - began
    test = task.split.test
    truth = task.labels[test]
    error = None
    if cell["method"] not in OF_NETWORK and cell["method"] not in OF_SKLEARN:
        from grfpp.tasks import calibration_error

        error = calibration_error(probabilities[test], truth)
    return [
        {
            **pick(cell, "data", "split", "repeat", "method"),
            "n_nodes": task.graph.n_nodes,
            "n_train": len(task.split.train),
            "n_test": len(test),
            "accuracy": float((probabilities[test].argmax(axis=1) == truth).mean()),
            "calibration_error": error,
            "seconds": seconds,
            "chosen": chosen,
        }
    ]


def _predicted(method: str, task: LabelTask) -> tuple[FloatArray, str | None]:
    """Scores of all classes at all nodes, and what was chosen."""
    if method not in (OURS, FOLDS, *BY_HOW):
        return rival_scores(method, task), None
    from grfpp.tasks import KernelLabelPropagation

    train, validation = task.split.train, task.split.validation
    model = KernelLabelPropagation(task.graph, how=BY_HOW.get(method, "auto"), n_jobs=1)
    given = None if method == FOLDS else (validation, task.labels[validation])
    model.fit(train, task.labels[train], validation=given)
    return model.probabilities_, f"{model.kernel_!r}, {model.how_} ({model.setting_})"


def cost(cell: lab.Cell) -> float:
    """A guess of the seconds that a cell takes."""
    one = 0.5 + 1e-4 * N_NODES[cell["data"]]
    return float(one * (2 if cell["method"] == FOLDS else 1))


EXPERIMENT = lab.Experiment(
    name="labels",
    title="Labels of nodes",
    source="not in the paper",
    about=[
        "Papers have a field; those of 20 papers a field are known, the others are predicted from "
        "citations alone. `KernelLabelPropagation` with its defaults chooses kernel, width and the "
        "way to read labels out by a validation set, or by folds of the labelled nodes where there "
        "is none. The calibration error is that of the largest probability, in 15 bins.",
        "The defaults were settled on two generated graphs and on the validation nodes of Cora, "
        "and checked on further generated ones (`python -m grfpp_lab.studies.label_settings`), "
        "before the test nodes were looked at; how probabilities are calibrated, afterwards, on "
        "random splits without the public test nodes. Other methods learn from the same 20 labels "
        "a class and choose nothing; those of scikit-learn are given up to 3,000 steps.",
        "What ours has beside the kernel: the validation nodes say how large classes are, which "
        "20 labels of each do not.",
    ],
    plan=plan,
    run=run,
    cost=cost,
    parts=("tasks",),
    timings=("seconds",),
    claims=[
        lab.Claim(
            "labels-planetoid",
            "The public split",
            "Share of test nodes that are right, on each split.",
            views.accuracy_panels,
            verdicts.judge_planetoid,
            (views.table,),
        ),
        lab.Claim(
            "labels-random",
            "Random splits",
            "Calibration error of the probabilities, on each split.",
            views.calibration_panels,
            verdicts.judge_random,
        ),
        lab.Claim(
            "labels-rivals",
            "Other methods",
            "Share of test nodes that are right, on each split.",
            views.accuracy_panels,
            verdicts.judge_rivals,
        ),
    ],
)
