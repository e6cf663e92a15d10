"""`grfpp warmup`: compile now rather than at the first call, and measure the machine's speed.

Example commands:
  grfpp warmup
"""

from __future__ import annotations

from grfpp.cli import console, options


@options.command
@options.json_option
def warmup(as_json: bool) -> None:
    """Compile the inner loops now, and measure the machine.

    The machine keeps the results; a second run only loads what is compiled. What is measured tells
    grfpp.kernel_operator which method takes least time: run this while nothing else runs.
    """
    from grfpp.operators.costs import costs_file, measure_and_keep
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
