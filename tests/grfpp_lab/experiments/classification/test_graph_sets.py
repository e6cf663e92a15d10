"""Data sets of graphs."""

import os

import pytest

from grfpp_lab.experiments.classification import experiment as classification
from grfpp_lab.experiments.classification import graph_sets
from grfpp_lab.harness.experiment import Settings, Size


@pytest.mark.skipif(not os.environ.get("GRFPP_DATA"), reason="GRFPP_DATA does not point to data")
def test_a_real_collection():
    data = graph_sets.load_set("MUTAG")
    assert len(data.graphs) == len(data.classes) == 188
    assert data.has_labels
    plan = classification.plan(Settings(Size.QUICK))
    assert not set(plan.skipped) & {"MUTAG"}


def test_kernels_that_take_too_long_become_rows(no_data):
    cell = {"dataset": "generated", "method": "WL-OA", "n_folds": 2, "fold_seed": 0}
    (row,) = graph_sets.run_limited({**cell, "budget": 0.1})
    assert "stopped after" in row["why_not"]
    (row,) = graph_sets.run_limited({**cell, "dataset": "DD", "budget": 60})
    assert "tudataset/DD.zip" in row["why_not"]
