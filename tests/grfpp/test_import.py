import subprocess
import sys

import pytest

HEAVY = [
    "numba",
    "torch",
    "matplotlib",
    "networkx",
    "sklearn",
    "pandas",
    "rich",
    "click",
    "duckdb",
    "pyarrow",
]


def modules_after(code):
    listing = "import sys; print(' '.join(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", f"{code}; {listing}"], capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


@pytest.mark.parametrize("code", ["import grfpp", "import grfpp; grfpp.Graph([[0, 1], [1, 0]])"])
def test_importing_pulls_in_nothing_heavy(code):
    assert not modules_after(code) & set(HEAVY)


def test_every_public_name_is_there():
    import grfpp

    assert len(set(grfpp.__all__)) == len(grfpp.__all__)
    for name in grfpp.__all__:
        assert getattr(grfpp, name).__doc__
