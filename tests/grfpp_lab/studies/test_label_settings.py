"""The study of settings for node labels."""

from grfpp_lab.studies import label_settings as study


def test_printed(monkeypatch, capsys):
    small = {"small": lambda seed: study.block_model(300, 2, 8.0, 0.9, n_parts=1, seed=seed)}
    monkeypatch.setattr(study, "GRAPHS", small)
    monkeypatch.setattr(study, "HOWS", ("kriging",))
    study.main(["--seeds", "1", "--kinds", "small"])
    told = capsys.readouterr().out
    assert "small, seed 0, by folds, kriging: " in told
    assert "mean by 500 labels, kriging: " in told
