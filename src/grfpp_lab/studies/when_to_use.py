"""Error against seconds of all ways to multiply with a kernel: what to use when.

``python -m grfpp_lab.studies.when_to_use --out docs/images/when-to-use.png`` measures and draws:
four kinds of graph, three kinds of kernel, products with 16 columns; and prints the fastest way to
each tolerance.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grfpp.io.storage.atomic import atomic_write
from grfpp.planner.costs import current_costs
from grfpp.planner.measuring import measure_costs
from grfpp.warmup import warmup
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
                print(
                    f"{graph:<20} {kernel:<15} {point.method:<10} {point.setting:<30} "
                    f"{point.seconds:9.4f} s  error {point.error:.1e}",
                    flush=True,
                )
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
    from grfpp_lab.report.figures import COLOURS, grid_lines, new_figure
    from grfpp_lab.report.images import INK, image_bytes

    graphs = list(dict.fromkeys(point.case.graph for point in points))
    kernels = list(dict.fromkeys(point.case.kernel for point in points))
    methods = list(dict.fromkeys(point.method for point in points))
    figure = new_figure(3.2 * len(kernels), 2.3 * len(graphs))
    charts: Any = figure.subplots(len(graphs), len(kernels), squeeze=False)
    for row, graph in enumerate(graphs):
        for column, kernel in enumerate(kernels):
            axes = charts[row, column]
            for number, method in enumerate(methods):
                own = sorted(
                    (point.seconds, max(point.error, 1e-14))
                    for point in points
                    if (*point.case[:2], point.method) == (graph, kernel, method)
                )
                if own:
                    x, y = zip(*own, strict=True)
                    marker, colour = "os^Dv"[number % 5], COLOURS[number]
                    axes.plot(x, y, marker=marker, color=colour, lw=1.2, ms=4, label=method)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_title(f"{graph}, {kernel}", fontsize=9, color=INK)
            axes.tick_params(labelsize=8)
            grid_lines(axes)
    for axes in charts[-1]:
        axes.set_xlabel("seconds", fontsize=9, color=INK)
    for axes in charts[:, 0]:
        axes.set_ylabel("relative error", fontsize=9, color=INK)
    lines: dict[str, Any] = {}
    for axes in charts.flat:
        found, names = axes.get_legend_handles_labels()
        lines |= dict(zip(names, found, strict=True))
    figure.legend(
        lines.values(), lines.keys(), loc="outside upper center", ncols=len(lines), frameon=False
    )
    return image_bytes(figure, "png", dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(prog="when_to_use", description=__doc__)
    parser.add_argument("--graphs", nargs="+", choices=list(GRAPHS), default=list(CHOSEN))
    parser.add_argument("--kernels", nargs="+", choices=list(KERNELS), default=list(KERNELS))
    parser.add_argument("--out", type=Path, help="where to draw it, a .png file")
    options = parser.parse_args(arguments)
    warmup()
    current_costs().machine = measure_costs()  # as after `grfpp warmup`
    points = measured(options.graphs, options.kernels)
    for case, tol, best in fastest(points):
        said = "none" if best is None else f"{best.method} ({best.setting}), {best.seconds:.3g} s"
        print(f"{case.graph:<20} {case.kernel:<15} to {tol:<6g} {said}")
    if options.out is not None:
        with atomic_write(options.out) as stream:
            stream.write(draw(points))


if __name__ == "__main__":
    main()
