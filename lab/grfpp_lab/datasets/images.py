"""Images (MNIST, a part of CIFAR-10) and their graphs of superpixels.

Superpixel graphs are those of Dwivedi et al., "Benchmarking Graph Neural Networks", 2023.
"""

import gzip
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from grfpp._checks import one_of
from grfpp._imports import require
from grfpp.datasets.fetch import fetch_file, find_file
from grfpp.datasets.registry import dataset_info
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.text import input_errors
from grfpp.linalg.csr import readonly
from grfpp.typing import FloatArray, IntArray

ByteArray = npt.NDArray[np.uint8]

_DIGITS = tuple("0123456789")
_THINGS = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Images:
    """Images with a class each.

    Attributes
    ----------
    name
        The data set.
    images
        Bytes of shape ``(n, height, width)``, or ``(n, height, width, 3)`` with red, green, blue.
    labels
        The class of each image, from 0.
    classes
        What the classes are called.
    """

    name: str
    images: ByteArray
    labels: ByteArray
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.images)


_MNIST_FILES = {"train": (0, 1), "test": (2, 3)}
_CIFAR_SIDE = 32


def load_mnist(split: Literal["train", "test"] = "train", *, download: bool = True) -> Images:
    """Load the handwritten digits of MNIST: 60,000 to learn from, 10,000 to test on.

    Parameters
    ----------
    split
        ``"train"`` or ``"test"``.
    download
        Whether to download what is not at hand.
    """
    numbers = _MNIST_FILES[one_of(split, "split", tuple(_MNIST_FILES))]
    info = dataset_info("mnist")
    paths = [fetch_file(info, info.files[number], download=download) for number in numbers]
    images, labels = (read_idx(path) for path in paths)
    if images.ndim != 3 or labels.shape != images.shape[:1]:
        raise InputError(
            f"{paths[0]} and {paths[1]} do not belong together: they hold arrays of shapes "
            f"{images.shape} and {labels.shape}"
        )
    return _checked("mnist", images, labels, _DIGITS, str(paths[1]))


def load_cifar10(*, download: bool = True) -> Images:
    """Load the 10,000 photographs of CIFAR-10's first training batch.

    From ``cifar10_batch1.npz`` where that is at hand, else from the archive for C programs at the
    authors' address (170 MB, if `download`). Their other archives are pickles, which are never
    read.
    """
    info = dataset_info("cifar10")
    assert info.instead is not None
    path = find_file(info.files[0])
    if path is None:
        path = fetch_file(info, info.instead, download=download)
        images, labels = read_cifar_archive(path)
    else:
        images, labels = read_cifar_npz(path)
    return _checked("cifar10", images, labels, _THINGS, str(path))


def _checked(
    name: str, images: ByteArray, labels: ByteArray, classes: tuple[str, ...], source: str
) -> Images:
    if len(labels) and labels.max() >= len(classes):
        raise InputError(f"{source}: labels must be 0 to {len(classes) - 1}, found {labels.max()}")
    return Images(name, readonly(images), readonly(labels), classes)


def read_idx(path: str | Path) -> ByteArray:
    """Read an array of bytes from a packed file in MNIST's IDX format."""
    with input_errors(f"cannot read {path}"), gzip.open(path) as stream:
        data = stream.read()
        if data[:3] != b"\x00\x00\x08":
            raise ValueError(f"not an IDX file of bytes: it begins with {data[:3]!r}")
        shape = np.frombuffer(data, dtype=">u4", count=data[3], offset=4)
        return np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * data[3]).reshape(shape.tolist())


def read_cifar_npz(path: str | Path) -> tuple[ByteArray, ByteArray]:
    """Read the arrays ``images`` and ``labels`` of an ``.npz`` file."""
    with input_errors(f"cannot read {path}"), np.load(path, allow_pickle=False) as arrays:
        images, labels = arrays["images"], arrays["labels"]
        fits = images.shape == (len(labels), _CIFAR_SIDE, _CIFAR_SIDE, 3) and labels.ndim == 1
        if not fits or {images.dtype, labels.dtype} != {np.dtype(np.uint8)}:
            raise ValueError(f"expected images of bytes, found {images.dtype} {images.shape}")
    return images, labels


def read_cifar_archive(path: str | Path) -> tuple[ByteArray, ByteArray]:
    """Read the first batch of CIFAR-10's archive for C programs."""
    with input_errors(f"cannot read {path}"), tarfile.open(path, "r:gz") as archive:
        members = [m for m in archive if m.isfile() and m.name.endswith("data_batch_1.bin")]
        stream = archive.extractfile(members[0])
        assert stream is not None
        # A record is a label, then all red bytes row by row, all green, all blue.
        records = np.frombuffer(stream.read(), dtype=np.uint8).reshape(-1, 1 + 3 * _CIFAR_SIDE**2)
    planes = records[:, 1:].reshape(-1, 3, _CIFAR_SIDE, _CIFAR_SIDE)
    return np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), records[:, 0].copy()


_TINY = 1e-8


#: Of grey and of colour images: the largest number of superpixels, how much closeness counts
#: against colour, and by how many more SLIC is asked at first, since it gives fewer.
_GREY, _COLOUR = (75, 0.25, 20), (150, 10.0, 50)
_N_NEIGHBORS = 8


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


def superpixel_graph(image: npt.ArrayLike) -> SuperpixelGraph:
    """Cut an image into superpixels and join those that are near and alike.

    As Dwivedi et al. (2023) make their CIFAR-10 and MNIST graphs: SLIC superpixels (Achanta et al.
    2012), at most 75 for grey images and 150 for colour ones; the similarity of two is
    ``exp(-(d / s)² - (c / t)²)`` with the distance ``d`` of their centroids and ``c`` of their mean
    colours, where ``s`` and ``t`` are the mean distances from the first to the eight nearest
    ones, averaged over both orders of the two; each is joined to the eight that are most
    similar to it, by an edge that weighs as much. Their graphs are directed; here an edge goes
    both ways. Needs scikit-image, whose versions may cut differently.

    Parameters
    ----------
    image
        Grey of shape ``(height, width)`` or colour of shape ``(height, width, 3)``: bytes, or
        numbers from 0 to 1.
    """
    pixels = np.asarray(image)
    if pixels.dtype == np.uint8:
        pixels = pixels / 255.0
    segments = _slic(pixels)
    centroids, colours = _middles(pixels, segments)
    similarity = _similarity(centroids, colours, _N_NEIGHBORS)
    return SuperpixelGraph(Graph(_nearest(similarity, _N_NEIGHBORS)), centroids, colours, segments)


def _slic(pixels: FloatArray) -> IntArray:
    """The superpixel of each pixel; fewer are asked for until there are not too many."""
    slic = require("skimage.segmentation", "making superpixels").slic
    n_most, compactness, surplus = _GREY if pixels.ndim == 2 else _COLOUR
    channel_axis = None if pixels.ndim == 2 else -1
    for n_segments in range(n_most + surplus, 0, -1):
        found = slic(pixels, n_segments, compactness, channel_axis=channel_axis)
        _, segments = np.unique(found, return_inverse=True)
        if segments.max() < n_most:
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
