"""What happens where an optional package is not installed."""

import re
import subprocess
import sys
import tomllib
import warnings
from importlib import import_module
from pathlib import Path

import pytest
from fresh_python import imported_by

import grfpp
from grfpp import _imports as optional
from grfpp._imports import MissingPackageError, require


def test_every_extra_brings_the_package_that_it_is_named_for():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    for name, (extra, package) in optional._EXTRAS.items():
        if extra == optional._LABORATORY:
            continue
        brought = {re.split("[><=]", each)[0] for each in extras[extra]}
        assert package in brought or name == "PIL"  # which comes with scikit-image


def test_a_module_of_a_package_is_imported_without_its_warnings(tmp_path, monkeypatch):
    (tmp_path / "trimesh").mkdir()
    (tmp_path / "trimesh" / "__init__.py").write_text("import warnings; warnings.warn('old')")
    (tmp_path / "trimesh" / "part.py").write_text("answer = 42")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "trimesh"]:
        monkeypatch.delitem(sys.modules, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert require("trimesh.part").answer == 42
    for name in ("trimesh", "trimesh.part"):
        del sys.modules[name]  # for good: monkeypatch would put the made-up module back


def test_the_message_names_purpose_package_and_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage", None)
    with pytest.raises(MissingPackageError) as caught:
        require("skimage.io", "cutting pictures")
    assert str(caught.value).startswith("cutting pictures needs scikit-image, which cannot be")
    assert str(caught.value).endswith("pip install './lab[all]' in a clone of grfpp")
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, ValueError)


def run_without(package, code):
    """Run some code in a Python that cannot import a package."""
    block = f"import sys; sys.modules[{package!r}] = None; "
    return subprocess.run(
        [sys.executable, "-c", block + code], capture_output=True, text=True, check=False
    )


def test_without_torch_the_rest_works():
    result = run_without("torch", "import grfpp; print(grfpp.Graph([[0, 1], [1, 0]]))")
    assert result.returncode == 0, result.stderr
    assert "n_nodes=2" in result.stdout


@pytest.mark.parametrize(
    ("package", "code", "extra"),
    [
        ("torch", "import grfpp.torch", "torch"),
        ("torch", "import grfpp; grfpp.sample([[0, 1], [1, 0]], grfpp.Diffusion()).to_torch()", 0),
        ("gpytorch", "import grfpp.torch; grfpp.torch.GRFKernel", "gpytorch"),
        ("linear_operator", "import grfpp.torch; grfpp.torch.KernelLinearOperator", "gpytorch"),
    ],
)
def test_what_is_missing_is_named(package, code, extra):
    result = run_without(package, code)
    last = result.stderr.strip().splitlines()[-1]
    assert result.returncode == 1
    assert last.startswith("grfpp._imports.MissingPackageError: this part of grfpp needs")
    assert f"pip install '.[{extra or 'torch'}]' in a clone of grfpp" in last


def test_missing_packages_are_named(monkeypatch):
    how, find = optional.how_to_install, optional.missing_packages
    assert find() == []
    monkeypatch.setattr(optional, "find_spec", lambda name: None if name == "jinja2" else 1)
    assert find() == find("torch", "jinja2") == ["jinja2"]
    assert how(["jinja2"]) == "jinja2 is not installed: pip install '.[plot]' in a clone of grfpp"
    both = (
        "torch and gpytorch are not installed: pip install '.[torch,gpytorch]' in a clone of grfpp"
    )
    assert how(["torch", "gpytorch"]) == both


HEAVY = """numba torch matplotlib networkx sklearn pandas rich click duckdb pyarrow trimesh meshio
igraph rdkit skimage pooch requests"""


@pytest.mark.parametrize(
    "code", ["grfpp; grfpp.Graph([[0, 1], [1, 0]])", "grfpp.tasks", "grfpp.datasets"]
)
def test_importing_pulls_in_nothing_heavy(code):
    assert imported_by(f"import {code}", HEAVY.split()) == []


def test_names_are_imported_when_they_are_used():
    code = """
import sys, grfpp
assert "grfpp.graph" not in sys.modules and {"Graph", "tasks", "torch"} <= set(dir(grfpp))
assert grfpp.Graph.__module__ == "grfpp.graph" and "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    for package in (grfpp, grfpp.tasks):
        with pytest.raises(AttributeError, match="Nothing"):
            _ = package.Nothing


@pytest.mark.parametrize("name", ["grfpp", "grfpp.datasets", "grfpp.tasks", "grfpp.torch"])
def test_stubs_list_names_that_are_there(name):
    package = import_module(name)
    assert package.__all__ and set(package.__all__) <= set(dir(package))
    for each in package.__all__:
        assert getattr(package, each).__doc__
