"""What `grfpp estimate` did, as text for people and as JSON for programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grfpp.accuracy import RelativeError
from grfpp.cli.outputs import wrote
from grfpp.cli.rows import labels_of, summary
from grfpp.estimate import KernelEstimate
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.memory import readable_bytes
from grfpp.termination import Termination
from grfpp.typing import FloatArray


@dataclass(frozen=True)
class Outcome:
    """What the command did, to be told as text or as JSON."""

    path: Path
    graph: Graph
    normalize: str
    scale: float
    kernel: Kernel
    law: Termination
    K: KernelEstimate
    seconds_read: float
    seconds_walk: float
    rows: list[int]
    values: FloatArray | None
    error: RelativeError | None
    output: Path | None

    @property
    def n_entries(self) -> int:
        """Numbers stored in all factors that are distinct."""
        return sum(matrix.nnz for matrix in self._matrices())

    @property
    def n_bytes(self) -> int:
        """Memory of all factors that are distinct."""
        return sum(
            array.nbytes
            for matrix in self._matrices()
            for array in (matrix.data, matrix.indices, matrix.indptr)
        )

    def _matrices(self) -> list[Any]:
        return list({id(m): m for pair in self.K.factors for m in pair}.values())

    def facts(self) -> list[tuple[str, str]]:
        """Name and value of everything worth telling."""
        graph, meta = self.graph, self.K.meta
        kind = "directed" if graph.is_directed else "undirected"
        labels = labels_of(graph)
        facts = [
            ("graph", f"{self.path}: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {kind}"),
            ("weights", f"normalize {self.normalize}, scale {self.scale:g}"),
            ("kernel", f"{self.kernel!r}, stitching degree {self.K.degree}"),
            (
                "walks",
                f"{meta['n_walks']} a node and factor, lengths {self.law!r}, seed {meta['seed']}: "
                f"{meta['steps_per_node']:.6g} steps a node expected",
            ),
            (
                "factors",
                f"{len(self._matrices())} with {self.n_entries:,} entries, "
                f"{readable_bytes(self.n_bytes)}"
                + (" (walks reused: the estimate is biased)" if meta["reuse_walks"] else ""),
            ),
            ("time", f"{self.seconds_read:.2f} s reading, {self.seconds_walk:.2f} s walking"),
        ]
        for row, values in zip(self.rows, [] if self.values is None else self.values, strict=True):
            facts.append((f"row {labels[row]}", summary(labels, values)))
        if self.error is not None:
            how = "" if self.error.n_probes else " (whole matrices compared)"
            facts.append(("error", f"{self.error!r}{how}"))
        return [*facts, *wrote(self.output)]

    def document(self) -> dict[str, Any]:
        """The same for programs, and the rows in full."""
        graph, labels = self.graph, labels_of(self.graph)
        return {
            "graph": {
                "path": str(self.path),
                "n_nodes": graph.n_nodes,
                "n_edges": graph.n_edges,
                "directed": graph.is_directed,
                "normalize": self.normalize,
                "scale": self.scale,
            },
            **self.K.meta,
            "n_entries": self.n_entries,
            "n_bytes": self.n_bytes,
            "seconds": {"read": self.seconds_read, "walk": self.seconds_walk},
            "rows": [
                {"row": row, "node": _plain(labels[row]), "values": values.tolist()}
                for row, values in zip(
                    self.rows, [] if self.values is None else self.values, strict=True
                )
            ],
            "relative_error": None
            if self.error is None
            else {
                "value": float(self.error),
                "standard_error": self.error.standard_error,
                "n_probes": self.error.n_probes,
            },
            "output": None
            if self.output is None
            else {"path": str(self.output), "n_bytes": self.output.stat().st_size},
        }


def _plain(label: Any) -> int | str:
    """A node label that JSON can hold."""
    return label if isinstance(label, int) else str(label)
