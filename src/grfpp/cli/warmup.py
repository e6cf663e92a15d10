"""`grfpp warmup`: compile now rather than at the first call, and see how fast the machine is."""

from __future__ import annotations

from grfpp.cli import console, options

#: Shown below the options.
NOTES = """
\b
Example:
  grfpp warmup
"""


def warmup(as_json: options.AsJson = False) -> None:
    """Compile the inner loops, so that no later call has to, and measure the machine.

    The machine keeps the results; a second run only loads what is compiled. What is measured tells
    grfpp.kernel_operator which method takes least time: run this while nothing else runs.
    """
    from grfpp.planner.costs import costs_file
    from grfpp.planner.measuring import measure_and_keep
    from grfpp.warmup import warmup as compile_all

    took: dict[str, float] = {}
    with console.timed(took, "seconds", "compiling"):
        compile_all()
    with console.timed(took, "measuring", "measuring"):
        is_kept = measure_and_keep()
    if as_json:
        console.print_json({**took, "costs": str(costs_file()) if is_kept else None})
        return
    where = f"kept in {costs_file()}" if is_kept else "not kept: the folder cannot be written to"
    print(f"ready after {took['seconds']:.1f} s")
    print(f"measured in {took['measuring']:.1f} s, {where}")
