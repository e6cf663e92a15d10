"""All measurements of a set, one after the other, each bounded and on its own."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import grfpp
from grfpp.graph import Graph
from grfpp.warmup import warmup
from grfpp_lab.benchmark import equal_seconds, sampling, uses
from grfpp_lab.benchmark.equal_seconds import DEGREES, POOLED
from grfpp_lab.benchmark.settings import Row, Section, Sizes, mesh_file
from grfpp_lab.benchmark.uses import PEERS, ask_peer
from grfpp_lab.graphs import FAMILIES, PAPER_MESHES
from grfpp_lab.harness.processes import TaskError, address, call

#: Called with what is about to be measured.
Progress = Callable[[str], None]
#: A request becomes a list of results: method, numbers, and what else the row says.
Task = Callable[[dict[str, Any]], list[dict[str, Any]]]

TASKS: dict[str, Task] = {
    "sample": sampling.sample_graph,
    "limit": sampling.machine_limit,
    "plain": sampling.plain_python,
    "equal": equal_seconds.equal_seconds,
    "growth": sampling.sample_grid,
    "recompute": sampling.recompute_product,
    "mesh": sampling.mesh_products,
    "dense-mesh": sampling.dense_kernel,
    "local": uses.local_block,
    "dense": uses.dense_products,
    "sparse": uses.sparse_product,
}

_TITLES = {
    "grid": "grid",
    "regular": "random 10-regular",
    "scale-free": "scale-free (Barabási–Albert)",
    "mesh": "mesh",
}
#: Columns of the products in which walks are compared with other methods.
_COLUMNS = (3, 64)


def workload(family: str, n_nodes: int) -> str:
    """The title of a graph in the tables.

    Examples
    --------
    >>> workload("grid", 10_000)
    'grid, 10,000 nodes'
    """
    return f"{_TITLES[family]}, {n_nodes:,} nodes"


@dataclass(frozen=True)
class Suite:
    """A set of measurements, and the machine to run them on."""

    #: What is measured.
    sizes: Sizes
    #: Threads of every method.
    threads: int
    #: The machine in a few words.
    hardware: str
    #: The command that runs peers, if there is one.
    peers: list[str] | None = None
    #: Called with what is about to be measured.
    progress: Progress = lambda text: None
    #: Start of the run, by `time.monotonic`.
    began: float = field(default_factory=monotonic)

    def run(self) -> list[Row]:
        """All rows of all sections."""
        return [
            *self.sampling_rows(),
            *self.growth_rows(),
            *self.paper_rows(),
            *self.uses_rows(),
            *self.equal_rows(),
        ]

    # --- sections -------------------------------------------------------------------------------

    def sampling_rows(self) -> Iterator[Row]:
        """Steps a second on every graph: ours, the peers', the machine's."""
        with tempfile.TemporaryDirectory(prefix="grfpp-bench-") as folder:
            for family, n_nodes in self.sizes.sampling:
                name = workload(family, n_nodes)
                self.progress(f"making: {name}")
                path = Path(folder) / "graph.npz"
                try:
                    n_bytes = _make_graph(family, n_nodes, path)
                except FileNotFoundError as error:
                    yield self._not_run("sampling", name, sampling.OURS, str(error))
                    continue
                small = n_nodes <= self.sizes.slow_peers_up_to
                yield from self._sampled(name, str(path), n_bytes, small)

    def _sampled(self, name: str, path: str, n_bytes: int, small: bool) -> Iterator[Row]:
        request = {"graph": path}
        yield from self._task("sampling", "sample", name, request, sampling.OURS)
        yield from self._task("sampling", "limit", name, {"n_bytes": n_bytes}, sampling.LIMIT)
        if small:
            yield from self._task("sampling", "plain", name, request, sampling.LISTS)
        for peer in PEERS:
            if small or not peer.is_slow:
                self.progress(f"{name}: {peer.name}")
                limits = {"budget": self.sizes.budget, "timeout": self._time_left()}
                answer = ask_peer(self.peers, peer, path, threads=self.threads, **limits)
                yield self._row("sampling", name, answer)

    def equal_rows(self) -> Iterator[Row]:
        """Errors of pooled and of independent walks that take as long."""
        for family, n_nodes in self.sizes.equal:
            kernels = {f"{kernel}, {workload(family, n_nodes)}": kernel for kernel in DEGREES}
            request = {"family": family, "n_nodes": n_nodes, "kernels": kernels}
            yield from self._task("equal", "equal", next(iter(kernels)), request, POOLED)

    def growth_rows(self) -> Iterator[Row]:
        """Time and memory on larger and larger grids, and with nothing stored."""
        for n_nodes in self.sizes.growth:
            name, request = workload("grid", n_nodes), {"n_nodes": n_nodes}
            yield from self._task("growth", "growth", name, request, sampling.OURS_SINGLE)
        name, request = workload("grid", self.sizes.recompute), {"n_nodes": self.sizes.recompute}
        yield from self._task("growth", "recompute", name, request, sampling.RECOMPUTE)

    def paper_rows(self) -> Iterator[Row]:
        """The paper's meshes, beside the paper's seconds."""
        for mesh in PAPER_MESHES:
            if mesh.n_nodes not in self.sizes.meshes:
                continue
            path, name = None, workload("mesh", mesh.n_nodes)
            try:
                path, remark = mesh_file(mesh.n_nodes)
                name += f" ({remark})" if remark else ""
            except FileNotFoundError as error:
                yield self._not_run("paper", name, sampling.TABLE_METHOD, str(error))
            yield _quoted(name, sampling.PAPER, mesh.n_nodes, mesh.grf_seconds)
            yield _quoted(name, sampling.PAPER_DENSE, mesh.n_nodes, mesh.dense_seconds)
            if path is None:
                continue
            request: dict[str, Any] = {"mesh": str(path)}
            yield from self._task("paper", "mesh", name, request, sampling.TABLE_METHOD)
            small = mesh.n_nodes <= self.sizes.dense_up_to
            request["n_nodes"] = None if small else self.sizes.dense_pilot
            yield from self._task("paper", "dense-mesh", name, request, sampling.DENSE)

    def uses_rows(self) -> Iterator[Row]:
        """Where walks win, and where they lose."""
        n, n_rows = self.sizes.local
        for patch in (True, False):
            where = "a patch" if patch else "spread"
            name = f"K[S, S], {n_rows:,} of {n:,} nodes of a grid, {where}"
            request: dict[str, Any] = {"n_nodes": n, "n_rows": n_rows, "patch": patch}
            yield from self._task("uses", "local", name, request, sampling.TABLE_METHOD)
        n, degree = self.sizes.dense
        graph = f"dense graph of {n:,} nodes, {degree:,} neighbours"
        names = {f"K @ V, {count} columns, {graph}": count for count in _COLUMNS}
        request = {"n_nodes": n, "degree": degree, "columns": names}
        yield from self._task("uses", "dense", next(iter(names)), request, sampling.TABLE_METHOD)
        n = self.sizes.sparse
        name = f"K @ V, {_COLUMNS[0]} columns, grid of {n:,} nodes"
        request = {"n_nodes": n, "columns": {name: _COLUMNS[0]}}
        yield from self._task("uses", "sparse", name, request, sampling.TABLE_METHOD)

    # --- rows -----------------------------------------------------------------------------------

    def _task(
        self, section: Section, task: str, name: str, request: dict[str, Any], method: str
    ) -> Iterator[Row]:
        """The rows of one measurement, or one that says why there are none."""
        self.progress(f"{name}: {task}")
        asked = {**request, "task": task, "budget": self.sizes.budget, "threads": self.threads}
        try:
            for result in call(
                address(measure), asked, timeout=self._time_left(), threads=self.threads
            ):
                yield self._row(section, name, result)
        except TaskError as failure:
            yield self._not_run(section, name, method, str(failure))

    def _time_left(self) -> float:
        """Seconds for the next measurement."""
        return min(self.sizes.timeout, self.began + self.sizes.limit - monotonic())

    def _row(self, section: Section, name: str, result: dict[str, Any]) -> Row:
        about = {"workload": name, "version": grfpp.__version__, "threads": self.threads}
        return Row(section=section, hardware=self.hardware, **{**about, **result})

    def _not_run(self, section: Section, name: str, method: str, why: str) -> Row:
        return self._row(section, name, {"method": method, "status": "not run", "note": why})


def measure(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one of the `TASKS` in this process, when all code is compiled."""
    warmup()
    return TASKS[request["task"]](request)


def _quoted(name: str, method: str, n_nodes: int, seconds: float | None) -> Row:
    numbers: dict[str, float] = {"n_nodes": n_nodes}
    if seconds is None:
        note = "did not end in its authors' time"
    else:
        numbers["seconds"], note = seconds, "measured by its authors, on their machine"
    return Row("paper", name, method, status="quoted", note=note, numbers=numbers, threads=0)


def _make_graph(family: str, n_nodes: int, path: Path) -> int:
    """Write a normalised graph to a file; return the bytes of its neighbours and offsets."""
    graph = Graph(mesh_file(n_nodes)[0]) if family == "mesh" else FAMILIES[family](n_nodes)
    graph.normalized("sym").save(path)
    return 4 * len(graph.indices) + 8 * len(graph.indptr)
