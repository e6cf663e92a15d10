"""What `grfpp cluster` did, as text for people, as JSON for programs, and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grfpp.cli.outputs import wrote
from grfpp.cli.rows import labels_of
from grfpp.graph import Graph


@dataclass(frozen=True)
class Clustered:
    """What the command did, to be told as text, as JSON, and in a table."""

    path: Path
    graph: Graph
    labels: list[int]
    n_clusters: int
    how: str
    kernel: str
    sigma: float
    seed: int
    seconds: float
    truth: Sequence[Any] | None
    error: float | None
    output: Path | None

    @property
    def sizes(self) -> list[int]:
        """Nodes in each cluster, some of which may be empty where nodes cannot be told apart."""
        return [self.labels.count(label) for label in range(self.n_clusters)]

    def facts(self) -> list[tuple[str, str]]:
        """Name and value of everything worth telling."""
        graph = self.graph
        kind = "directed" if graph.is_directed else "undirected"
        facts = [
            ("graph", f"{self.path}: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {kind}"),
            ("kernel", f"{self.kernel}, sigma {self.sigma:g}"),
            ("walks", self.how),
            ("clusters", f"{self.n_clusters} with {', '.join(map(str, self.sizes))} nodes"),
            ("time", f"{self.seconds:.2f} s"),
        ]
        if self.error is not None:
            pairs = graph.n_nodes * (graph.n_nodes - 1) // 2
            wrong = round(self.error * pairs)
            facts.append(("error", f"{self.error:.4f}: {wrong:,} of {pairs:,} pairs are wrong"))
        return [*facts, *wrote(self.output)]

    def document(self) -> dict[str, Any]:
        """The same for programs, and the cluster of every node."""
        graph = self.graph
        return {
            "graph": {
                "path": str(self.path),
                "n_nodes": graph.n_nodes,
                "n_edges": graph.n_edges,
                "directed": graph.is_directed,
            },
            "kernel": self.kernel,
            "sigma": self.sigma,
            "walks": self.how,
            "seed": self.seed,
            "n_clusters": self.n_clusters,
            "sizes": self.sizes,
            "nodes": [node if isinstance(node, int) else str(node) for node in self._nodes()],
            "labels": self.labels,
            "pair_error": self.error,
            "seconds": self.seconds,
            "output": None if self.output is None else str(self.output),
        }

    def table(self, attribute: str | None) -> tuple[list[str], list[list[Any]]]:
        """Header and lines of the output: a node and its cluster, and its class if known."""
        lines = [
            [node, label, *([] if self.truth is None else [self.truth[row]])]
            for row, (node, label) in enumerate(zip(self._nodes(), self.labels, strict=True))
        ]
        header = ["node", "cluster"]
        return ([*header, attribute] if attribute is not None else header), lines

    def _nodes(self) -> Sequence[Any]:
        return labels_of(self.graph)
