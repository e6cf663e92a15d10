"""The study of settings for node labels."""

import numpy as np
from datasets_helpers import needs_data

from grfpp.datasets import load_planetoid
from grfpp_lab.studies import label_settings as study


def test_printed(monkeypatch, capsys):
    small = {"small": lambda seed: study.block_model(300, 2, 8.0, 0.9, n_parts=1, seed=seed)}
    monkeypatch.setattr(study, "GRAPHS", small)
    study.main(["--seeds", "1", "--kinds", "small", "--hows", "kriging"])
    told = capsys.readouterr().out
    assert "small, seed 0, by folds, kriging: " in told
    assert "mean by 500 labels, kriging: " in told


def test_public_test_nodes_are_left_out():
    needs_data()
    made, split = study.task_of("cora", 1)
    test = load_planetoid("cora", download=False).test
    used = np.concatenate(split)
    assert len(np.unique(used)) == len(used) == made.graph.n_nodes - len(test)
    assert not np.isin(used, test).any()
