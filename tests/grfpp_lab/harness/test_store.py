"""Finished cells on disk."""

import json

from experiment_cases import ran, squares

from grfpp_lab.harness import store


def test_other_parameters_and_other_code_are_run_anew(tmp_path, monkeypatch):
    cells, cell = store.CellStore(tmp_path), {"x": 1, "seed": 0}
    experiment = squares([])
    cells.save(experiment, cell, store.Finished([{"x": 1}], 0.5))
    assert cells.load(experiment, cell) == store.Finished([{"x": 1}], 0.5)
    assert cells.load(experiment, {**cell, "seed": 1}) is None
    assert cells.load(squares([], version=2), cell) is None
    assert cells.load(squares([], name="other"), cell) is None
    monkeypatch.setattr(store, "code_fingerprint", lambda: "another")
    assert cells.load(experiment, cell) is None


def damages(path):
    text = path.read_text()
    document = json.loads(text)
    document["rows"][0]["square"] += 1
    return {
        "cut": text[: len(text) // 2],
        "empty": "",
        "garbage": "\0\xff not JSON",
        "other form": "[1, 2]",
        "a digit": json.dumps(document),
        "rows gone": text.replace('"rows"', '"lines"'),
    }


def test_damaged_cells_are_run_again(tmp_path):
    experiment, cell = squares([{"x": 3}]), {"x": 3, "seed": 0}
    ran(experiment, tmp_path)
    cells = store.CellStore(tmp_path / "cells")
    path = cells.path(experiment, cell)
    rows, kinds = cells.load(experiment, cell).rows, damages(path)
    for text in kinds.values():
        path.write_text(text)
        assert cells.load(experiment, cell) is None
    again = ran(experiment, tmp_path)
    assert (again.n_found, again.rows) == (0, rows)
    assert cells.load(experiment, cell).rows == rows
