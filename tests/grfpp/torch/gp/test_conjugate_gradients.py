"""Conjugate gradients, to the accuracy asked for."""

import math

import numpy as np
import pytest

pytest.importorskip(
    "grfpp.torch.gp.kernel", reason="torch or gpytorch is not installed", exc_type=ImportError
)

import torch

from grfpp import InputError
from grfpp.torch.gp.conjugate_gradients import solve


def test_conjugate_gradients_to_the_accuracy_asked_for():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(60, 60)))[0]
    A = torch.tensor((Q * np.geomspace(1, 1e4, 60)) @ Q.T)
    right = torch.tensor(rng.normal(size=(60, 4)) * [1e-6, 1.0, 1e6, 0.0])
    x = solve(lambda block: A @ block, right, tol=1e-9)
    assert ((A @ x - right).norm(dim=0) <= 1e-8 * right.norm(dim=0)).all()
    with pytest.raises(InputError, match="have not converged after 5 iterations"):
        solve(lambda block: A @ block, right, max_iterations=5)
    with pytest.raises(InputError, match="not finite"):
        solve(lambda block: math.nan * block, right)


def test_iterations_are_told_and_columns_that_are_solved_stay():
    told = []
    right = torch.tensor([[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    A = torch.tensor([2.0, 4.0])[:, None]
    x = solve(lambda block: A * block, right, progress=lambda *each: told.append(each))
    torch.testing.assert_close(x, right / A)
    (first, _), (second, _) = told
    torch.testing.assert_close(first, torch.tensor([0.0, 1 / 2, 1 / 3]))
    assert second.tolist()[:2] == [0.0, 0.0] and second[2] > 0
