"""Images for the small vision transformer: MNIST, CIFAR-10, folders of images, stripes."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from grfpp import datasets
from grfpp._imports import how_to_install, missing_packages
from grfpp.errors import InputError
from grfpp.typing import IntArray
from grfpp_lab.datasets.image_folder import ImageFolder
from grfpp_lab.datasets.images import ByteArray, Images, load_cifar10, load_mnist

#: Generated images, for use without data.
STRIPES = "stripes"
#: Data that a user may have unpacked; the paper's.
FOLDERS = ("imagenet", "places365")
TITLES = {
    "mnist": "MNIST",
    "cifar10": "CIFAR-10, one batch",
    "imagenet": "ImageNet",
    "places365": "Places365",
    STRIPES: "Stripes (generated)",
}
#: Pictures in folders are cut to this size, and this many of their classes count.
FOLDER_SIZE, FOLDER_CLASSES = 64, 10


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Pictures to learn from and to test on."""

    #: Bytes of shape ``(n, height, width, channels)``, and classes from 0.
    train: ByteArray
    train_labels: IntArray
    test: ByteArray
    test_labels: IntArray
    n_classes: int
    #: Side of the patches that they are cut into.
    patch: int = 4


def why_absent(name: str) -> str | None:
    """Why pictures cannot be had without a download, or ``None`` when they can."""
    if name == STRIPES:
        return None
    if name in FOLDERS:
        if _folder(name) is None:
            return f"images/{name}/train and images/{name}/val are not at hand"
        missing = missing_packages("PIL")
        return how_to_install(missing) if missing else None
    return None if datasets.at_hand(name) else f"{name} is not at hand"


def _folder(name: str) -> Path | None:
    """Where a data set is unpacked, a folder a class below ``train`` and below ``val``."""
    for root in (datasets.data_folder(), datasets.cache_folder()):
        if root is not None:
            folder = root / "images" / name
            if (folder / "train").is_dir() and (folder / "val").is_dir():
                return folder
    return None


@lru_cache(maxsize=2)
def load_images(name: str, n_train: int, n_test: int) -> ImageSet:
    """Read the first pictures of the training and of the test set, which are disjoint."""
    if name == STRIPES:
        return _stripes(n_train, n_test)
    if name in FOLDERS:
        return _from_folder(name, n_train, n_test)
    if name == "mnist":
        train, test = (load_mnist(part, download=False) for part in ("train", "test"))
        return _cut(train, test, n_train, n_test)
    if name == "cifar10":
        # One batch: the last part of it is for testing.
        batch = load_cifar10(download=False)
        first = len(batch) - n_test
        if first < n_train:
            raise InputError(f"{len(batch)} pictures are too few for {n_train} and {n_test}")
        labels = batch.labels.astype(np.int64)
        parts = (batch.images[:n_train], labels[:n_train], batch.images[first:], labels[first:])
        return ImageSet(*parts, len(batch.classes))
    raise InputError(f"there are no pictures {name!r}")


def _cut(train: Images, test: Images, n_train: int, n_test: int) -> ImageSet:
    return ImageSet(
        train.images[:n_train, ..., None],
        train.labels[:n_train].astype(np.int64),
        test.images[:n_test, ..., None],
        test.labels[:n_test].astype(np.int64),
        len(train.classes),
    )


def _from_folder(name: str, n_train: int, n_test: int) -> ImageSet:
    """The first classes, larger patches: as many tokens as CIFAR-10 has."""
    folder = _folder(name)
    assert folder is not None
    classes = ImageFolder(folder / "train", FOLDER_SIZE).classes[:FOLDER_CLASSES]

    def part(name: str, n: int) -> tuple[ByteArray, IntArray]:
        pictures = ImageFolder(folder / name, FOLDER_SIZE, classes=classes)
        return pictures.load(pictures.subset(n))

    return ImageSet(*part("train", n_train), *part("val", n_test), len(classes), patch=8)


def _stripes(n_train: int, n_test: int, side: int = 12) -> ImageSet:
    """Stripes that go up, down, across or aslant, in noise: easy, and not without patches."""
    rng = np.random.default_rng(0)
    n = n_train + n_test
    labels = rng.integers(0, 4, n)
    angles = labels * np.pi / 4
    y, x = np.mgrid[:side, :side]
    phase = rng.uniform(0, 2 * np.pi, n)[:, None, None]
    along = np.cos(angles)[:, None, None] * x + np.sin(angles)[:, None, None] * y
    waves = 0.5 + 0.3 * np.sin(1.5 * along + phase) + 0.1 * rng.standard_normal((n, side, side))
    pixels = np.clip(255 * waves, 0, 255).astype(np.uint8)[..., None]
    return ImageSet(pixels[:n_train], labels[:n_train], pixels[n_train:], labels[n_train:], 4)


PLAIN, MASKED, LEARNED = "ViT", "ViT + GRF++ mask", "ViT + GRF++ mask, λ learned"
METHODS = (PLAIN, MASKED, LEARNED)

PAPER: dict[str, dict[str, float]] = {
    "imagenet": {PLAIN: 80.10, MASKED: 80.31},
    "places365": {PLAIN: 55.78, MASKED: 56.03},
}
#: The paper's strength of the mask and stitching degree.
LAM, DEGREE = 0.5, 2
