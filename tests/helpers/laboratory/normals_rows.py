"""Rows of the experiment on normals, made by hand."""

import itertools

from grfpp.datasets import mesh_table
from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.normals.claims import (
    AL_MOHY,
    BRUTE,
    COSINES,
    DENSE,
    END_TO_END,
    EXACT,
    GRF,
    METHODS,
    PAPER,
    REUSED,
    SECONDS,
    STITCHED,
)

TRUE = [mesh for mesh in mesh_table() if mesh.role == "normals" and not mesh.is_stand_in]


def cosine_rows(cosine, meshes=None):
    """Rows whose cosine is a function of method, walks and the paper's number."""
    found = []
    chosen = TRUE[::4] if meshes is None else meshes
    walks = {BRUTE: [None], AL_MOHY: [None], GRF: [4, 8, 16, 32]}
    for mesh, method in itertools.product(chosen, (*METHODS, POOLED)):
        for n_walks in walks.get(method, [4, 8, 16]):
            base = PAPER[mesh.paper_vertices, BRUTE]
            value = cosine(method, n_walks, base)
            found.append(
                {
                    "part": COSINES,
                    "graph": f"mesh {mesh.name}",
                    "n_nodes": mesh.n_vertices,
                    "paper_size": mesh.paper_vertices,
                    "stand_in": mesh.is_stand_in,
                    "method": method,
                    "sigma": 0.5,
                    "n_walks": n_walks,
                    "cosine_to_choose_by": value,
                    "cosine": value,
                    "paper_cosine": PAPER.get((mesh.paper_vertices, method)),
                }
            )
    return found


def as_paper(method, n_walks, base):
    """More walks are better, stitching is better, brute force is best."""
    missing = {GRF: 0.16, STITCHED: 0.08, REUSED: 0.12, POOLED: 0.004}.get(method, 0)
    return base - missing / (n_walks or 1)


def second_rows(dense=100.0, largest=2.0):
    seconds = {EXACT: 0.01, AL_MOHY: 0.05, STITCHED: 1.0, GRF: 0.5, REUSED: 0.4}
    rows = [
        {"part": SECONDS, "n_nodes": n, "method": method, "seconds": value, "cosine": 0.9}
        for n in (992, 2996, 35_300)
        for method, value in seconds.items()
    ]
    rows += [{**rows[0], "n_nodes": n, "method": DENSE, "seconds": dense} for n in (992, 2996)]
    rows.append({**rows[0], "n_nodes": 35_300, "method": END_TO_END, "seconds": largest})
    return rows
