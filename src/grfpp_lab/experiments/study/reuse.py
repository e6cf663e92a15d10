"""Fig. speed_reuse (a): the same walks for every factor, against fresh ones."""

from __future__ import annotations

from grfpp.estimate import KernelEstimate
from grfpp.factors import StoredFactor
from grfpp.kernels.registry import kernel_from_spec
from grfpp.termination import termination_from_spec
from grfpp_lab.experiments import measuring
from grfpp_lab.experiments.graphs import EIGHT
from grfpp_lab.experiments.study.grid import error_plan, grids
from grfpp_lab.experiments.verdicts import Comparison, compare, judged
from grfpp_lab.experiments.views import Series, degree_name, error_claim, values
from grfpp_lab.harness import experiment as lab

FRESH, ONE_SET, TWO_SETS = "fresh", "one set", "two sets"


def run(cell: lab.Cell) -> list[lab.Row]:
    """Errors with fresh walks, with one set for all factors, and with one for each side."""
    W, kernel = measuring.weights(cell["graph"], cell["scale"]), kernel_from_spec(cell["kernel"])
    law = termination_from_spec(cell["termination"])
    exact = measuring.exact_kernel(cell["graph"], cell["scale"], cell["kernel"])
    degree, n_walks = cell["degree"], cell["n_walks"]
    # The same seeds for all degrees: what is used again are the very walks of regular GRFs.
    same = measuring.pick(cell, "graph", "scale", "termination", "n_walks", "seed")
    errors: dict[str, list[float]] = {FRESH: [], ONE_SET: [], TWO_SETS: []}
    steps = 0.0
    for seed in measuring.seeds(cell["repeats"], **same):
        fresh = measuring.paper_sample(W, kernel, degree, n_walks, law, seed)
        one = measuring.paper_sample(W, kernel, degree, n_walks, law, seed, reuse_walks=True)
        left, right = map(StoredFactor, fresh.factors[0])
        two = KernelEstimate([(left, right)] * degree, n_jobs=1)
        for walks, K in ((FRESH, fresh), (ONE_SET, one), (TWO_SETS, two)):
            errors[walks].append(measuring.relative_error(K.toarray(), exact))
        steps = fresh.meta["steps_per_node"] / (2 * degree)
    return [
        {
            **{"graph": cell["graph"], "n_nodes": W.n_nodes},
            **measuring.pick(cell, "kernel", "scale", "termination", "degree", "n_walks"),
            "walks": walks,
            "steps_per_node": n_factors * steps,
            **measuring.error_columns(errors[walks]),
        }
        for walks, n_factors in ((FRESH, 2 * degree), (ONE_SET, 1), (TWO_SETS, 2))
    ]


def series(rows: lab.Rows) -> list[Series]:
    """Regular GRFs, and every degree with one set of walks (dashed: fresh walks)."""
    degrees = values(rows, "degree")
    return [
        Series("GRF", {"degree": 1, "walks": FRESH}, 0, dashed=True),
        *(
            Series(f"{degree_name(d)}, reused", {"degree": d, "walks": ONE_SET}, d - 1)
            for d in degrees
        ),
        *(
            Series(f"{degree_name(d)}, fresh", {"degree": d, "walks": FRESH}, d - 1, dashed=True)
            for d in degrees
            if d in (2, 4)
        ),
    ]


def judge(rows: lab.Rows) -> lab.Verdict:
    """GRF++ with walks used again below regular GRFs."""
    grf = {"degree": 1, "walks": FRESH}
    higher = [degree for degree in values(rows, "degree") if degree > 1]
    comparisons = [
        compare(
            rows,
            f"{degree_name(degree)} with GRF's own walks below GRF",
            {"degree": degree, "walks": ONE_SET},
            grf,
        )
        for degree in higher
    ]
    notes = []
    for text, low, high in (
        ("that of GRF with one set for both sides", ONE_SET, {"degree": 1, "walks": ONE_SET}),
        ("that of GRF when there are two sets, one for each side", TWO_SETS, grf),
        ("that of GRF when all walks are fresh", FRESH, grf),
    ):
        pairs = [
            pair
            for degree in higher
            for pair in compare(rows, "", {"degree": degree, "walks": low}, high).pairs
        ]
        if pairs:
            notes.append(f"× {Comparison('', pairs, ()).ratio:.2f} {text}")
    return judged(
        "using the same walks for every factor still has less error than GRF, at every degree",
        comparisons,
        f"all degrees together, the error is {', '.join(notes)}" if notes else "",
    )


EXPERIMENT = lab.Experiment(
    name="reuse",
    title="Using the same walks again",
    source="Fig. speed_reuse (a)",
    about=[
        "One set of walks makes all factors (`reuse_walks=True`), at half the cost of regular "
        "GRFs, whatever the degree. Such estimates are biased: the factors are not independent. "
        "Regular GRFs have two independent sets; the verdict also tells how GRF does with one, "
        "and how the higher degrees do with two (one for all left factors, one for all right).",
        "What to expect: to first order the error of a product is the sum of the errors of its "
        "`2 l` factors, each of which is about `l` times smaller than at degree 1. Independent "
        "ones partly cancel; those of the same walks add up to what degree 1 has.",
    ],
    plan=error_plan(grids(EIGHT, ("er-20", "karate"), (1, 2, 3, 4), (1, 2, 4), (1, 2))),
    run=run,
    claims=[
        error_claim(
            "reuse",
            "Walks used again",
            "Relative error in the Frobenius norm. Full lines: one set of walks for all factors. "
            "Dashed: fresh walks for each.",
            series,
            judge,
        )
    ],
    cost=lambda cell: 3 * measuring.cost(cell),
)
