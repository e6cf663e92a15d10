"""Seconds and memory of reading long edge lists whose nodes have names.

``python -m grfpp_lab.studies.reading`` prints a table. Every file is read in a process of its
own, after a small one that loads what reading needs, pyarrow among it; the peak is how far the
resident memory rises above what it was then (``VmHWM`` of Linux), the graph and its names included.
With a million edges it should be below ten times the file, whether names are repeated or not.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grfpp._imports import require
from grfpp._memory import readable_bytes
from grfpp.graph import Graph
from grfpp_lab.benchmark.timing import peak_memory, timed
from grfpp_lab.harness.processes import call

KINDS = (".csv", ".parquet", ".feather")
N_EDGES, N_NAMES = 1_000_000, 100_000
TIMEOUT = 600.0
_FEW = 100


def measure(kind: str, n_edges: int = N_EDGES, n_names: int = N_NAMES) -> dict[str, Any]:
    """Seconds and peak of reading one file, in a process of its own.

    Parameters
    ----------
    kind
        The suffix: ``".csv"``, ``".parquet"`` or ``".feather"``.
    n_edges
        Edges between nodes that are drawn at random, with random weights of three digits.
    n_names
        How many names there are to draw from; with twice as many as edges, each stands there once.
    """
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, f"small{kind}"), Path(folder, f"large{kind}")
        write(small, _FEW, _FEW)
        write(large, n_edges, n_names)
        request = {"paths": [str(small), str(large)]}
        found = call("grfpp_lab.studies.reading:read", request, timeout=TIMEOUT)
        n_bytes = large.stat().st_size
    return {"kind": kind, "n_edges": n_edges, "n_names": n_names, "file_bytes": n_bytes, **found}


def write(path: Path, n_edges: int, n_names: int) -> None:
    """Write a list of edges between ``user_0000000`` and so on, as the suffix says."""
    pa = require("pyarrow", path.suffix)
    rng = np.random.default_rng(0)
    names = pa.array([f"user_{number:07}" for number in range(n_names)])
    if n_names == 2 * n_edges:
        ends = rng.permutation(n_names).reshape(2, -1)
    else:
        ends = rng.integers(0, n_names, (2, n_edges))
    weights = rng.integers(1, 1000, n_edges) / 1000
    table = pa.table(
        {"source": names.take(ends[0]), "target": names.take(ends[1]), "weight": weights}
    )
    if path.suffix == ".csv":
        csv = require("pyarrow.csv", path.suffix)
        csv.write_csv(table, path, csv.WriteOptions(quoting_style="none"))
    elif path.suffix == ".feather":
        require("pyarrow.feather", path.suffix).write_feather(table, str(path))
    else:
        require("pyarrow.parquet", path.suffix).write_table(table, path)


def read(request: dict[str, Any]) -> dict[str, Any]:
    """What `measure` has done in another process."""
    small, large = request["paths"]
    Graph(small)  # loads what the first call does
    with peak_memory() as peak:
        graph, seconds = timed(lambda: Graph(large))
    return {"n_nodes": graph.n_nodes, "seconds": seconds, "peak_bytes": peak.n_bytes}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The measured rows.

    Examples
    --------
    >>> row = {"kind": ".csv", "n_edges": 1000, "n_names": 50, "file_bytes": 32_000}
    >>> print(table([{**row, "seconds": 0.5, "peak_bytes": 256_000}]))
    kind      edges      names      file       seconds  peak       times the file
    .csv      1,000      50         32 kB         0.50  256 kB                8.0
    """
    lines = ["kind      edges      names      file       seconds  peak       times the file"]
    for row in rows:
        size, peak = row["file_bytes"], row["peak_bytes"]
        lines.append(
            f"{row['kind']:<8}  {row['n_edges']:<9,}  {row['n_names']:<9,}  "
            f"{readable_bytes(size):<9}  {row['seconds']:>7.2f}  {readable_bytes(peak):<9}  "
            f"{peak / size:>14.1f}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="reading", description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--edges", type=int, default=N_EDGES)
    parser.add_argument(
        "--names", type=int, nargs="+", help="to draw from; by default 100,000, and all different"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    names = options.names or [N_NAMES, 2 * options.edges]
    rows = [measure(kind, options.edges, n) for n in names for kind in options.kinds]
    print(json.dumps(rows, indent=1) if options.json else table(rows))


if __name__ == "__main__":
    main()
