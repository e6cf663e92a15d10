"""`MappedForm`: a graph on disk as it is, normalised, or with its arcs turned round."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from grfpp.io.folder.names import names_of, reopened
from grfpp.io.folder.reader import GraphFolder
from grfpp.linalg.sparse import csr
from grfpp.nodes import NodeNames
from grfpp.scaled_weights import Kind, ScaledWeights
from grfpp.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class MappedForm:
    """What `Graph` is, without a pass over edges or nodes, for a graph whose arrays are mapped."""

    folder: GraphFolder
    #: Whether rows hold the arcs that lead to a node.
    against: bool
    scaled: ScaledWeights

    @classmethod
    def open(cls, path: str | Path, *, verify: bool = False) -> MappedForm:
        """The graph as it is stored."""
        return cls._of(GraphFolder.open(path, verify=verify))

    @classmethod
    def _of(cls, folder: GraphFolder) -> MappedForm:
        header = folder.header
        rule = ScaledWeights(
            header.kind,  # type: ignore[arg-type]  # checked when it was read
            header.value,
            folder.get("weights"),
            folder.get("out_strength"),
            folder.get("in_strength"),
        )
        return cls(folder, False, rule)

    @property
    def indptr(self) -> IntArray:
        """Ends of rows, mapped."""
        return self.folder["in_indptr" if self._other_rows else "indptr"]

    @property
    def indices(self) -> npt.NDArray[np.int32]:
        """Nodes that edges lead to, mapped."""
        return self.folder[self._indices_name]

    def indices_file(self) -> int | None:
        """Descriptor of their file; ``None`` where the system cannot read at places."""
        return self.folder.descriptor(self._indices_name)

    @property
    def _indices_name(self) -> str:
        return "in_indices" if self._other_rows else "indices"

    @property
    def names(self) -> NodeNames:
        """Names of nodes, looked up on disk."""
        return names_of(self.folder)

    @property
    def _other_rows(self) -> bool:
        return self.against and self.folder.header.directed

    @property
    def is_directed(self) -> bool:
        """Whether this form differs from its transpose."""
        kind: Kind = self.scaled.kind
        if kind is None:
            return self.folder.header.directed
        if self.against and kind != "sym":
            kind = "rw" if kind == "rw_reversed" else "rw_reversed"
        return kind not in self.folder.header.symmetric

    @property
    def n_edges(self) -> int:
        """Edges, of which an undirected one counts once."""
        header = self.folder.header
        return header.n_stored if self.is_directed else (header.n_stored + header.n_loops) // 2

    @property
    def spectral_radius(self) -> float | None:
        """Where it is known."""
        header, rule = self.folder.header, self.scaled
        if rule.kind in ("sym", "rw") and not header.directed and header.n_stored:
            return rule.value  # √degree (or the constant) is the Perron vector
        as_stored = not self.against and (rule.kind, rule.value) == (header.kind, header.value)
        return header.spectral_radius if as_stored else None

    @property
    def root_strength(self) -> FloatArray | None:
        """Roots of the weighted degrees that a symmetric normalisation divides by."""
        if self.scaled.kind != "sym" or self.folder.header.directed:
            return None
        base = self.scaled.base
        if base is None:
            header, degree = self.folder.header, np.diff(self.indptr)
            each = header.value if header.kind is None else 1.0
            # One after the other, as the rows of a matrix are summed.
            sums = np.cumsum(np.full(int(degree.max(initial=0)), each))
            return np.asarray(np.sqrt(np.append(0.0, sums)[degree]))
        # Not the strengths that are stored: these are rounded in another order.
        matrix = csr(base, self.indices, self.indptr, self.folder.header.n_nodes)
        return np.asarray(np.sqrt(matrix.sum(axis=1)))

    def normalized(self, kind: Literal["sym", "rw"] | None, factor: float) -> MappedForm | None:
        """The form that is normalised, or ``None`` where no rule gives the same bits."""
        rule = self.scaled.normalized(kind, factor, tame=self.folder.header.tame)
        return None if rule is None else MappedForm(self.folder, self.against, rule)

    def reversed(self) -> MappedForm:
        """The form with every arc turned round."""
        side = "weights" if self._other_rows or not self.folder.header.directed else "in_weights"
        return MappedForm(
            self.folder, not self.against, self.scaled.reversed(self.folder.get(side))
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """By path: workers open the folder themselves, and find out whether it is the same."""
        folder, rule = self.folder, self.scaled
        return _remapped, (
            str(folder.path),
            folder.fingerprint,
            self.against,
            rule.kind,
            rule.value,
        )


def _remapped(path: str, fingerprint: str, against: bool, kind: Kind, value: float) -> MappedForm:
    form = MappedForm._of(reopened(path, fingerprint))
    form = form.reversed() if against else form
    rule = form.scaled
    strengths = (rule.base, rule.out_strength, rule.in_strength)
    return MappedForm(form.folder, against, ScaledWeights(kind, value, *strengths))
