"""The demo's page: pictures, curves, the table, and what not to read into them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import grfpp
from grfpp.io.storage.atomic import atomic_write
from grfpp_lab.demo.graphs import DemoGraph
from grfpp_lab.demo.measure import (
    DEFAULT_DEGREE,
    DEGREES,
    KERNEL,
    LAW,
    MAIN_WALKS,
    N_REPEATS,
    KernelRow,
    Measurement,
    has_equal_steps,
    table_cells,
    worth_a_line,
)
from grfpp_lab.demo.pictures import band_chart, error_chart, row_pictures, row_strip
from grfpp_lab.report.page import Gallery, Section, Table, TableGroup, render_page, write_page

COLUMNS = ("method", "walks", "steps per node", "relative error", "seconds")


def write_demo(
    folder: Path,
    graphs: Sequence[DemoGraph],
    rows: Sequence[Sequence[KernelRow]],
    results: Sequence[Measurement],
    seed: int,
) -> list[Path]:
    """Write the page and the picture of its last graph; tell which files that were."""
    page, picture = folder / "index.html", folder / "kernel-row.png"
    write_page(page, demo_page(graphs, rows, results, seed))
    with atomic_write(picture) as stream:
        stream.write(row_strip(graphs[-1], rows[-1]))
    return [page, picture]


def demo_page(
    graphs: Sequence[DemoGraph],
    rows: Sequence[Sequence[KernelRow]],
    results: Sequence[Measurement],
    seed: int,
) -> str:
    """The whole page as text."""
    top = max(DEGREES)
    lead = [
        "A graph kernel says how alike two nodes are, counting all walks between them. grfpp "
        "estimates it from random walks. Here are four small graphs, for which the exact kernel "
        "can be computed too.",
        f"Kernel: `{KERNEL!r}` of the weights `D^-1/2 A D^-1/2`, that is `exp({KERNEL.lam:g} W)`. "
        f"Walk lengths: `{LAW!r}`, {LAW.mean:g} steps on average. GRF is the regular method "
        f"(stitching degree 1, two factors); GRF++ of degree {top} stitches {2 * top} factors, "
        "each made of walks of its own. Both are the paper's: their walkers know nothing of each "
        f"other. Pooled walks, here of degree {DEFAULT_DEGREE}, are what `grfpp.sample` does by "
        "default: the walkers of a node move together and share out as evenly as they can, with "
        "as many steps in all.",
    ]
    sections = [
        Section(
            "One row of the kernel",
            [
                "How alike every node is to the one in the ring: the darker, the more. The five "
                "pictures of a graph share the colours of the exact row. The estimates are those "
                "of one seed; the second and the fourth picture have equal walks, the last three "
                "equal steps. Where no walks met, the estimate is zero: small empty circles, grey "
                "triangles.",
            ],
            [
                Gallery(row_pictures(each, own), _row_caption(each, own), columns=5)
                for each, own in zip(graphs, rows, strict=True)
            ],
        )
    ]
    sections.append(
        Section(
            "What estimates say about their own error",
            [
                "The same rows with the error bars that `K.rows([node], return_std=True)` gives: "
                "bands of 95 %, from the spread of 16 further estimates. They are computed without "
                "the exact row, the dots."
            ],
            [
                Gallery(
                    [band_chart(each, own) for each, own in zip(graphs, rows, strict=True)],
                    "The 24 nodes that are most like the one in the ring. Both estimates take "
                    "equal steps.",
                    columns=2,
                )
            ],
        )
    )
    by_graph = [[r for r in results if r.graph == each.title] for each in graphs]
    sections.append(
        Section(
            "Error against work",
            ["Further left is cheaper, further down is better. Both axes are logarithmic."],
            [
                Gallery(
                    [error_chart(own) for own in by_graph],
                    f"Relative error of the whole kernel matrix in the Frobenius norm, mean of "
                    f"{N_REPEATS} seeds; the bars are standard errors. Steps per node count all "
                    "factors: points one above the other have equal cost.",
                    columns=2,
                )
            ],
        )
    )
    sections.append(Section("The numbers", [], [_table(graphs, by_graph)]))
    sections.append(Section("What to read into this, and what not", _remarks()))
    footer = (
        f"Made by `grfpp demo --seed {seed}`, grfpp {grfpp.__version__}. Seconds are those of one "
        "estimate on the machine that made the page, compilation not counted."
    )
    return render_page("Graph kernels from random walks", lead, sections, footer)


def _row_caption(each: DemoGraph, rows: Sequence[KernelRow]) -> str:
    about = f"{each.title}, {each.graph.n_nodes} nodes. {each.about}"
    missed = [row.n_missed for row in rows]
    if not any(missed):
        return f"{about} All estimates reach all nodes."
    return (
        f"{about} The first GRF misses {missed[1]} nodes, the second {missed[2]}, "
        f"GRF++ {missed[3]}, pooled walks {missed[4]}."
    )


def _table(graphs: Sequence[DemoGraph], by_graph: Sequence[Sequence[Measurement]]) -> Table:
    groups = []
    for each, own in zip(graphs, by_graph, strict=True):
        shown = list(worth_a_line(own))
        groups.append(
            TableGroup(
                f"{each.title}, {each.graph.n_nodes} nodes",
                [table_cells(result) for result in shown],
                [line for line, result in enumerate(shown) if has_equal_steps(result)],
            )
        )
    return Table(
        COLUMNS,
        groups,
        f"Means of {N_REPEATS} seeds with their standard errors. The tinted lines take equal "
        "steps; compare those for equal cost.",
    )


def _remarks() -> list[str]:
    top = max(DEGREES)
    return [
        f"Equal walks are not equal work. With {MAIN_WALKS} walks a factor, degree {top} takes "
        f"{top} times the steps of degree 1, so a smaller error is no surprise. At equal steps the "
        "gain is smaller, and a higher degree can lose: see the tinted lines. What stitching gives "
        "besides is that far nodes are connected by short walks, which can run side by side.",
        "All these estimates have the exact kernel as their mean; what differs is the spread "
        "around it. Of independent walks it falls with the square root of their number, of pooled "
        "ones faster: near its start a pool reaches every node, and there nothing is left to "
        "chance. That gain costs no steps. It is largest for kernels that do not reach far, and "
        "on graphs without hubs.",
        "On graphs of this size nobody needs random walks: the exact kernel takes a fraction of a "
        "second. And for a few products `K @ v` on a large sparse graph, `kernel.apply` (Chebyshev "
        "polynomials) is faster, and accurate to ten digits. Walks are for answers that are local, "
        "for graphs that are dense, for features, and for kernels that are learned.",
    ]
