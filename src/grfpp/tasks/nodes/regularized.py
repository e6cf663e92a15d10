"""Spectral embedding that whiskers and hubs do not lead astray.

The weights ``A`` get a small constant more for every pair of nodes, a matrix of rank one that is
never formed: ``A + τ/n · 11ᵀ``, with the degrees ``D + τ``. Small parts that hang on the rest by
few edges are no good cuts any more: all their missing pairs count too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from grfpp.errors import InputError
from grfpp.graph import Graph
from grfpp.kernels import Kernel
from grfpp.operators import KernelChoice, how_made
from grfpp.tasks.nodes.spectral import (
    group_vectors,
    leading_dense,
    leading_equal,
    leading_lanczos,
    require_embedding,
)
from grfpp.typing import FloatArray, IntArray

#: A kernel is a filter of eigenvectors by rank where it grows between these many places.
_PLACES = 65


class Spectrum(NamedTuple):
    """Nontrivial eigenvectors of a regularised kernel."""

    #: Eigenvalues of the kernel in units of its largest, from large to small.
    values: FloatArray
    #: One column each.
    vectors: FloatArray
    #: How they were found, in words.
    method: str


class ConstantAdded:
    """``A + c_g · 11ᵀ`` within each group of nodes, as something that multiplies columns.

    Examples
    --------
    >>> pair = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    >>> ConstantAdded(pair, np.array([0, 0]), 0.5).toarray()
    array([[0.25, 1.25],
           [1.25, 0.25]])
    """

    def __init__(self, matrix: sp.csr_array, groups: IntArray, row_sum: float) -> None:
        self.matrix, self.groups = matrix, groups
        #: The constant of each group, whose rows of constants sum to `row_sum`.
        self.constants = row_sum / np.bincount(groups)

    def __matmul__(self, column: FloatArray) -> FloatArray:
        sums = np.bincount(self.groups, column, minlength=len(self.constants))
        added = self.constants * sums
        product = self.matrix @ column
        product += added[0] if len(added) == 1 else added[self.groups]
        return np.asarray(product)

    def toarray(self) -> FloatArray:
        """The whole matrix."""
        same = self.groups[:, None] == self.groups
        return np.asarray(
            self.matrix.toarray() + np.where(same, self.constants[self.groups], 0.0), np.float64
        )


def regularized_spectrum(
    adjacency: sp.csr_array,
    groups: IntArray,
    number: int,
    regularization: float,
    choice: KernelChoice,
    by: str | None = None,
) -> Spectrum:
    """Leading nontrivial eigenvectors of a kernel of regularised weights.

    A kernel that grows from -1 to 1 has the eigenvectors of its weights in the same order: they
    are found from the weights, and the kernel tells how much each of them counts. Where products
    with the kernel are asked for (`by`), or the kernel does not grow, it is multiplied with. Its
    weights then are ``(D + τ)^-1/2 A (D + τ)^-1/2``, and the constant stays in the trivial
    eigenvectors, ``√(D + τ)`` of each group, which are taken out.

    Parameters
    ----------
    adjacency
        A symmetric matrix of weights.
    groups
        Of connected components (`grfpp.tasks.nodes.spectral.component_groups`).
    number
        How many eigenvectors, at most the number of nodes less that of groups.
    regularization
        ``τ`` as a multiple of the mean degree.
    by
        ``None``, ``"walks"``, or a method of the planner.

    Examples
    --------
    >>> path = sp.csr_array(np.diag([1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0], -1))
    >>> found = regularized_spectrum(path, np.zeros(4, int), 1, 0.25, KernelChoice.of())
    >>> found.vectors[:, 0] * found.vectors[0, 0] > 0  # on the side of the first node
    array([ True,  True, False, False])
    """
    n = adjacency.shape[0]
    weights = _in_range(adjacency)
    degree = np.asarray(weights.sum(axis=1), np.float64).ravel()
    constant = regularization * float(degree.mean())
    # A node without edges has the constant alone; without it, some mass so that it can be scaled.
    strength = degree + (constant or 0.0)
    strength[strength == 0] = 1.0
    known = group_vectors(groups, strength)
    dense = require_embedding(n, number + known.shape[1])
    g = choice.kernel
    if by is None and _grows(g, choice.scale):
        S: Any = ConstantAdded(weights, groups, constant)
        leading = leading_dense if dense else leading_equal
        S = S.toarray() if dense else S
        values, vectors = leading(S, 1 / np.sqrt(strength), known, number)
        return Spectrum(_filtered(g, choice.scale, values), vectors, "eigenvectors of the weights")
    W = _scaled(weights, strength, choice.scale)
    K = KernelChoice(
        kernel=g,
        estimate=choice.estimate if by is not None else "exact",
        method=by if by is not None and by != "walks" else None if by else "auto",
        normalization=None,
        options=choice.options,
    ).operator(Graph(W))
    peak = float(np.max(np.abs(g.value(np.array([-choice.scale, 0.0, choice.scale])))))
    scaling = np.full(n, peak**-0.5)
    if dense:
        matrix = K.toarray()
        values, vectors = leading_dense(0.5 * (matrix + matrix.T), scaling, known, number)
    else:
        half = K if K.T is K else 0.5 * (K + K.T)
        leading = leading_lanczos if choice.estimate == "walks" else leading_equal
        values, vectors = leading(half, scaling, known, number)
    return Spectrum(np.clip(values, 0.0, None), vectors, how_made(K))


def _grows(kernel: Kernel, scale: float) -> bool:
    """Whether larger eigenvalues of the weights are larger ones of the kernel."""
    with np.errstate(all="ignore"):
        values = kernel.value(np.linspace(-scale, scale, _PLACES))
    return bool(np.isfinite(values).all() and (np.diff(values) > 0).all() and values[-1] > 0)


def _filtered(kernel: Kernel, scale: float, eigenvalues: FloatArray) -> FloatArray:
    """What a kernel makes of eigenvalues, in units of what it makes of 1."""
    ends = kernel.value(scale * np.append(np.clip(eigenvalues, -1.0, 1.0), 1.0))
    return np.asarray(np.clip(ends[:-1] / ends[-1], 0.0, None))


def _in_range(adjacency: sp.csr_array) -> sp.csr_array:
    """Weights whose sums do not leave the range of floating point."""
    largest = float(adjacency.data.max(initial=0.0))
    if largest == 0.0 or 1e-100 < largest < 1e100:
        return adjacency
    return sp.csr_array(adjacency * (1 / largest))


def _scaled(adjacency: sp.csr_array, strength: FloatArray, scale: float) -> sp.csr_array:
    """``scale · (D + τ)^-1/2 A (D + τ)^-1/2``, symmetric to the last bit."""
    rows = np.repeat(np.arange(len(strength)), np.diff(adjacency.indptr))
    roots = np.sqrt(strength[rows] * strength[adjacency.indices])
    data = scale * adjacency.data / roots
    if not (np.isfinite(data).all() and (data > 0).all()):
        raise InputError("weights are too far apart: scaled by degrees they leave floating point")
    return sp.csr_array((data, adjacency.indices, adjacency.indptr), adjacency.shape)
