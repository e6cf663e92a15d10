"""Profiles: two encodings side by side."""

import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

import torch
from encoding_helpers import molecules

from grfpp.torch import grf_pe


def test_they_are_returns_and_contrasts():
    graphs = molecules(2)
    for graph in graphs:
        graph.x = torch.arange(2.0 * graph.num_nodes).sin().view(-1, 2)
    smoothing = {"kernel": ["heat:1", "heat:3"], "normalization": "sym", "include_self": True}
    found = grf_pe(graphs, 5, kind="profile", scale=0.8, **smoothing)
    returns = grf_pe(graphs, 5, kind="return", scale=0.8)
    contrasts = grf_pe(graphs, kind="contrast", scale=0.8, **smoothing)
    for both, first, second in zip(found, returns, contrasts, strict=True):
        assert torch.equal(both, torch.cat([first, second], dim=1))
    assert grf_pe(graphs, kind="profile")[0].shape[1] == 8 + 3 * 2
