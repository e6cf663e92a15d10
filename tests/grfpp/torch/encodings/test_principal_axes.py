"""Encodings turned to their principal axes."""

import numpy as np
import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

from grfpp.torch.encodings.principal_axes import on_principal_axes


def test_principal_axes_forget_rotations_and_nothing_else():
    rng = np.random.default_rng(0)
    starts = np.array([4, 11, 12, 30])
    rows = rng.normal(size=(26, 5)) * [3, 1, 2, 0.5, 1.5]
    turned = on_principal_axes(rows, starts)
    rotation = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    assert np.allclose(on_principal_axes(rows @ rotation, starts), turned, atol=1e-9)
    for start, stop in zip(starts[:-1] - 4, starts[1:] - 4, strict=True):
        own = turned[start:stop]
        assert np.allclose(own @ own.T, rows[start:stop] @ rows[start:stop].T)
        square = own.T @ own
        assert np.allclose(square, np.diag(np.diag(square)), atol=1e-9)
        assert (np.diff(np.diag(square)) <= 1e-9).all()
        assert (own.max(axis=0) + 1e-9 >= -own.min(axis=0)).all()
