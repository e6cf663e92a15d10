"""Folders of pictures, of all kinds that people have."""

import numpy as np
import pytest

pytest.importorskip("PIL", reason="pillow is not installed")

from PIL import Image

from grfpp.errors import InputError
from grfpp_lab.datasets.image_folder import ImageFolder


def picture(path, size=(40, 30), colour=(200, 100, 50), mode="RGB", **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).convert(mode).save(path, **options)
    return path


@pytest.fixture
def folder(tmp_path):
    picture(tmp_path / "cat/b.png")
    picture(tmp_path / "cat/more/a.JPG", format="JPEG", quality=95)
    picture(tmp_path / "ant/grey.png", mode="L")
    picture(tmp_path / "ant/palette.gif", mode="P")
    picture(tmp_path / "ant/print.jpg", mode="CMYK")
    picture(tmp_path / "ant/clear.png", mode="RGBA")
    (tmp_path / "ant/notes.txt").write_text("no picture")
    (tmp_path / "list.csv").write_text("no class")
    return tmp_path


def test_every_folder_is_a_class(folder):
    pictures = ImageFolder(folder, size=8)
    assert pictures.classes == ("ant", "cat")
    names = ["clear.png", "grey.png", "palette.gif", "print.jpg", "b.png", "a.JPG"]
    assert [path.name for path in pictures.paths] == names
    assert pictures.labels.tolist() == [0, 0, 0, 0, 1, 1]
    assert len(pictures) == 6
    assert ImageFolder(folder, classes=["cat"]).labels.tolist() == [0, 0]


def test_pictures_of_any_kind_become_colours(folder):
    pictures = ImageFolder(folder, size=8)
    pixels, labels = pictures.load()
    assert pixels.shape == (6, 8, 8, 3)
    assert pixels.dtype == np.uint8
    assert labels.tolist() == pictures.labels.tolist()
    some, labels = pictures.load([4, 0])
    assert np.array_equal(some, pixels[[4, 0]])
    assert labels.tolist() == [1, 0]
    colour = {path.name: pixels[n].mean((0, 1)) for n, path in enumerate(pictures.paths)}
    for name in ("clear.png", "b.png"):
        np.testing.assert_allclose(colour[name], [200, 100, 50], atol=1)
    for name in ("a.JPG", "print.jpg", "palette.gif"):
        np.testing.assert_allclose(colour[name], [200, 100, 50], atol=40)
    assert len(set(colour["grey.png"].round())) == 1


@pytest.mark.parametrize("size", [(60, 20), (20, 60), (5, 5), (500, 300)])
def test_the_middle_is_cut_out(tmp_path, size):
    """White around a black middle square: scaled or not, what is left of it is black."""
    width, height = size
    side = min(size)
    pixels = np.full((height, width, 3), 255, dtype=np.uint8)
    top, left = (height - side) // 2, (width - side) // 2
    pixels[top : top + side, left : left + side] = 0
    (tmp_path / "a").mkdir()
    Image.fromarray(pixels).save(tmp_path / "a/a.png")
    (found,), _ = ImageFolder(tmp_path, size=10).load()
    assert found.shape == (10, 10, 3)
    assert found.max() <= 60


def test_subsets_have_as_many_of_each_class(tmp_path):
    for number in range(12):
        picture(tmp_path / f"{'ab'[number % 2]}/{number}.png", size=(2, 2))
    picture(tmp_path / "c/only.png", size=(2, 2))
    pictures = ImageFolder(tmp_path, size=2)
    chosen = pictures.subset(9, seed=1)
    assert np.bincount(pictures.labels[chosen]).tolist() == [4, 4, 1]
    assert np.array_equal(chosen[:5], pictures.subset(5, seed=1))
    assert not np.array_equal(chosen, pictures.subset(9, seed=2))
    assert sorted(pictures.subset(100)) == list(range(13))


def test_what_cannot_be_read(folder):
    (folder / "empty/dog").mkdir(parents=True)
    for read, reason in (
        (lambda: ImageFolder(folder / "nowhere"), "cannot read the folder"),
        (lambda: ImageFolder(folder / "cat/more"), "has no folders"),
        (lambda: ImageFolder(folder, classes=["dog"]), "there is no folder .* for the class 'dog'"),
        (lambda: ImageFolder(folder, size=0), "size must be a whole number >= 1"),
        (lambda: ImageFolder(folder / "empty"), "has no pictures"),
        (lambda: ImageFolder(folder, size=4, classes=["cat"]).load([2]), "between 0 and 1"),
    ):
        with pytest.raises(InputError, match=reason):
            read()
