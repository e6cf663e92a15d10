"""What a command did, as text for people and as JSON for programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grfpp.cli import console
from grfpp.graph import Graph

Fact = tuple[str, str]


@dataclass(frozen=True)
class Outcome:
    """What a command did: names and values for people, a document for programs."""

    facts: list[Fact]
    document: dict[str, Any]

    def tell(self, as_json: bool) -> None:
        """Print the one or the other."""
        if as_json:
            console.print_json(self.document)
        else:
            console.print_facts(self.facts)


def graph_fact(path: Path, graph: Graph) -> Fact:
    """What graph it was about."""
    kind = "directed" if graph.is_directed else "undirected"
    return "graph", f"{path}: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {kind}"


def graph_document(path: Path, graph: Graph) -> dict[str, Any]:
    """The same for programs."""
    return {
        "path": str(path),
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "directed": graph.is_directed,
    }


def plain(label: Any) -> int | str:
    """A node label that JSON can hold."""
    return label if isinstance(label, int) else str(label)
