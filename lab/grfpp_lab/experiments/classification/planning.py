"""Which cells classification runs, and how one is run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from math import sqrt
from typing import Any

from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.classification import claims as scores
from grfpp_lab.experiments.classification import graph_sets
from grfpp_lab.experiments.classification.claims import EXACT, GRF, GRFPP, LABEL_FEATURES
from grfpp_lab.experiments.measuring import at_hand, pick, seeds
from grfpp_lab.experiments.study.errors import chosen, geometric, listed, matched
from grfpp_lab.harness import experiment as lab
from grfpp_lab.harness.experiment import Cell, Row

TEN = (
    *("MUTAG", "PTC_MR", "ENZYMES", "PROTEINS", "DD"),
    *("IMDB-BINARY", "IMDB-MULTI", "NCI1", "COLLAB", "REDDIT-BINARY"),
)
LARGER = ("REDDIT-MULTI-5K", "REDDIT-MULTI-12K")
#: Of these data sets fewer widths are tried, and not the largest number of walks.
LARGE = ("DD", "COLLAB", "REDDIT-BINARY", *LARGER)
EIGHT = ("MUTAG", "PROTEINS", "ENZYMES", "IMDB-BINARY", "IMDB-MULTI", "NCI1", "PTC_MR", "DD")
#: Where walks by length are compared with Weisfeiler–Lehman.
SIX = ("MUTAG", "PTC_MR", "ENZYMES", "PROTEINS", "NCI1", "DD")
LABELLED = ("MUTAG", "PTC_MR", "ENZYMES", "NCI1")


@dataclass(frozen=True)
class Parameters:
    """How much is run."""

    #: Data sets of each part.
    diffusion: tuple[str, ...]
    squared: tuple[str, ...]
    labels: tuple[str, ...]
    kernels: tuple[str, ...]
    walks: tuple[str, ...]
    #: What is chosen among. Only the first and the last width for exp(W²), for features with labels
    #: and for large data.
    sigmas: tuple[float, ...]
    n_walks: tuple[int, ...]
    n_eigenvalues: tuple[int, ...]
    #: Of the cross-validation, and of the forests.
    n_folds: int
    n_trees: int
    #: Cross-validations with folds and walks of their own, by the number of graphs up to which.
    n_repeats: tuple[tuple[int, int], ...]
    #: Graph kernels of others.
    methods: tuple[str, ...]
    #: Seconds that each of them may take, and that the one may which walks are compared with.
    budget: float
    rival_budget: float

    @property
    def middle(self) -> int:
        """The number of walks where only one is run."""
        return self.n_walks[len(self.n_walks) // 2]

    def repeats(self, dataset: str) -> int:
        """How often a data set is cross-validated."""
        return next((n for most, n in self.n_repeats if graph_sets.SIZES[dataset][0] <= most), 1)


PARAMETERS = {
    lab.Size.FULL: Parameters(
        diffusion=(*TEN, *LARGER),
        squared=EIGHT,
        labels=LABELLED,
        kernels=TEN,
        walks=SIX,
        sigmas=(0.5, 0.6, 0.8, 0.9),
        n_walks=(4, 32, 256),
        n_eigenvalues=(12, 32, 96),
        n_folds=10,
        n_trees=120,
        n_repeats=((400, 3), (700, 2)),
        methods=graph_sets.NAMES,
        budget=30.0,
        rival_budget=300.0,
    ),
    lab.Size.QUICK: Parameters(
        diffusion=("MUTAG", "PTC_MR", "IMDB-BINARY"),
        squared=("MUTAG",),
        labels=("MUTAG", "PTC_MR"),
        kernels=("MUTAG", "PTC_MR"),
        walks=("MUTAG", "PTC_MR"),
        sigmas=(0.5, 0.9),
        n_walks=(16,),
        n_eigenvalues=(24,),
        n_folds=5,
        n_trees=100,
        n_repeats=((400, 2),),
        methods=("VH", "SP", "WL-VH", "PM"),
        budget=20.0,
        rival_budget=20.0,
    ),
    lab.Size.TINY: Parameters(
        diffusion=(graph_sets.GENERATED,),
        squared=(graph_sets.GENERATED,),
        labels=(graph_sets.GENERATED,),
        kernels=(graph_sets.GENERATED,),
        walks=(graph_sets.GENERATED,),
        sigmas=(0.8,),
        n_walks=(4,),
        n_eigenvalues=(8,),
        n_folds=2,
        n_trees=10,
        n_repeats=(),
        methods=("VH", scores.RIVAL),
        budget=60.0,
        rival_budget=60.0,
    ),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """A cell for every data set, kernel, method and number of walks, and for every rival."""
    mine, (_, p_halt) = PARAMETERS[settings.size], chosen(settings)
    sigmas = mine.sigmas if settings.scale is None else (sqrt(settings.scale),)
    shared: dict[str, Any] = {
        "sigmas": list(sigmas),
        "n_eigenvalues": list(mine.n_eigenvalues),
        "termination": geometric(p_halt),
        "n_folds": mine.n_folds,
        "n_trees": mine.n_trees,
        "seed": settings.seed,
    }
    few = {**shared, "sigmas": [*dict.fromkeys([sigmas[0], sigmas[-1]])]}
    cells: list[lab.Cell] = []
    for name in mine.diffusion:
        settled, n_walks = (few, mine.n_walks[:2]) if name in LARGE else (shared, mine.n_walks)
        own = {"dataset": name, "kernel": scores.DIFFUSION, "features": scores.SPECTRUM}
        cells += _repeated(mine.repeats(name), _methods({**own, **settled}, n_walks))
        cells += _repeated(mine.repeats(name), _pooled({**own, **settled}, n_walks, p_halt))
    for name in mine.squared:
        own = {"dataset": name, "kernel": scores.SQUARED, "features": scores.SPECTRUM}
        cells += _repeated(mine.repeats(name), _methods({**own, **few}, [mine.middle]))
        cells += _repeated(mine.repeats(name), _pooled({**own, **few}, [mine.middle], p_halt))
    for name, features in product(mine.labels, LABEL_FEATURES):
        own = {"dataset": name, "kernel": scores.DIFFUSION, "features": features}
        methods = _methods({**own, **few}, [mine.middle], (GRFPP,))
        cells += _repeated(mine.repeats(name), methods)
    for name in mine.walks:
        own = {"dataset": name, "features": scores.WALKS, "method": scores.WALK_METHOD}
        cells.append({**own, **pick(shared, "n_folds", "seed"), "repeat": 0})
    cells += [
        {
            "dataset": name,
            "features": graph_sets.GRAPH_KERNEL,
            "method": method,
            "budget": mine.rival_budget if method == scores.RIVAL else mine.budget,
            "n_folds": mine.n_folds,
            "fold_seed": fold_seed(name, settings.seed, 0),
        }
        for name, method in product(mine.kernels, mine.methods)
    ]
    wanted = dict.fromkeys(
        [*mine.diffusion, *mine.squared, *mine.labels, *mine.kernels, *mine.walks]
    )
    found, skipped = at_hand(wanted, graph_sets.why_absent)
    if not found:
        # Without data, the generated graphs of the smallest size.
        return replace(plan(replace(settings, size=lab.Size.TINY)), skipped=skipped)
    described = {
        "kernels": "exp(W), exp(W²)",
        "weights": f"W = σ² D^-1/2 A D^-1/2, σ in {{{listed(sigmas)}}}; the first and the last of "
        f"them for exp(W²), for labels, and for {listed(LARGE)}",
        "walks": f"{listed(mine.n_walks)} a node and factor, geometric lengths with p_halt = "
        f"{p_halt:g}; GRF++ has degree 2; {mine.middle} walks for exp(W²) and labels; at most "
        f"{max(mine.n_walks[:2])} for {listed(LARGE)}",
        "pooled walks": f"as many steps, degree 2, the last σ alone; also {scores.DEFAULT_WALKS} "
        "walks, the library's default",
        "features": f"the k smallest eigenvalues, k in {{{listed(mine.n_eigenvalues)}}}",
        "folds": f"{mine.n_folds}, stratified"
        + ("; " if mine.n_repeats else "")
        + "; ".join(f"{n} times for up to {most} graphs" for most, n in mine.n_repeats),
        "graph kernels": f"GraKeL, C in {{{listed(graph_sets.PENALTIES)}}}, at most "
        f"{mine.budget:g} s each ({scores.RIVAL}: {mine.rival_budget:g} s)",
    }
    return lab.Plan([cell for cell in cells if cell["dataset"] in found], described, skipped)


def _methods(
    own: dict[str, Any], n_walks: Iterable[int], walking: Iterable[str] = (GRF, GRFPP)
) -> list[dict[str, Any]]:
    """The exact kernel, and every method with every number of walks."""
    return [
        {**own, "method": EXACT, "n_walks": 0},
        *({**own, "method": each, "n_walks": n} for each, n in product(walking, n_walks)),
    ]


def _pooled(own: dict[str, Any], n_walks: Iterable[int], p_halt: float) -> list[dict[str, Any]]:
    """Pooled walks: as many as the others have, and the library's default.

    One width, that of the exact kernel, whose features theirs come near: there it makes no
    difference, and to choose among several would only add the noise of choosing.
    """
    return [
        {
            **{**own, "sigmas": own["sigmas"][-1:], "termination": matched(p_halt)},
            **{"method": POOLED, "walks": POOLED, "n_walks": n},
        }
        for n in sorted({*n_walks, scores.DEFAULT_WALKS})
    ]


def _repeated(n_repeats: int, cells: list[dict[str, Any]]) -> list[lab.Cell]:
    return [{**cell, "repeat": repeat} for cell in cells for repeat in range(n_repeats)]


def fold_seed(dataset: str, seed: int, repeat: int) -> int:
    """What the folds derive from: the same for all methods, so that they are compared in pairs."""
    return seeds(1, dataset=dataset, seed=seed, repeat=repeat)[0] % 2**32


def run_walks(cell: Cell) -> list[Row]:
    """Accuracy on every fold, with what was chosen on the others."""
    from grfpp.tasks.graphs.selection import nested_scores, walk_candidates

    data = graph_sets.load_set(cell["dataset"])
    found = nested_scores(
        walk_candidates(data.graphs, n_jobs=1),
        data.classes,
        n_folds=cell["n_folds"],
        seed=fold_seed(cell["dataset"], cell["seed"], cell["repeat"]),
    )
    return [
        {
            **pick(cell, "dataset", "features", "method", "repeat"),
            "fold": score.fold,
            "chosen": f"C = {score.penalty:g}",
            "inner": score.inner,
            "accuracy": score.accuracy,
        }
        for score in found
    ]
