"""The names of grfpp.tasks."""

import pytest
from fresh_python import imported_by

import grfpp.tasks


def test_public_names_come_when_they_are_asked_for():
    assert imported_by("import grfpp.tasks", {"sklearn"}) == []
    assert set(grfpp.tasks.__all__) <= set(dir(grfpp.tasks))
    for name in grfpp.tasks.__all__:
        assert getattr(grfpp.tasks, name).__doc__
    with pytest.raises(AttributeError, match="Nonsense"):
        grfpp.tasks.Nonsense  # noqa: B018
