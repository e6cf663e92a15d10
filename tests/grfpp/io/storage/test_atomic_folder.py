"""Folders that appear whole or not at all, whatever happens to their writers."""

import os
import resource
import signal
import subprocess
import sys
import threading

import pytest

from grfpp import Graph, InputError
from grfpp.io.storage import atomic_folder as module
from grfpp.io.storage.atomic_folder import LOCK, atomic_folder

MARK = "mark"
#: Writes a folder and waits to be killed in the middle.
_WAITING = """
import sys, time
from grfpp.io.storage.atomic_folder import atomic_folder
with atomic_folder(sys.argv[1], "mark") as folder:
    (folder / "half").write_bytes(b"x" * 1000)
    print("half", flush=True)
    time.sleep(60)
"""
#: Saves a graph again and again.
_SAVING = """
import sys, numpy as np, grfpp
sizes = 2, 3000
graphs = [grfpp.Graph(np.ones((n, n))) if n < 9 else grfpp.Graph(
    (np.arange(2 * n).reshape(2, n) % n, None)) for n in sizes]
print("ready", flush=True)
while True:
    for graph in graphs:
        graph.save(sys.argv[1])
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(path, text):
    with atomic_folder(path, MARK) as folder:
        (folder / MARK).write_text(text)


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_appears_whole_or_not_at_all(tmp_path, monkeypatch, exchange):
    if not exchange:
        monkeypatch.setattr(module, "_exchange", lambda *_: False)
    path = tmp_path / "x.grf"
    write(path, "old")
    with pytest.raises(KeyboardInterrupt), atomic_folder(path, MARK) as folder:
        (folder / MARK).write_text("half")
        raise KeyboardInterrupt
    assert (path / MARK).read_text() == "old"
    assert names(tmp_path) == ["x.grf"]  # nothing is left behind
    write(path, "new")
    assert (path / MARK).read_text() == "new"
    assert names(tmp_path) == ["x.grf"] and names(path) == [MARK]


def test_a_folder_that_is_gone_is_told(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InputError, match=r"cannot write x\.grf: No such file or directory"):
        write("x.grf", "text")


def test_an_empty_folder_is_anyones(tmp_path):
    (tmp_path / "x.grf").mkdir()
    write(tmp_path / "x.grf", "new")
    assert names(tmp_path / "x.grf") == [MARK]


@pytest.mark.parametrize("make", ["folder", "file", "missing", "link", "pipe"])
def test_what_is_not_ours_stays(tmp_path, make):
    path = tmp_path / "x.grf"
    match make:
        case "folder":
            path.mkdir()
            (path / "letters").write_text("dear")
        case "file":
            path.write_text("dear")
        case "missing":
            path = tmp_path / "nowhere" / "x.grf"
        case "link":
            path.symlink_to(path)
        case "pipe":
            os.mkfifo(path)
    before = names(tmp_path)
    with pytest.raises(InputError, match=r"cannot write .*x\.grf") as caught:
        write(path, "new")
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == before


def test_links_are_followed_and_stay(tmp_path):
    (tmp_path / "there").mkdir()
    write(tmp_path / "there" / "x.grf", "old")
    (tmp_path / "link.grf").symlink_to(tmp_path / "there" / "x.grf")
    write(tmp_path / "link.grf", "new")
    assert (tmp_path / "link.grf").is_symlink()
    assert (tmp_path / "there" / "x.grf" / MARK).read_text() == "new"
    assert names(tmp_path / "there") == ["x.grf"]


def test_a_killed_writer_leaves_what_the_next_one_removes(tmp_path):
    path = tmp_path / "x.grf"
    write(path, "old")
    child = subprocess.Popen([sys.executable, "-c", _WAITING, path], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"half\n"
    write(path, "new")  # beside one that lives, whose folder stays
    assert len(names(tmp_path)) == 2
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert (path / MARK).read_text() == "new"
    write(path, "newer")
    assert names(tmp_path) == ["x.grf"]
    assert (path / MARK).read_text() == "newer"


def test_only_leftovers_of_this_folder_are_removed(tmp_path):
    for name in (".x.grf.0123abcd.parts", ".x.grf.grf.0123abcd.parts", ".y.grf.0123abcd.parts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / LOCK).write_text("")
    (tmp_path / ".x.grf.99999999.parts").mkdir()  # killed before it had a lock
    (tmp_path / ".x.grf.88888888.parts").mkdir()
    (tmp_path / ".x.grf.88888888.parts" / MARK).write_text("replaced, and not removed")
    write(tmp_path / "x.grf", "new")
    assert names(tmp_path) == [".x.grf.grf.0123abcd.parts", ".y.grf.0123abcd.parts", "x.grf"]


def test_a_folder_that_another_writer_makes_meanwhile_is_replaced(tmp_path, monkeypatch):
    path = tmp_path / "x.grf"
    look = module.target_problem

    def look_after_another_has_written(target, **options):
        monkeypatch.setattr(module, "target_problem", look)
        write(path, "theirs")
        return look(target, **options)

    monkeypatch.setattr(module, "target_problem", look_after_another_has_written)
    write(path, "ours")
    assert (path / MARK).read_text() == "ours"


def test_writers_at_the_same_time(tmp_path):
    path = tmp_path / "x.grf"
    texts = [f"text {number}" for number in range(8)]
    failures = []

    def writer(text):
        try:
            write(path, text)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=writer, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert (path / MARK).read_text() in texts
    assert names(tmp_path) == ["x.grf"]


def test_a_graph_that_is_being_saved_when_its_process_is_killed(tmp_path):
    """It is there whole, the old one or the new one, at any moment."""
    path = tmp_path / "x.grf"
    for wait in (0.0, 0.01, 0.02, 0.05):
        child = subprocess.Popen([sys.executable, "-c", _SAVING, path], stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"ready\n"
        while not path.exists():
            pass
        threading.Event().wait(wait)
        child.kill()
        child.wait()
        child.stdout.close()
        assert Graph.open(path, verify=True).n_nodes in (2, 3000)
    Graph([[0, 1], [1, 0]]).save(path)
    assert names(tmp_path) == ["x.grf"]


def test_a_full_disk(tmp_path):
    graph = Graph(([[0] * 9999, list(range(1, 10000))], None), directed=True)
    path = tmp_path / "x.grf"
    Graph([[0, 1], [1, 0]]).save(path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(InputError, match=r"cannot write .*x\.grf: File too large"):
            graph.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert names(tmp_path) == ["x.grf"]
    assert Graph.open(path, verify=True).n_nodes == 2
    graph.save(path)
    assert Graph.open(path).n_nodes == 10_000
