"""Every public constructor and generator gives something that works, or says what is wrong.

Whatever they are given: another error than `InputError`, or none at all until much later, is a
defect. Estimators check what they are given when they are fitted, as scikit-learn asks for.
"""

import contextlib
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from junk import FEW, call_with_junk

import grfpp
from grfpp import datasets, tasks

A = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]], float)
W = grfpp.Graph(A).normalized("sym", 0.5)
HEAT = {"W": W, "kernel": grfpp.Diffusion(1.0)}
NODES = np.arange(4)
LABELLED = [tasks.LabelledGraph(A, list("abab"))] * 2
SPHERE = datasets.triangulated_sphere(1)


@pytest.fixture(autouse=True)
def _quiet():
    """Numbers at the end of their range may warn; old parameters do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def _use_kernel(kernel):
    repr(kernel)
    for use in (
        lambda: kernel.coefficients(4),
        lambda: kernel.modulation(2, 4),
        lambda: kernel.exact(W),
        lambda: kernel.apply(W, np.ones(4)),
        lambda: grfpp.sample(W, kernel, n_walks=2, termination="geometric:0.5", seed=0),
    ):
        with contextlib.suppress(grfpp.InputError):
            use()


def _use_law(law):
    repr(law)
    assert law.mean >= 0
    lengths = np.arange(4)
    for use in (
        lambda: law.pmf(lengths),
        lambda: law.survival(lengths),
        lambda: grfpp.sample(W, grfpp.Diffusion(1.0), 1, 2, law, seed=0, truncate=True),
    ):
        with contextlib.suppress(grfpp.InputError):
            assert not np.isnan(use()).any() if use.__code__.co_names[0] != "grfpp" else use()


def _fit(*X):
    return lambda estimator: estimator.fit(*X)


def _small_sphere(n_subdivisions=1):
    """Those in between are spheres, but take their time."""
    is_large = isinstance(n_subdivisions, int) and 4 < n_subdivisions < 15
    return datasets.triangulated_sphere(4 if is_large else n_subdivisions)


def _nothing(made):
    repr(made)


#: What good arguments are, and what to do with what was made. None has large sizes: junk has no
#: numbers between 100 and a billion.
CASES = {
    **{
        kernel: ({"p": 2, "a": 2.0} if kernel is grfpp.PStep else {}, _use_kernel)
        for kernel in (
            *(grfpp.Diffusion, grfpp.RegularizedLaplacian, grfpp.PStep, grfpp.Cosine),
            *(grfpp.InversePower, grfpp.SquaredDiffusion),
            *(grfpp.PersonalizedPageRank, grfpp.HeatKernel),
        )
    },
    grfpp.TaylorKernel: ({"coefficients": [1, 0.5]}, _use_kernel),
    **{
        law: ({}, _use_law)
        for law in (
            *(grfpp.Poisson, grfpp.Geometric, grfpp.FixedLength, grfpp.UniformLength),
            *(grfpp.NegativeBinomial, grfpp.CustomLength, grfpp.FirstStepThenGeometric),
            grfpp.Matched,
        )
    },
    grfpp.Graph: ({"source": A}, lambda graph: graph.normalized("sym")),
    grfpp.WalkOptions: ({"seed": 0}, hash),
    grfpp.sample: ({**HEAT, "seed": 0, "n_walks": 2}, _nothing),
    grfpp.kernel_operator: (HEAT, lambda K: (K @ np.ones(4), K.plan)),
    grfpp.sample_submatrix: ({**HEAT, "rows": [0], "columns": [1], "n_walks": 2}, _nothing),
    grfpp.relative_error: ({"K": grfpp.sample(**HEAT, seed=0), **HEAT}, _nothing),
    tasks.GraphRandomFeatures: ({"n_walks": 2, "random_state": 0}, _fit(A)),
    tasks.SpectralKernelClustering: ({"n_clusters": 1, "n_init": 1, "random_state": 0}, _fit(A)),
    tasks.KernelInterpolator: ({"graph": A, "random_state": 0}, _fit(NODES, NODES / 2)),
    tasks.KernelLabelPropagation: (
        {"graph": A, "kernel": "diffusion:2", "how": "kriging"},
        _fit(NODES, list("abab")),
    ),
    tasks.calibration_error: (
        {"probabilities": [[0.9, 0.1], [0.2, 0.8]], "labels": [0, 1]},
        _nothing,
    ),
    tasks.KernelSpectrumFeatures: ({"random_state": 0}, _fit([A, A])),
    tasks.LabelPairFeatures: ({"random_state": 0}, _fit(LABELLED)),
    tasks.WalkLabelFeatures: ({"random_state": 0}, _fit(LABELLED)),
    tasks.LabelledGraph: ({"graph": A, "labels": list("abab")}, _nothing),
    tasks.NodeKFold: ({}, lambda folds: list(folds.split(range(100)))),
    tasks.hide_normals: ({"mesh": SPHERE}, _nothing),
    tasks.vertex_normals: ({"vertices": SPHERE.vertices, "faces": SPHERE.faces}, _nothing),
    tasks.pair_error: ({"labels": [0, 0, 1], "truth": [0, 1, 1]}, _nothing),
    tasks.labelled_graphs: ({}, _nothing),
    grfpp.LocalKernel: ({"W": A, "kernel": grfpp.Diffusion(1.0)}, _nothing),
    datasets.erdos_renyi: ({"n_nodes": 5, "p": 0.5}, _nothing),
    datasets.connected_random: ({"n_nodes": 5, "p": 0.9}, _nothing),
    datasets.random_regular: ({"n_nodes": 6, "degree": 3}, _nothing),
    datasets.binary_tree: ({}, _nothing),
    datasets.grid: ({"n_rows": 2, "n_columns": 2}, _nothing),
    _small_sphere: ({}, _nothing),
    datasets.dataset_info: ({"name": "cora"}, _nothing),
    datasets.at_hand: ({"name": "cora"}, _nothing),
    datasets.load_graph: ({"name": "karate", "download": False}, _nothing),
}
#: Errors, bases that nobody makes, what `sample` gives; what has no arguments; what takes the
#: result of others (it has tests of its own).
ELSEWHERE = {
    *(grfpp.InputError, grfpp.DivergentSeriesError, grfpp.InfiniteVarianceError),
    *(grfpp.TruncationError, grfpp.Kernel, grfpp.Termination, grfpp.KernelEstimate),
    *(grfpp.convert, grfpp.update, grfpp.compact),  # test_conversion.py, test_updates_on_disk.py
    *(tasks.WholeGraph, tasks.predict_normals),
}


def test_no_public_name_is_left_out():
    public = {getattr(module, name) for module in (grfpp, tasks) for name in module.__all__}
    assert {each for each in public if callable(each)} - ELSEWHERE - set(CASES) == set()


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_junk_is_refused_or_works(make):
    good, use = CASES[make]

    @FEW
    @given(st.data())
    def try_it(data):
        made = call_with_junk(data, make, good)
        if made is not None:
            with contextlib.suppress(grfpp.InputError):
                use(made)

    try_it()
