"""Graphs of the paper that no user would load: GeometricShapes, and a simulated epidemic."""

import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np

from grfpp._checks import one_of
from grfpp.datasets.fetch import fetch
from grfpp.datasets.generators import connected_random
from grfpp.datasets.meshes import TriangleMesh, triangle_mesh
from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.io.meshes import read_mesh
from grfpp.io.text import errors_about, input_errors
from grfpp.linalg.csr import readonly
from grfpp.typing import IntArray

#: The graph of REDDIT-BINARY that the paper estimates at long range: the only connected one with
#: 436 nodes and diameter 19.
LONG_REDDIT_GRAPH = 663

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
    population = _POPULATION * n_nodes
    p = min(1.0, mean_contacts / max(1, population - 1))
    contacts = connected_random(population, p, seed=seed)
    rng = np.random.default_rng([seed, 1])
    for _ in range(_N_OUTBREAKS):
        people, time, infector = _outbreak(contacts, n_nodes, transmission, recovery, rng)
        if len(people) == n_nodes:
            break
    else:
        raise InputError(f"the epidemic died out before it reached {n_nodes} people")
    place = np.full(population, -1)
    place[people] = np.arange(n_nodes)
    graph = Graph(contacts.adjacency[people][:, people])
    origin = np.where(infector < 0, -1, place[infector])
    return InfectionGraph(graph, readonly(time), readonly(origin))


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


#: The shape that the paper estimates at long range: 864 vertices, diameter 28.
LONG_SHAPE = "3d_U_cylinder"

Split = Literal["train", "test"]


@dataclass(frozen=True, eq=False, repr=False)
class Shapes:
    """The meshes of one split, one a class.

    Attributes
    ----------
    split
        ``"train"`` or ``"test"``.
    meshes
        In the order of their names. Equal points of a file are one vertex.
    classes
        Their names; mesh ``i`` is of class ``i``.
    """

    split: Split
    meshes: tuple[TriangleMesh, ...]
    classes: tuple[str, ...]

    def __getitem__(self, name: str) -> TriangleMesh:
        if name not in self.classes:
            raise InputError(f"there is no shape {name!r}; known are {', '.join(self.classes)}")
        return self.meshes[self.classes.index(name)]

    def __len__(self) -> int:
        return len(self.meshes)

    def __repr__(self) -> str:
        return f"Shapes({self.split!r}, {len(self)} meshes)"


def load_shapes(split: Split = "train", *, download: bool = True) -> Shapes:
    """Load the meshes of GeometricShapes; the paper's is ``load_shapes()[LONG_SHAPE]``.

    Parameters
    ----------
    split
        ``"train"`` or ``"test"``; both hold the same 40 shapes.
    download
        Whether to download what is not at hand.
    """
    one_of(split, "split", ("train", "test"))
    return read_shapes(fetch("shapes", download=download), split)


def read_shapes(path: str | Path, split: Split) -> Shapes:
    """Read an archive with a file ``…/SHAPE/SPLIT/NAME.off`` for each shape."""
    meshes: dict[str, TriangleMesh] = {}
    with (
        input_errors(f"cannot read {path}"),
        errors_about(f"cannot read {path}"),
        zipfile.ZipFile(path) as archive,
    ):
        for name in archive.namelist():
            parts = PurePosixPath(name).parts
            if name.endswith(".off") and len(parts) >= 3 and parts[-2] == split:
                mesh = read_mesh(archive.read(name), name, ".off")
                meshes[parts[-3]] = triangle_mesh(parts[-3], mesh)
        if not meshes:
            raise InputError(f"it holds no meshes SHAPE/{split}/NAME.off")
    classes = tuple(sorted(meshes))
    return Shapes(split, tuple(meshes[name] for name in classes), classes)
