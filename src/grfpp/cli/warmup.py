"""`grfpp warmup`: compile now rather than at the first call, and measure the machine's speed.

Example commands:
  grfpp warmup
"""

from __future__ import annotations

from grfpp.cli import options, results


@options.command
@options.shows_result
def warmup() -> results.Result:
    """Compile the inner loops now, and measure the machine.

    The machine keeps the results; a second run only loads what is compiled. What is measured tells
    grfpp.kernel_operator which method takes least time: run this while nothing else runs.
    """
    from grfpp.operators.costs import costs_file, measure_and_keep
    from grfpp.warmup import warmup as compile_all

    result = results.Result()
    with result.timed("seconds", "compiling"):
        compile_all()
    with result.timed("measuring", "measuring"):
        is_kept = measure_and_keep()
    where = f"kept in {costs_file()}" if is_kept else "not kept: the folder cannot be written to"
    result.add("ready", f"after {result.seconds['seconds']:.1f} s", **result.seconds)
    result.add("measured", f"in {result.seconds['measuring']:.1f} s, {where}")
    result.add(costs=str(costs_file()) if is_kept else None)
    return result
