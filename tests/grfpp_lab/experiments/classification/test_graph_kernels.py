"""Graph kernels of others, limited."""

from grfpp_lab.experiments.classification import graph_kernels


def test_kernels_that_take_too_long_become_rows(no_data):
    cell = {"dataset": "generated", "method": "WL-OA", "n_folds": 2, "fold_seed": 0}
    (row,) = graph_kernels.run_limited({**cell, "budget": 0.1})
    assert "stopped after" in row["why_not"]
    (row,) = graph_kernels.run_limited({**cell, "dataset": "DD", "budget": 60})
    assert "tudataset/DD.zip" in row["why_not"]
