"""The study of settings for encodings."""

import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

from grfpp_lab.studies import encoding_settings as study


def test_printed(capsys):
    study.main(["--tiny", "--seeds", "1", "--datasets", "pattern", "--candidates", "contrast"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("pattern, seed 0, none: ")
    assert lines[1].startswith("pattern, seed 0, contrast: ")
    assert lines[2].startswith("mean of pattern, contrast: ")


def test_of_errors_less_is_better():
    assert study.gain("mnist", 0.5, 0.25) == 25
    assert study.gain("peptides-struct", 0.5, 0.25) == -25


def test_neither_data_nor_seeds_are_the_experiments():
    assert study.DRAW != 0
    assert study.SEED != 0
