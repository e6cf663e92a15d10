import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from grfpp.linalg.sparse import csr


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("value_type", [np.float32, np.float64])
def test_arrays_are_taken_as_they_are(index_type, value_type):
    values = np.array([1.0, 2.0, 3.0], dtype=value_type)
    columns = np.array([2, 0, 1], dtype=np.int32)
    matrix = csr(values, columns, np.array([0, 2, 3], dtype=index_type), 4)
    assert isinstance(matrix, sp.csr_array)
    assert_array_equal(matrix.toarray(), [[2, 0, 1, 0], [0, 3, 0, 0]])
    assert matrix.dtype == value_type
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    assert np.shares_memory(matrix.data, values)
    assert np.shares_memory(matrix.indices, columns)
