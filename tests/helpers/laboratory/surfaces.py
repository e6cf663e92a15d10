"""A mesh of two squares, one above the other, to look at."""

import numpy as np

from grfpp_lab.report.panels import Mesh, Surface

#: Two squares of side 1, the second above a quarter of the first.
SQUARE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
HALF = SQUARE * 0.5 + [0.0, 0.0, 0.3]
VERTICES = np.concatenate([SQUARE, HALF])
FACES = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])
MESH = Mesh(VERTICES, FACES, (0.0, 0.0, 1.0))


def surface(values, title="title"):
    return Surface(title, MESH, np.asarray(values, dtype=float), 10.0, "error", "note")
