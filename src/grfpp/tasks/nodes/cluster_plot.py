"""A picture of clusters: where the nodes are, and which eigenvalues tell them apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from grfpp.imports.optional import require
from grfpp.typing import FloatArray, IntArray

#: Told apart by colour-blind readers too (Okabe and Ito); with more clusters, a colour map.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#555555")
_INK, _FAINT = "#22272e", "#c4c9cf"
#: More names than this crowd a legend, and more nodes than this are drawn as dots.
_MOST_NAMES, _MANY = 12, 2000
#: Smaller eigenvalues are drawn here: the axis is logarithmic.
_LEAST = 1e-9


def draw_clusters(
    embedding: FloatArray, labels: IntArray, eigenvalues: FloatArray, axes: Any = None
) -> Any:
    """Draw nodes and eigenvalues side by side, or nodes alone on axes that are there.

    Parameters
    ----------
    embedding, labels, eigenvalues
        As `SpectralKernelClustering` has them.
    axes
        Axes of matplotlib, or ``None`` for a new figure.
    """
    if axes is not None:
        _nodes(axes, embedding, labels)
        return axes.figure
    make = require("matplotlib.figure", "plot").Figure
    figure = make(figsize=(7.2, 3.4), layout="constrained", facecolor="white")
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1.0])
    _nodes(left, embedding, labels)
    _eigenvalues(right, eigenvalues, int(labels.max()) + 1)
    return figure


def _nodes(axes: Any, embedding: FloatArray, labels: IntArray) -> None:
    points, shares = _main_directions(embedding)
    n_clusters = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=n_clusters)
    colours = _colours(n_clusters)
    many = len(labels) > _MANY
    # In an order that has nothing to do with clusters: none hides the others.
    order = np.random.default_rng(0).permutation(len(labels))
    axes.scatter(
        points[order, 0],
        points[order, 1],
        s=3 if many else 16,
        c=[colours[label] for label in labels[order]],
        linewidths=0 if many else 0.4,
        edgecolors="white",
        alpha=0.6 if many else 0.9,
        rasterized=many,
    )
    if n_clusters <= _MOST_NAMES:
        for label, size in enumerate(sizes):
            axes.scatter([], [], s=16, c=colours[label], label=f"{label}: {size:,}")
        axes.legend(
            title="cluster: nodes",
            fontsize=7,
            title_fontsize=7,
            frameon=False,
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            handletextpad=0.2,
        )
    axes.set_xlabel(f"first direction ({shares[0]:.0%} of the variance)", fontsize=8)
    axes.set_ylabel(f"second direction ({shares[1]:.0%})", fontsize=8)
    axes.set_title(f"{len(labels):,} nodes, {n_clusters} clusters", fontsize=9, color=_INK)
    axes.set_aspect("equal", adjustable="datalim")
    _plain(axes)


def _eigenvalues(axes: Any, eigenvalues: FloatArray, n_clusters: int) -> None:
    places = np.arange(1, len(eigenvalues) + 1)
    heights = np.maximum(eigenvalues, _LEAST)
    floor = 0.5 * heights.min()
    axes.vlines(places, floor, heights, color=_FAINT, linewidth=1)
    for chosen, face in ((places <= n_clusters, _COLOURS[0]), (places > n_clusters, "white")):
        axes.plot(
            places[chosen],
            heights[chosen],
            "o",
            markersize=4.5,
            color=_COLOURS[0],
            markerfacecolor=face,
        )
    if n_clusters < len(places):
        axes.axvline(n_clusters + 0.5, color=_COLOURS[1], linewidth=1, linestyle="--")
    axes.set_yscale("log")
    axes.set_ylim(floor, 1.6)
    axes.set_xlabel("number", fontsize=8)
    axes.set_ylabel("eigenvalue of the normalised kernel", fontsize=8)
    axes.set_title("Eigenvalues", fontsize=9, color=_INK)
    axes.xaxis.get_major_locator().set_params(integer=True)
    _plain(axes)


def _main_directions(embedding: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two directions of largest variance, and the shares of it that they have."""
    centred = embedding - embedding.mean(axis=0)
    if centred.shape[1] < 2:
        centred = np.hstack([centred, np.zeros((len(centred), 2 - centred.shape[1]))])
    variances, directions = np.linalg.eigh(centred.T @ centred)
    total = max(float(variances.sum()), np.finfo(float).tiny)
    turned = directions[:, ::-1][:, :2]
    signs = np.where(turned[np.abs(turned).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return centred @ (turned * signs), np.clip(variances[::-1][:2] / total, 0.0, 1.0)


def _colours(number: int) -> list[Any]:
    if number <= len(_COLOURS):
        return list(_COLOURS[:number])
    colour_map = require("matplotlib", "plot").colormaps["turbo"]
    return [colour_map(place) for place in np.linspace(0.05, 0.95, number)]


def _plain(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=7, color=_FAINT)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_FAINT)
