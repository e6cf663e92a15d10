"""Error against seconds of all ways to multiply with a kernel: what to use when.

``python -m grfpp_lab.studies.when_to_use --out docs/images/when-to-use.png`` measures and draws:
four kinds of graph, three kinds of kernel, products with 16 columns; and prints the fastest way to
each tolerance.
"""

import argparse
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from grfpp.io.atomic import atomic_write
from grfpp.warmup import warmup
from grfpp_lab.report.panels import Curve, Panel
from grfpp_lab.studies.planner import GRAPHS, KERNELS, Case, Point, curves

N_COLUMNS = 16
#: A dense graph, two sparse ones, and a mesh.
CHOSEN = ("dense 2,000", "scale-free 3,000", "Erdős–Rényi 30,000", "sphere mesh 40,962")
TOLERANCES = (0.1, 1e-2, 1e-3, 1e-6)


def measured(graphs: Sequence[str], kernels: Sequence[str]) -> list[Point]:
    """Points of all curves; each is printed as it is found."""
    points = []
    for graph in graphs:
        for kernel in kernels:
            for point in curves(Case(graph, kernel, N_COLUMNS)):
                points.append(point)
                print(point, flush=True)
    return points


def fastest(points: Sequence[Point]) -> list[tuple[Case, float, Point | None]]:
    """The fastest point of each case within each tolerance, if there is any."""
    found = []
    for case in dict.fromkeys(point.case for point in points):
        own = [point for point in points if point.case == case]
        for tol in TOLERANCES:
            good = [point for point in own if point.error <= tol]
            best = min(good, key=lambda point: point.seconds) if good else None
            found.append((case, tol, best))
    return found


def draw(points: Sequence[Point]) -> bytes:
    """A chart for each graph and kernel, as a PNG file."""
    from grfpp_lab.report.figures import panels_figure
    from grfpp_lab.report.surfaces import image_bytes

    graphs = list(dict.fromkeys(point.case.graph for point in points))
    kernels = list(dict.fromkeys(point.case.kernel for point in points))
    methods = list(dict.fromkeys(point.method for point in points))
    panels = []
    for graph, kernel in product(graphs, kernels):
        curves = []
        for style, method in enumerate(methods):
            own = sorted(
                (point.seconds, max(point.error, 1e-14))
                for point in points
                if (*point.case[:2], point.method) == (graph, kernel, method)
            )
            if own:
                x, y = zip(*own, strict=True)
                curves.append(Curve(method, x, y, (), style))
        panels.append(Panel(f"{graph}, {kernel}", curves, "seconds", "relative error"))
    return image_bytes(panels_figure(panels, len(kernels)), "png", dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(prog="when_to_use", description=__doc__)
    parser.add_argument("--graphs", nargs="+", choices=list(GRAPHS), default=list(CHOSEN))
    parser.add_argument("--kernels", nargs="+", choices=list(KERNELS), default=list(KERNELS))
    parser.add_argument("--out", type=Path, help="where to draw it, a .png file")
    options = parser.parse_args(arguments)
    warmup()
    points = measured(options.graphs, options.kernels)
    for case, tol, best in fastest(points):
        said = "none" if best is None else f"{best.method} ({best.setting}), {best.seconds:.3g} s"
        print(f"{case.graph:<20} {case.kernel:<15} to {tol:<6g} {said}")
    if options.out is not None:
        with atomic_write(options.out) as stream:
            stream.write(draw(points))


if __name__ == "__main__":
    main()
