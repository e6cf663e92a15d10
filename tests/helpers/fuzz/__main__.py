"""`make fuzz`: thousands of mutants of every format, and what became of them."""

import argparse
import sys
import time

from fuzz import formats, pool


def main():
    """Run, tell, and fail where a mutant failed."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("-n", type=int, default=10_000, help="mutants in all")
    parser.add_argument("--first", type=int, default=0, help="number of the first of each format")
    parser.add_argument("--formats", nargs="*", default=list(formats.FORMATS))
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seconds", type=float, default=20, help="for one mutant")
    parser.add_argument("--out", default="out/fuzz", help="folder for mutants that failed")
    chosen = parser.parse_args()
    each = -(-chosen.n // len(chosen.formats))
    numbers = range(chosen.first, chosen.first + each)
    jobs = [(name, number) for number in numbers for name in chosen.formats]
    began = last = time.monotonic()

    def progress(report):
        nonlocal last
        if time.monotonic() - last > (2 if sys.stderr.isatty() else 60):
            last = time.monotonic()
            done = sum(sum(count.values()) for count in report.counts.values())
            rate = done / (last - began)
            print(f"{done:,} of {len(jobs):,} mutants, {rate:.0f} a second, "
                  f"{len(report.failures)} failed", file=sys.stderr, flush=True)  # fmt: skip

    report = pool.run(
        jobs,
        n_workers=chosen.jobs,
        seconds=chosen.seconds,
        folder=chosen.out,
        progress=progress,
    )
    kinds = ("refused", "accepted", "compared", "failed", "hang")
    print(f"{'format':<14}" + "".join(f"{kind:>10}" for kind in (*kinds, "crash")))
    for name, count in report.counts.items():
        crashes = sum(count.values()) - sum(count[kind] for kind in kinds)
        numbers = [*(count[kind] for kind in kinds), crashes]
        print(f"{name:<14}" + "".join(f"{number:>10,}" for number in numbers))
    seconds, where = time.monotonic() - began, f"; see {chosen.out}" if report.failures else ""
    print(f"{len(jobs):,} mutants in {seconds:.0f} s, {len(report.failures)} failed{where}")
    sys.exit(bool(report.failures))


if __name__ == "__main__":
    main()
