"""What a Python that has just started does."""

import subprocess
import sys


def imported_by(code, packages):
    """Which of some packages are loaded after running the code."""
    report = f"; import sys; print(*({set(packages)!r} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True
    )
    assert not run.stderr
    return run.stdout.split()
