"""No data but what is generated."""

import pytest


@pytest.fixture(autouse=True)
def _generated(no_data):
    pass
