"""Packed files, sound and damaged."""

import gzip
import io
import tarfile

import pytest
from io_helpers import file_refusal
from little_memory import only

from grfpp.errors import InputError
from grfpp.io.storage.packed import opened_gzip, opened_tar_member, opened_zip, read_all


def test_what_unpacks_to_more_than_memory_is_refused(monkeypatch):
    only(monkeypatch, 1000)
    packed = gzip.compress(b"0 1\n" * 10_000)
    assert "too much for the memory" in file_refusal(packed, ".txt.gz")


def test_truncated_gzip():
    packed = gzip.compress(b"0 1\n" * 1000)
    assert "truncated" in file_refusal(packed[:-9], ".txt.gz")
    assert "not a gzip file" in file_refusal(b"0 1\n", ".txt.gz")
    assert "truncated" in file_refusal(packed[:10] + b"\xff" * 20, ".txt.gz")


def test_members_of_tar_archives(tmp_path):
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("folder/data.bin")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"abc"))
    with opened_tar_member(path, "data.bin") as stream:
        assert read_all(stream, path) == b"abc"
    with (
        pytest.raises(InputError, match=r"holds no file other\.bin"),
        opened_tar_member(path, "other.bin"),
    ):
        pass


@pytest.mark.parametrize("opened", [opened_zip, opened_gzip])
def test_files_that_are_not_packed_or_not_there(tmp_path, opened):
    path = tmp_path / "a"
    with pytest.raises(InputError, match="there is no file"), opened(path):
        pass
    path.write_bytes(b"not packed")
    with pytest.raises(InputError, match=r"truncated, or not a \w+ file"), opened(path) as stream:
        stream.read(1)
    with pytest.raises(InputError, match="is a folder"), opened(tmp_path) as stream:
        stream.read(1)
