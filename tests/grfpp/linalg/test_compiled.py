"""Compiled functions where nothing can be kept, or what is kept is damaged."""

import ctypes
import importlib.util
import logging
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import grfpp
from grfpp.linalg import compiled as module

SOURCE = """
from grfpp.linalg.compiled import compiled

@compiled()
def twice(x):
    return 2 * x
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, and a module that uses it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "_said", [])
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


def test_what_was_compiled_is_found_again(folder):
    first = loaded(folder)
    assert first(3) == 6 and not first.stats.cache_hits
    assert len(kept(folder, ".nbi")) == len(kept(folder, ".nbc")) == 1
    second = loaded(folder)
    assert second(3) == 6 and second.stats.cache_hits


def flip_a_byte(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]


DAMAGE = {
    "empty": lambda content: b"",
    "cut short": lambda content: content[: len(content) // 2],
    "garbage": lambda content: b"\x80\x05garbage" * 100,
    "one byte": flip_a_byte,
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


def test_a_cache_that_is_gone_is_made_anew(folder):
    loaded(folder)(3)
    shutil.rmtree(folder / "cache")
    assert loaded(folder)(3) == 6
    assert kept(folder, ".nbc")


def test_a_disk_that_is_full_is_said_once(folder, monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module._CheckedFile, "_save_data", full)
    twice = loaded(folder)
    with caplog.at_level(logging.WARNING, "grfpp"):
        assert twice(3) == 6 and twice(3.5) == 7.0
    (record,) = [each for each in caplog.records if "keep" in each.getMessage()]
    assert "No space left on device" in record.getMessage()
    assert "NUMBA_CACHE_DIR" in record.getMessage()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no owners of files here")
def test_a_temporary_folder_that_others_can_write_to_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = module._temporary_folder()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o777)
    assert module._temporary_folder() is None
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert module._temporary_folder() is None


# --- a container that can be read only -----------------------------------------------------------

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
from grfpp.linalg.products import row_tails
import grfpp.walks.pools.pool, grfpp.walks.engine, grfpp.walks.by_length.deposits
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
@pytest.mark.parametrize("place", ["temporary", "nowhere"])
def test_a_read_only_environment(site, tmp_path, place):
    temporary, home = tmp_path / "tmp", tmp_path / "home"
    temporary.mkdir()
    home.mkdir()
    home.chmod(0o555)
    closed = [site, home]
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "PYTHONPATH": str(site),
        "TMPDIR": str(temporary),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if place == "nowhere":
        # Something else stands where the folder should be.
        (temporary / f"grfpp-compiled-{os.getuid()}").write_text("")
    for _ in range(2 if place == "temporary" else 1):
        run = subprocess.run(
            [sys.executable, "-c", WALK, *map(str, closed)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=bound_by_permissions,
        )
        if run.returncode == 3:
            pytest.skip(f"permissions do not bind here; {run.stdout}")
        assert run.returncode == 0, run.stderr
        assert run.stdout == "[3. 2.]\n"
        said = [line for line in run.stderr.splitlines() if "keep" in line]
        assert len(said) == 1 and "NUMBA_CACHE_DIR" in said[0]
        found = list(temporary.rglob("*.nbc"))
        if place == "temporary":
            assert str(temporary) in said[0] and len(found) == 1
        else:
            assert "Every process compiles them anew" in said[0] and not found
    # The second time nothing is compiled.
    assert ("compiling its inner loops" in run.stderr) == (place == "nowhere")
