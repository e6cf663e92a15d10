"""Time and memory of converting large graphs and of products with them.

``python -m grfpp_lab.studies.large_graphs convert`` writes an edge list of 10⁸ lines and converts
it by ``grfpp convert``. ``... product`` makes a directed graph of 10⁷ nodes and 4·10⁷ arcs on disk
and multiplies an estimate of degree 2 that is recomputed instead of being stored. What is
measured runs in a process of its own; its peak of memory is what the system says of it (maps
included), and its CPU time, of which the seconds depend on what else runs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from grfpp._imports import require
from grfpp._memory import readable_bytes
from grfpp.io.folder.writer import save_folder
from grfpp.normalization import Rows

_BLOCK = 1_000_000
_PRODUCT = """
import json, sys
import numpy as np
import grfpp
path, kind, degree = sys.argv[1], sys.argv[2], int(sys.argv[3])
W = grfpp.Graph.open(path).normalized(kind)
K = grfpp.sample(
    W, grfpp.Diffusion(1.0), degree=degree, seed=0, storage="recompute", check_error=False
)
v = np.random.default_rng(0).normal(size=W.n_nodes)
product = K @ v
print(json.dumps({"norm": float(np.linalg.norm(product)), "steps": K.meta["steps_per_node"]}))
"""


class Run(NamedTuple):
    """A program that has run: what it printed, and what it took."""

    document: Any
    seconds: float
    cpu_seconds: float
    peak_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.seconds:.0f} s, {self.cpu_seconds:.0f} s of CPU, peak of memory "
            f"{readable_bytes(self.peak_bytes)}"
        )


#: Between this process and the one that is measured stands a small one: Linux counts the memory of
#: whoever starts a process as that process's own peak.
_STARTER = """
import json, os, subprocess, sys
child = subprocess.Popen([sys.executable, *sys.argv[2:]])
_, status, usage = os.wait4(child.pid, 0)
child.returncode = os.waitstatus_to_exitcode(status)
with open(sys.argv[1], "w") as file:
    json.dump([child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss], file)
"""


def run(*arguments: str) -> Run:
    """Run Python with these arguments; it prints one JSON document."""
    began = perf_counter()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as printed:
        usage = Path(folder, "usage.json")
        command = [sys.executable, "-c", _STARTER, str(usage), *arguments]
        subprocess.run(command, stdout=printed, check=True)
        returncode, cpu_seconds, peak = json.loads(usage.read_text(encoding="utf-8"))
        if returncode:
            raise SystemExit(f"it ended with {returncode}")
        printed.seek(0)
        document = json.loads(printed.read())
    # Linux counts kilobytes, others bytes.
    unit = 1024 if sys.platform == "linux" else 1
    return Run(document, perf_counter() - began, cpu_seconds, peak * unit)


def write_edge_list(path: Path, n_lines: int, n_nodes: int, seed: int = 0, *, named: bool) -> None:
    """Write a list of edges with a few nodes that many lead to, a million lines at a time.

    Names are ``user123`` or, if not `named`, numbers.
    """
    arrow, compute = require("pyarrow"), require("pyarrow.compute")
    table_writer = require("pyarrow.csv")
    rng = np.random.default_rng(seed)
    options = table_writer.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with path.open("wb") as stream:
        for start in range(0, n_lines, _BLOCK):
            count = min(_BLOCK, n_lines - start)
            ends = (
                rng.integers(0, n_nodes, count),
                (n_nodes * rng.random(count) ** 3).astype(np.int64),
            )
            texts = [arrow.array(each).cast(arrow.string()) for each in ends]
            if named:
                texts = [compute.binary_join_element_wise("user", each, "") for each in texts]
            table = arrow.table(dict(zip("st", texts, strict=True)))
            table_writer.write_csv(table, stream, options)


def save_directed(path: Path, n_nodes: int, n_arcs: int, seed: int = 0) -> None:
    """Write a directed graph to a folder: targets are drawn as in `write_edge_list`."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, n_nodes, n_arcs)
    keys *= n_nodes
    for start in range(0, n_arcs, _BLOCK):
        part = keys[start : start + _BLOCK]
        part += (n_nodes * rng.random(len(part)) ** 3).astype(np.int64)
    keys.sort()
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    indptr = np.searchsorted(keys, n_nodes * np.arange(n_nodes + 1))
    np.remainder(keys, n_nodes, out=keys)
    save_folder(path, Rows(indptr, keys.astype(np.int32)))


def convert(folder: Path, n_lines: int, n_nodes: int, named: bool, *options: str) -> Run:
    """Convert a list that is written for that and removed afterwards."""
    path, target = folder / "edges.tsv", folder / "edges.grf"
    try:
        write_edge_list(path, n_lines, n_nodes, named=named)
        done = run("-m", "grfpp", "convert", str(path), str(target), "--json", *options)
        done.document["text_bytes"] = path.stat().st_size
        return done
    finally:
        path.unlink(missing_ok=True)
        _remove(target)


def product(folder: Path, n_nodes: int, n_arcs: int, kind: str, degree: int) -> Run:
    """Multiply one vector by an estimate on a graph that is made for that."""
    path = folder / "directed.grf"
    try:
        maker = "import sys; from pathlib import Path; from grfpp_lab.studies import large_graphs; "
        maker += "large_graphs.save_directed(Path(sys.argv[1]), *map(int, sys.argv[2:])); print(0)"
        run("-c", maker, str(path), str(n_nodes), str(n_arcs))
        return run("-c", _PRODUCT, str(path), kind, str(degree))
    finally:
        _remove(path)


def _remove(folder: Path) -> None:
    if folder.is_dir():
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="large_graphs", description=__doc__)
    parser.add_argument("what", choices=["convert", "product"])
    parser.add_argument("--lines", type=float, default=1e8)
    parser.add_argument("--nodes", type=float, default=1e7)
    parser.add_argument("--arcs", type=float, default=4e7)
    parser.add_argument("--numbers", action="store_true", help="nodes are numbers, not names")
    parser.add_argument("--directed", action="store_true", help="each line is an arc")
    parser.add_argument("--memory", default="1.5GB", help="what DuckDB may take")
    parser.add_argument("--kind", default="sym", choices=["sym", "rw"])
    parser.add_argument("--degree", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where files are written for a while")
    options = parser.parse_args(arguments)
    n_nodes = int(options.nodes)
    with _folder(options.folder) as folder:
        if options.what == "convert":
            more = ["--directed"] * options.directed
            n_lines = int(options.lines)
            done = convert(
                folder, n_lines, n_nodes, not options.numbers, "--memory", options.memory, *more
            )
            size = readable_bytes(done.document["text_bytes"])
            print(f"{n_lines:,} lines, {size} of text: {done}")
            print(f"{n_lines / done.seconds:,.0f} lines a second, {_taken(done.document)}")
        else:
            done = product(folder, n_nodes, int(options.arcs), options.kind, options.degree)
            steps = done.document["steps"] * n_nodes
            print(f"{n_nodes:,} nodes, {options.arcs:,.0f} arcs, {options.kind}: {done}")
            print(f"{steps / done.seconds:,.0f} steps a second, all else included")


def _taken(document: Any) -> str:
    graph = document["graph"]
    steps = ", ".join(f"{name} {took:.0f} s" for name, took in document["seconds"].items())
    return (
        f"{graph['n_nodes']:,} nodes with names ({document['names']}), {graph['n_edges']:,} edges, "
        f"{readable_bytes(document['output']['n_bytes'])} on disk; {steps}"
    )


@contextmanager
def _folder(chosen: Path | None) -> Iterator[Path]:
    if chosen is not None:
        chosen.mkdir(parents=True, exist_ok=True)
        yield chosen
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


if __name__ == "__main__":
    main()
