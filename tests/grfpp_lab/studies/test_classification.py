"""The study's tables at a small size."""

import pytest

from grfpp_lab.studies import classification
from grfpp_lab.studies.classification import SETTLING, molecules

pytest.importorskip("grakel")


def test_collections_beside_weisfeiler_lehman(capsys, monkeypatch):
    monkeypatch.setattr(classification, "_TREES", 15)
    classification.show_judging(["generated"], 2, 0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("generated: 40 graphs, features in ")
    names = [line[2:28].strip() for line in lines[1:7]]
    assert names == [
        *("chosen in the folds", "walk-masses alone", "signatures alone", "label-pairs alone"),
        *("spectrum-and-pairs", "WL-VH of GraKeL"),
    ]
    assert all(50 <= float(line[28:].split()[0]) <= 100 for line in lines[1:7])
    assert lines[7].startswith("  chosen in the folds − WL-VH: ")


def test_settings_that_were_looked_at(capsys, monkeypatch):
    monkeypatch.setitem(classification.SETTLING, "molecules, rule 0", lambda: molecules(30, 0, 1))
    monkeypatch.setattr(classification, "_TREES", 15)
    monkeypatch.setattr(classification, "_LENGTHS", (1,))
    monkeypatch.setattr(classification, "_BINS", {"sym": (0.1,)})
    classification.main(["--settling", "molecules, rule 0", "--folds", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "molecules, rule 0: 30 graphs"
    assert lines[-1].startswith("  chosen in the folds")
    assert sum(line.startswith("  forest, ") for line in lines) == 7


def test_none_of_them_is_judged_on():
    from grfpp_lab.experiments.classification.planning import SIX, TEN

    assert not set(SETTLING) & {*SIX, *TEN}
