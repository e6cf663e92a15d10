"""Pictures for the small vision transformer."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")
from grfpp.errors import InputError
from grfpp_lab.experiments.vit import data as vit_data
from grfpp_lab.experiments.vit import experiment as vit
from grfpp_lab.harness.experiment import Settings


def test_unpacked_folders_are_found(monkeypatch, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    for part in ("train", "val"):
        for label in range(12):
            folder = tmp_path / "images/imagenet" / part / f"n{label:02}"
            folder.mkdir(parents=True)
            for number in range(3):
                image.new("RGB", (70, 80), (20 * label, 0, 0)).save(folder / f"{number}.png")
    monkeypatch.setenv("GRFPP_DATA", str(tmp_path))
    plan = vit.plan(Settings())
    assert {cell["dataset"] for cell in plan.cells} == {"imagenet"}
    images = vit_data.load_images("imagenet", 20, 10)
    assert images.train.shape == (20, 64, 64, 3)
    assert images.n_classes == 10
    assert images.patch == 8
    assert np.bincount(images.test_labels).tolist() == [1] * 10
    assert np.array_equal(images.train[:, 0, 0, 0], 20 * images.train_labels)


def test_pictures_to_test_on_are_none_of_those_to_learn_from(monkeypatch):
    pixels = np.arange(10, dtype=np.uint8)[:, None, None, None] * np.ones((1, 4, 4, 3), np.uint8)
    whole = vit_data.Images("cifar10", pixels, np.arange(10, dtype=np.uint8) % 3, tuple("abc"))
    monkeypatch.setattr(vit_data, "load_cifar10", lambda download: whole)
    vit_data.load_images.cache_clear()
    images = vit_data.load_images("cifar10", 6, 4)
    assert not set(images.train[:, 0, 0, 0]) & set(images.test[:, 0, 0, 0])
    with pytest.raises(InputError, match="10 pictures are too few for 7 and 4"):
        vit_data.load_images("cifar10", 7, 4)
    vit_data.load_images.cache_clear()
    with pytest.raises(InputError, match="there are no pictures 'dogs'"):
        vit_data.load_images("dogs", 1, 1)
