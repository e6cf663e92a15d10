"""Rows of vision transformers, made by hand."""

import pytest

pytest.importorskip("torch", reason="torch is not installed")
from grfpp_lab.experiments.vit.data import LEARNED, MASKED, PLAIN


def rows(gains, n=5, learned=None):
    """Rows whose mask adds so many points, one list of gains a data set."""
    found = []
    for name, own in gains.items():
        for repeat in range(n):
            base = 70 + repeat
            methods = {PLAIN: base, MASKED: base + own[repeat]}
            if learned is not None:
                methods[LEARNED] = base + learned
            for method, accuracy in methods.items():
                for epoch, score in ((1, 10.0), (2, accuracy)):
                    found.append(
                        {
                            "dataset": name,
                            "method": method,
                            "repeat": repeat,
                            "epoch": epoch,
                            "epochs": 2,
                            "n_train": 100,
                            "n_tokens": 65,
                            "accuracy": score / 100,
                            "lam": 0.4 if method == LEARNED else None,
                        }
                    )
    return found


CLEAR, FAINT = [1.0, 1.2, 0.8, 1.1, 0.9], [1.0, -0.8, 0.9, -0.7, 0.6]
