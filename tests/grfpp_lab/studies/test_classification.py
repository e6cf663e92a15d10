"""The study's tables at a small size."""

import numpy as np
import pytest

from grfpp_lab.experiments.classification.planning import SIX, TEN
from grfpp_lab.studies import classification
from grfpp_lab.studies.classification import SETTLING, contacts, molecules

pytest.importorskip("grakel")


def test_collections_beside_weisfeiler_lehman(capsys, monkeypatch):
    monkeypatch.setattr(classification, "_JUDGING_TREES", 10)
    classification.show_judging(["generated"], 2, 0, n_splits=2)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "generated: 40 graphs, 2 times 2 folds"
    names = ["auto", "colours", "walk-masses", "label-pairs", "spectrum-and-pairs", "WL-VH"]
    assert [line.split()[0] for line in lines[1:7]] == names
    accuracies = [float(line.split()[1]) for line in lines[1:7]]
    assert all(50 <= accuracy <= 100 for accuracy in accuracies)
    words = lines[7].removeprefix("  auto − WL-VH: ").split()
    assert float(words[0]) == pytest.approx(accuracies[0] - accuracies[-1], abs=0.15)
    classification.show_judging(["generated"], 2, 0, brief=True)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:3]] == [
        *("auto", "WL-VH")
    ]


def test_settings_that_were_looked_at(capsys, monkeypatch):
    monkeypatch.setitem(classification.SETTLING, "molecules, rule 0", lambda: molecules(30, 0, 1))
    monkeypatch.setattr(classification, "_TREES", 5)
    monkeypatch.setattr(classification, "_LENGTHS", (1,))
    monkeypatch.setattr(classification, "_BINS", {"sym": (0.1,)})
    classification.main(["--settling", "molecules, rule 0", "--folds", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "molecules, rule 0: 30 graphs"
    assert [line.split()[1] for line in lines[-3:]] == ["walk-masses", "colours", "auto"]
    assert sum(line.startswith("  forest, ") for line in lines) == 7
    assert not set(SETTLING) & {*SIX, *TEN}  # none of them is judged on


@pytest.mark.parametrize("rule", [0, 1, 2])
def test_molecules_have_two_classes_of_one_size(rule):
    found, again = (molecules(20, rule, seed=3) for _ in range(2))
    assert len(found.graphs) == 20
    assert 4 <= found.classes.sum() <= 16
    for each, same in zip(found.graphs, again.graphs, strict=True):
        np.testing.assert_array_equal(each.labels, same.labels)
        assert 12 <= each.graph.n_nodes < 45
        assert int(each.graph.out_degree.max()) <= 5


def test_contacts_are_undirected_chains():
    found = contacts(12, 6, seed=0)
    assert np.bincount(found.classes).tolist() == [2] * 6
    for each in found.graphs:
        assert not each.graph.is_directed
        assert int(each.graph.out_degree.min()) >= 3
        assert set(each.labels.tolist()) <= {0, 1, 2}


def test_other_names_are_refused(capsys):
    with pytest.raises(SystemExit):
        classification.main(["COLLAB"])
    assert "there is no collection 'COLLAB'" in capsys.readouterr().err
