import sys
from importlib import import_module

import pytest

from grfpp.moved import MOVED, find_moved_modules


@pytest.mark.parametrize("old", MOVED)
def test_old_names_import_with_a_warning(old):
    if ".torch." in old:
        pytest.importorskip("torch")
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {MOVED[old]}"):
        module = import_module(old)
    assert module is import_module(MOVED[old])


def test_other_names_are_not_found():
    with pytest.raises(ModuleNotFoundError):
        import_module("grfpp.tasks.no_such_module")


def test_one_finder_is_enough():
    before = len(sys.meta_path)
    find_moved_modules()
    assert len(sys.meta_path) == before
