"""The demo's page and its pictures."""

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import grfpp
from grfpp.io.atomic import atomic_write
from grfpp_lab.demo import measure
from grfpp_lab.report import figures
from grfpp_lab.report.page import (
    Gallery,
    Picture,
    Section,
    Table,
    TableGroup,
    render_page,
    write_page,
)
from grfpp_lab.report.panels import Curve, Panel
from grfpp_lab.report.surfaces import INK, image_bytes

#: Nodes whose intervals are drawn.
_N_BANDS = 24


def row_pictures(each: measure.DemoGraph, rows: Sequence[measure.KernelRow]) -> list[Picture]:
    """One picture a row, all with the colours of the exact one."""
    pictures = []
    for row in rows:
        figure = figures.new_figure(2.6, 2.6)
        _draw_row(figure.add_subplot(), each, row, _limit(rows))
        # A surface of many triangles is smaller as pixels.
        source = figures.data_uri(figure, "svg" if each.faces is None else "png")
        alt = f"{each.title}: the {row.title} kernel row of one node, as colours of the nodes"
        pictures.append(Picture(source, alt, row.title, row.note))
    return pictures


def row_strip(each: measure.DemoGraph, rows: Sequence[measure.KernelRow]) -> bytes:
    """The same pictures side by side, as one PNG file."""
    figure = figures.new_figure(2.6 * len(rows), 3.0, top=0.86)
    for axes, row in zip(np.ravel(figure.subplots(1, len(rows))), rows, strict=True):
        _draw_row(axes, each, row, _limit(rows))
        axes.set_title(f"{row.title}\n{row.note or ' '}", fontsize=10, color=INK)
    return image_bytes(figure, "png", dpi=100)


def error_panel(results: Sequence[measure.Measurement]) -> Panel:
    """Errors of one graph against steps, a curve a method."""
    curves = []
    for style, method in enumerate(dict.fromkeys(result.method for result in results)):
        own = [result for result in results if result.method == method]
        x, y, spread = zip(
            *((r.steps_per_node, r.error, r.standard_error) for r in own), strict=True
        )
        curves.append(Curve(method, x, y, spread, style))
    return Panel(results[0].graph, curves, "walk steps per node", "relative error")


def band_chart(each: measure.DemoGraph, rows: Sequence[measure.KernelRow]) -> Picture:
    """The largest numbers of a row with 95 % intervals: those of a GRF, and of pooled walks."""
    exact, _, grf, _, pooled = rows
    order = np.argsort(-exact.values, kind="stable")[1 : _N_BANDS + 1]
    place = np.arange(1, len(order) + 1)
    figure = figures.new_figure(4.8, 3.0)
    axes = figure.add_subplot()
    for row, colour in ((grf, figures.COLOURS[0]), (pooled, figures.COLOURS[1])):
        values, width = row.values[order], 1.96 * row.std[order]
        axes.fill_between(place, values - width, values + width, color=colour, alpha=0.25, lw=0)
        axes.plot(place, values, color=colour, lw=1.4, label=row.title)
    axes.plot(place, exact.values[order], ".", color=INK, ms=5, label="exact")
    axes.set_xlabel("nodes, by decreasing kernel value", color=INK)
    axes.set_ylabel("kernel", color=INK)
    figures.grid_lines(axes)
    axes.legend(frameon=False, fontsize=9)
    alt = f"{each.title}: a kernel row with 95 % intervals of two estimates"
    return Picture(figures.data_uri(figure), alt, each.title)


def _draw_row(axes: Any, each: measure.DemoGraph, row: measure.KernelRow, limit: float) -> None:
    shown = figures.Shown(row.values, limit, each.start)
    if each.faces is None:
        edges = np.argwhere(np.triu(each.graph.adjacency.toarray()))
        figures.draw_network(axes, each.positions, edges, shown)
    else:
        towards = each.positions[each.start] + np.array([0.15, -0.45, 0.0])
        figures.draw_surface(axes, each.positions, each.faces, shown, towards)


def _limit(rows: Sequence[measure.KernelRow]) -> float:
    """The largest exact value but one; the node's own is often far above all others."""
    return float(np.sort(rows[0].values)[-2])


COLUMNS = ("method", "walks", "steps per node", "relative error", "seconds")


def write_demo(
    folder: Path,
    graphs: Sequence[measure.DemoGraph],
    rows: Sequence[Sequence[measure.KernelRow]],
    results: Sequence[measure.Measurement],
    seed: int,
) -> list[Path]:
    """Write the page and the picture of its last graph; return the paths of both."""
    page, picture = folder / "index.html", folder / "kernel-row.png"
    write_page(page, demo_page(graphs, rows, results, seed))
    with atomic_write(picture) as stream:
        stream.write(row_strip(graphs[-1], rows[-1]))
    return [page, picture]


def demo_page(
    graphs: Sequence[measure.DemoGraph],
    rows: Sequence[Sequence[measure.KernelRow]],
    results: Sequence[measure.Measurement],
    seed: int,
) -> str:
    """The whole page as text."""
    texts = _texts(seed)
    by_graph = [[r for r in results if r.graph == each.title] for each in graphs]
    rows_of = list(zip(graphs, rows, strict=True))
    bands = Gallery([band_chart(each, own) for each, own in rows_of], texts["bands"], columns=2)
    errors = figures.gallery([error_panel(own) for own in by_graph], texts["errors"], columns=2)
    pictures = [Gallery(row_pictures(*each), _row_caption(*each), columns=5) for each in rows_of]
    table = _table(graphs, by_graph, texts["table"])
    blocks: list[list[Any]] = [pictures, [bands], [errors], [table], []]
    sections = [
        Section(section["title"], section["paragraphs"], own)
        for section, own in zip(texts["sections"], blocks, strict=True)
    ]
    return render_page("Graph kernels from random walks", texts["lead"], sections, texts["footer"])


def _texts(seed: int) -> dict[str, Any]:
    """The words of the page, with the numbers that they mention."""
    top = max(measure.DEGREES)
    values = {
        **{
            "kernel": measure.KERNEL,
            "law": measure.LAW,
            "top": top,
            "factors": 2 * top,
            "repeats": measure.N_REPEATS,
        },
        **{"default": measure.DEFAULT_DEGREE, "walks": measure.MAIN_WALKS, "seed": seed},
        "version": grfpp.__version__,
    }
    text = files("grfpp_lab.demo").joinpath("texts.toml").read_text("utf-8")
    return tomllib.loads(text.format(**values))


def _row_caption(each: measure.DemoGraph, rows: Sequence[measure.KernelRow]) -> str:
    about = f"{each.title}, {each.graph.n_nodes} nodes. {each.about}"
    missed = [row.n_missed for row in rows]
    if not any(missed):
        return f"{about} All estimates reach all nodes."
    return (
        f"{about} The first GRF misses {missed[1]} nodes, the second {missed[2]}, "
        f"GRF++ {missed[3]}, pooled walks {missed[4]}."
    )


def _table(
    graphs: Sequence[measure.DemoGraph],
    by_graph: Sequence[Sequence[measure.Measurement]],
    caption: str,
) -> Table:
    groups = []
    for each, own in zip(graphs, by_graph, strict=True):
        shown = list(measure.worth_a_line(own))
        groups.append(
            TableGroup(
                f"{each.title}, {each.graph.n_nodes} nodes",
                [measure.table_cells(result) for result in shown],
                [line for line, result in enumerate(shown) if measure.has_equal_steps(result)],
            )
        )
    return Table(COLUMNS, groups, caption)
