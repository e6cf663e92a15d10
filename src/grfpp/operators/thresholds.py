"""The thresholds of the planner in one table, each with its reason."""

from __future__ import annotations

#: Nodes up to which eigenvectors take less time (1 ms) than comparing methods.
TINY_NODES = 48
#: Nodes up to which `estimate="exact"` computes eigenvectors, which serve any number of products.
EXACT_DENSE_NODES = 1000
#: Nodes up to which eigenvectors step in where rounding is too much for another method (100 s).
FALLBACK_DENSE_NODES = 6000
#: Steps of Lanczos' method: more vectors take more memory and time than all other methods.
MAX_LANCZOS_STEPS = 400
#: Steps of conjugate gradients in one solve: the power series would take longer beyond.
MAX_SOLVE_STEPS = 20_000
#: Share of the time of the other method below which eigenvectors that are due replace it.
DENSE_TAKEOVER_SHARE = 0.8
#: Columns for which a plan is made when the caller has not said how many.
USUAL_COLUMNS = 16
#: Tolerance from which walks are considered: error falls with the root of the number of walks.
MIN_WALK_TOLERANCE = 0.005
#: Share of the time of the fastest other method that walks may take: whether they suffice is known
#: only after they have been sampled.
MAX_WALK_SHARE = 0.5
#: Predicted error of walks, over the tolerance, beyond which they are not tried.
MAX_WALK_ERROR_RATIO = 10.0
#: Entries of ``W`` up to which the error of walks is predicted, which takes some ten products.
MAX_PREDICTED_ENTRIES = 300_000
#: Walks of the first attempt: the default of `grfpp.sample`.
FIRST_WALKS = 16
#: Growth from one attempt to the next, which at least halves the error.
WALKS_GROWTH = 4
#: Walks of the last attempt: 64 times the first, for at most an eighth of its error.
MAX_WALKS = 1024
#: Chebyshev terms up to which a kernel is near, for walks of degree 2; far ones take degree 4.
MAX_TERMS_OF_NEAR_KERNELS = 12
#: Random combinations of columns on which a product of walks is checked: each takes an exact one.
N_CHECKED_COLUMNS = 8
#: Factor of safety on the error that these show, which is itself an estimate.
CHECK_SAFETY = 1.2
