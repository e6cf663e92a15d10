"""A whole run: measure a set, write its results as JSON and as a page."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import grfpp
from grfpp.io.atomic import atomic_write
from grfpp_lab.benchmark.settings import KERNEL, LAW, N_WALKS, SEED, SETS, Row
from grfpp_lab.benchmark.suite import Progress, Suite
from grfpp_lab.benchmark.tables import conclusions
from grfpp_lab.harness.machine import describe_machine, hardware

FORMAT = "grfpp-bench-1"


def run_set(
    name: str, *, threads: int, peers: list[str] | None = None, progress: Progress | None = None
) -> tuple[list[Row], dict[str, Any]]:
    """Measure everything in a set.

    Parameters
    ----------
    name
        ``"quick"`` (five minutes), ``"full"`` (under an hour) or ``"smoke"`` (seconds, for tests).
    threads
        Threads of every method.
    peers
        The command that runs peers; without one, their rows say so.
    progress
        Called with what is about to be measured.

    Returns
    -------
    rows, document
        The rows, and everything for JSON.
    """
    began, machine, start = datetime.now(UTC), describe_machine(), monotonic()
    suite = Suite(
        SETS[name], threads, hardware(machine), peers, progress or (lambda text: None), start
    )
    rows = suite.run()
    document = {
        "format": FORMAT,
        "grfpp": grfpp.__version__,
        "set": name,
        "began": began.isoformat(timespec="seconds"),
        "seconds": monotonic() - start,
        "threads": threads,
        "machine": machine,
        "settings": {
            "kernel": KERNEL.to_dict(),
            "n_walks": N_WALKS,
            "termination": LAW.to_dict(),
            "seed": SEED,
            "sizes": asdict(SETS[name]),
        },
        "rows": [row.document() for row in rows],
        **conclusions(rows),
    }
    return rows, document


def write_results(path: Path, document: dict[str, Any]) -> None:
    """Write the results as strict JSON, whole or not at all."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    with atomic_write(path) as stream:
        stream.write(f"{text}\n".encode())
