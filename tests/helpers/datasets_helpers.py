"""What the tests of grfpp.datasets share: folders without data, and the real data."""

import gzip
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

from grfpp.errors import InputError


def needs_data():
    """Skip the test when the real data are not here."""
    if not os.environ.get("GRFPP_DATA"):
        pytest.skip("GRFPP_DATA does not point to the real data sets")


def no_data(monkeypatch, folder):
    """Hide the real data; whatever is cached lies in `folder`."""
    monkeypatch.delenv("GRFPP_DATA", raising=False)
    monkeypatch.setenv("GRFPP_CACHE", str(folder))


def refusal(function, *arguments, **options):
    """Give the message with which something is refused."""
    with pytest.raises(InputError) as caught:
        function(*arguments, **options)
    return str(caught.value)


def file_refusal(read, path, *arguments):
    """Give the message with which a file is refused; it must name the file."""
    message = refusal(read, path, *arguments)
    assert str(path) in message
    return message


def write_zip(path, members):
    """Write a zip file that holds these texts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return Path(path)


def write_gzip(path, data):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data))
    return path


def diameter(graph):
    distances = shortest_path(graph.adjacency, unweighted=True)
    assert np.isfinite(distances).all(), "not connected"
    return int(distances.max())


def is_frozen(array):
    return not array.flags.writeable
