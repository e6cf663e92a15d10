"""Rows of graph classification, made by hand."""

import numpy as np

from grfpp_lab.experiments.classification.claims import DIFFUSION, EXACT, SPECTRUM


def rows_of(dataset, method, accuracy, spread=1.0, n_folds=10, **more):
    """Rows of ten folds whose accuracies, in per cent, have this mean."""
    wiggle = spread * np.where(np.arange(n_folds) % 2, 1.0, -1.0)
    return [
        {
            "dataset": dataset,
            "features": SPECTRUM,
            "kernel": DIFFUSION,
            "method": method,
            "n_walks": 0 if method == EXACT else 16,
            "repeat": 0,
            "fold": fold,
            "inner": 0.5,
            "accuracy": (accuracy + wiggle[fold]) / 100,
            **more,
        }
        for fold in range(n_folds)
    ]
