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
