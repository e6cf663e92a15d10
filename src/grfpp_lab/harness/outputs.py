"""The rows as files: what a seed determines in one table, measured times in another."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grfpp.cli.escaping import csv_cell
from grfpp.io.storage.atomic import atomic_write
from grfpp_lab.harness.experiment import but
from grfpp_lab.harness.runner import Outcome


def write_tables(folder: Path, outcomes: Sequence[Outcome], meta: dict[str, Any]) -> list[Path]:
    """Write ``rows.csv``, ``timings.csv`` (if any time was measured) and ``rows.json``.

    The first is the same, to the last byte, whenever the same experiments run with the same seed
    on the same machine, in one go or in several. Columns of measured seconds are in the second.
    """
    steady, timed = [], []
    for outcome in outcomes:
        name, seconds = outcome.experiment.name, outcome.experiment.timings
        for row in outcome.rows:
            steady.append({"experiment": name, **but(row, *seconds)})
            if seconds:
                timed.append({"experiment": name, **row})
    written = [_write_csv(folder / "rows.csv", steady)]
    timings = folder / "timings.csv"
    if timed:
        written.append(_write_csv(timings, timed))
    else:
        timings.unlink(missing_ok=True)
    document = {
        **meta,
        "experiments": {
            outcome.experiment.name: {
                "parameters": dict(outcome.plan.parameters),
                **summary(outcome),
                "rows": [dict(row) for row in outcome.rows],
            }
            for outcome in outcomes
        },
    }
    path = folder / "rows.json"
    with atomic_write(path) as stream:
        stream.write(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode())
    return [*written, path]


def summary(outcome: Outcome) -> dict[str, Any]:
    """What became of an experiment, without its rows."""
    return {
        "skipped": dict(outcome.plan.skipped),
        "seconds": round(outcome.seconds, 2),
        "verdicts": verdicts(outcome),
        "errors": [asdict(each) for each in outcome.errors],
    }


def verdicts(outcome: Outcome) -> list[dict[str, str]]:
    """The verdicts of an experiment as plain values."""
    judged = [(claim.title, claim.judge(outcome.rows)) for claim in outcome.experiment.claims]
    return [
        {"claim": title, "paper": each.paper, "measured": each.measured, "holds": str(each.holds)}
        for title, each in judged
    ]


def _write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    columns = list(dict.fromkeys(name for row in rows for name in row)) or ["experiment"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([csv_cell(row.get(name, "")) for name in columns] for row in rows)
    with atomic_write(path) as stream:
        stream.write(text.getvalue().encode())
    return path
