"""An epidemic: who met whom among those who fell ill."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grfpp.arguments import positive, probability, whole
from grfpp.datasets.arrays import read_only
from grfpp.datasets.generators import connected_random, undirected_graph
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.typing import IntArray

_N_OUTBREAKS = 100
_POPULATION = 2  # people for each who falls ill


@dataclass(frozen=True, eq=False, repr=False)
class InfectionGraph:
    """The part of a contact network that an epidemic reached.

    Attributes
    ----------
    graph
        Those who fell ill, in the order in which they did; an edge joins two who are in contact.
        It is connected: it holds the tree of who infected whom.
    time
        The day on which each fell ill, from 0.
    infector
        Who infected each, by number; -1 for the first.
    """

    graph: Graph
    time: IntArray
    infector: IntArray

    def __repr__(self) -> str:
        return f"InfectionGraph({self.graph!r}, {int(self.time[-1]) + 1} days)"

    def transmissions(self) -> Graph:
        """The tree of who infected whom."""
        later = np.arange(1, len(self.infector))
        return undirected_graph(len(self.infector), np.stack([self.infector[1:], later], axis=1))


def infection_graph(
    n_nodes: int = 500,
    *,
    mean_contacts: float = 24.0,
    transmission: float = 0.05,
    recovery: float = 0.1,
    seed: int = 0,
) -> InfectionGraph:
    """Simulate an SIR epidemic and keep the contacts of the first to fall ill.

    The population is twice `n_nodes`, and its contacts are a connected Erdős–Rényi graph. One
    random person is infectious at first. On each day every infectious person infects each
    susceptible contact with probability `transmission`, then recovers with probability `recovery`
    and stays immune. The epidemic is watched until `n_nodes` have been infected; if it dies out
    before, it starts again with another first person.

    The paper gives of its infection graph only that it has 500 nodes and diameter 4, which these
    settings give too.

    Parameters
    ----------
    n_nodes
        How many people fall ill.
    mean_contacts
        Of a person in the whole population; about half of them are in the graph.
    transmission, recovery
        Probabilities for a day.
    seed
        Of the contacts and of the epidemic.

    Examples
    --------
    >>> infection_graph(50).graph.n_nodes
    50
    """
    n, population = whole(n_nodes, "n_nodes", 1), _POPULATION * whole(n_nodes, "n_nodes", 1)
    chance = probability(transmission, "transmission", above_zero=True)
    healing = probability(recovery, "recovery")
    p = min(1.0, positive(mean_contacts, "mean_contacts") / max(1, population - 1))
    contacts = connected_random(population, p, seed=seed)
    rng = np.random.default_rng([whole(seed, "seed", 0), 1])
    for _ in range(_N_OUTBREAKS):
        people, time, infector = _outbreak(contacts, n, chance, healing, rng)
        if len(people) == n:
            break
    else:
        raise InputError(
            f"the epidemic died out before it reached {n} people, {_N_OUTBREAKS} times; raise "
            "transmission or mean_contacts, or lower recovery"
        )
    place = np.full(population, -1)
    place[people] = np.arange(n)
    graph = Graph(contacts.adjacency[people][:, people])
    origin = np.where(infector < 0, -1, place[infector])
    return InfectionGraph(graph, read_only(time), read_only(origin))


def _outbreak(
    contacts: Graph, n: int, chance: float, healing: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray]:
    """Who fell ill, when, and by whom, until there are `n` or none is infectious."""
    first = int(rng.integers(contacts.n_nodes))
    ill = {first: (0, -1)}
    infectious = [first]
    day = 0
    while infectious and len(ill) < n:
        day += 1
        new: list[int] = []
        for person in infectious:
            met = contacts.indices[contacts.indptr[person] : contacts.indptr[person + 1]]
            for other in met[rng.random(len(met)) < chance].tolist():
                if other not in ill and len(ill) < n:
                    ill[other] = (day, person)
                    new.append(other)
        staying = rng.random(len(infectious)) >= healing
        infectious = [p for p, stays in zip(infectious, staying, strict=True) if stays] + new
    history = np.array([(person, *when) for person, when in ill.items()], dtype=np.int64)
    people, time, infector = history.T
    return people, time, infector
