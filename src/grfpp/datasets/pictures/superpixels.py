"""Images -> graphs of superpixels, as in "Benchmarking Graph Neural Networks"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp.arguments import positive, whole
from grfpp.datasets.arrays import read_only
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.imports.optional import require
from grfpp.typing import FloatArray, IntArray

#: The photograph of `load_cifar10` whose graph is most like the one that the paper estimates at
#: long range: with scikit-image 0.26 120 nodes, diameter 11 (the paper's: 128 and 11).
LONG_CIFAR_IMAGE = 2003

_TINY = 1e-8


class _Preset(NamedTuple):
    """What the benchmark uses for a kind of image."""

    n_superpixels: int
    compactness: float
    surplus: int  # SLIC gives fewer superpixels than it is asked for: ask for so many more first


_GREY, _COLOUR = _Preset(75, 0.25, 20), _Preset(150, 10.0, 50)


@dataclass(frozen=True, eq=False, repr=False)
class SuperpixelGraph:
    """An image as a graph.

    Attributes
    ----------
    graph
        A node a superpixel.
    centroids
        Row and column of each superpixel's middle, 1 being the height and the width of the image.
    colours
        Its mean colour, from 0 to 1, a column a channel.
    segments
        For each pixel the superpixel that it is in.
    """

    graph: Graph
    centroids: FloatArray
    colours: FloatArray
    segments: IntArray

    def __repr__(self) -> str:
        return f"SuperpixelGraph({self.graph!r})"


def superpixel_graph(
    image: npt.ArrayLike,
    *,
    n_superpixels: int | None = None,
    compactness: float | None = None,
    n_neighbors: int = 8,
) -> SuperpixelGraph:
    """Cut an image into superpixels and join those that are near and alike.

    As Dwivedi et al. (2023) make their CIFAR-10 and MNIST graphs: SLIC superpixels (Achanta et al.
    2012), `n_superpixels` at most and usually fewer; the similarity of two is
    ``exp(-(d / s)² - (c / t)²)`` with the distance ``d`` of their centroids and ``c`` of their mean
    colours, where ``s`` and ``t`` are the mean distances from the first to the `n_neighbors`
    nearest ones, averaged over both orders of the two; each is joined to the `n_neighbors` that are
    most similar to it, by an edge that weighs as much. Their graphs are directed; here an edge goes
    both ways. Needs scikit-image (the extra ``image``), whose versions may cut differently.

    Parameters
    ----------
    image
        Grey of shape ``(height, width)`` or colour of shape ``(height, width, 3)``: bytes, or
        numbers from 0 to 1.
    n_superpixels
        At most so many; by default 75 for grey images and 150 for colour ones.
    compactness
        What closeness counts against colour in SLIC; by default 0.25 and 10.
    n_neighbors
        How many others each superpixel is joined to at least.
    """
    pixels = _pixels(image)
    preset = _GREY if pixels.ndim == 2 else _COLOUR
    if n_superpixels is not None:
        preset = preset._replace(n_superpixels=whole(n_superpixels, "n_superpixels", 1))
    if compactness is not None:
        preset = preset._replace(compactness=positive(compactness, "compactness"))
    k = whole(n_neighbors, "n_neighbors", 1)
    segments = _slic(pixels, preset)
    centroids, colours = _middles(pixels, segments)
    return SuperpixelGraph(
        Graph(_nearest(_similarity(centroids, colours, k), k)),
        read_only(centroids),
        read_only(colours),
        read_only(segments),
    )


def _pixels(image: npt.ArrayLike) -> FloatArray:
    pixels = np.asarray(image)
    if pixels.ndim not in (2, 3) or pixels.shape[2:] not in ((), (3,)) or not pixels.size:
        raise InputError(
            f"an image must have shape (height, width) or (height, width, 3), found {pixels.shape}"
        )
    if pixels.dtype == np.uint8:
        return pixels / 255.0
    if pixels.dtype.kind != "f" or not (pixels.min() >= 0 and pixels.max() <= 1):
        raise InputError("an image must hold bytes, or floating-point numbers from 0 to 1")
    return pixels.astype(np.float64)


def _slic(pixels: FloatArray, preset: _Preset) -> IntArray:
    """Number the superpixels that pixels are in; ask for fewer until there are not too many."""
    slic = require("skimage.segmentation", "making superpixels").slic
    for n_segments in range(preset.n_superpixels + preset.surplus, 0, -1):
        found = slic(
            pixels,
            n_segments=n_segments,
            compactness=preset.compactness,
            channel_axis=None if pixels.ndim == 2 else -1,
        )
        _, segments = np.unique(found, return_inverse=True)
        if segments.max() < preset.n_superpixels:
            break
    return segments.reshape(pixels.shape[:2]).astype(np.int64)


def _middles(pixels: FloatArray, segments: IntArray) -> tuple[FloatArray, FloatArray]:
    of_pixel = segments.ravel()
    counts = np.bincount(of_pixel)

    def mean(values: Any) -> FloatArray:
        columns = np.reshape(values, (len(of_pixel), -1)).T
        sums = [np.bincount(of_pixel, column) for column in columns]
        return np.stack(sums, axis=1) / counts[:, None]

    places = np.moveaxis(np.indices(segments.shape), 0, -1) / np.array(segments.shape)
    return mean(places), mean(pixels)


def _similarity(centroids: FloatArray, colours: FloatArray, k: int) -> FloatArray:
    exponent = _scaled_squares(centroids, k) + _scaled_squares(colours, k)
    similarity: FloatArray = np.exp(-exponent)
    similarity = (similarity + similarity.T) / 2
    np.fill_diagonal(similarity, 0)
    return similarity


def _scaled_squares(points: FloatArray, k: int) -> FloatArray:
    """Squares of distances, in units of each point's mean distance to its nearest `k`."""
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    nearest = np.sort(distances, axis=1)[:, 1 : k + 1]
    scale = nearest.mean(axis=1, keepdims=True) if nearest.size else np.zeros((len(points), 1))
    squares: FloatArray = (distances / (scale + _TINY)) ** 2
    return squares


def _nearest(similarity: FloatArray, k: int) -> sp.csr_array:
    """Keep what is among the `k` largest of its row or of its column."""
    n = len(similarity)
    order = np.argsort(-similarity, axis=1, kind="stable")[:, : min(k, n - 1)]
    chosen = np.zeros((n, n), dtype=bool)
    np.put_along_axis(chosen, order, True, axis=1)
    return sp.csr_array(np.where(chosen | chosen.T, similarity, 0.0))
