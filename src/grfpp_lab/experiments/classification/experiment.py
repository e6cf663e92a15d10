"""Fig. graph_classification, Tabs. results_labeled, -unlabeled, kernel_results: whole graphs.

Every graph is the smallest eigenvalues of its kernel, a random forest tells the classes apart, and
everything that is chosen is chosen within the folds.
"""

from __future__ import annotations

from typing import Any

from grfpp.typing import FloatArray
from grfpp_lab.experiments.classification import tables, verdicts, views
from grfpp_lab.experiments.classification.graph_kernels import run_limited
from grfpp_lab.experiments.classification.graph_sets import load_set
from grfpp_lab.experiments.classification.planning import cost, fold_seed, plan
from grfpp_lab.experiments.classification.scores import (
    DEFAULT_WALKS,
    EXACT,
    GRF,
    GRFPP,
    WALKS,
)
from grfpp_lab.experiments.classification.walks import run_walks
from grfpp_lab.experiments.measuring import pick, seeds
from grfpp_lab.experiments.views import POOLED
from grfpp_lab.harness import experiment as lab

#: Stitching degrees of the methods that walk.
DEGREES = {GRF: 1, GRFPP: 2, POOLED: 2}


def run(cell: lab.Cell) -> list[lab.Row]:
    """Accuracy on every fold."""
    if "budget" in cell:
        return run_limited(cell)
    if cell["features"] == WALKS:
        return run_walks(cell)
    from grfpp.tasks.graphs.nested import nested_forest_scores

    found = nested_forest_scores(
        candidates(cell),
        load_set(cell["dataset"]).classes,
        n_folds=cell["n_folds"],
        n_trees=cell["n_trees"],
        seed=fold_seed(cell["dataset"], cell["seed"], cell["repeat"]),
    )
    return [
        {
            **pick(cell, "dataset", "features", "kernel", "method", "n_walks", "repeat"),
            **(pick(cell, "walks") if "walks" in cell else {}),
            "fold": score.fold,
            "sigma": score.chosen.sigma,
            "n_eigenvalues": score.chosen.n_eigenvalues,
            "inner": score.inner,
            "accuracy": score.accuracy,
        }
        for score in found
    ]


def candidates(cell: lab.Cell) -> dict[Any, FloatArray]:
    """Features of every setting that is chosen among."""
    from grfpp.tasks.graphs.candidates import candidate_features

    return candidate_features(
        load_set(cell["dataset"]).graphs,
        scales=[sigma**2 for sigma in cell["sigmas"]],
        n_walks=[cell["n_walks"] or 1],  # 0 where there are none
        n_eigenvalues=cell["n_eigenvalues"],
        kind=cell["features"],
        **_options(cell),
    )


def _options(cell: lab.Cell) -> dict[str, Any]:
    if cell["method"] == EXACT:
        return {"kernel": cell["kernel"], "estimate": "exact", "n_jobs": 1}
    identity = pick(cell, "dataset", "method", "n_walks", "seed", "repeat")
    return {
        "kernel": cell["kernel"],
        "degree": DEGREES[cell["method"]],
        "termination": cell["termination"],
        "walks": cell.get("walks", "independent"),
        "random_state": seeds(1, **identity)[0],
        "n_jobs": 1,
    }


EXPERIMENT = lab.Experiment(
    name="classification",
    title="Graph classification",
    source="Fig. graph_classification, Tabs. results_labeled, results_unlabeled, kernel_results",
    about=[
        "Every graph becomes the `k` smallest eigenvalues of its kernel (of the symmetrised "
        "estimate, where walks estimate it; zeros where a graph has fewer nodes), and a random "
        "forest tells the classes apart. Accuracies are means over stratified folds, ± the "
        "standard deviation over them, as in the paper's tables. What is chosen (`k`, σ, the "
        "number of walks) is chosen within each fold, from the others alone, by the "
        "out-of-bag accuracy of the forest. All methods have the same folds, so differences are "
        "taken fold by fold.",
        "The width σ of an exact kernel makes no difference here: it changes every feature by a "
        "monotone function, which a forest does not see. So the exact kernel has one width.",
        "Pooled walks are ours and take as many steps as the paper's: see `refined`. They have the "
        f"width of the exact kernel, and {DEFAULT_WALKS} walks, the library's default, wherever "
        "one number is given: neither is chosen.",
    ],
    plan=plan,
    run=run,
    claims=[
        lab.Claim(
            "classification",
            "Diffusion kernel, GRF and GRF++",
            "Share of wrong answers against the number of walks; bars are standard errors.",
            views.panels,
            verdicts.judge,
            (tables.paper_table,),
        ),
        lab.Claim(
            "classification-pooled",
            "Pooled walks beside the exact kernel",
            "How many points the accuracy is away from that of the exact kernel, above or below, "
            f"fold by fold; a point a data set. Pooled: {DEFAULT_WALKS} walks. GRF and GRF++: the "
            "number that is chosen within the folds.",
            views.pooled_panels,
            verdicts.judge_pooled,
        ),
        lab.Claim(
            "classification-squared",
            "The kernel exp(W²)",
            "Share of wrong answers for exp(W²); bars are standard errors.",
            views.squared_panels,
            verdicts.judge_squared,
            (tables.squared_table,),
        ),
        lab.Claim(
            "classification-kernels",
            "Beside graph kernels",
            "Share of wrong answers of graph kernels, the best first; ours are the level lines.",
            views.kernels_panels,
            verdicts.judge_kernels,
            (tables.kernels_table,),
        ),
        lab.Claim(
            "classification-labels",
            "Labels (the paper's future work)",
            f"Share of wrong answers with these features: {views.NUMBERED}.",
            views.labels_panels,
            verdicts.judge_labels,
            (tables.labels_table,),
        ),
        lab.Claim(
            "classification-walks",
            "Walks by length and labels (ours) beside Weisfeiler–Lehman",
            "Share of wrong answers; a point a data set.",
            views.walks_panels,
            verdicts.judge_walks,
            (tables.walks_table,),
        ),
    ],
    cost=cost,
    parts=("tasks",),
)
