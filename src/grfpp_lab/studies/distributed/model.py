"""What an estimate on a cluster costs: steps, bytes that are held, bytes that travel.

The model of docs/scaling.md, as formulas. Lengths are in nodes, entries and bytes; only rates are
measured.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """A graph, and what is asked for on it.

    Parameters
    ----------
    n_nodes, n_stored
        Nodes, and entries of the adjacency matrix: two for an undirected edge.
    row_entries
        Entries of a row of a factor.
    n_factors, steps
        Factors, and steps that are walked from a node for each.
    on_disk
        Whether workers open the graph by its path.
    symmetrized
        Whether a product goes through the chain in both directions.
    """

    n_nodes: float
    n_stored: float
    row_entries: float
    n_factors: int = 4
    steps: float = 144.0
    on_disk: bool = False
    symmetrized: bool = True

    @property
    def layout_bytes(self) -> float:
        """What a worker process holds to walk: slots, words, first slots and potentials."""
        return 8 * self.n_stored + 24 * self.n_nodes

    @property
    def graph_bytes(self) -> float:
        """Neighbours and ends of rows; mapped once for a machine, or sent with their weights."""
        mapped = 4 * self.n_stored + 8 * self.n_nodes
        return mapped if self.on_disk else mapped + 8 * self.n_stored + 8 * self.n_nodes

    @property
    def factor_bytes(self) -> float:
        """What all workers together hold of one factor, or of its transpose."""
        return self.n_nodes * (12 * self.row_entries + 4)

    @property
    def held_bytes(self) -> float:
        """What all workers together hold once products have been made."""
        return 2 * self.n_factors * self.factor_bytes

    def walking_seconds(self, n_threads: int, steps_a_second: float) -> float:
        """Until all factors are walked, at so many steps a second and thread."""
        return self.n_factors * self.steps * self.n_nodes / (n_threads * steps_a_second)

    def exchanged_bytes(self, n_workers: int) -> float:
        """What travels once, to transpose all factors: 16 bytes for an entry that moves."""
        entries = self.n_factors * self.n_nodes * self.row_entries
        return 16 * entries * (n_workers - 1) / n_workers

    def product_bytes(self, n_workers: int, n_columns: int) -> float:
        """What travels between workers for a product with so many columns.

        To every factor the whole block goes to all workers but the one that has it, and before
        that, but for the first, its parts to that one.
        """
        block = 8 * self.n_nodes * n_columns
        chains = 2 if self.symmetrized else 1
        spread = self.n_factors * (n_workers - 1) * block
        joined = (self.n_factors - 1) * (n_workers - 1) / n_workers * block
        return chains * (spread + joined)


@dataclass(frozen=True)
class Machine:
    """One of several machines, by what its maker says."""

    name: str
    n_cores: int
    memory: float
    #: Bytes a second to and from others.
    network: float
