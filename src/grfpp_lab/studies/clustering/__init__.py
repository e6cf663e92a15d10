"""How the defaults of `SpectralKernelClustering` were chosen, and how good they are elsewhere.

``python -m grfpp_lab.studies.clustering choose`` compares settings on generated graphs of seven
families; what it picks is the default. ``… judge`` runs the default on 30 generated graphs with
hubs and whiskers from other seeds and on the seven graphs of the data folder, beside the methods
of scikit-network. ``… sure`` tells how far the probabilities are off, by temperature, on the graphs
that it was chosen on and on others. ``… large`` times a block model of a million nodes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one part and print it."""
    parser = argparse.ArgumentParser(prog="clustering", description=__doc__)
    parser.add_argument("part", choices=("choose", "judge", "sure", "large"))
    parser.add_argument("--seeds", type=int, default=10, help="choose, sure: graphs a family")
    parser.add_argument("--nodes", type=int, default=1_000_000, help="large: nodes")
    options = parser.parse_args(arguments)
    if options.part == "choose":
        from grfpp_lab.studies.clustering.choosing import choose

        choose(options.seeds)
    elif options.part == "judge":
        from grfpp_lab.studies.clustering.judging import judge

        judge()
    elif options.part == "sure":
        from grfpp_lab.studies.clustering.sureness import sureness

        sureness(options.seeds)
    else:
        from grfpp_lab.studies.clustering.large import large

        large(options.nodes)
