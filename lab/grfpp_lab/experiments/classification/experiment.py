"""Fig. graph_classification, Tabs. results_labeled, -unlabeled, kernel_results: whole graphs.

The features of a graph are the smallest eigenvalues of its kernel; a random forest classifies them.
Every choice is made within the training folds.
"""

from typing import Any

from grfpp.typing import FloatArray
from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.classification import claims, verdicts
from grfpp_lab.experiments.classification.claims import EXACT, GRF, GRFPP, WALKS
from grfpp_lab.experiments.classification.graph_sets import load_set, run_limited
from grfpp_lab.experiments.classification.planning import fold_seed, plan, run_walks
from grfpp_lab.experiments.measuring import pick, seeds
from grfpp_lab.harness import experiment as lab

#: Stitching degrees of the methods that walk.
DEGREES = {GRF: 1, GRFPP: 2, POOLED: 2}


def run(cell: lab.Cell) -> list[lab.Row]:
    """Accuracy on every fold."""
    if "budget" in cell:
        return run_limited(cell)
    if cell["features"] == WALKS:
        return run_walks(cell)
    from grfpp.tasks.graphs.selection import nested_forest_scores

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
            "sigma": score.chosen.scale**0.5,
            "n_eigenvalues": score.chosen.n_eigenvalues,
            "inner": score.inner,
            "accuracy": score.accuracy,
        }
        for score in found
    ]


def candidates(cell: lab.Cell) -> dict[Any, FloatArray]:
    """Features of every setting that is chosen among."""
    from grfpp.tasks.graphs.selection import candidate_features

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
    plan=plan,
    run=run,
    claims=[
        lab.Claim("classification", claims.panels, verdicts.judge, (claims.paper_table,)),
        lab.Claim("classification-pooled", claims.pooled_panels, verdicts.judge_pooled),
        lab.Claim(
            "classification-squared",
            claims.squared_panels,
            verdicts.judge_squared,
            (claims.squared_table,),
        ),
        lab.Claim(
            "classification-kernels",
            claims.kernels_panels,
            verdicts.judge_kernels,
            (claims.kernels_table,),
        ),
        lab.Claim(
            "classification-labels",
            claims.labels_panels,
            verdicts.judge_labels,
            (claims.labels_table,),
        ),
        lab.Claim(
            "classification-walks", claims.walks_panels, verdicts.judge_walks, (claims.walks_table,)
        ),
    ],
    parts=("tasks",),
)
