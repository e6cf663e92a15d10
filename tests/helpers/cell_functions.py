"""What cells run in processes of their own, which import little else: they start often."""

import os
import signal
import time
from pathlib import Path


def wait_for(condition, patience=60.0):
    """Wait until a condition holds; fail after so many seconds."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def run(cell):
    act = cell.get("act")
    if act == "raise":
        raise ValueError("no luck\nat all")
    if act == "exit":
        print("last words", file=os.sys.stderr, flush=True)
        os._exit(3)
    if act == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if act == "print":
        print("this is no answer")
    if act == "sleep":
        time.sleep(cell["seconds"])
    if act == "meet":  # ends when the other cell has begun, or fails
        folder = Path(cell["folder"])
        (folder / f"began {cell['x']}").touch()
        wait_for((folder / f"began {1 - cell['x']}").exists)
    if act == "alone":  # fails while another such cell runs
        mark = Path(cell["folder"], "alone")
        mark.mkdir()
        time.sleep(0.05)
        mark.rmdir()
    return [{"x": cell["x"], "square": cell["x"] ** 2, "seed": cell.get("seed")}]


def echo(argument):
    """The argument, and how many threads libraries are told to start."""
    return {**argument, "threads": int(os.environ["OMP_NUM_THREADS"])}


def endless(argument):
    while True:
        pass


def large(argument):
    """More memory than was allowed."""
    import numpy as np

    return {"sum": float(np.ones(argument["n"]).sum())}


def threads(cell):
    """How many threads BLAS and numba would use."""
    import numba
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    counts = [each["num_threads"] for each in threadpool_info()]
    return [{"blas": max(counts, default=1), "numba": numba.config.NUMBA_NUM_THREADS}]
