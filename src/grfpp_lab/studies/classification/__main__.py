"""Graph classification by walks beside Weisfeiler–Lehman, on the same folds.

``python -m grfpp_lab.studies.classification`` prints six collections of TUDataset, or those that
are named: accuracy of walks by length and labels (`walk_candidates`, set, learner and penalty
chosen within the folds), of each of their sets alone, of sums over pairs of labels alone and with
the spectrum, and of GraKeL's Weisfeiler–Lehman kernel with a support vector machine. ``--settling``
prints every setting that was looked at on the collections that settings were chosen on, which are
others.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from grfpp_lab.experiments.classification.planning import SIX
from grfpp_lab.studies.classification import judging, settings
from grfpp_lab.studies.classification.settling import SETTLING


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(prog="python -m grfpp_lab.studies.classification")
    parser.add_argument("names", nargs="*", help="collections; all without any")
    parser.add_argument("--settling", action="store_true", help="those that settings come from")
    parser.add_argument("--folds", type=int, default=None, help="10; 5 with --settling")
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    chosen = parser.parse_args(arguments)
    known = tuple(SETTLING) if chosen.settling else SIX
    unknown = [name for name in chosen.names if name not in known]
    if unknown:
        parser.error(f"there is no collection {unknown[0]!r}; there are {', '.join(known)}")
    names = chosen.names or known
    if chosen.settling:
        settings.show(names, chosen.folds or 5, chosen.seed)
    else:
        judging.show(names, chosen.folds or 10, chosen.seed)


if __name__ == "__main__":
    main()
