"""Features that are chosen among."""

import numpy as np
import pytest
from labelled_cases import HEAVY, ODD

from grfpp import InputError
from grfpp.tasks.graphs.candidates import (
    BOTH,
    KINDS,
    PAIRS,
    SAME_LABEL,
    UNION,
    Setting,
    candidate_features,
)
from grfpp.tasks.graphs.label_pairs import LabelPairFeatures
from grfpp.tasks.graphs.spectrum import KernelSpectrumFeatures


@pytest.mark.parametrize("kind", KINDS)
def test_candidates_are_what_the_transformers_give(kind):
    graphs = [ODD, HEAVY]
    options = {"random_state": 3, "n_jobs": 1}
    found = candidate_features(
        graphs, scales=[0.25, 0.64], n_walks=[2, 5], n_eigenvalues=[3, 6], kind=kind, **options
    )
    assert len(found) == (4 if kind == PAIRS else 8)
    own = {**options, "scale": 0.64, "n_walks": 5}
    parts = []
    if kind not in (SAME_LABEL, PAIRS):
        parts.append(KernelSpectrumFeatures(3, **own).fit_transform(graphs))
    if kind in (SAME_LABEL, BOTH):
        within = KernelSpectrumFeatures(3, restrict="same-label", **own)
        parts.append(within.fit_transform(graphs))
    if kind in (PAIRS, UNION):
        parts.append(LabelPairFeatures(**own).fit_transform(graphs))
    setting = Setting(0.64, 5, 0 if kind == PAIRS else 3)
    np.testing.assert_array_equal(found[setting], np.hstack(parts))


def test_scales_of_exact_spectra_are_not_tried():
    """Those of one scale are a monotone function of those of another."""
    grid = {"scales": [0.25, 0.81], "n_walks": [2, 4], "n_eigenvalues": [4]}
    for kernel, n_found in [("diffusion", 1), ("squared-diffusion:2", 1), ("cosine:0.5", 2)]:
        found = candidate_features([ODD, HEAVY], estimate="exact", kernel=kernel, **grid)
        assert len(found) == n_found
    for kind in (PAIRS, UNION):
        assert len(candidate_features([ODD], estimate="exact", kind=kind, **grid)) == 2
    narrow, wide = (
        KernelSpectrumFeatures(9, estimate="exact", scale=scale).fit_transform([ODD, HEAVY])
        for scale in (0.25, 0.81)
    )
    # Eigenvalues that both graphs share are equal but for rounding, and have no order.
    steps = [
        np.where(np.abs(step) < 1e-9, 0.0, step)
        for step in (np.diff(narrow, axis=0), np.diff(wide, axis=0))
    ]
    np.testing.assert_array_equal(*np.sign(steps))


def test_bad_candidates_are_refused():
    grid = {"scales": [0.25], "n_walks": [2], "n_eigenvalues": [3]}
    with pytest.raises(InputError, match="kind must be 'spectrum', "):
        candidate_features([ODD], kind="colours", **grid)
    with pytest.raises(InputError, match="must each have a value"):
        candidate_features([ODD], **{**grid, "scales": []})
    with pytest.raises(InputError, match="n_eigenvalues must be a whole number >= 1"):
        candidate_features([ODD], **{**grid, "n_eigenvalues": [0]})
    with pytest.raises(InputError, match="scale must be"):
        candidate_features([ODD], **{**grid, "scales": [-1.0, 0.5]}, estimate="exact")
    with pytest.raises(InputError, match="n_walks must be"):
        candidate_features([ODD], **{**grid, "n_walks": [0]}, estimate="exact")
    assert len(candidate_features([ODD], **{**grid, "scales": np.array([0.25, 0.81])})) == 2


def test_sigmas_are_roots_of_scales():
    grid = {"n_walks": [2], "n_eigenvalues": [3], "random_state": 0}
    with pytest.warns(DeprecationWarning, match="its square"):
        old = candidate_features([ODD], sigmas=[0.5, 0.9], **grid)
    new = candidate_features([ODD], scales=[0.5**2, 0.9**2], **grid)
    assert old.keys() == new.keys()
    for setting, features in new.items():
        np.testing.assert_array_equal(old[setting], features)
    assert [setting.sigma for setting in new] == [0.5, 0.9]


def test_exact_as_it_was_once_written():
    grid = {"scales": [0.25], "n_walks": [2], "n_eigenvalues": [3]}
    with pytest.warns(DeprecationWarning, match="estimate='exact'") as seen:
        old = candidate_features([ODD], kernel="exact", **grid)
    assert len(seen) == 1
    new = candidate_features([ODD], estimate="exact", **grid)
    np.testing.assert_array_equal(old[Setting(0.25, 0, 3)], new[Setting(0.25, 0, 3)])
