"""A few hundred damaged files of all formats; `make fuzz` reads thousands."""

import sys

import pytest
from fuzz import formats, pool

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
_N_MUTANTS = 18


def test_mutants():
    """No crash, no hang, no exception but InputError, no number but the reference's."""
    jobs = [(name, number) for name in formats.FORMATS for number in range(_N_MUTANTS)]
    counts, failures = pool.run(jobs, n_workers=1, seconds=60)
    assert not failures, "\n".join(failures)
    for name, count in counts.items():
        assert count["compared"] >= 1, name  # the sound ones at least


def test_what_ends_badly_is_noticed(tmp_path):
    jobs = [(name, 0) for name in ("error", "hunger", "txt", "hang", "csv", "crash")]
    counts, _ = pool.run(jobs, n_workers=1, seconds=2, folder=tmp_path)
    assert {name: next(iter(count)) for name, count in counts.items()} == {
        "error": "failed",
        "crash": "crash, exit code -6",
        "txt": "compared",
        "hang": "hang",
        "hunger": "failed",
        "csv": "compared",
    }
    assert "KeyError" in (tmp_path / "error-0.why").read_text()
    assert "MemoryError" in (tmp_path / "hunger-0.why").read_text()
    assert (tmp_path / "crash-0.txt").read_bytes() == b"0 1\n"


def test_mutants_are_the_same_whenever_they_are_made():
    for name in formats.FORMATS:
        for number in (0, 5, 50):
            assert formats.mutant(name, number) == formats.mutant(name, number)
