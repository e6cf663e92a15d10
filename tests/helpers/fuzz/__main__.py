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
    numbers = range(chosen.first, chosen.first + -(-chosen.n // len(chosen.formats)))
    jobs = [(name, number) for number in numbers for name in chosen.formats]
    began = last = time.monotonic()

    def progress(n_done, n_failed):
        nonlocal last
        if time.monotonic() - last > (2 if sys.stderr.isatty() else 60):
            last = time.monotonic()
            rate = n_done / (last - began)
            text = f"{n_done:,} of {len(jobs):,} mutants, {rate:.0f} a second, {n_failed} failed"
            print(text, file=sys.stderr, flush=True)

    options = {"n_workers": chosen.jobs, "seconds": chosen.seconds, "folder": chosen.out}
    counts, failures = pool.run(jobs, **options, progress=progress)
    kinds = ("refused", "accepted", "compared", "failed", "hang")
    print(f"{'format':<14}" + "".join(f"{kind:>10}" for kind in (*kinds, "crash")))
    for name, count in counts.items():
        row = [count[kind] for kind in kinds]
        row.append(count.total() - sum(row))
        print(f"{name:<14}" + "".join(f"{number:>10,}" for number in row))
    seconds, where = time.monotonic() - began, f"; see {chosen.out}" if failures else ""
    print(f"{len(jobs):,} mutants in {seconds:.0f} s, {len(failures)} failed{where}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
