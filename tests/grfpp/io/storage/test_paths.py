"""What is not a file is refused at once; nothing waits for a pipe."""

import os

import numpy as np
import pytest
from io_helpers import refusal

from grfpp import Graph, InputError, KernelEstimate
from grfpp.datasets.tudataset import read_tudataset
from grfpp.io import load_mesh
from grfpp.io.files import read_attribute
from grfpp.io.storage.paths import existing_file

SUFFIXES = [".txt", ".txt.gz", ".csv.zip", ".npz", ".mtx", ".gml", ".graphml", ".stl", ".off"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_pipes_and_devices(tmp_path, suffix):
    pipe, device = tmp_path / f"pipe{suffix}", tmp_path / f"device{suffix}"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for path in (pipe, device):
        assert refusal(path) == f"{path} is a pipe or a device; save what it gives, and pass that"


@pytest.mark.parametrize(
    ("read", "suffix"),
    [
        (Graph.load, ".npz"),
        (KernelEstimate.load, ".npz"),
        (load_mesh, ".off"),
        (lambda path: read_attribute(path, "x"), ".gml"),
        (read_tudataset, ".zip"),
    ],
)
def test_whoever_reads(tmp_path, read, suffix):
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    with pytest.raises(InputError, match="is a pipe or a device"):
        read(path)
    with pytest.raises(InputError, match="there is no file"):
        read(tmp_path / f"none{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path / f"folder{suffix}")


def test_links_and_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    Graph(np.eye(2)).save(tmp_path / "g.npz")
    (tmp_path / "link.npz").symlink_to("g.npz")
    assert Graph("~/link.npz").n_nodes == 2
    assert existing_file("~/g.npz") == tmp_path / "g.npz"
    (tmp_path / "loop.npz").symlink_to("loop.npz")
    assert str(tmp_path / "loop.npz") in refusal(tmp_path / "loop.npz")


def test_names_that_no_file_can_have():
    for name in ("a\0b.txt", "x" * 5000 + ".txt"):
        assert "no file" in refusal(name) or "cannot read" in refusal(name)
