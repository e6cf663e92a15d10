"""Gaussian numbers as a function of where they stand."""

import numpy as np
import pytest

pytest.importorskip("torch_geometric", reason="torch and torch_geometric are not installed")

from scipy import stats

from grfpp.torch.encodings.gaussians import gaussian_rows
from grfpp.walks.streams import mix64


def test_gaussian_numbers_are_gaussian_and_independent():
    words = np.repeat(np.arange(200, dtype=np.uint64), 25)
    rows = gaussian_rows(mix64(words), np.tile(np.arange(25), 200), 4)
    assert stats.kstest(rows.ravel(), "norm").pvalue > 0.01
    assert np.abs(np.corrcoef(rows.T) - np.eye(4)).max() < 0.05
    by_node = rows.reshape(200, 25, 4)
    assert np.abs(np.corrcoef(by_node[:, :, 0].T) - np.eye(25)).max() < 0.3
    assert len(np.unique(rows)) == rows.size


def test_words_are_mixed_as_in_the_engine():
    words = [0, 1, 2**63, 2**64 - 1, 0x123456789ABCDEF0]
    assert mix64(np.array(words, dtype=np.uint64)).tolist() == [mix64(w) for w in words]
