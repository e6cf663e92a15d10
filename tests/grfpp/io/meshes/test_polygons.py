"""Numbers out of words, sides and triangles of polygons."""

import numpy as np
import pytest

from grfpp.errors import InputError
from grfpp.io.meshes.polygons import (
    checked_polygon,
    coordinates,
    sides,
    triangles,
    whole_numbers,
)

FANS = [[0, 1, 2], [0, 2, 3], [3, 2, 1], [3, 1, 0]]


def test_polygons_become_fans():
    polygons = [[0, 1, 2, 3], [3, 2, 1, 0]]
    np.testing.assert_array_equal(triangles(polygons), FANS)
    np.testing.assert_array_equal(triangles(np.array(polygons)), FANS)
    np.testing.assert_array_equal(triangles([[4, 5, 6], *polygons]), [[4, 5, 6], *FANS])
    assert triangles([]).shape == (0, 3)


def test_sides_of_polygons():
    square = [[0, 1], [1, 2], [2, 3], [3, 0]]
    assert sides([[0, 1, 2, 3]]).tolist() == sides(np.array([[0, 1, 2, 3]])).tolist() == square
    assert sides([[4, 5, 6], [0, 1, 2, 3]]).tolist() == [[4, 5], [5, 6], [6, 4], *square]
    assert sides([]).shape == sides(np.zeros((0, 3), int)).shape == (0, 2)


def test_words_become_numbers():
    assert coordinates(["1", "-2.5", "1e3", "red"]) == [1, -2.5, 1000]
    assert whole_numbers(["3", "-1"]) == [3, -1]


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: coordinates(["1", "2"]), "expected the three coord"),
        (lambda: coordinates(["1", "2", "x"]), "found '1 2 x'"),
        (lambda: whole_numbers(["1.5"]), "expected whole numbers"),
        (lambda: checked_polygon([0, 1], 9), "three corners at least, found 2"),
        (lambda: checked_polygon([0, 1, 9], 9), "names vertex 9, but there are 9"),
        (lambda: checked_polygon([0, 1, -1], 9), "names vertex -1"),
    ],
)
def test_refusals(read, message):
    with pytest.raises(InputError, match=message):
        read()
