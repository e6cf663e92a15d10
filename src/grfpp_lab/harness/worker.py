"""What runs in a process of its own: one cell after the other, asked for and answered in JSON.

Requests come as lines on stdin, answers go as lines to stdout. When stdin closes, because whoever
asks has ended or was killed, the process ends at once, in the middle of a cell if need be.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import traceback
from queue import SimpleQueue
from time import perf_counter
from typing import Any, TextIO

import numpy as np

#: Digits that are kept of a measured number: what rounding may change is cut off.
DIGITS = 10


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Run one cell; an error is an answer too."""
    try:
        module, _, function = request["run"].partition(":")
        run = getattr(importlib.import_module(module), function)
        began = perf_counter()
        rows = [{name: plain(value) for name, value in row.items()} for row in run(request["cell"])]
        return {"rows": rows, "seconds": perf_counter() - began}
    except Exception as error:
        reason = " ".join(str(error).split()) or "no reason given"
        return {
            "error": f"{type(error).__name__}: {reason}"[:500],
            "traceback": traceback.format_exc(),
        }


def plain(value: Any) -> Any:
    """A value that JSON can hold and that is the same whenever it is computed again.

    Examples
    --------
    >>> plain(np.float64(1) / 3), plain(np.int64(3)), plain(float("nan"))
    (0.3333333333, 3, None)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
    return value


def main() -> None:
    """Answer requests until stdin closes."""
    # Whatever prints in between must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin, requests), daemon=True).start()
    while True:
        print(json.dumps(answer(json.loads(requests.get()))), file=answers, flush=True)


def _read(stream: TextIO, requests: SimpleQueue[str]) -> None:
    for line in stream:
        requests.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
