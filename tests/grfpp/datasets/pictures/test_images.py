import io
import struct
import tarfile

import numpy as np
import pytest
from datasets_helpers import is_frozen, needs_data, no_data, refusal, write_gzip

from grfpp.datasets import load_cifar10, load_mnist
from grfpp.datasets.pictures.images import read_cifar_archive, read_cifar_npz, read_idx
from grfpp.errors import MissingDataError


def idx(array):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_mnist(folder, prefix, images, labels):
    write_gzip(folder / f"images/mnist/{prefix}-images-idx3-ubyte.gz", idx(images))
    write_gzip(folder / f"images/mnist/{prefix}-labels-idx1-ubyte.gz", idx(labels))


def random_bytes(*shape):
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def test_idx(tmp_path):
    for shape in ((5,), (2, 3, 4)):
        array = random_bytes(*shape)
        np.testing.assert_array_equal(read_idx(write_gzip(tmp_path / "a.gz", idx(array))), array)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is not an IDX file"),
        (b"\x00\x00\x0d\x01", "is not an IDX file of bytes"),
        (idx(random_bytes(3))[:6], "is truncated: 4 bytes should follow, found 2"),
        (idx(random_bytes(3, 4))[:-1], "is truncated: 12 bytes should follow, found 11"),
        (idx(random_bytes(3)) + b"x", "is longer than its header of shape (3,) says"),
    ],
)
def test_wrong_idx(tmp_path, data, words):
    path = write_gzip(tmp_path / "a.gz", data)
    message = refusal(read_idx, path)
    assert str(path) in message
    assert words in message


def test_idx_that_announces_more_than_memory_holds(tmp_path):
    data = struct.pack(">BBBB3I", 0, 0, 8, 3, *[2**32 - 1] * 3)
    assert "bytes" in refusal(read_idx, write_gzip(tmp_path / "a.gz", data))


def test_damaged_gzip(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(write_gzip(tmp_path / "b.gz", idx(random_bytes(999))).read_bytes()[:-200])
    assert "truncated" in refusal(read_idx, path)
    path.write_bytes(b"plain")
    assert "not a gzip file" in refusal(read_idx, path)


def test_mnist(tmp_path, monkeypatch):
    no_data(monkeypatch, tmp_path)
    with pytest.raises(MissingDataError, match="t10k-images-idx3"):
        load_mnist("test", download=False)
    assert "split must be" in refusal(load_mnist, "val")
    images, labels = random_bytes(4, 28, 28), np.array([0, 9, 3, 3], dtype=np.uint8)
    write_mnist(tmp_path, "t10k", images, labels)
    digits = load_mnist("test", download=False)
    assert repr(digits) == "Images('mnist', 4 images of 28 x 28 pixels)"
    np.testing.assert_array_equal(digits.images, images)
    np.testing.assert_array_equal(digits.labels, labels)
    assert is_frozen(digits.images)
    write_mnist(tmp_path, "t10k", images, labels[:3])
    assert "do not belong together" in refusal(load_mnist, "test")
    write_mnist(tmp_path, "t10k", images, labels + 1)
    assert "labels must be 0 to 9, found 10" in refusal(load_mnist, "test")


def write_archive(path, data, name="cifar-10-batches-bin/data_batch_1.bin"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return path


def records(images, labels):
    planes = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    return np.concatenate([labels[:, None], planes], axis=1).tobytes()


def test_both_files_of_cifar10_give_the_same(tmp_path, monkeypatch):
    no_data(monkeypatch, tmp_path)
    with pytest.raises(MissingDataError, match=r"cifar-10-binary\.tar\.gz"):
        load_cifar10(download=False)
    images, labels = random_bytes(3, 32, 32, 3), np.array([9, 0, 4], dtype=np.uint8)
    write_archive(tmp_path / "images/cifar-10-binary.tar.gz", records(images, labels))
    from_archive = load_cifar10(download=False)
    np.savez(tmp_path / "images/cifar10_batch1.npz", images=images, labels=labels)
    from_npz = load_cifar10(download=False)
    for found in (from_archive, from_npz):
        np.testing.assert_array_equal(found.images, images)
        np.testing.assert_array_equal(found.labels, labels)
        assert found.classes[9] == "truck"
        assert is_frozen(found.images)


def test_wrong_archives(tmp_path):
    path = tmp_path / "a.tar.gz"
    write_archive(path, b"x" * 3072)
    assert "records of 3073 bytes, found 3072 bytes" in refusal(read_cifar_archive, path)
    write_archive(path, b"")
    assert "records of 3073 bytes" in refusal(read_cifar_archive, path)
    write_archive(path, b"x" * 3073, "other.bin")
    assert "holds no file data_batch_1.bin" in refusal(read_cifar_archive, path)
    path.write_bytes(b"text")
    assert "not a tar.gz file" in refusal(read_cifar_archive, path)
    path.write_bytes(write_archive(path, bytes(random_bytes(3073 * 9))).read_bytes()[:5000])
    assert str(path) in refusal(read_cifar_archive, path)


def test_wrong_npz(tmp_path):
    path = tmp_path / "a.npz"
    assert "there is no file" in refusal(read_cifar_npz, path)
    path.write_bytes(b"text")
    assert "not a whole .npz file" in refusal(read_cifar_npz, path)
    np.savez(path, images=random_bytes(2, 32, 32, 3))
    assert "not a whole .npz file" in refusal(read_cifar_npz, path)
    np.savez(path, images=random_bytes(2, 32, 32, 3), labels=np.zeros(3, dtype=np.uint8))
    assert "expected bytes of shapes" in refusal(read_cifar_npz, path)
    np.savez(path, images=random_bytes(2, 32, 32, 3), labels=np.zeros(2))
    assert "float64" in refusal(read_cifar_npz, path)
    np.savez(path, images=np.array([{}]), labels=np.zeros(1, dtype=np.uint8))
    assert "not a whole .npz file" in refusal(read_cifar_npz, path)  # a pickle
    with path.open("wb") as stream:
        np.save(stream, random_bytes(3))
    assert "not a whole .npz file" in refusal(read_cifar_npz, path)


def test_real_images():
    needs_data()
    train, test, photographs = load_mnist("train"), load_mnist("test"), load_cifar10()
    assert train.images.shape == (60_000, 28, 28)
    assert test.images.shape == (10_000, 28, 28)
    assert photographs.images.shape == (10_000, 32, 32, 3)
    counts = np.bincount(photographs.labels)
    assert (len(counts), counts.min(), counts.max()) == (10, 937, 1032)
    assert np.bincount(train.labels).tolist()[:2] == [5923, 6742]
