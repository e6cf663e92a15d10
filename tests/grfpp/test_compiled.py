"""Compiled functions where nothing can be kept, or what is kept is damaged."""

import ctypes
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import grfpp
from grfpp import _compiled as module

SOURCE = """
from grfpp._compiled import compiled

@compiled()
def twice(x):
    return 2 * x
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, and a module that uses it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    module._warn_once.cache_clear()
    (tmp_path / "doubling.py").write_text(SOURCE)
    return tmp_path


def loaded(folder):
    """The function as a process that has just started finds it."""
    spec = importlib.util.spec_from_file_location("doubling", folder / "doubling.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made.twice


def kept(folder, suffix):
    return sorted((folder / "cache").rglob(f"*{suffix}"))


def test_what_was_compiled_is_found_again_and_else_made_anew(folder):
    first = loaded(folder)
    assert first(3) == 6 and not first.stats.cache_hits
    assert len(kept(folder, ".nbi")) == len(kept(folder, ".nbc")) == 1
    second = loaded(folder)
    assert second(3) == 6 and second.stats.cache_hits
    shutil.rmtree(folder / "cache")
    assert loaded(folder)(3) == 6
    assert kept(folder, ".nbc")


DAMAGE = {
    "empty": lambda content: b"",
    "cut short": lambda content: content[: len(content) // 2],
    "garbage": lambda content: b"\x80\x05garbage" * 100,
    "text": lambda content: b"<html>not found</html>",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_what_is_damaged_is_compiled_again(folder, suffix, damage):
    loaded(folder)(3)
    (file,) = kept(folder, suffix)
    file.write_bytes(damage(file.read_bytes()))
    assert loaded(folder)(3) == 6
    again = loaded(folder)
    assert again(3) == 6 and again.stats.cache_hits  # it has been mended


def test_a_disk_that_is_full_is_said_once(folder, monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.IndexDataCacheFile, "_save_data", full)
    twice = loaded(folder)
    with caplog.at_level(logging.WARNING, "grfpp"):
        assert twice(3) == 6 and twice(3.5) == 7.0
    (record,) = [each for each in caplog.records if "cannot cache" in each.getMessage()]
    assert "No space left on device" in record.getMessage()
    assert "NUMBA_CACHE_DIR" in record.getMessage()


WALK = """
import sys
from pathlib import Path
for folder in sys.argv[1:]:
    try:
        Path(folder, "probe").write_text("")
        print("writable:", folder); sys.exit(3)
    except OSError:
        pass
import numpy as np, grfpp
from grfpp.linalg.loops import row_tails
import grfpp.walks.pool, grfpp.walks.independent, grfpp.walks.by_length
assert grfpp.__file__.startswith(sys.argv[1]), grfpp.__file__
print(row_tails(np.array([1.0, 2.0]), np.array([0, 2])))
"""


def bound_by_permissions():
    """Let permission bits bind root too, who may else write anywhere: drop CAP_DAC_OVERRIDE."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A copy of the package that cannot be written to."""
    folder = tmp_path_factory.mktemp("site")
    ignored = shutil.ignore_patterns("__pycache__", "datasets", "tasks")
    shutil.copytree(Path(grfpp.__file__).parent, folder / "grfpp", ignore=ignored)
    for each in [folder, *folder.rglob("*")]:
        each.chmod(0o555 if each.is_dir() else 0o444)
    yield folder
    for each in [folder, *folder.rglob("*")]:
        each.chmod(0o755)


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
def test_a_read_only_environment(site, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o555)
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(home)}
    run = subprocess.run(
        [sys.executable, "-c", WALK, str(site), str(home)],
        env={**environment, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=bound_by_permissions,
    )
    if run.returncode == 3:
        pytest.skip(f"permissions do not bind here; {run.stdout}")
    assert run.returncode == 0, run.stderr
    assert run.stdout == "[3. 2.]\n"
    assert "NUMBA_CACHE_DIR" in run.stderr


# Two of the smallest: those that walk take ten seconds, and what commands say in processes of their
# own tells whether any of them is compiled again.
SMALL = """
import numpy as np
from grfpp.linalg.loops import combine, row_tails
row_tails(np.array([1.0, 2.0]), np.array([0, 2]))
a = np.ones((3, 1))
combine(a, a[0], a, a[0], a, a[0], 0, 3)
"""


def run_with(cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", SMALL], env=environment, capture_output=True, text=True, check=True
    )


def test_one_line_when_compiling_and_none_in_the_next_process(tmp_path):
    first, second = run_with(tmp_path), run_with(tmp_path)
    assert first.stderr.count("\n") == 1 and "compiling" in first.stderr
    assert second.stderr == ""
    assert first.stdout == second.stdout == ""
