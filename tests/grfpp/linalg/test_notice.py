import os
import subprocess
import sys

# Two of the smallest: those that walk take ten seconds, and what commands say in processes of their
# own tells whether any of them is compiled again.
SCRIPT = """
import numpy as np
from grfpp.linalg.functions.recurrence import add_scaled
from grfpp.linalg.products import row_tails
row_tails(np.array([1.0, 2.0]), np.array([0, 2]))
add_scaled(np.ones((3, 1)), np.ones((3, 1)), np.ones(1))
"""


def run(cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )


def test_one_line_when_compiling_and_none_in_the_next_process(tmp_path):
    first, second = run(tmp_path), run(tmp_path)
    assert first.stderr.count("\n") == 1 and "compiling" in first.stderr
    assert second.stderr == ""
    assert first.stdout == second.stdout == ""
