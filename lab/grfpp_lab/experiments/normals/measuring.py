"""Normals of meshes: the paper's numbers, and cosines as they are measured."""

from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from grfpp.kernels import Diffusion
from grfpp.tasks.interpolation import mean_cosine
from grfpp.tasks.normals import HiddenNormals, hide, predict_normals, vertex_normals
from grfpp.typing import FloatArray
from grfpp_lab.experiments.measuring import mean_and_error, pick, seeds
from grfpp_lab.experiments.normals import claims
from grfpp_lab.experiments.normals.harmonic import biharmonic, harmonic
from grfpp_lab.graphs import mesh_named
from grfpp_lab.harness.experiment import Cell, Row


@lru_cache(maxsize=2)
def normals_of(name: str) -> FloatArray:
    """The true normals of a mesh."""
    mesh = mesh_named(name)
    return vertex_normals(mesh.vertices, mesh.faces)


def hidden_task(name: str, number: int, seed: int) -> HiddenNormals:
    """Hide the same vertices from all methods."""
    mask_seed = seeds(number + 1, graph=name, what="hidden vertices", seed=seed)[number]
    return hide(mesh_named(name).graph, normals_of(name), claims.MASK, mask_seed)


def cosine_rows(cell: Cell) -> list[Row]:
    """Mean cosines of a method for every width and number of walks.

    The first masks are for choosing among them and have a column of their own.
    """
    graph, n_choosing, repeats = cell["graph"], cell["n_choosing"], cell["repeats"]
    tasks = [hidden_task(graph, number, cell["seed"]) for number in range(n_choosing + repeats)]
    rows: list[Row] = []
    for sigma in cell["sigmas"]:
        for n_walks in cell["n_walks"]:
            setting = {"graph": graph, "method": cell["method"], "seed": cell["seed"]}
            walk_seeds = seeds(len(tasks), **setting, sigma=sigma, n_walks=n_walks)
            # Where there is nothing to choose, nothing is predicted for it.
            first = n_choosing if cell["method"] in claims.BESIDE else 0
            found = [
                _predicted_cosine(task, _parameters(cell, sigma, n_walks, seed))
                for task, seed in zip(tasks[first:], walk_seeds[first:], strict=True)
            ]
            cosine, error = mean_and_error(found[n_choosing - first :])
            rows.append(
                {
                    **identity(cell),
                    "sigma": sigma,
                    "n_walks": n_walks,
                    "repeats": repeats,
                    "cosine_to_choose_by": None if first else mean_and_error(found[:n_choosing])[0],
                    "cosine": cosine,
                    "standard_error": error,
                    "paper_cosine": claims.PAPER.get((cell["paper_size"], cell["method"])),
                    "n_cut_off": sum(task.n_cut_off for task in tasks[n_choosing:]),
                }
            )
    return rows


def second_rows(cell: Cell) -> list[Row]:
    """Seconds from the known normals to their cosine; for one method from the file to it."""
    graph, method = cell["graph"], cell["method"]
    task = hidden_task(graph, 0, cell["seed"])
    parameters = _parameters(cell, cell["sigma"], cell["n_walks"], seeds(1, **cell)[0])
    if method not in (claims.DENSE, claims.AL_MOHY):
        _predicted_cosine(task, parameters)  # compiles, and fills caches
    if method in (claims.END_TO_END, claims.KRIGING_END):
        mesh_named.cache_clear()
        normals_of.cache_clear()
        began = perf_counter()
        task = hidden_task(graph, 0, cell["seed"])
    else:
        began = perf_counter()
    cosine = _predicted_cosine(task, parameters)
    row = {
        **identity(cell),
        "sigma": cell["sigma"],
        "n_walks": cell["n_walks"],
        "cosine": cosine,
        "seconds": perf_counter() - began,
    }
    if method == claims.DENSE:
        # What stands for brute force among the cosines must be the same number.
        same = _predicted_cosine(task, {**parameters, "method": claims.EXACT})
        row["distance_to_polynomials"] = abs(cosine - same)
    return [row]


def identity(cell: Cell) -> dict[str, Any]:
    """The columns that identify a row."""
    walks = ("walks",) if "walks" in cell else ()
    return pick(cell, "part", "graph", "n_nodes", "paper_size", "stand_in", "method", *walks)


def _parameters(cell: Cell, sigma: float | None, n_walks: int | None, seed: int) -> dict[str, Any]:
    return {
        "method": cell["method"],
        "scale": None if sigma is None else sigma**2,
        "n_walks": n_walks,
        "termination": cell["termination"],
        "walks": cell.get("walks", "independent"),
        "random_state": seed,
    }


def _predicted_cosine(task: HiddenNormals, parameters: dict[str, Any]) -> float:
    settings = dict(parameters)
    method, scale = settings.pop("method"), parameters["scale"]
    if method in (claims.KRIGING, claims.KRIGING_END):
        return predict_normals(task, n_jobs=1).cosine
    if method in (claims.BRUTE, claims.EXACT):
        return predict_normals(task, how="paper", scale=scale, estimate="exact").cosine
    if method in (claims.AL_MOHY, claims.DENSE, *claims.BESIDE):
        rival = _function if method in claims.BESIDE else _product
        predicted = rival(task, scale, method)
        return mean_cosine(predicted[task.hidden], task.normals[task.hidden])
    degree = 1 if method == claims.GRF else claims.DEGREE
    settings |= {
        "how": "paper",
        "degree": degree,
        "reuse_walks": method == claims.REUSED,
        "n_jobs": 1,
    }
    return predict_normals(task, **settings).cosine


def _function(task: HiddenNormals, scale: None, method: str) -> FloatArray:
    """The known normals, continued by harmonic or biharmonic functions."""
    known = (task.graph, task.known, task.normals[task.known])
    if method == claims.HARMONIC:
        return harmonic(*known)
    return biharmonic(*known, "combinatorial" if method == claims.BIHARMONIC else "random-walk")


def _product(task: HiddenNormals, scale: float, method: str) -> FloatArray:
    """``exp(W)`` times the known normals, by a rival of the library's own methods."""
    W, kernel = task.graph.normalized("sym", scale), Diffusion(1.0)
    field = np.zeros_like(task.normals)
    field[task.known] = task.normals[task.known]
    if method == claims.AL_MOHY:
        return kernel.apply(W, field, method="expm_multiply")
    return np.asarray(kernel.exact(W) @ field)
