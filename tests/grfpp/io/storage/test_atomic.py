"""Files that appear whole or not at all, whatever happens to their writers."""

import fcntl
import os
import subprocess
import sys
import threading

import pytest

from grfpp import InputError
from grfpp.io.storage.atomic import atomic_write


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def refusal(path):
    with pytest.raises(InputError) as caught, atomic_write(path) as stream:
        stream.write(b"new")
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["x.bin"]  # nothing is left behind
    with atomic_write(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["x.bin"]


def test_permissions_are_those_of_any_new_file(tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    with atomic_write(tmp_path / "ours") as stream:
        stream.write(b"")
    assert (tmp_path / "ours").stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("name", ["x" * 255, "ü" * 127, "a b'\"\\.npz"])
def test_any_name_that_the_system_takes(tmp_path, name):
    with atomic_write(tmp_path / name) as stream:
        stream.write(b"new")
    assert names(tmp_path) == [name]


def test_links_are_followed_and_stay(tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    (there / "file").write_bytes(b"old")
    (there / "file").chmod(0o640)
    (here / "link").symlink_to(there / "file")
    (here / "second").symlink_to("link")  # relative, to a link
    with pytest.raises(KeyboardInterrupt), atomic_write(here / "second") as stream:
        stream.write(b"half")
        assert len(names(there)) == 2  # beside what it becomes: a rename cannot leave its disk
        raise KeyboardInterrupt
    assert (there / "file").read_bytes() == b"old"
    with atomic_write(here / "second") as stream:
        stream.write(b"new")
    assert (there / "file").read_bytes() == b"new"
    assert (there / "file").stat().st_mode & 0o777 == 0o640
    assert names(here) == ["link", "second"]
    assert all(path.is_symlink() for path in here.iterdir())
    assert names(there) == ["file"]


def test_links_to_nothing_and_in_circles(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "new")
    with atomic_write(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "new").read_bytes() == b"new"
    (tmp_path / "lost").symlink_to(tmp_path / "none" / "x")
    with pytest.raises(InputError, match="none does not exist"), atomic_write(tmp_path / "lost"):
        pass
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert "leads to itself" in refusal(tmp_path / "a")
    (tmp_path / "folder").symlink_to(tmp_path)
    with pytest.raises(InputError, match="is a folder"), atomic_write(tmp_path / "folder"):
        pass


@pytest.mark.skipif(not os.path.lexists("/proc/self/fd"), reason="Linux has these")
def test_outputs_of_programs_are_not_replaced(tmp_path):
    code = "from grfpp import Graph; Graph([(0, 1)]).save('/dev/stdout')"
    with (tmp_path / "out").open("wb") as out:
        program = [sys.executable, "-c", code]
        run = subprocess.run(program, stdout=out, stderr=subprocess.PIPE, check=False)
        assert b"cannot write /dev/stdout: it is the input or output of a program" in run.stderr
        assert os.fstat(out.fileno()).st_nlink == 1
    assert (tmp_path / "out").read_bytes() == b""


def test_names_that_are_too_long(tmp_path):
    assert "File name too long" in refusal(tmp_path / ("x" * 300))


def test_names_that_are_none(tmp_path):
    for name in ("~nobody-of-this-name/x.npz", f"{tmp_path}/a\0b", 7, b"x"):
        with pytest.raises(InputError, match="cannot write"), atomic_write(name):
            pass


def test_targets_that_are_no_files(tmp_path):
    assert "does not exist" in refusal(tmp_path / "none" / "x.npz")
    assert "is a folder" in refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "pipe or a device" in refusal(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    assert "pipe or a device" in refusal(tmp_path / "null")
    assert names(tmp_path) == ["null", "pipe"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only(tmp_path):
    tmp_path.chmod(0o500)
    assert "Permission denied" in refusal(tmp_path / "x")


FULL_DISK = """
import resource, sys, numpy as np
from grfpp import Graph, InputError
graph = Graph(np.ones((300, 300)))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    graph.save(sys.argv[1])
except InputError as error:
    print(error)
"""


def test_a_full_disk(tmp_path):
    path = tmp_path / "g.npz"
    path.write_bytes(b"old")
    run = subprocess.run(
        [sys.executable, "-c", FULL_DISK, path], capture_output=True, text=True, check=True
    )
    assert run.stdout == f"cannot write {path}: File too large\n"
    assert run.stderr == ""
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["g.npz"]


def test_errors_about_other_files_are_left_alone(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "x"):
        (tmp_path / "other").read_bytes()
    assert names(tmp_path) == []


def leave(folder, name):
    """Leave what a killed writer leaves."""
    (folder / name).write_bytes(b"half")


def test_leftovers_are_removed_by_the_next_writer(tmp_path):
    leave(tmp_path, ".x.npz.0123abcd.part")
    leave(tmp_path, ".x.npz.longer.0123abcd.part")  # of another file
    leave(tmp_path, ".x.npz.part")  # not ours
    with atomic_write(tmp_path / "x.npz") as stream:
        stream.write(b"new")
    assert names(tmp_path) == [".x.npz.longer.0123abcd.part", ".x.npz.part", "x.npz"]


def test_writers_that_live_are_left_alone(tmp_path):
    path = tmp_path / "x"
    with atomic_write(path) as first:
        first.write(b"first")
        with atomic_write(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["x"]


def test_many_writers_at_once(tmp_path):
    path, failures = tmp_path / "x", []

    def write(mark):
        try:
            for _ in range(20):
                with atomic_write(path) as stream:
                    stream.write(mark * 10_000)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(bytes([i]),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(set(path.read_bytes())) == 1
    assert names(tmp_path) == ["x"]


def test_where_files_cannot_be_locked(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("no locks here")

    monkeypatch.setattr(fcntl, "flock", refuse)
    leave(tmp_path, ".x.0123abcd.part")
    with atomic_write(tmp_path / "x") as stream:
        stream.write(b"new")
    # Nobody knows whether its writer lives.
    assert names(tmp_path) == [".x.0123abcd.part", "x"]


KILLING = """
import os, random, signal, sys, time, numpy as np
from pathlib import Path
from grfpp import Graph
path, rng, n_left = Path(sys.argv[1]), random.Random(0), 0
graphs = [Graph(np.full((200, 200), value)) for value in (1.0, 2.0)]
graphs[0].save(path)
for _ in range(40):
    child = os.fork()
    while not child:
        for graph in graphs:
            graph.save(path)
    time.sleep(rng.uniform(0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    values = set(Graph.load(path).weights.tolist())
    assert values in ({1.0}, {2.0}), values
    left = [name for name in os.listdir(path.parent) if name != path.name]
    assert len(left) <= 1, left
    n_left += len(left)
graphs[0].save(path)
print(n_left, os.listdir(path.parent))
"""


def test_killed_while_saving(tmp_path):
    """The old file or the new one is whole, and the next to save cleans up."""
    run = subprocess.run(
        [sys.executable, "-c", KILLING, tmp_path / "g.npz"], capture_output=True, check=False
    )
    assert run.returncode == 0, run.stderr.decode()
    n_left, files = run.stdout.decode().split(maxsplit=1)
    assert int(n_left) > 5  # it was killed in the middle
    assert files == "['g.npz']\n"


def test_those_who_may_read_it_stay_the_same(tmp_path):
    path = tmp_path / "private.txt"
    path.write_text("before")
    path.chmod(0o600)
    with atomic_write(path) as stream:
        stream.write(b"after")
    assert path.read_text() == "after"
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with atomic_write("~/file.txt") as stream:
        stream.write(b"x")
    assert (tmp_path / "file.txt").read_text() == "x"
