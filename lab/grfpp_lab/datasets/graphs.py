"""Graphs of the paper that no user would load: GeometricShapes, and a simulated epidemic."""

import zipfile
from pathlib import PurePosixPath
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

#: The graph of REDDIT-BINARY that the paper estimates at long range: the only connected one with
#: 436 nodes and diameter 19.
LONG_REDDIT_GRAPH = 663

_N_OUTBREAKS = 100
_POPULATION = 2  # people for each who falls ill
_MEAN_CONTACTS = 24.0  # of a person in the whole population
_TRANSMISSION, _RECOVERY = 0.05, 0.1  # probabilities for a day


def infection_graph(n_nodes: int = 500, *, seed: int = 0) -> Graph:
    """Simulate an SIR epidemic and keep the contacts of the first to fall ill, in that order.

    The population is twice `n_nodes`, and its contacts are a connected Erdős–Rényi graph. One
    random person is infectious at first. On each day every infectious person infects each
    susceptible contact with probability 0.05, then recovers with probability 0.1 and stays immune.
    The epidemic is watched until `n_nodes` have been infected; if it dies out before, it starts
    again with another first person. The graph is connected: it holds the tree of who infected whom.

    The paper gives of its infection graph only that it has 500 nodes and diameter 4, which these
    settings give too.

    Parameters
    ----------
    n_nodes
        How many people fall ill.
    seed
        Of the contacts and of the epidemic.

    Examples
    --------
    >>> infection_graph(50).n_nodes
    50
    """
    population = _POPULATION * n_nodes
    p = min(1.0, _MEAN_CONTACTS / max(1, population - 1))
    contacts = connected_random(population, p, seed=seed)
    rng = np.random.default_rng([seed, 1])
    for _ in range(_N_OUTBREAKS):
        people = _outbreak(contacts, n_nodes, rng)
        if len(people) == n_nodes:
            return Graph(contacts.adjacency[people][:, people])
    raise InputError(f"the epidemic died out before it reached {n_nodes} people")


def _outbreak(contacts: Graph, n: int, rng: np.random.Generator) -> list[int]:
    """Who fell ill, one after the other, until there are `n` or none is infectious."""
    first = int(rng.integers(contacts.n_nodes))
    ill, infectious = {first: None}, [first]
    while infectious and len(ill) < n:
        new: list[int] = []
        for person in infectious:
            met = contacts.indices[contacts.indptr[person] : contacts.indptr[person + 1]]
            for other in met[rng.random(len(met)) < _TRANSMISSION].tolist():
                if other not in ill and len(ill) < n:
                    ill[other] = None
                    new.append(other)
        staying = rng.random(len(infectious)) >= _RECOVERY
        infectious = [p for p, stays in zip(infectious, staying, strict=True) if stays] + new
    return list(ill)


#: The shape that the paper estimates at long range: 864 vertices, diameter 28.
LONG_SHAPE = "3d_U_cylinder"

Split = Literal["train", "test"]


def load_shapes(split: Split = "train", *, download: bool = True) -> dict[str, TriangleMesh]:
    """Load the meshes of GeometricShapes, by their names in alphabetical order.

    The paper's is ``load_shapes()[LONG_SHAPE]``. Equal points of a file are one vertex.

    Parameters
    ----------
    split
        ``"train"`` or ``"test"``; both hold the same 40 shapes.
    download
        Whether to download what is not at hand.
    """
    one_of(split, "split", ("train", "test"))
    path, meshes = fetch("shapes", download=download), {}
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
    return dict(sorted(meshes.items()))
