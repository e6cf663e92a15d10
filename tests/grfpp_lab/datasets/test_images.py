import gzip
import io
import struct
import tarfile

import numpy as np
import pytest
from datasets_helpers import diameter, is_frozen, needs_data, no_data, refusal, write_gzip

from grfpp_lab.datasets import images as module
from grfpp_lab.datasets.images import load_cifar10, load_mnist, read_idx, superpixel_graph


def idx(array):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_mnist(folder, prefix, images, labels):
    write_gzip(folder / f"images/mnist/{prefix}-images-idx3-ubyte.gz", idx(images))
    write_gzip(folder / f"images/mnist/{prefix}-labels-idx1-ubyte.gz", idx(labels))


def random_bytes(*shape):
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize("shape", [(5,), (2, 3, 4)])
def test_idx(tmp_path, shape):
    array = random_bytes(*shape)
    np.testing.assert_array_equal(read_idx(write_gzip(tmp_path / "a.gz", idx(array))), array)


def test_damaged_idx_files(tmp_path):
    path, array = tmp_path / "a.gz", idx(random_bytes(3, 4))
    too_large = struct.pack(">BBBB3I", 0, 0, 8, 3, *[2**32 - 1] * 3)
    for data in (
        b"plain",
        *map(gzip.compress, (b"", b"\x00\x00\x0d\x01", array[:6], array[:-1], array + b"x")),
        gzip.compress(too_large),
        gzip.compress(idx(random_bytes(999)))[:-200],
    ):
        path.write_bytes(data)
        assert f"cannot read {path}" in refusal(read_idx, path)


def test_mnist(tmp_path, monkeypatch):
    no_data(monkeypatch, tmp_path)
    assert "split must be" in refusal(load_mnist, "val")
    images, labels = random_bytes(4, 28, 28), np.array([0, 9, 3, 3], dtype=np.uint8)
    write_mnist(tmp_path, "t10k", images, labels)
    digits = load_mnist("test", download=False)
    np.testing.assert_array_equal(digits.images, images)
    np.testing.assert_array_equal(digits.labels, labels)
    assert is_frozen(digits.images)
    write_mnist(tmp_path, "t10k", images, labels[:3])
    assert "do not belong together" in refusal(load_mnist, "test")
    write_mnist(tmp_path, "t10k", images, labels + 1)
    assert "labels must be 0 to 9, found 10" in refusal(load_mnist, "test")


def test_both_files_of_cifar10_give_the_same(tmp_path, monkeypatch):
    no_data(monkeypatch, tmp_path)
    images, labels = random_bytes(3, 32, 32, 3), np.array([9, 0, 4], dtype=np.uint8)
    planes = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    data = np.concatenate([labels[:, None], planes], axis=1).tobytes()
    (tmp_path / "images").mkdir()
    with tarfile.open(tmp_path / "images/cifar-10-binary.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("cifar-10-batches-bin/data_batch_1.bin")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    from_archive = load_cifar10(download=False)
    np.savez(tmp_path / "images/cifar10_batch1.npz", images=images, labels=labels)
    for found in (from_archive, load_cifar10(download=False)):
        np.testing.assert_array_equal(found.images, images)
        np.testing.assert_array_equal(found.labels, labels)
        assert found.classes[9] == "truck"
        assert is_frozen(found.images)


def test_damaged_arrays(tmp_path):
    path = tmp_path / "a.npz"
    images, labels = random_bytes(2, 32, 32, 3), np.zeros(2, dtype=np.uint8)
    assert f"cannot read {path}" in refusal(module.read_cifar_npz, path)
    path.write_bytes(b"text")
    assert f"cannot read {path}" in refusal(module.read_cifar_npz, path)
    for arrays in (
        {"images": images},
        {"images": images, "labels": np.zeros(3, dtype=np.uint8)},
        {"images": images, "labels": np.zeros(2)},
        {"images": np.array([{}]), "labels": labels[:1]},  # a pickle
    ):
        np.savez(path, **arrays)
        assert f"cannot read {path}" in refusal(module.read_cifar_npz, path)


def test_real_images():
    needs_data()
    train, test, photographs = load_mnist("train"), load_mnist("test"), load_cifar10()
    shapes = [each.images.shape for each in (train, test, photographs)]
    assert shapes == [(60_000, 28, 28), (10_000, 28, 28), (10_000, 32, 32, 3)]
    counts = np.bincount(photographs.labels)
    assert (len(counts), counts.min(), counts.max()) == (10, 937, 1032)
    assert np.bincount(train.labels).tolist()[:2] == [5923, 6742]


@pytest.fixture
def skimage():
    return pytest.importorskip("skimage", reason="needs scikit-image")


def by_hand(centroids, colours, k):
    """The benchmark's similarities, entry by entry."""
    n = len(centroids)

    def distance(points, i, j):
        return np.sqrt(sum((a - b) ** 2 for a, b in zip(points[i], points[j], strict=True)))

    def one_way(i, j):
        exponent = 0.0
        for points in (centroids, colours):
            nearest = sorted(distance(points, i, other) for other in range(n) if other != i)[:k]
            exponent += (distance(points, i, j) / (sum(nearest) / len(nearest) + 1e-8)) ** 2
        return np.exp(-exponent)

    return np.array(
        [[0 if i == j else (one_way(i, j) + one_way(j, i)) / 2 for j in range(n)] for i in range(n)]
    )


def test_similarities():
    rng = np.random.default_rng(0)
    centroids, colours = rng.random((7, 2)), rng.random((7, 3))
    for k in (2, 8):
        np.testing.assert_allclose(
            module._similarity(centroids, colours, k), by_hand(centroids, colours, k), rtol=1e-12
        )


@pytest.mark.parametrize("shape", [(28, 28), (32, 32, 3), (20, 30)])
def test_the_parts_of_an_image(skimage, shape):
    image = np.linspace(0, 1, int(np.prod(shape))).reshape(shape)
    found = superpixel_graph(image)
    n = found.graph.n_nodes
    assert 5 < n <= (75 if len(shape) == 2 else 150)
    assert found.segments.shape == shape[:2]
    np.testing.assert_array_equal(np.unique(found.segments), np.arange(n))
    for part in (0, n // 2):
        inside = found.segments == part
        np.testing.assert_allclose(found.colours[part], image[inside].mean(axis=0))
        rows, columns = np.nonzero(inside)
        middle = [rows.mean() / shape[0], columns.mean() / shape[1]]
        np.testing.assert_allclose(found.centroids[part], middle)
    assert not found.graph.is_directed
    assert found.graph.out_degree.min() >= 8
    assert found.graph.weights.max() <= 1


def test_superpixels_of_real_images(skimage):
    needs_data()
    photographs, digits = (
        [superpixel_graph(image).graph for image in images.images[:10]]
        for images in (load_cifar10(), load_mnist("test"))
    )
    # The benchmark's have 117.6 nodes on average, 85 to 150; and 70.6, 40 to 75, for the digits.
    assert all(70 <= graph.n_nodes <= 150 for graph in photographs)
    assert all(5 <= diameter(graph) <= 15 for graph in photographs)
    assert all(40 <= graph.n_nodes <= 75 for graph in digits)
