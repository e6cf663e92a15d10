"""Images to make superpixel graphs of: MNIST and a part of CIFAR-10."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from grfpp.arguments import one_of
from grfpp.datasets.arrays import ByteArray, read_only
from grfpp.datasets.fetch import fetch_file, find_file
from grfpp.datasets.registry import dataset_info
from grfpp.errors import InputError
from grfpp.io.storage.packed import Readable, opened_gzip, opened_tar_member, read_all
from grfpp.io.storage.stored_arrays import opened_arrays
from grfpp.memory import require_bytes

_DIGITS = tuple("0123456789")
_THINGS = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
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

    def __repr__(self) -> str:
        size = " x ".join(str(length) for length in self.images.shape[1:3])
        return f"Images({self.name!r}, {len(self)} images of {size} pixels)"


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
    return Images(name, read_only(images), read_only(labels), classes)


def read_idx(path: str | Path) -> ByteArray:
    """Read an array of bytes from a packed file in MNIST's IDX format."""
    file = Path(path)
    with opened_gzip(file) as stream:
        magic = stream.read(4)
        if len(magic) < 4 or magic[:3] != b"\x00\x00\x08" or not 1 <= magic[3] <= 4:
            raise InputError(f"{file} is not an IDX file of bytes: it begins with {magic!r}")
        shape = tuple(np.frombuffer(_exactly(stream, 4 * magic[3], file), dtype=">u4").tolist())
        values = np.frombuffer(_exactly(stream, int(np.prod(shape)), file), dtype=np.uint8)
        if stream.read(1):
            raise InputError(f"{file} is longer than its header of shape {shape} says")
    return values.reshape(shape)


def read_cifar_npz(path: str | Path) -> tuple[ByteArray, ByteArray]:
    """Read the arrays ``images`` and ``labels`` of an ``.npz`` file."""
    with opened_arrays(path) as arrays:
        images, labels = arrays["images"], arrays["labels"]
    fits = images.shape[1:] == (_CIFAR_SIDE, _CIFAR_SIDE, 3) and labels.shape == images.shape[:1]
    if not fits or {images.dtype, labels.dtype} != {np.dtype(np.uint8)}:
        raise InputError(
            f"{path}: expected bytes of shapes (n, {_CIFAR_SIDE}, {_CIFAR_SIDE}, 3) and (n,), "
            f"found {images.dtype} {images.shape} and {labels.dtype} {labels.shape}"
        )
    return images, labels


def read_cifar_archive(path: str | Path) -> tuple[ByteArray, ByteArray]:
    """Read the first batch of CIFAR-10's archive for C programs."""
    file = Path(path)
    with opened_tar_member(file, "data_batch_1.bin") as stream:
        data = read_all(stream, file)
    # A record is a label, then all red bytes row by row, all green, all blue.
    length = 1 + 3 * _CIFAR_SIDE**2
    if not data or len(data) % length:
        raise InputError(
            f"{file}: data_batch_1.bin must hold records of {length} bytes, found {len(data)} bytes"
        )
    records = np.frombuffer(data, dtype=np.uint8).reshape(-1, length)
    planes = records[:, 1:].reshape(-1, 3, _CIFAR_SIDE, _CIFAR_SIDE)
    return np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), records[:, 0].copy()


def _exactly(stream: Readable, n_bytes: int, file: Path) -> bytes:
    require_bytes(n_bytes, f"reading {file}")
    data = stream.read(n_bytes)
    if len(data) < n_bytes:
        raise InputError(f"{file} is truncated: {n_bytes} bytes should follow, found {len(data)}")
    return data
