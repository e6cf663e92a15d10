import pytest

from grfpp.errors import InputError
from grfpp_lab.commands import shared


def test_folders_are_made_or_refused(tmp_path):
    shared.make_folder(tmp_path / "a" / "b")
    shared.make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file/below: cannot make this folder"):
        shared.make_folder(tmp_path / "file" / "below")
