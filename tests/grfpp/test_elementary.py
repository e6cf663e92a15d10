import hashlib
import math
import os
import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import grfpp
from grfpp import elementary


@given(st.lists(st.floats(-700, 700), max_size=20))
def test_the_c_library_by_element(numbers):
    x = np.array(numbers, dtype=float)
    assert elementary.exp(x).tolist() == [math.exp(each) for each in numbers]
    assert elementary.power(0.9, x).tolist() == [math.pow(0.9, each) for each in numbers]
    assert np.allclose(elementary.log(elementary.exp(x)), x, atol=1e-9)


def test_ends_of_the_range():
    assert elementary.log(np.array([[0.0], [1.0]])).tolist() == [[-math.inf], [0.0]]
    assert elementary.power(2.0, np.array([2000.0, -2000.0])).tolist() == [math.inf, 0.0]
    assert elementary.exp(np.array(-np.inf)).tolist() == 0.0


def digest():
    found = hashlib.sha256()
    A = np.triu(np.random.default_rng(0).random((40, 40)) < 0.2, 1) * 1.7
    for normalize in ("sym", "rw", None):
        W = grfpp.Graph(A + A.T).normalized(normalize, 0.9 if normalize else 0.05)
        for kernel in (grfpp.Diffusion(1.3), grfpp.InversePower(2)):
            for walks in ("pooled", "independent"):
                K = grfpp.sample(W, kernel, seed=0, walks=walks, check_error=False)
                for factor in (each for pair in K.factors for each in pair):
                    found.update(factor.indices.tobytes() + factor.data.tobytes())
    return found.hexdigest()


def test_walks_do_not_depend_on_the_processor():
    """Where numpy does without the newest instructions, not a bit of any factor changes."""
    newest = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(newest)}
    done = subprocess.run(
        [sys.executable, "-P", __file__],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == digest()


if __name__ == "__main__":
    print(digest())
