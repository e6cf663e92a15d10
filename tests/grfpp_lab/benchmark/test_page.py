"""Pages from given rows."""

import pytest
from bench_helpers import ROWS

from grfpp_lab.benchmark.settings import Row

MACHINE = {
    **{"processor": "Abacus 5", "cores": 2, "memory_bytes": 8 * 2**30, "system": "Linux x86_64"},
    **{"python": "3.11", "numpy": "2", "scipy": "1", "numba": "0.6"},
}
DOCUMENT = {
    **{"machine": MACHINE, "threads": 2, "set": "quick", "seconds": 200.0, "grfpp": "0.1"},
    "began": "2026-01-01T00:00:00+00:00",
}


def test_page():
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    from grfpp_lab.benchmark.page import bench_page

    html = bench_page(DOCUMENT, ROWS)
    for text in (
        "Abacus 5, 2 cores, 8 GiB",
        "it does not build",
        "walks lose: Chebyshev is 10 × faster",
        "Chebyshev is deterministic, accurate to many digits, and up to 40 × faster",
        "not measured",
        "Equal seconds",
        "time by the power 1.000",
    ):
        assert text in html
    # A picture for sampling, two for growth, one for the meshes, two for the uses.
    assert html.count("<img ") == 6
    sections = ("sampling", "equal", "growth", "paper", "uses")
    empty = [Row(section, "w", "m", status="not run") for section in sections]
    assert "<img " not in bench_page(DOCUMENT, empty)
