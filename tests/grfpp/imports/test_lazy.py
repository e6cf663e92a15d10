"""Names that are imported when they are first used."""

import subprocess
import sys

import pytest

from grfpp.imports.lazy import lazy_names


def test_a_module_is_imported_when_a_name_of_it_is_asked_for():
    code = """
import sys
from grfpp.imports.lazy import lazy_names
get, names = lazy_names("grfpp", {"linalg.tensors": "from_scipy", "no": "x y"})
assert "grfpp.linalg.tensors" not in sys.modules and {"from_scipy", "x", "y"} <= set(names())
assert get("from_scipy").__module__ == "grfpp.linalg.tensors"
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_other_names_there_are_none():
    get, _ = lazy_names("grfpp", {"graph": "Graph"})
    with pytest.raises(AttributeError, match="module 'grfpp' has no attribute 'Nothing'"):
        get("Nothing")
