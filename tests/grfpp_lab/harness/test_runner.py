"""Finished cells on disk."""

import itertools
import json
from dataclasses import replace

import cell_functions
import pytest
from experiment_cases import ran, squares

from grfpp_lab.harness import runner as store
from grfpp_lab.harness.experiment import Settings
from grfpp_lab.harness.runner import run_experiments


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


def test_damaged_cells_are_run_again(tmp_path):
    experiment, cell = squares([{"x": 3}]), {"x": 3, "seed": 0}
    ran(experiment, tmp_path)
    cells = store.CellStore(tmp_path / "cells")
    path = cells.path(experiment, cell)
    rows, text = cells.load(experiment, cell).rows, path.read_text()
    changed = json.loads(text)
    changed["rows"][0]["square"] += 1
    for damaged in (
        *(text[: len(text) // 2], "", "\0\xff not JSON", "[1, 2]", json.dumps(changed)),
        text.replace('"rows"', '"lines"'),
    ):
        path.write_text(damaged)
        assert cells.load(experiment, cell) is None
    again = ran(experiment, tmp_path)
    assert (again.n_found, again.rows) == (0, rows)
    assert cells.load(experiment, cell).rows == rows


def test_rows_come_in_the_order_of_the_cells_whatever_order_they_run_in(tmp_path):
    cells, seen = [{"x": x} for x in range(1, 5)], []
    outcome = ran(squares(cells), tmp_path, progress=lambda *now: seen.append(now))
    assert [row["square"] for row in outcome.rows] == [1, 4, 9, 16]
    assert (outcome.errors, outcome.n_found) == ([], 0)
    assert outcome.seconds > 0
    assert [share for share, _ in seen] == pytest.approx([0.25, 0.5, 0.75, 1])
    assert {name for _, name in seen} == {"squares"}


def test_what_is_stored_is_not_run_again(tmp_path):
    cells = [{"x": 1}, {"x": 2}]
    first = ran(squares(cells), tmp_path)
    called = []
    again = ran(squares(cells), tmp_path, prepare=lambda: called.append(True))
    assert (again.rows, again.n_found, called) == (first.rows, 2, [])
    more = ran(squares([*cells, {"x": 3}]), tmp_path, prepare=lambda: called.append(True))
    assert (len(more.rows), more.n_found, called) == (3, 2, [True])


def test_the_load_is_kept_with_each_cell_and_told(tmp_path, monkeypatch):
    loads = iter([0.5, 7.25])
    monkeypatch.setattr(store, "load", lambda: next(loads))
    cells = [{"x": 1}, {"x": 2}]
    for outcome in (ran(squares(cells), tmp_path, jobs=1), ran(squares(cells), tmp_path)):
        assert sorted(outcome.loads) == [0.5, 7.25]
        assert store.summary(outcome)["load"] == [0.5, 7.25]


def test_timing_experiments_run_alone_and_last(tmp_path):
    order = []

    def cells(act):
        return [{"x": x, "act": act, "folder": str(tmp_path)} for x in range(2)]

    # Cells that wait for each other end only side by side; others fail unless they are alone.
    together, timed = squares(cells("meet"), "other"), squares(cells("alone"), "timed")
    outcomes = run_experiments(
        *([replace(timed, timings=("seconds",)), together], Settings(), tmp_path, 2),
        progress=lambda share, name: order.append(name),
    )
    assert order == ["other", "other", "timed", "timed"]
    assert [outcome.errors for outcome in outcomes] == [[], []]


def test_ctrl_c_keeps_what_is_done_and_ends_the_workers(tmp_path):
    cells = [{"x": 1}, {"x": 2}, {"x": 3, "act": "sleep", "seconds": 600}]
    count = itertools.count(1)

    def interrupt(share, name):
        if next(count) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ran(squares(cells), tmp_path, progress=interrupt)
    assert len(list((tmp_path / "cells" / "squares").iterdir())) == 2


def test_workers_have_one_thread_each(tmp_path):
    outcome = ran(squares([{"x": 1}], run=cell_functions.threads), tmp_path)
    assert outcome.rows == [{"blas": 1, "numba": 1}]
