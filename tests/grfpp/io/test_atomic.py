"""Files and folders that appear whole or not at all, whatever happens to their writers."""

import os
import subprocess
import sys
import threading
import time

import pytest

from grfpp import Graph, InputError
from grfpp.io.atomic import atomic_folder, atomic_write

MARK = "mark"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write_file(path, text):
    with atomic_write(path) as stream:
        stream.write(text.encode())


def write_folder(path, text):
    with atomic_folder(path, MARK) as folder:
        (folder / MARK).write_text(text)


def read(path):
    return (path / MARK if path.is_dir() else path).read_text()


KINDS = pytest.mark.parametrize("write", [write_file, write_folder])


@KINDS
def test_all_or_nothing(tmp_path, write):
    path = tmp_path / "x"
    write(path, "old")
    atomic = atomic_write(path) if write is write_file else atomic_folder(path, MARK)
    with pytest.raises(KeyboardInterrupt), atomic:
        assert read(path) == "old"
        raise KeyboardInterrupt
    assert read(path) == "old" and names(tmp_path) == ["x"]
    write(path, "new")
    assert read(path) == "new" and names(tmp_path) == ["x"]


@KINDS
def test_links_are_followed_and_stay(tmp_path, write):
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    write(there / "x", "old")
    (here / "link").symlink_to(there / "x")
    (here / "second").symlink_to("link")  # relative, to a link
    write(here / "second", "new")
    assert read(there / "x") == "new" and names(there) == ["x"]
    assert names(here) == ["link", "second"] and (here / "second").is_symlink()
    (here / "empty").symlink_to(there / "y")
    write(here / "empty", "new")
    assert read(there / "y") == "new"


@KINDS
def test_many_writers_at_once(tmp_path, write):
    path, failures = tmp_path / "x", []

    def work(text):
        try:
            for _ in range(20):
                write(path, text * 1000)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(text,)) for text in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(set(read(path))) == 1 and names(tmp_path) == ["x"]


@KINDS
def test_leftovers_of_killed_writers(tmp_path, write):
    """Those that nobody has written to for a day are removed; others may belong to somebody."""
    suffix = ".part" if write is write_file else ".parts"
    hidden = [f".{stem}.{16 * '0'}{suffix}" for stem in ("x", "x.longer")]
    hidden += [f".x.{16 * '1'}{suffix}", f".x{suffix}"]
    day_ago = time.time() - 25 * 3600
    for name in hidden:
        path = tmp_path / name
        write(path, "half")
        os.utime(path / MARK if path.is_dir() else path, (day_ago, day_ago))
        os.utime(path, (day_ago, day_ago))
    os.utime(tmp_path / hidden[2])  # its writer may live
    write(tmp_path / "x", "new")
    assert names(tmp_path) == sorted([*hidden[1:], "x"])


@KINDS
@pytest.mark.parametrize("kind", ["missing", "circle", "pipe", "long", "zero", "nobody", "number"])
def test_what_cannot_be_written(tmp_path, write, kind):
    path = {
        "missing": tmp_path / "none" / "x",
        "long": tmp_path / ("x" * 300),
        "zero": f"{tmp_path}/a\0b",
        "nobody": "~nobody-of-this-name/x",
        "number": 7,
    }.get(kind, tmp_path / "x")
    if kind == "circle":
        path.symlink_to(path)
    elif kind == "pipe":
        os.mkfifo(path)
    before = names(tmp_path)
    with pytest.raises(InputError, match="cannot write") as caught:
        write(path, "new")
    assert "\n" not in str(caught.value) and names(tmp_path) == before


def test_files_and_folders_of_others_stay(tmp_path):
    (tmp_path / "file").write_text("dear")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        write_file(tmp_path / "folder", "new")
    write_folder(tmp_path / "folder", "new")  # it was empty
    (tmp_path / "folder" / MARK).rename(tmp_path / "folder" / "letters")
    for name in ("file", "folder"):
        with pytest.raises(InputError, match="cannot write"):
            write_folder(tmp_path / name, "new")
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "x"):  # not of ours
        (tmp_path / "other").read_bytes()
    assert names(tmp_path) == ["file", "folder"]


def test_modes_are_those_of_the_old_file_or_of_any_new_one(tmp_path):
    for name, mode in (("private", 0o600), ("shared", 0o644)):
        (tmp_path / name).write_text("before")
        (tmp_path / name).chmod(mode)
        write_file(tmp_path / name, "after")
        assert (tmp_path / name).stat().st_mode & 0o777 == mode
    (tmp_path / "plain").write_text("")
    write_file(tmp_path / "new", "")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_any_name_that_the_system_takes_the_home_folder_and_outputs_of_programs(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    written = ["x" * 255, "ü" * 127, "a b'\"\\.npz"]
    for name in written:
        write_file(tmp_path / name, "new")
    write_file("~/file.txt", "x")
    assert names(tmp_path) == sorted([*written, "file.txt"])
    with pytest.raises(InputError, match="input or output of a program"):
        write_file("/dev/stdout", "new")


FULL_DISK = """
import resource, sys
from grfpp import Graph, InputError
graph = Graph(([[0] * 9999, list(range(1, 10000))], None), directed=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
for path in sys.argv[1:]:
    try:
        graph.save(path)
    except InputError as error:
        print(error)
"""


def test_a_full_disk(tmp_path):
    paths = [tmp_path / "g.npz", tmp_path / "g.grf"]
    for path in paths:
        Graph([[0, 1], [1, 0]]).save(path)
    program = [sys.executable, "-c", FULL_DISK, *paths]
    run = subprocess.run(program, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == [f"cannot write {path}: File too large" for path in paths]
    assert all(Graph.load(path).n_nodes == 2 for path in paths)
    assert names(tmp_path) == ["g.grf", "g.npz"]


KILLING = """
import os, random, signal, sys, time, numpy as np
from grfpp import Graph
path, rng = sys.argv[1], random.Random(0)
graphs = [Graph(np.full((200, 200), value)) for value in (1.0, 2.0)]
graphs[0].save(path)
for _ in range(20):
    child = os.fork()
    while not child:
        for graph in graphs:
            graph.save(path)
    time.sleep(rng.uniform(0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert set(Graph.load(path).weights.tolist()) in ({1.0}, {2.0})
"""


def test_killed_while_saving(tmp_path):
    """The old file or the new one is whole."""
    program = [sys.executable, "-c", KILLING, tmp_path / "g.npz"]
    run = subprocess.run(program, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode()
    assert len(names(tmp_path)) > 3  # it was killed in the middle
