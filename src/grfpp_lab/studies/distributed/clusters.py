"""Worker processes on this machine."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from grfpp.distributed.cluster import NO_STEALING
from grfpp.imports.optional import require


@contextmanager
def workers(number: int) -> Iterator[Any]:
    """A client of so many worker processes of one thread each; those that die are started again."""
    dask = require("distributed", "this study")
    options = {"n_workers": number, "threads_per_worker": 1, "processes": True}
    with (
        require("dask").config.set(NO_STEALING),
        dask.LocalCluster(**options, dashboard_address=":0", silence_logs=logging.CRITICAL) as here,
        dask.Client(here, set_as_default=False) as client,
    ):
        client.wait_for_workers(number)
        yield client


def kill_worker(client: Any, which: int) -> bool:
    """End a worker's process without a word; ``False`` where none was there to be killed."""
    found = sorted(client.run(os.getpid, on_error="ignore").values())
    if not found:
        return False
    os.kill(found[which % len(found)], signal.SIGKILL)
    return True


def same_bits(found: Any, wanted: Any) -> bool:
    """Whether two answers are equal to the last bit: arrays, sparse matrices, or several."""
    if isinstance(wanted, tuple | list):
        return len(found) == len(wanted) and all(map(same_bits, found, wanted))
    if sp.issparse(wanted):
        parts = ("indptr", "indices", "data")
        return found.shape == wanted.shape and all(
            same_bits(getattr(found, part), getattr(wanted, part)) for part in parts
        )
    return bool(np.array_equal(found, wanted) and found.dtype == wanted.dtype)


def line(name: str, found: str, bar: str, met: bool) -> bool:
    """Print one row of the table."""
    print(f"{name:<58} {found:<34} {bar:<22} {'met' if met else 'NOT MET'}", flush=True)
    return met
