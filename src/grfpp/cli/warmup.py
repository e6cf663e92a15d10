"""`grfpp warmup`: compile now rather than at the first call."""

from __future__ import annotations

from grfpp.cli import console, options

#: Shown below the options.
NOTES = """
\b
Example:
  grfpp warmup
"""


def warmup(as_json: options.AsJson = False) -> None:
    """Compile the inner loops, so that no later call has to.

    The machine keeps the result; a second run only loads it.
    """
    from grfpp.warmup import warmup as compile_all

    took: dict[str, float] = {}
    with console.timed(took, "seconds", "compiling"):
        compile_all()
    if as_json:
        console.print_json(took)
    else:
        print(f"ready after {took['seconds']:.1f} s")
