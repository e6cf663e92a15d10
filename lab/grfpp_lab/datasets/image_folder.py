"""Pictures in folders, a folder a class, as ImageNet and Places365 are unpacked."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from grfpp._checks import node_numbers, whole
from grfpp._imports import require
from grfpp.errors import InputError
from grfpp.linalg.csr import readonly
from grfpp.typing import IntArray
from grfpp_lab.datasets.images import ByteArray

#: What counts as a picture; other files are passed over.
ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")


class ImageFolder:
    """Pictures below one folder, read when they are asked for.

    ``folder/class/picture.jpg``: every folder is a class, in the order of their names, and all
    pictures in it and below it belong to that class. Needs pillow.

    Parameters
    ----------
    folder
        What holds the folders of the classes, such as ``imagenet/train``.
    size
        Height and width that pictures get: they are scaled until the shorter side fits, then cut
        around the middle.
    classes
        Only these, in this order; by default all.

    Attributes
    ----------
    classes
        Names of the classes; the label of a picture is a place in this list.
    paths
        Where the pictures are.
    labels
        The class of each, from 0.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("cat", "dog"):
    ...         (Path(folder) / name).mkdir()
    ...         Image.new("RGB", (640, 480)).save(Path(folder) / name / "1.jpg")
    ...     pixels, labels = ImageFolder(folder, size=64).load()
    >>> pixels.shape, labels
    ((2, 64, 64, 3), array([0, 1]))
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        size: int = 64,
        *,
        classes: Sequence[str] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.size = whole(size, "size", 1)
        self.classes = tuple(_class_names(self.folder) if classes is None else classes)
        if not self.classes:
            raise InputError(f"{self.folder} has no folders; each class needs one of its own")
        paths = [_pictures(self.folder / name) for name in self.classes]
        self.paths = tuple(path for of_class in paths for path in of_class)
        labels = np.repeat(np.arange(len(paths)), [len(of_class) for of_class in paths])
        self.labels: IntArray = readonly(labels.astype(np.int64))
        if not self.paths:
            raise InputError(
                f"{self.folder} has no pictures in the folders of its {len(self.classes)} classes; "
                f"pictures are files that end in {', '.join(ENDINGS)}"
            )

    def __len__(self) -> int:
        return len(self.paths)

    def load(self, numbers: Sequence[int] | IntArray | None = None) -> tuple[ByteArray, IntArray]:
        """Pixels of shape ``(n, size, size, 3)`` and labels of the chosen pictures, or of all."""
        every = np.arange(len(self))
        chosen = every if numbers is None else node_numbers(numbers, len(self), "pictures")
        pixels = np.empty((len(chosen), self.size, self.size, 3), dtype=np.uint8)
        for place, number in enumerate(chosen):
            pixels[place] = self._pixels(self.paths[number])
        return pixels, self.labels[chosen]

    def subset(self, n: int, seed: int = 0) -> IntArray:
        """Numbers of `n` pictures by chance, about as many of each class (all if there are fewer).

        The same for the same seed, and longer subsets begin with the shorter ones.
        """
        rng = np.random.default_rng(whole(seed, "seed", 0))
        order = rng.permutation(len(self))
        # Round after round, one of every class.
        labels = self.labels[order]
        by_class = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[by_class], np.arange(len(self.classes)))
        turn = np.empty(len(self), dtype=np.int64)
        turn[by_class] = np.arange(len(self)) - starts[labels[by_class]]
        chosen: IntArray = order[np.argsort(turn, kind="stable")][: whole(n, "n", 0)]
        return chosen

    def _pixels(self, path: Path) -> ByteArray:
        pillow, side = require("PIL.Image", "reading pictures"), self.size
        bombs = (pillow.DecompressionBombError, pillow.DecompressionBombWarning)
        try:
            with warnings.catch_warnings():
                # Pillow warns of odd files, and of ones so large that they may be an attack.
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", pillow.DecompressionBombWarning)
                with pillow.open(path) as picture:
                    picture.draft("RGB", (2 * side, 2 * side))  # JPEG files shrink as they are read
                    colours = picture.convert("RGB")
        except (OSError, ValueError, SyntaxError, *bombs) as error:  # all are pillow's
            raise InputError(f"{path} cannot be read as a picture ({error})") from None
        width, height = colours.size
        scale = side / min(width, height)
        left, top = (width - side / scale) / 2, (height - side / scale) / 2
        box = (left, top, left + side / scale, top + side / scale)
        pixels: ByteArray = np.asarray(
            colours.resize((side, side), pillow.Resampling.BILINEAR, box=box)
        )
        return pixels


def _class_names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    except OSError as error:
        raise InputError(f"cannot read the folder {folder}: {error.strerror}") from None


def _pictures(folder: Path) -> list[Path]:
    """All pictures in a folder and below it, in the order of their names."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder} for the class {folder.name!r}")
    files = (Path(here) / name for here, _, names in os.walk(folder) for name in names)
    return sorted(file for file in files if file.name.lower().endswith(ENDINGS))
