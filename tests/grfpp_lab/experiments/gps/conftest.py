"""Graphs that are made once."""

import pytest

from grfpp_lab.experiments.gps import data as gps_data


@pytest.fixture(scope="session")
def pattern():
    return gps_data.load("pattern", 6, 3, 3)
