"""What kriging should try by default, on generated surfaces, and how good it is there.

``python -m grfpp_lab.studies.interpolation`` hides the normals at four fifths of the vertices of
some thirty generated surfaces (`surfaces`) and predicts them by the default of
`grfpp.tasks.KernelInterpolator`, by harmonic and biharmonic functions, and by the paper's sum with
the exact kernel. ``--grid`` does so with every fixed kernel and noise of a grid instead, without
cross-validation, and prints the best in the mean. Defaults are chosen with seeds from 0 on, and
looked at again with seeds from 100 on; the meshes of the paper take no part.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from time import perf_counter

import numpy as np

from grfpp.kernels import Diffusion, Kernel, RegularizedLaplacian
from grfpp.tasks.nodes.directions import mean_cosine
from grfpp.tasks.nodes.harmonic import biharmonic, harmonic
from grfpp.tasks.nodes.kriging.build import process_of
from grfpp.tasks.nodes.kriging.defaults import NOISES, POWERS_AND_TIMES, SURE
from grfpp.tasks.nodes.kriging.krige import krige
from grfpp.tasks.nodes.normal_prediction import HiddenNormals, hide_normals, predict_normals
from grfpp.typing import FloatArray
from grfpp_lab.studies.interpolation.surfaces import MAKERS, surface

HARMONIC, BIHARMONIC, BY_WALKS = "harmonic", "biharmonic", "biharmonic, rw"
DEFAULT, PAPER = "default", "paper"
_MASK = 0.8


def rivals(task: HiddenNormals) -> dict[str, float]:
    """Mean cosines of the textbook's ways and of the paper's."""
    known, values = task.known, task.normals[task.known]
    return {
        PAPER: predict_normals(task, how="paper", estimate="exact", scale=0.64).cosine,
        HARMONIC: _cosine(task, harmonic(task.graph, known, values)),
        BIHARMONIC: _cosine(task, biharmonic(task.graph, known, values)),
        BY_WALKS: _cosine(task, biharmonic(task.graph, known, values, "random-walk")),
    }


def kriged(
    task: HiddenNormals, kernels: Sequence[Kernel], settings: argparse.Namespace
) -> tuple[float, str]:
    """Mean cosine of kriging with one of some kernels and noises, and which that is."""
    found = krige(
        task.graph,
        partial(process_of, normalization=settings.normalization),
        kernels,
        settings.noises,
        task.known,
        task.normals[task.known],
        directions=True,
        seed=0,
        sure=settings.sure,
    )
    return _cosine(task, found.field), f"{found.setting.kernel}, {found.setting.noise:g}"


def _cosine(task: HiddenNormals, field: FloatArray) -> float:
    return mean_cosine(field[task.hidden], task.normals[task.hidden])


def tasks(names: Sequence[str], seeds: Sequence[int]) -> Iterator[tuple[str, HiddenNormals]]:
    """Every surface once for every seed, which the hidden vertices have too."""
    for name in names:
        for seed in seeds:
            yield name, hide_normals(surface(name, seed), _MASK, seed)


def compare(names: Sequence[str], seeds: Sequence[int], settings: argparse.Namespace) -> None:
    """The choice by cross-validation beside its rivals."""
    kernels = [_kernel(text) for text in settings.kernels]
    found: dict[str, list[dict[str, float]]] = {}
    sizes, picks, seconds = {}, {}, 0.0
    for name, task in tasks(names, seeds):
        row = rivals(task)
        began = perf_counter()
        row[DEFAULT], picks[name] = kriged(task, kernels, settings)
        seconds += perf_counter() - began
        sizes[name] = task.graph.n_nodes
        found.setdefault(name, []).append(row)
    columns = (PAPER, HARMONIC, BIHARMONIC, BY_WALKS, DEFAULT)
    means = {
        name: {column: float(np.mean([row[column] for row in rows])) for column in columns}
        for name, rows in found.items()
    }
    print(f"{'surface':22s}{'nodes':>6s}" + "".join(f"{column:>16s}" for column in columns))
    for name, row in means.items():
        cells = "".join(f"{row[column]:16.4f}" for column in columns)
        print(f"{name:22s}{sizes[name]:6d}{cells}  {picks[name]}")
    overall = {c: float(np.mean([row[c] for row in means.values()])) for c in columns}
    print(f"{'mean':28s}" + "".join(f"{overall[column]:16.4f}" for column in columns))
    for rival in columns[:-1]:
        above = sum(row[DEFAULT] > row[rival] for row in means.values())
        print(f"{DEFAULT} above {rival} on {above} of {len(means)}")
    print(f"{seconds:.1f} s of kriging")


def grid(names: Sequence[str], seeds: Sequence[int], settings: argparse.Namespace) -> None:
    """Fixed kernels and noises, the best in the mean first."""
    found: dict[str, list[float]] = {}
    for _, task in tasks(names, seeds):
        for column, value in rivals(task).items():
            found.setdefault(column, []).append(value)
        for text in settings.kernels:
            for noise in settings.noises:
                fixed = argparse.Namespace(**{**vars(settings), "noises": [noise]})
                cosine, _ = kriged(task, [_kernel(text)], fixed)
                found.setdefault(f"kernel {text}, noise {noise:g}", []).append(cosine)
    oracle = np.max([values for name, values in found.items() if name.startswith("kernel")], axis=0)
    print(f"best setting of every task: {oracle.mean():.4f}")
    base = np.array(found[HARMONIC])
    for name, values in sorted(found.items(), key=lambda item: -np.mean(item[1])):
        above = int((np.array(values) > base).sum())
        print(f"{np.mean(values):.4f}  {name:36s} above harmonic on {above} of {len(values)}")


def _kernel(text: str) -> Kernel:
    """``(I + t/ν L)^-ν`` as ν:t; 0:t is ``exp(−t L)``."""
    power, time = (float(part) for part in text.split(":"))
    if power == 0:
        return Diffusion(time)
    return RegularizedLaplacian(power, sigma2=time / power)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="interpolation", description=__doc__)
    parser.add_argument("--grid", action="store_true", help="fixed settings, no cross-validation")
    parser.add_argument("--surfaces", nargs="+", choices=list(MAKERS), default=list(MAKERS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=2)
    usual = [f"{power}:{time:g}" for power, time in POWERS_AND_TIMES]
    parser.add_argument("--kernels", nargs="+", default=usual, help="POWER:TIME; 0:TIME: diffusion")
    parser.add_argument("--noises", type=float, nargs="+", default=list(NOISES))
    parser.add_argument("--sure", type=float, default=SURE)
    parser.add_argument("--normalization", choices=("rw", "sym"), default="rw")
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.repeats)
    (grid if options.grid else compare)(options.surfaces, seeds, options)
