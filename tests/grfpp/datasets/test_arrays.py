"""Arrays that nobody can change."""

import numpy as np
from datasets_helpers import is_frozen

from grfpp.datasets.arrays import numbered, read_only


def test_read_only_arrays_are_the_same_arrays():
    array = np.arange(3)
    assert read_only(array) is array
    assert is_frozen(array)


def test_classes_are_numbered_in_order():
    classes, labels = numbered(np.array(["b", "a", "b", "c"]))
    assert classes.tolist() == ["a", "b", "c"]
    assert labels.tolist() == [1, 0, 1, 2]
    assert labels.dtype == np.int64
    assert is_frozen(labels)
