"""Dask beside one machine: the same bits, how much faster, and what happens when workers die.

``python -m grfpp_lab.studies.distributed`` starts worker processes on this machine, of one thread
each, and prints what was measured, what was asked for, and whether that is met: that two workers
give the bits of one machine; how long sampling takes on one and on two workers, in turn, of which
the best times are compared; and what becomes of a job when a worker is killed (SIGKILL) at a random
moment. ``--parts costs`` compares the cost model of docs/scaling.md with what is measured, and
``--parts predict`` prints what it says of larger graphs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

PARTS = ("bits", "speed", "kills", "gone", "costs", "predict")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    from grfpp.warmup import warmup
    from grfpp_lab.families import scale_free
    from grfpp_lab.studies.distributed import bits, costs, kills, predict, speed
    from grfpp_lab.studies.distributed.clusters import workers

    parser = argparse.ArgumentParser(prog="distributed", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--nodes", type=int, default=20_000, help="of the graph whose bits count")
    parser.add_argument(
        "--walked-nodes", type=int, default=300_000, help="of the one that is timed"
    )
    parser.add_argument("--turns", type=int, default=4, help="how often each is timed")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=15, help="of graphs, walks and moments")
    options = parser.parse_args(arguments)
    warmup()
    verdicts = []
    small = scale_free(options.nodes, 4, seed=options.seed).normalized("sym")
    if set(options.parts) & {"bits", "kills", "gone", "costs"}:
        with workers(2) as client:
            if "bits" in options.parts:
                verdicts += bits.tell(client, small, options.seed)
            if "kills" in options.parts:
                verdicts += kills.tell(client, small, options.kills, options.seed)
            if "gone" in options.parts:
                verdicts += kills.tell_gone(client, options.nodes)
            if "costs" in options.parts:
                costs.tell(client, options.seed)
    if "speed" in options.parts:
        large = scale_free(options.walked_nodes, 4, seed=options.seed).normalized("sym")
        verdicts += speed.tell(large, options.turns, options.seed)
    if "predict" in options.parts:
        predict.tell()
    if verdicts:
        print(f"\n{sum(verdicts)} of {len(verdicts)} met")
