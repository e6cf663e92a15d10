"""What the tests of grfpp.io share: random graphs, real data, files that come and go."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from grfpp.errors import InputError
from grfpp.graph import Graph

# The first example pays for imports, so deadlines would only measure those.
QUICK = settings(deadline=None, max_examples=30)

_WEIGHTS = st.one_of(st.just(0.0), st.integers(1, 9).map(float), st.floats(1e-3, 1e3))


@st.composite
def weight_matrices(draw, directed=None, with_edge=False):
    """Square matrices with zeros, self-loops and isolated nodes; symmetric unless directed."""
    n = draw(st.integers(1, 6))
    values = draw(st.lists(_WEIGHTS, min_size=n * n, max_size=n * n))
    matrix = np.array(values).reshape(n, n)
    if not (draw(st.booleans()) if directed is None else directed):
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
    if with_edge and not matrix.any():
        matrix[0, 0] = 1.0
    return matrix


def dense(source, **options):
    """Read a graph and give its whole weight matrix."""
    return Graph(source, **options).adjacency.toarray()


@contextmanager
def file_holding(content: bytes | str, suffix: str) -> Iterator[Path]:
    """Make a file with this content; hypothesis cannot have pytest's tmp_path anew each time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"file{suffix}")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        yield path


def read_text(content: bytes | str, suffix: str = ".txt", **options) -> Graph:
    """Read a graph from a file with this content."""
    with file_holding(content, suffix) as path:
        return Graph(path, **options)


def refusal(source, **options) -> str:
    """Give the message with which a source is refused."""
    with pytest.raises(InputError) as caught:
        Graph(source, **options)
    return str(caught.value)


def file_refusal(content: bytes | str, suffix: str = ".txt", **options) -> str:
    """Give the message with which a file is refused; it must name the file."""
    with file_holding(content, suffix) as path:
        message = refusal(path, **options)
        assert str(path) in message
        return message.replace(str(path), "FILE")


def real_data(*parts: str) -> Path:
    """Find a file of the real data sets, or skip the test."""
    folder = os.environ.get("GRFPP_DATA")
    if not folder:
        pytest.skip("GRFPP_DATA does not point to the real data sets")
    return Path(folder, *parts)
