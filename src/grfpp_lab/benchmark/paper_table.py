"""The paper's table of running times: products with the kernels of four meshes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from grfpp.graph import Graph
from grfpp.sampling import sample
from grfpp_lab.benchmark.rows import measured
from grfpp_lab.benchmark.settings import KERNEL, LAW, N_WALKS, SEED, WALKS
from grfpp_lab.benchmark.timing import best_seconds, timed
from grfpp_lab.experiments.measuring import relative_error

OURS = "grfpp"
CHEBYSHEV = "Chebyshev"
AL_MOHY = "Al-Mohy–Higham"
DENSE = "dense brute force"
PAPER = "paper, GRFs++"
PAPER_DENSE = "paper, dense brute force"
METHODS = (OURS, CHEBYSHEV, AL_MOHY, DENSE, PAPER, PAPER_DENSE)

SCIPY = f"scipy {scipy.__version__}"
DEGREE = 2
N_COLUMNS = 3


def mesh_products(request: dict[str, Any]) -> list[dict[str, Any]]:
    """``K · F`` for three columns by all methods that need no dense matrix.

    Ours is end to end: checks, plan, four factors, product. Reading and normalising the mesh is
    left out for all.
    """
    W = Graph(request["mesh"]).normalized("sym")
    columns = np.random.default_rng(SEED).standard_normal((W.n_nodes, N_COLUMNS))
    exact = KERNEL.apply(W, columns, tol=1e-14)

    def ours() -> Any:
        options: Any = {"walks": WALKS, "n_jobs": request["threads"], "check_error": False}
        K = sample(W, KERNEL, DEGREE, N_WALKS, LAW, SEED, **options)
        return K @ columns

    results = []
    for method, work, note in (
        (OURS, ours, f"degree {DEGREE}, {N_WALKS} walks; 4 factors and the product"),
        (CHEBYSHEV, lambda: KERNEL.apply(W, columns), "`kernel.apply`, to 1e-10"),
        (
            AL_MOHY,
            lambda: KERNEL.apply(W, columns, method="expm_multiply"),
            "scipy's `expm_multiply`, to double precision",
        ),
    ):
        error = relative_error(work(), exact)
        seconds = best_seconds(work, budget=request["budget"])
        results.append(measured(method, note, n_nodes=W.n_nodes, seconds=seconds, error=error))
    results[-1]["version"] = SCIPY
    return results


def dense_kernel(request: dict[str, Any]) -> list[dict[str, Any]]:
    """All eigenvalues and eigenvectors, the kernel from them, the product with it.

    With ``n_nodes`` in the request only for the mesh's first nodes, and the seconds for all are
    estimated as growing with the cube.
    """
    mesh = Graph(request["mesh"])
    n = min(request["n_nodes"] or mesh.n_nodes, mesh.n_nodes)
    W = Graph(mesh.adjacency[:n, :n]).normalized("sym")
    columns = np.random.default_rng(SEED).standard_normal((n, N_COLUMNS))
    _, seconds = timed(lambda: KERNEL.exact(W) @ columns)
    scaled, note = seconds * (mesh.n_nodes / n) ** 3, "`kernel.exact`, from all eigenvectors"
    if n == mesh.n_nodes:
        return [measured(DENSE, note, n_nodes=n, seconds=scaled)]
    note += f"; not run, but scaled by the cube from the mesh's first {n:,} nodes"
    told = measured(DENSE, note, n_nodes=mesh.n_nodes, seconds=scaled, pilot_seconds=seconds)
    return [{**told, "status": "estimated"}]
