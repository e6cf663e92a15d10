"""The names of grfpp.tasks."""

import pytest


def test_public_names_come_when_they_are_asked_for():
    import subprocess
    import sys

    code = "import sys, grfpp.tasks; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    import grfpp.tasks

    assert set(grfpp.tasks.__all__) <= set(dir(grfpp.tasks))
    for name in grfpp.tasks.__all__:
        assert getattr(grfpp.tasks, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        grfpp.tasks.Nonsense  # noqa: B018


def test_no_module_takes_the_name_of_a_function():
    import grfpp.tasks.nodes.vertex_normals
    from grfpp.tasks import vertex_normals

    assert callable(vertex_normals)
    assert vertex_normals is grfpp.tasks.nodes.vertex_normals.vertex_normals
    with pytest.raises(ModuleNotFoundError):
        __import__("grfpp.tasks.vertex_normals")
    assert grfpp.tasks.vertex_normals is vertex_normals
