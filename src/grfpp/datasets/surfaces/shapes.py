"""GeometricShapes: small meshes of 40 shapes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from grfpp.arguments import one_of
from grfpp.datasets.fetch import fetch
from grfpp.datasets.surfaces.meshes import TriangleMesh, triangle_mesh
from grfpp.errors import InputError
from grfpp.io.meshes.mesh import read_mesh
from grfpp.io.storage.packed import opened_zip
from grfpp.memory import require_bytes

#: The shape that the paper estimates at long range: 864 vertices, diameter 28.
LONG_SHAPE = "3d_U_cylinder"

# Words and numbers of a text mesh take several times its size while they are parsed.
_MEMORY_PER_BYTE = 20

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
    file = Path(path)
    meshes: dict[str, TriangleMesh] = {}
    with opened_zip(file) as archive:
        for member in archive.infolist():
            parts = PurePosixPath(member.filename).parts
            if member.filename.endswith(".off") and len(parts) >= 3 and parts[-2] == split:
                name = f"{file}: {member.filename}"
                require_bytes(_MEMORY_PER_BYTE * member.file_size, f"reading {name}")
                mesh = read_mesh(archive.read(member), name, ".off")
                meshes[parts[-3]] = triangle_mesh(parts[-3], mesh)
    if not meshes:
        raise InputError(f"{file} holds no meshes SHAPE/{split}/NAME.off")
    classes = tuple(sorted(meshes))
    return Shapes(split, tuple(meshes[name] for name in classes), classes)
