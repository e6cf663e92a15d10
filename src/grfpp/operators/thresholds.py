"""Thresholds of the planner, with reasons.

Polynomials and Lanczos' method have none between them: `grfpp.operators.planner.choose` compares
predicted seconds, with the machine's constants of `grfpp.operators.costs.MachineCosts`.
"""

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
#: Columns for which a plan is made without `n_columns`: a block of usual width.
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
#: Chebyshev terms up to which walks have degree 2: products of more factors do not pay for kernels
#: of short range. Other kernels take degree 4.
MAX_TERMS_OF_DEGREE_TWO = 12
#: Random combinations of columns on which a product of walks is checked: each takes an exact
#: product.
N_CHECKED_COLUMNS = 8
#: Factor of safety on the error of these combinations, which is itself an estimate.
CHECK_SAFETY = 1.2
#: Terms that are predicted for a power series whose Chebyshev series cannot be computed: about as
#: many as kernels near their radius of convergence need.
USUAL_TERMS = 200
#: Measured time of Lanczos' steps over that of their parts, relative to polynomials: the mean over
#: the cases of ``python -m grfpp_lab.studies.planner``.
LANCZOS_OVERHEAD = 1.2
#: Steps of the walks of a node in one factor, with `FIRST_WALKS` walks of mean length 9.
STEPS_PER_NODE = 144
#: Tolerance of products where the kernel is asked for exactly: above the rounding of long series.
EXACT_TOL = 1e-10
#: Tolerance of products inside estimators: iterations need more digits than readers, and
#: polynomials reach them with a few more terms.
PLANNED_TOL = 1e-6
#: Bytes of the cache of one core: the usual size of an L2 cache.
CACHE_BYTES = 2**20
#: Rows of a block of 16 columns in a page of memory: 4096 bytes.
ROWS_PER_PAGE = 32
#: Successive rows of one sample of `costs.scattering`: four pages.
SAMPLE_ROWS = 128
#: Samples of `costs.scattering`, spread over all rows, whose order may differ by region.
N_SAMPLES = 16
#: Exponent of an observed ratio of times in the correction of a method: one disturbed product
#: changes predictions by 15 % at most.
LEARNING_RATE = 0.2
#: Bound of the correction of a method, and of its inverse: disturbed times exclude no method.
MAX_CORRECTION = 2.0
