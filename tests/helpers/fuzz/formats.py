"""The formats: what is damaged, how, what reads it, and what its numbers are compared with."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from fuzz import archives, mutations, references, seeds

from grfpp import Graph, KernelEstimate


@dataclass(frozen=True)
class Format:
    """A kind of file."""

    suffix: str
    #: Makes sound files.
    seeds: Callable[[], Sequence[bytes]]
    #: Ways to damage them.
    ways: Sequence[Callable[..., bytes]]
    #: From what was read and its path to the weights that it should have; None where unknown.
    reference: Callable[..., Any] | None = None
    #: What is made of a path.
    read: Callable[..., Any] = Graph


_ANY = (mutations.of_bytes,)
_TEXT = (mutations.of_text, mutations.of_text, mutations.of_text, *_ANY)
_GZIP = (archives.of_gzip, archives.of_gzip, archives.of_gzip, *_ANY)
_ZIP = (archives.of_zip, archives.of_zip, archives.of_zip, *_ANY)
_ARRAYS = (archives.of_arrays, archives.of_arrays, archives.of_arrays, *_ANY)

FORMATS = {
    "txt": Format(".txt", lambda: seeds.edge_lists(" "), _TEXT, references.edge_list),
    "csv": Format(".csv", lambda: seeds.edge_lists(","), _TEXT, references.edge_list),
    "tsv": Format(".tsv", lambda: seeds.edge_lists("\t"), _TEXT, references.edge_list),
    "gz": Format(".txt.gz", seeds.gzipped, _GZIP, references.edge_list),
    "zip": Format(".txt.zip", seeds.zipped, _ZIP, references.edge_list),
    "npz-graph": Format(".npz", seeds.saved_graphs, _ARRAYS, references.saved_graph),
    "npz-scipy": Format(".npz", seeds.saved_by_scipy, _ARRAYS, references.saved_by_scipy),
    "npz-estimate": Format(
        ".npz", seeds.saved_estimates, _ARRAYS, references.saved_estimate, KernelEstimate.load
    ),
    "mtx": Format(".mtx", seeds.matrix_market, _TEXT, references.matrix_market),
    "gml": Format(".gml", seeds.gml, _TEXT, references.by_networkx),
    "graphml": Format(".graphml", seeds.graphml, _TEXT, references.by_networkx),
    "stl-ascii": Format(".stl", lambda: seeds.mesh("stl_ascii"), _TEXT, references.mesh),
    "stl-binary": Format(".stl", lambda: seeds.mesh("stl"), _ANY, references.mesh),
    "off": Format(".off", lambda: seeds.mesh("off", seeds.SQUARE_OFF), _TEXT, references.mesh),
    "ply-ascii": Format(
        ".ply", lambda: seeds.mesh("ply", encoding="ascii"), _TEXT, references.mesh
    ),
    "ply-binary": Format(".ply", seeds.binary_ply, _ANY, references.mesh),
    "obj": Format(".obj", lambda: seeds.mesh("obj", seeds.TEXTURED_OBJ), _TEXT, references.mesh),
    "glb": Format(".glb", lambda: seeds.mesh("glb"), _ANY, references.mesh),
    "vtk": Format(".vtk", seeds.vtk, (mutations.of_text, *_ANY), references.triangles),
    "parquet": Format(".parquet", seeds.parquet, _ANY, references.table),
    "feather": Format(".feather", seeds.feather, _ANY, references.table),
}


@cache
def _seeds(name: str) -> Sequence[bytes]:
    return FORMATS[name].seeds()


def mutant(name: str, number: int) -> bytes:
    """The content of a mutant, the same whenever it is asked for; the first ones are sound."""
    originals = _seeds(name)
    if number < len(originals):
        return originals[number]
    rng = np.random.default_rng([zlib.crc32(name.encode()), number])
    content = originals[int(rng.integers(len(originals)))]
    return mutations.mutated(rng, content, originals, FORMATS[name].ways)
