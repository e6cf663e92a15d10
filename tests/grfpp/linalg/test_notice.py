import os
import subprocess
import sys

SCRIPT = """
import numpy as np, grfpp
K = grfpp.sample(np.ones((3, 3)), grfpp.Diffusion(0.1), n_walks=2, seed=0)
K @ np.ones(3)
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
