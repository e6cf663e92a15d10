"""Choosing parameters where no node can be left out."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from grfpp.tasks import SpectralKernelClustering
from grfpp.tasks.nodes.whole_graph import WholeGraph


def test_grid_search_over_scale_walks_and_degree(club):
    A, parties = club
    grid = {"scale": [0.25, 1.0, 4.0], "n_walks": [4, 16], "degree": [1, 2]}
    clustering = SpectralKernelClustering(2, random_state=0, n_jobs=1)
    search = GridSearchCV(clustering, grid, cv=WholeGraph()).fit(A, parties)
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 12
    wanted = [
        clone(clustering).set_params(**params).fit(A).score(A, parties)
        for params in search.cv_results_["params"]
    ]
    assert_array_equal(scores, wanted)
    assert search.best_score_ == search.score(A, parties) == max(wanted)
    with parallel_config("threading", n_jobs=2):
        together = clone(search).fit(A, parties)
    assert_array_equal(together.cv_results_["mean_test_score"], wanted)


@pytest.mark.parametrize("n_folds", [2, 3])
def test_leaving_nodes_out_is_refused(club, n_folds):
    """Halves are the trap: their rows and columns are a square too."""
    A, parties = club
    search = GridSearchCV(
        SpectralKernelClustering(2), {"scale": [1.0]}, cv=n_folds, error_score="raise"
    )
    with pytest.raises(ValueError, match="WholeGraph"):
        search.fit(A, np.array(parties))
