"""No peers but those that a test names."""

import pytest

from grfpp_lab.experiments.gp import experiment as gp


@pytest.fixture(autouse=True)
def _no_peers(monkeypatch):
    monkeypatch.delenv(gp.PEERS_VARIABLE, raising=False)
