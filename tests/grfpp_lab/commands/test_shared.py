from pathlib import Path

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


def test_files_that_were_written_and_packages_that_are_missing(capsys):
    shared.say_no_page([])
    shared.print_written([Path("a"), Path("b")])
    assert capsys.readouterr() == ("wrote a\nwrote b\n", "")
    shared.say_no_page(["matplotlib"])
    err = capsys.readouterr().err
    assert err.startswith("grfpp: no page was written, because matplotlib is not installed: pip")
