import subprocess
import sys
from importlib import import_module

import pytest

from grfpp.imports.moved import MOVED, find_moved_modules


@pytest.mark.parametrize("old", MOVED)
def test_old_names_import_with_a_warning(old):
    if ".torch." in old or "attention" in old:
        pytest.importorskip("torch")
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {MOVED[old]}"):
        module = import_module(old)
    assert module is import_module(MOVED[old])


def test_old_names_can_be_run():
    command = [sys.executable, "-m", "grfpp.benchmark.attention_memory", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "usage: attention_memory" in told.stdout


@pytest.mark.parametrize(
    ("package", "name"),
    [("gp", "GRFKernel"), ("attention", "MaskedAttention"), ("encodings", "AddGRFPE")],
)
def test_packages_that_were_modules_know_their_names(package, name):
    pytest.importorskip("torch_geometric")
    pytest.importorskip("gpytorch")
    torch = import_module("grfpp.torch")
    assert getattr(import_module(f"grfpp.torch.{package}"), name) is getattr(torch, name)


def test_other_names_are_not_found():
    with pytest.raises(ModuleNotFoundError):
        import_module("grfpp.tasks.no_such_module")


def test_one_finder_is_enough():
    before = len(sys.meta_path)
    find_moved_modules()
    assert len(sys.meta_path) == before
