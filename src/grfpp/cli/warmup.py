"""`grfpp warmup`: compile before the first call.

Example commands:
  grfpp warmup
"""

from __future__ import annotations

from grfpp.cli import options, results


@options.command
@options.shows_result
def warmup() -> results.Result:
    """Compile the inner loops before the first call.

    The compiled code is cached on disk; a second run only loads it.
    """
    from grfpp.warmup import warmup as compile_all

    result = results.Result()
    with result.timed("seconds", "compiling"):
        compile_all()
    result.add("ready", f"after {result.seconds['seconds']:.1f} s", **result.seconds)
    # Keys of earlier versions, which measured the machine: nothing is measured or stored.
    result.add(measuring=0.0, costs=None)
    return result
