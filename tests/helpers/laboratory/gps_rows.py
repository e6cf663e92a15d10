"""Rows of graph transformers, made by hand."""

import numpy as np

from grfpp_lab.experiments.gps import data as gps_data
from grfpp_lab.experiments.gps.encodings import NONE


def made_rows(gains, *, n_seeds=5, noise=0.002, seed=0):
    """Rows in which encodings have these gains over none, by data set."""
    rng = np.random.default_rng(seed)
    rows = []
    for dataset, by_encoding in gains.items():
        sign = -1 if gps_data.TASKS[dataset].is_error else 1
        for repeat in range(n_seeds):
            base = 0.6 + 0.05 * rng.normal()
            for encoding, gain in {NONE: 0.0, **by_encoding}.items():
                rows.append(
                    {
                        "dataset": dataset,
                        "encoding": encoding,
                        "repeat": repeat,
                        "test": base + sign * gain + noise * rng.normal(),
                        "n_train": 10,
                        "n_test": 5,
                    }
                )
    return rows


ALL = tuple(gps_data.TASKS)
