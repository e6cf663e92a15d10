"""How good kriging is by default on generated surfaces, beside fixed kernels and its rivals.

``python -m grfpp_lab.studies.interpolation`` hides the normals at four fifths of the vertices of
some thirty generated surfaces (`surfaces`) and predicts them by the default of
`grfpp.tasks.KernelInterpolator`, by harmonic and biharmonic functions, and by the paper's sum with
the exact kernel. ``--grid`` does so with every fixed kernel and noise of a grid instead, without
cross-validation, and prints the best in the mean. Defaults are chosen with seeds from 0 on, and
looked at again with seeds from 100 on; the meshes of the paper take no part.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, Delaunay

from grfpp.datasets import TriangleMesh
from grfpp.datasets.meshes import icosphere, triangle_mesh
from grfpp.io.meshes import merged
from grfpp.kernels import Diffusion, Kernel, RegularizedLaplacian
from grfpp.tasks.interpolation import KernelInterpolator, mean_cosine
from grfpp.tasks.normals import HiddenNormals, hide_normals, predict_normals
from grfpp.typing import FloatArray, IntArray
from grfpp_lab.experiments.normals.harmonic import biharmonic, harmonic

#: Points and triangles.
Shape = tuple[FloatArray, IntArray]
Maker = Callable[[np.random.Generator], Shape]


def quads(n: int, m: int, around_n: bool = False, around_m: bool = False) -> IntArray:
    """Two triangles for every square of a grid of n x m points, which may close on itself."""
    i, j = np.arange(n if around_n else n - 1), np.arange(m if around_m else m - 1)
    after_i, after_j = (i + 1) % n, (j + 1) % m
    a, b = (i[:, None] * m + j).ravel(), (after_i[:, None] * m + j).ravel()
    c, d = (after_i[:, None] * m + after_j).ravel(), (i[:, None] * m + after_j).ravel()
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def _turns(n: int, rng: np.random.Generator, uneven: float) -> FloatArray:
    return np.sort(2 * np.pi * (np.arange(n) + uneven * rng.uniform(-0.5, 0.5, n)) / n)


def lathe(radii: FloatArray, heights: FloatArray, n: int, rng: np.random.Generator) -> Shape:
    """A profile turned round an axis, with a fan of triangles at both ends."""
    turn = _turns(n, rng, 0.6)
    x, y = radii[:, None] * np.cos(turn), radii[:, None] * np.sin(turn)
    rings = np.stack([x, y, np.repeat(heights[:, None], n, axis=1)], axis=-1).reshape(-1, 3)
    ends = np.array([[0, 0, heights[0]], [0, 0, heights[-1]]])
    low, here, there = len(rings), np.arange(n), (np.arange(n) + 1) % n
    top = (len(radii) - 1) * n
    faces = [
        quads(len(radii), n, around_m=True)[:, ::-1],
        np.stack([np.full(n, low), there, here], axis=1),
        np.stack([np.full(n, low + 1), top + here, top + there], axis=1),
    ]
    return np.concatenate([rings, ends]), np.concatenate(faces)


def bolt(n: int, n_steps: int) -> Maker:
    """Cylinders of several widths on one axis: sharp edges, long thin triangles."""

    def make(rng: np.random.Generator) -> Shape:
        radii = np.repeat(rng.uniform(0.3, 1.5, n_steps), 2)
        ends = np.concatenate([[0.0], np.cumsum(rng.uniform(0.2, 1, n_steps))])
        return lathe(radii, np.repeat(ends, 2)[1:-1], n, rng)

    return make


def vase(n: int, n_rings: int) -> Maker:
    """A smooth profile."""

    def make(rng: np.random.Generator) -> Shape:
        height = np.linspace(0, 1, n_rings)
        radii = 1 + 0.4 * np.cos(height * rng.uniform(3, 8) + rng.uniform(0, 6))
        return lathe(radii, 2 * height, n, rng)

    return make


def torus(n: int, m: int) -> Maker:
    """A ring, its points uneven."""

    def make(rng: np.random.Generator) -> Shape:
        a, b = np.meshgrid(_turns(n, rng, 0.5), _turns(m, rng, 0.5), indexing="ij")
        far = 1 + 0.4 * np.cos(b)
        points = np.stack([far * np.cos(a), far * np.sin(a), 0.4 * np.sin(b)], axis=-1)
        return points.reshape(-1, 3), quads(n, m, True, True)

    return make


def box(counts: Sequence[int], size: Sequence[float] = (1, 1, 1), uneven: float = 0.0) -> Maker:
    """Six flat sides."""

    def make(rng: np.random.Generator) -> Shape:
        lines = [np.linspace(0, 1, n + 1) for n in counts]
        for line in lines:
            line[1:-1] += uneven * rng.uniform(-0.5, 0.5, len(line) - 2) / (len(line) - 1)
        parts = []
        for axis in range(3):
            u, v = (other for other in range(3) if other != axis)
            for side in (0, 1):
                points = np.full((len(lines[u]), len(lines[v]), 3), float(side))
                points[:, :, u], points[:, :, v] = lines[u][:, None], lines[v]
                faces = quads(len(lines[u]), len(lines[v]))
                # u × v is the axis itself for the first and the last, and its opposite for y.
                outside = (side == 1) == (axis != 1)
                parts.append((points.reshape(-1, 3), faces if outside else faces[:, ::-1]))
        points, faces = joined(parts, apart=0.0)
        return points * np.array(size), faces

    return make


def gear(n_teeth: int, n_layers: int = 1, per_tooth: int = 4) -> Maker:
    """A plate with teeth and a hole."""

    def make(rng: np.random.Generator) -> Shape:
        n = n_teeth * per_tooth
        turn = 2 * np.pi * np.arange(n) / n
        circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        is_tooth = np.arange(n) % per_tooth < per_tooth / 2
        outer = (1 + 0.25 * is_tooth + 0.03 * rng.standard_normal(n))[:, None] * circle
        rings = [(0.4 * circle, 0.0)]
        rings += [(outer, height) for height in np.linspace(0, 0.5, n_layers + 1)]
        rings += [(0.4 * circle, 0.5)]
        points = [np.column_stack([ring, np.full(n, height)]) for ring, height in rings]
        return np.concatenate(points), quads(len(rings), n, True, True)[:, ::-1]

    return make


def sphere(n_subdivisions: int) -> Maker:
    """An even one."""
    return lambda rng: icosphere(n_subdivisions)


def hull(n: int, clumped: float = 0.0, cube: bool = False) -> Maker:
    """Random points on a sphere, in clumps if asked for, and on the cube around it."""

    def make(rng: np.random.Generator) -> Shape:
        points = _on_sphere(rng.standard_normal((n, 3)))
        if clumped:
            centres = points[: max(3, n // 60)]
            places = centres[rng.integers(len(centres), size=n)]
            points = _on_sphere(places + clumped * rng.standard_normal((n, 3)))
        faces = ConvexHull(points).simplices.copy()
        _turn(faces, np.linalg.det(points[faces]) < 0)
        if cube:
            points = points / np.abs(points).max(axis=1, keepdims=True)
        return points, faces

    return make


def terrain(n: int, rough: float = 1.0, stepped: bool = False) -> Maker:
    """Heights over random points of a square: a surface with a boundary."""

    def make(rng: np.random.Generator) -> Shape:
        flat = rng.uniform(0, 1, (n, 2))
        height = 0.15 * waves(np.column_stack([flat, np.zeros(n)]), 6 * rough, rng)
        points = np.column_stack([flat, np.round(8 * height) / 8 if stepped else height])
        faces = Delaunay(flat).simplices.astype(np.int64)
        a, b, c = (flat[faces[:, k]] for k in range(3))
        first, second = b - a, c - a
        _turn(faces, first[:, 0] * second[:, 1] < first[:, 1] * second[:, 0])
        return points, faces

    return make


def waves(points: FloatArray, frequency: float, rng: np.random.Generator) -> FloatArray:
    """A sum of eight waves."""
    phases = points @ (frequency * rng.standard_normal((3, 8))) + rng.uniform(0, 7, 8)
    return np.asarray(np.cos(phases).sum(axis=1) / np.sqrt(8))


def bumpy(make: Maker, height: float, frequency: float) -> Maker:
    """Bumps on a surface around the origin."""

    def made(rng: np.random.Generator) -> Shape:
        points, faces = make(rng)
        return points * (1 + height * waves(points, frequency, rng))[:, None], faces

    return made


def noisy(make: Maker, share: float) -> Maker:
    """Every point moved by a share of the mean edge."""

    def made(rng: np.random.Generator) -> Shape:
        points, faces = make(rng)
        edge = np.linalg.norm(points[faces[:, 0]] - points[faces[:, 1]], axis=1).mean()
        return points + share * edge * rng.standard_normal(points.shape), faces

    return made


def several(*makers: Maker) -> Maker:
    """Surfaces beside each other."""
    return lambda rng: joined([make(rng) for make in makers])


def joined(parts: Iterable[Shape], apart: float = 4.0) -> Shape:
    """Surfaces as one."""
    points, faces, n = [], [], 0
    for number, (own, corners) in enumerate(parts):
        points.append(own + np.array([apart * number, 0, 0]))
        faces.append(corners + n)
        n += len(own)
    return np.concatenate(points), np.concatenate(faces)


def _on_sphere(points: FloatArray) -> FloatArray:
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


def _turn(faces: IntArray, wrong: FloatArray) -> None:
    faces[wrong] = faces[wrong][:, ::-1]


MAKERS: dict[str, Maker] = {
    "sphere": sphere(3),
    "sphere, noisy": noisy(sphere(4), 0.15),
    "bumpy": bumpy(sphere(4), 0.12, 3),
    "bumpy, fine": bumpy(sphere(4), 0.12, 8),
    "bumpy, coarse": bumpy(sphere(3), 0.15, 4),
    "torus": torus(60, 20),
    "torus, thin": torus(100, 6),
    "vase": vase(30, 30),
    "vase, long triangles": vase(100, 4),
    "bolt, tiny": bolt(8, 4),
    "bolt": bolt(24, 6),
    "bolt, large": bolt(60, 10),
    "box, tiny": box((4, 4, 4)),
    "box": box((5, 5, 5), uneven=0.6),
    "box, flat": box((15, 15, 2), (3, 3, 0.3), 0.8),
    "box, large": box((20, 20, 20)),
    "gear, tiny": gear(6),
    "gear": gear(12),
    "gear, layers": gear(16, 4, 6),
    "gear, large": gear(40, 8, 6),
    "hull, tiny": hull(150),
    "hull, clumps": hull(1500, clumped=0.25),
    "hull, clumps, small": hull(400, clumped=0.5),
    "hull, bumpy": bumpy(hull(3000), 0.1, 5),
    "hull, noisy": noisy(hull(800), 0.1),
    "cube": hull(1000, cube=True),
    "cube, tiny": hull(150, cube=True),
    "terrain": terrain(1000),
    "terrain, rough": terrain(4000, 3.0),
    "terrain, steps": terrain(600, stepped=True),
    "parts, small": several(box((2, 3, 2)), box((3, 3, 1)), bolt(12, 3), box((6, 2, 2)), gear(8)),
    "parts": several(
        box((5, 5, 5)), bolt(20, 4), bumpy(sphere(2), 0.2, 3), gear(10, 2), torus(20, 10)
    ),
    "parts, many": several(*(gear(3 + k % 9, per_tooth=5) for k in range(12))),
}


def surface(name: str, seed: int) -> TriangleMesh:
    """One of them; the same seed gives the same."""
    number = list(MAKERS).index(name)
    points, faces = MAKERS[name](np.random.default_rng([seed, number]))
    return triangle_mesh(name, merged(points, faces))


#: Kernels ``(I + t/ν L)^-ν`` as ``ν:t``, and noises over their mean variance, of ``--grid``.
KERNELS = ("3:16", "3:4", "3:64", "1:256")
NOISES = (0.001, 0.0001, 0.01, 0.1)
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


def kriged(task: HiddenNormals, normalization: str, **settings: Any) -> tuple[float, str]:
    """Mean cosine of kriging, by default or with a kernel and a noise, and what it chose."""
    model = KernelInterpolator(
        task.graph, output="direction", normalization=normalization, n_jobs=1, **settings
    ).fit(task.known, task.normals[task.known])
    return _cosine(task, model.field_), f"{model.kernel_}, {model.noise_:g}"


def _cosine(task: HiddenNormals, field: FloatArray) -> float:
    return mean_cosine(field[task.hidden], task.normals[task.hidden])


def tasks(names: Sequence[str], seeds: Sequence[int]) -> Iterator[tuple[str, HiddenNormals]]:
    """Every surface once for every seed, which the hidden vertices have too."""
    for name in names:
        for seed in seeds:
            yield name, hide_normals(surface(name, seed), _MASK, seed)


def compare(names: Sequence[str], seeds: Sequence[int], settings: argparse.Namespace) -> None:
    """The choice by cross-validation beside its rivals."""
    found: dict[str, list[dict[str, float]]] = {}
    sizes, picks, seconds = {}, {}, 0.0
    for name, task in tasks(names, seeds):
        row = rivals(task)
        began = perf_counter()
        row[DEFAULT], picks[name] = kriged(task, settings.normalization)
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
                fixed: Any = {"kernel": _kernel(text), "noise": noise}
                cosine, _ = kriged(task, settings.normalization, **fixed)
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
    parser.add_argument(
        "--kernels",
        nargs="+",
        default=list(KERNELS),
        help="of --grid; POWER:TIME; 0:TIME: diffusion",
    )
    parser.add_argument("--noises", type=float, nargs="+", default=list(NOISES), help="of --grid")
    parser.add_argument("--normalization", choices=("rw", "sym"), default="rw")
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.repeats)
    (grid if options.grid else compare)(options.surfaces, seeds, options)


if __name__ == "__main__":
    main()
