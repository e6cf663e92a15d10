"""Factors: random matrices with mean ``F = h(W)``, of which a kernel estimate is the product."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

FloatArray = npt.NDArray[np.float64]


class Factor(ABC):
    """Anything with mean ``F`` that multiplies from the left, plain and transposed."""

    @property
    @abstractmethod
    def n_nodes(self) -> int:
        """Number of rows and of columns."""

    @abstractmethod
    def matmat(self, dense: FloatArray, n_jobs: int) -> FloatArray:
        """``factor @ dense`` for a C-contiguous float64 block."""

    @abstractmethod
    def rmatmat(self, dense: FloatArray, n_jobs: int) -> FloatArray:
        """``factor.T @ dense``."""

    @abstractmethod
    def to_csr(self) -> sp.csr_array:
        """The factor as one sparse matrix."""

    @abstractmethod
    def transposed_csr(self) -> sp.csr_array:
        """The transpose of the factor as one sparse matrix."""


class StoredFactor(Factor):
    """A factor held in memory as a sparse matrix."""

    def __init__(self, matrix: sp.csr_array) -> None:
        self._matrix = matrix

    @property
    def n_nodes(self) -> int:
        return int(self._matrix.shape[0])

    def matmat(self, dense: FloatArray, n_jobs: int) -> FloatArray:
        from grfpp.walks.products import matmat

        return matmat(self._matrix, dense, n_jobs)

    def rmatmat(self, dense: FloatArray, n_jobs: int) -> FloatArray:
        from grfpp.walks.products import transposed_matmat

        return transposed_matmat(self._matrix, dense, n_jobs)

    def to_csr(self) -> sp.csr_array:
        return self._matrix

    @cached_property
    def _transposed(self) -> sp.csr_array:
        return self._matrix.T.tocsr()

    def transposed_csr(self) -> sp.csr_array:
        return self._transposed
