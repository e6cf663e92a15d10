"""Results of fixed seeds, kept as literals: a change that changes no number leaves this file alone.

They are of independent walks, whatever the default, but for those that say "pooled" or "local".

Only public names are used. What is the same to the last bit by design is kept as a hash of values,
types and shapes. What goes through BLAS, LAPACK or exp, or could be summed in another order, is
kept as two numbers, the product with a fixed vector and the norm.
``python tests/test_golden.py [part of a name ...]`` prints the dictionary anew.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import json
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import grfpp
from grfpp import tasks
from grfpp.cli import run
from grfpp_lab.commands import reproduce
from grfpp_lab.experiments import measuring as lab_graphs

try:
    import torch

    from grfpp import torch as models  # before torch_geometric, whose import it keeps quiet
except ImportError:
    torch = models = None

# fmt: off
GOLDEN: dict[str, tuple[str | float, ...]] = {
    "sample-sym-1": ("111d821325f8", "9a7886c395ce", -0.819228580524, 13.9686313009),
    "sample-sym-2": ("625280bcb238", "5c864b0ffc31", 24.2731418049, 25.1867110927),
    "sample-sym-3": ("4e0a6582b6df", "7d0ca5207979", -41.8768240613, 47.2833434982),
    "sample-rw": ("4dda887e490a", "32f4f362a0af", 19.8430501722, 27.1282203427),
    "sample-weighted": ("23f5b785c2e6", "bb102f38cac0", -8.30925134695, 39.8554492521),
    "sample-rw-weighted-3": ("6e35bac3e393", "556ca700a1fe", 49.9600936744, 90.4520048553),
    "sample-plain": ("0e422ff5f488", "bed933153e84", -17.796464862, 37.4526338983),
    "sample-directed": ("894c6b29b906", "40c8e04dbf47", -24.3915302656, 36.4709986652),
    "sample-directed-1": ("81b9fa7ec1d9", "cd12c1ee5dce", 1.76827409603, 18.7390973012),
    "sample-isolated": ("2d8f6bc5c0b1", "58c86f1b184d", -15.4870015517, 39.1749234367),
    "sample-isolated-w": ("5d93a73bf6bd", "4b059ebeb705", -19.416157525, 39.1735802732),
    "sample-float32": ("1d6bf3924047", "18b33d7b443e", -8.30924971722, 39.8554493507),
    "sample-reuse": ("daf47061a97e", "8d6e51eb562e", 24.8834273048, 24.7284871805),
    "sample-reuse-directed": ("a60fc05e774c", "b9688b608f61", -2.60206033217, 99.9696362109),
    "sample-full": ("b0c3e6535330", "7bf1eaac2160", 23.3760195557, 131.9111861),
    "sample-poisson": ("e91ac9e501c3", "8a7ee472287a", 26.5946181469, 25.3008582193),
    "sample-halts": ("4ece605c61bd", "52855000e020", 26.5856998181, 25.3403170752),
    "sample-fixed": ("6d1b8f6c6693", "89c816db8ceb", 26.7106305779, 25.3365287248),
    "sample-laplacian": ("00be27bbdea3", "148565515088", 25.2428858334, 22.7266051968),
    "sample-p-step": ("73e1c3f95fcd", "80253e5173f0", 69.2825717779, 62.9991457843),
    "sample-cosine": ("fd51c111f7e6", "232fcbc02192", 24.6565308095, 21.3531449368),
    "sample-inverse": ("d6960f1226d0", "adea50e68bf2", 26.3198257333, 24.5631931174),
    "sample-inverse-of-2": ("a8a0625706f3", "606b2e343362", 25.476817651, 22.4286949767),
    "sample-squared": ("4295f52494e0", "0b3eca000554", 26.3518099817, 23.9502414769),
    "sample-taylor": ("7038d36b4d57", "fbda379532bd", 24.6820420132, 21.2701838305),
    "sample-negative": ("91ac510aed34", "8374779262b5", -10.7535840731, 20.7921899927),
    "sample-negative-directed": ("e1fe6c59e5b7", "365efddf4fff", 4.96318584366, 17.1943060771),
    "sample-large": ("87aebaf22b3a", "a7dba8715f2c", 3587.2681971, 3007.87605447),
    "sample-large-1": ("38593d0db0f3", "cb6c2eca4e45", -87.6327661398, 181.010331515),
    "sample-large-weighted": ("ba19dd5ead28", "575fe24c8ded", 3637.99937417, 2807.32487504),
    "sample-large-directed": ("4952d83b8e75", "3e58307ebed4", 4984.5701745, 3126.59123946),
    "pooled-sym-1": ("f748774e9167", "2174a45a2b9f", -1.63834543163, 13.7332496307),
    "pooled-sym-3": ("926344ac30ce", "7500065f05b3", -39.5210745442, 51.6273169791),
    "pooled-short": ("1d8294c0dc89", "da7f51eb5f4d", 25.8803882377, 24.1570527211),
    "pooled-weighted": ("d9b14f1b346a", "6b3bdc682aa7", -166.198780809, 107.435607931),
    "pooled-rw-weighted": ("a55ce273d254", "2621851ce196", -176.818311781, 119.088882413),
    "pooled-plain": ("498d4ef48014", "6922e53968a3", -24.3311864172, 36.832047174),
    "pooled-directed": ("d36b403bf4da", "9ee0e41568d6", -251.18026545, 95.1665177011),
    "pooled-isolated": ("6a503a82cf9c", "403a37ce7691", -19.5758683608, 39.6443849544),
    "pooled-law": ("207c46ddaabc", "f13cca03e5d9", 24.7343314469, 24.5467476969),
    "pooled-measured": ("096690929c40", "69e721ff825e", 1.52346988815, 183.328989329),
    "pooled-float32": ("d0e2b012f339", "d354ee7b0baa", -172.027870069, 107.966550449),
    "pooled-large": ("663591087230", "babe5b42e3a7", 3615.31050151, 2716.28176086),
    "pooled-slow": ("cdfadf48b716", "da9f39b90e05", 66.641435012, 102.527199308),
    "local-sym": ("b39cdbb5064c", -1.38327674873, 7.38603444431, 0.853269976363, 3.28334189649),
    "local-slow": ("1abf576be390", 439691769.681, 478741215.535, 92161061.681, 163308571.91),
    "local-rw": ("c6b9c89413b0", -1.26009647741, 8.32481952501, -0.244639202102, 3.58961618821),
    "local-w": ("1d9793b67396", -4.86319369651, 19.7725178353, -2.03790199832, 3.02486271812),
    "local-wrw": ("08860d5c3a3c", -7.31588526989, 20.1765850112, -2.0811803029, 3.02650919327),
    "local-plain": ("92ae157c5d4d", -9.71950635228, 16.2478000954, -1.95860341431, 2.6994492837),
    "local-fraction": ("78c6484b2659", -4.05656634313, 11.9227437164, 1.76473234368, 4.79417836807),
    "local-directed": ("c932245da3d1", 2.89117838032, 18.6150450739, -1.7788371158, 2.5367406185),
    "local-drw": ("4df8e38dce07", 6.91430668387, 20.1812646017, -2.10460803008, 2.54153917146),
    "local-isolated": ("2f93f7c21bf9", 7.42765847979, 8.73572889319, -3.23764024193, 3.15576892277),
    "local-signed": ("3a5ca1e89292", -2.11804112121, 3.46850656365, -1.52064430398, 2.44622072124),
    "local-ppr": ("683141ff15aa", -1.06693899871, 2.95615125278, -0.266720394979, 0.431710851759),
    "local-ppr-w": ("9967be443379", -0.06080463091, 3.00534730714, -0.405507195151, 0.470798010776),
    "local-ppr-sym": ("8c9f53a52412", 6.9758295441, 19.5038726338, -2.01662257069, 3.05392249175),
    "local-ppr-d": ("28e94838280e", -0.204862188919, 3.33553354492, -0.350859486473, 0.50564402088),
    "submatrix-1": (-0.567728722113, 6.42657604995, 0.8775657485, 2.8204250383),
    "submatrix-2": (-0.485815678446, 6.421013326, 0.540147108415, 2.75956690458),
    "submatrix-3": (-0.519163833534, 6.40748197387, 0.723427884761, 2.83072310353),
    "features-walks-1": ("0470415d1201", -22.5694385331, 9.04843308888),
    "features-walks-2": ("4ba64e722478", -22.8789128064, 8.91719933886),
    "features-laplacian": ("41150f868fde", -22.1941455704, 8.88325674124),
    "features-reuse": ("2ae0186a947e", -25.747640704, 10.8885776216),
    "features-rw": ("f41fd6b0c25f", -21.6203617423, 9.67736522638),
    "features-exact": (-20.6066178627, 12.411672649),
    "features-exact-rw": (-21.3362156902, 12.6410361127),
    "interpolate-walks-1": (3.41367334011, 17.8257699765),
    "interpolate-walks-2": (-2.78206087439, 17.7056867578),
    "interpolate-laplacian": (0.669859696155, 16.1807259568),
    "interpolate-reuse": (-26.5462516605, 36.3106559852),
    "interpolate-rw": (-5.74755122703, 17.973976924),
    "interpolate-exact": (-2.16193494696, 17.6751355408),
    "interpolate-exact-rw": (-2.93168438636, 17.7116011824),
    "cluster-walks-1": ("0d9c5ba9a127", -0.258800575183, 2.34874877949),
    "cluster-walks-2": ("0d9c5ba9a127", -0.252322057104, 2.35020906101),
    "cluster-laplacian": ("0d9c5ba9a127", -0.255445892799, 2.34771211288),
    "cluster-reuse": ("d3c6fffd5594", -0.277224305344, 2.26565458892),
    "cluster-rw": ("8e5267df0c46", -0.290733808684, 2.23287512658),
    "cluster-exact": ("0d9c5ba9a127", -0.250270947492, 2.34786586073),
    "cluster-exact-rw": ("0d9c5ba9a127", -0.251384388853, 2.34023647001),
    "graphs-walks-1": (1.10174490937, 3.81846195307, -143.223640571, 477.326490249),
    "graphs-walks-3": (1.26581808389, 3.90445242585, -140.276018957, 478.290983641),
    "graphs-squared": (1.18479401763, 5.30081865754, -371.072309983, 1191.80542561),
    "graphs-same": (1.2238656956, 3.479347492, -133.70052255, 589.812623089),
    "graphs-exact": (1.30752521344, 3.97733723514, -141.188149757, 477.992627306),
    "graphs-exact-same": (1.19734650111, 3.52360276237, -132.933987264, 592.249077684),
    "lanczos-walks": (0.253925000463, 2.22652923105),
    "lanczos-exact": (0.250583402552, 2.25096041709),
    "learnable-1": ("f6871f05ccf1", 39.628215648, 29.8615612709),
    "learnable-2": ("0276e98f4137", -24.9364816137, 74.8455558377),
    "learnable-2-head": ("a75060d59ad9", -42.1705071016, 66.3376352849),
    "learnable-3-symmetric": ("ddd8a2b3f53b", 17.3603783742, 119.215157698),
    "learnable-2-symmetric-head": ("e926d432b33c", 4.98229835823, 82.6142094511),
    "learnable-1-directed-head": ("b6d36709af8f", 17.1340346863, 21.2511697793),
    "learnable-2-directed": ("b7a8ab33d3be", 79.0492025781, 32.7481712777),
    "learnable-2-poisson": ("41541cb4e623", -33.8656937342, 72.8894729111),
    "learnable-2-large": ("ba99ee61d3d1", 5828.98012231, 842.946884681),
    "learnable-1-pooled": ("6f363d828e68", 42.9706691065, 80.5768679757),
    "learnable-2-pooled-weighted": ("39aa7fd11350", 290.69178004, 308.576643253),
    "learnable-2-pooled-law": ("4389f416d609", -105.782382064, 51.5541509737),
    "gp": (51.3305666964, 12.9678071192, 0.83802558115, 4.80504634273),
    "encoding-1": ("4bae54da8107",),
    "encoding-2": ("2d1adbbfe063",),
    "encoding-shared": ("2bd55f03ef70",),
    "encoding-stitched": ("16a09a8fd5af",),
    "encoding-stitched-shared-1": ("484d58f72bab",),
    "encoding-principal": (-17.2191011303, 35.6072142626),
    "masks": (54.8984017683, 21.0369067049),
    "cli-estimate": ("af10fded3355", 0.361946775899, 1.85245205042),
    "cli-project": (-1.10382278154, 7.87884589043),
    "cli-reproduce": ("c409c30d9087", 0.012235314567, 1.71306534254),
}
# fmt: on

#: By name: what makes the values, the tolerance of numbers, packages that it needs.
CASES = {}


def cases(prefix, table=None, rtol=1e-9, needs=()):
    """Enter a function of a folder and of the options in a line of the table, a case a line."""

    def enter(function):
        for name, options in (table or {"": {}}).items():
            make = functools.partial(function, **options)
            CASES[f"{prefix}-{name}".strip("-")] = (make, rtol, needs)
        return function

    return enter


def arrays(value):
    if isinstance(value, list | tuple):
        return [array for each in value for array in arrays(each)]
    if sp.issparse(value):
        return [value.indptr, value.indices, value.data]
    return [np.asarray(value.detach() if hasattr(value, "detach") else value)]


def bits(*values):
    found = hashlib.sha256()
    for array in arrays(values):
        found.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return found.hexdigest()[:12]


def near(*values):
    flat = np.concatenate([array.astype(np.float64).ravel() for array in arrays(values)])
    found = np.cos(np.arange(len(flat))) @ flat, np.linalg.norm(flat)
    return [float(f"{number:.12g}") for number in found]


@functools.cache
def web(n, kind=""):
    """A random graph: "w" has weights, "d" arcs, "l" self-loops, "i" isolated nodes."""
    rng = np.random.default_rng(n)
    rows, columns = rng.integers(0, n - 5 if "i" in kind else n, (2, 3 * n))
    values = 0.5 + rng.random(3 * n) if "w" in kind else np.ones(3 * n)
    keep = np.unique(rows * n + columns, return_index=True)[1]
    keep = keep[(rows != columns)[keep] | ("l" in kind)]
    A = sp.csr_array((values[keep], (rows[keep], columns[keep])), shape=(n, n))
    return A if "d" in kind else A.maximum(A.T).tocsr()


CLUB = sp.csr_array(nx.to_scipy_sparse_array(nx.karate_club_graph(), weight=None, dtype=float))
#: Graphs of many sizes: one node, no edges, isolated nodes, more than 128 nodes.
MANY = [sp.csr_array((1, 1)), sp.csr_array((4, 4)), web(20, "wl"), web(30, "i"), CLUB]
MANY += [web(130), web(200, "w"), web(200, "i")]


def weights(A, kind="sym", scale=1.0):
    return grfpp.Graph(A).normalized(kind, scale)


def block(n, columns=3):
    return np.cos(np.arange(n * columns, dtype=np.float64)).reshape(n, columns)


#: How all of them walk, and by which law where a case has none of its own.
SIDES = ("left", "right")
WALKS = {"walks": "independent", "termination": "geometric:0.1"}
WALKS_IN_WORDS = "--walks-kind independent --termination geometric:0.1"
DIFFUSION, SIGNED = grfpp.Diffusion(1.5), grfpp.TaylorKernel([-1, 0.5, 0.125])
# fmt: off
SAMPLES = {
    "sym-1": {"degree": 1}, "sym-2": {"n_walks": 33}, "sym-3": {"degree": 3, "n_walks": 5},
    "rw": {"kind": "rw"}, "weighted": {"A": web(60, "w")},
    "rw-weighted-3": {"A": web(60, "w"), "kind": "rw", "degree": 3},
    "plain": {"A": web(60, "w"), "kind": None, "scale": 0.1},
    "directed": {"A": web(60, "d"), "scale": 0.5},
    "directed-1": {"A": web(60, "dwl"), "kind": "rw", "degree": 1},
    "isolated": {"A": web(60, "il")}, "isolated-w": {"A": web(60, "ilw")},
    "float32": {"A": web(60, "w"), "dtype": "float32"}, "reuse": {"reuse_walks": True},
    "reuse-directed": {"A": web(60, "d"), "kind": "rw", "reuse_walks": True, "degree": 3},
    "full": {"kernel": grfpp.PStep(4, 2), "full_walks": True, "degree": 1},
    "poisson": {"termination": grfpp.Poisson(4)},
    "halts": {"termination": grfpp.NegativeBinomial(3, 0.3)},
    "fixed": {"termination": grfpp.FixedLength(4), "truncate": True},
    "laplacian": {"kernel": grfpp.RegularizedLaplacian(2, 0.5)},
    "p-step": {"kernel": grfpp.PStep(2, 2)}, "cosine": {"kernel": grfpp.Cosine(1), "scale": 0.5},
    "inverse": {"kernel": grfpp.InversePower(2, 1), "scale": 0.5},
    "inverse-of-2": {"kernel": grfpp.InversePower(2, 2), "scale": 0.5},
    "squared": {"kernel": grfpp.SquaredDiffusion(1)},
    "taylor": {"kernel": grfpp.TaylorKernel([1, 0.5, 0.25]), "scale": 0.3},
    "negative": {"kernel": SIGNED, "scale": 0.3},
    "negative-directed": {"kernel": SIGNED, "A": web(60, "d"), "scale": 0.3, "degree": 1},
    "large": {"A": web(5000), "n_walks": 3},
    "large-1": {"A": web(5000, "i"), "kind": "rw", "degree": 1},
    "large-weighted": {"A": web(5000, "wl"), "n_walks": 3},
    "large-directed": {"A": web(5000, "dw"), "kind": "rw", "n_walks": 3},
}
ONE_GRAPH = {
    "walks-1": {"degree": 1}, "walks-2": {"n_walks": 64},
    "laplacian": {"kernel": "regularized-laplacian:2:0.5", "termination": "poisson:9"},
    "reuse": {"reuse_walks": True, "kernel": grfpp.Diffusion(2.0)},
    "rw": {"normalization": "rw", "kernel": "squared-diffusion:1"}, "exact": {"estimate": "exact"},
    "exact-rw": {"estimate": "exact", "normalization": "rw"},
}
MANY_GRAPHS = {
    "walks-1": {"degree": 1}, "walks-3": {"degree": 3, "n_walks": 8, "termination": "poisson:6"},
    "squared": {"kernel": "squared-diffusion:2"}, "same": {"restrict": "same-label"},
    "exact": {"estimate": "exact"}, "exact-same": {"estimate": "exact", "restrict": "same-label"},
}
LEARNABLE = {
    "1": {"degree": 1}, "2": {}, "2-head": {"n_exact": 1},
    "3-symmetric": {"A": web(60, "w"), "degree": 3, "symmetric": True},
    "2-symmetric-head": {"A": web(60, "il"), "symmetric": True, "n_exact": 1},
    "1-directed-head": {"A": web(60, "d"), "degree": 1, "n_exact": 1},
    "2-directed": {"A": web(60, "dwl")}, "2-poisson": {"termination": grfpp.Poisson(5)},
    "2-large": {"A": web(3000), "n_walks": 2},
    "1-pooled": {"degree": 1, "n_walks": 2, "walks": "pooled", "termination": None},
    "2-pooled-weighted": {"A": web(60, "wl"), "n_walks": 1, "walks": "pooled", "termination": None},
    "2-pooled-law": {"A": web(60, "d"), "n_walks": 2, "walks": "pooled"},
}
POOLED = {
    "sym-1": {"degree": 1, "n_walks": 2}, "sym-3": {"degree": 3, "n_walks": 1},
    "short": {"termination": "matched:3", "n_walks": 3},
    "weighted": {"A": web(300, "w"), "n_walks": 4},
    "rw-weighted": {"A": web(300, "wl"), "kind": "rw", "n_walks": 4},
    "plain": {"A": web(60, "w"), "kind": None, "scale": 0.1, "n_walks": 2},
    "directed": {"A": web(300, "dw"), "kind": "rw", "n_walks": 2},
    "isolated": {"A": web(60, "il"), "n_walks": 2}, "law": {"termination": "geometric:0.2"},
    "measured": {"A": web(60, "w"), "kernel": grfpp.InversePower(2, 1), "scale": 0.97,
                 "n_walks": 200},
    "float32": {"A": web(300, "w"), "n_walks": 3, "dtype": "float32"},
    "large": {"A": web(5000), "n_walks": 3}, "slow": {"kernel": grfpp.Diffusion(5)},
}
LOCAL = {
    "sym": {}, "slow": {"kernel": "diffusion:20", "budget": 200}, "rw": {"kind": "rw"},
    "w": {"A": web(300, "w")}, "wrw": {"A": web(300, "wl"), "kind": "rw"},
    "plain": {"A": web(300, "w"), "kind": None, "scale": 0.1}, "fraction": {"budget": 2.5},
    "directed": {"A": web(300, "d")}, "drw": {"A": web(300, "dwl"), "kind": "rw"},
    "isolated": {"A": web(60, "il")}, "signed": {"kernel": SIGNED, "scale": 0.3, "budget": 20},
    "ppr": {"A": web(300), "kernel": "personalized-pagerank:0.15", "kind": "rw"},
    "ppr-w": {"A": web(300, "w"), "kernel": "personalized-pagerank:0.15", "kind": "rw"},
    "ppr-sym": {"A": web(300), "kernel": "inverse-power:1", "scale": 0.9, "budget": 400},
    "ppr-d": {"A": web(300, "dw"), "kernel": "personalized-pagerank:0.2", "kind": "rw"},
}
ENCODINGS = {
    "1": {"degree": 1}, "2": {"kernel": "diffusion:3"},
    "shared": {"projection": "shared", "degree": 3, "scale": 0.5},
    "stitched": {"features": "stitched", "termination": "poisson:4"},
    "stitched-shared-1": {"features": "stitched", "projection": "shared", "degree": 1},
    "principal": {"rotation": "principal"},
}
# fmt: on


def sampled(A=CLUB, kernel=DIFFUSION, kind="sym", scale=1.0, **options):
    return grfpp.sample(weights(A, kind, scale), kernel, seed=7, **{**WALKS, **options})


def uses(K):
    V, nodes = block(K.n_nodes), [3, 0, K.n_nodes - 1]
    products = K @ V, K.T @ V, K @ V[:, 0], K.rows(nodes, sparse=True), K.rows(nodes)
    whole = K.toarray() if K.n_nodes < 1000 else ()
    dense = K.project(4, seed=5), K.project(4, seed=5, where="pairs")
    parts = K.entry(3, 1), K.entry(0, 0), K.diagonal()
    return [bits(K.factors), bits(products, K.features(), whole, dense[0]), *near(dense, parts)]


@cases("sample", SAMPLES)
def sampled_and_used(folder, **options):
    one, two = (uses(sampled(n_jobs=n_jobs, **options)) for n_jobs in (1, 2))
    assert one == two
    return one


@cases("pooled", POOLED)
def _(folder, **options):
    pooled = {"walks": "pooled", "termination": None, "symmetrize": False}
    return sampled_and_used(folder, **{**pooled, **options})


@cases("local", LOCAL)
def _(folder, A=CLUB, kernel=DIFFUSION, kind="sym", scale=1.0, budget=50.0):
    one, two = (
        grfpp.LocalKernel(weights(A, kind, scale), kernel, budget=budget, seed=7, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    nodes = np.arange(0, A.shape[0], 3)
    rows, top = one.rows(nodes), one.top_k(nodes, 4)
    blocks = one.block(nodes[:9], nodes[5:17]), one.block(nodes[:1], nodes)
    assert bits(rows, *top, *blocks) == bits(
        two.rows(nodes), *two.top_k(nodes, 4), *(two.block(nodes[:9], nodes[5:17]), blocks[1])
    )
    entries = [one.entry(i, j) for i, j in ((0, 1), (2, 2), (3, 9))]
    pattern = bits(rows.indptr, rows.indices, top[0])
    return [pattern, *near(rows.data, top[1]), *near(blocks, entries)]


@cases("submatrix", {degree: {"degree": degree} for degree in (1, 2, 3)})
def _(folder, **options):
    cut = functools.partial(grfpp.sample_submatrix, kernel=DIFFUSION, seed=9, **WALKS, **options)
    found = [[], []]
    for kind in ("", "w", "d", "dwl"):
        W, large = weights(web(300, kind)), weights(web(3000, kind), "rw")
        found[0] += [cut(large, rows=nodes) for nodes in ([5, 2, 40, 5], 7)]
        found[0] += [cut(W, rows=[5, 2, 40], columns=[0, 2, 59])]
        found[1] += [cut(W, rows=[7], columns=range(300))]
    return near(found[0]) + near(found[1])


@cases("features", ONE_GRAPH)
def _(folder, **options):
    options = {"kernel": "diffusion", **WALKS, **options}
    make = functools.partial(tasks.GraphRandomFeatures, random_state=3, **options)
    sides = [make(side=side).fit_transform(CLUB) for side in SIDES]
    dense = [make(5, side=side).fit_transform(CLUB) for side in SIDES]
    return near(sides, dense) if "estimate" in options else [bits(sides), *near(dense)]


@cases("interpolate", ONE_GRAPH)
def _(folder, **options):
    known, field, found = np.arange(0, 60, 3), block(60)[::3], []
    options = {"random_state": 3, **WALKS, **options}
    for output, A in ("mean", web(60)), ("direction", web(60, "w")), ("sum", web(60, "i")):
        filled = tasks.KernelInterpolator(A, how="paper", output=output, **options)
        found += [filled.fit(known, field).predict(np.arange(60)), filled.mass_]
    return near(found)


@cases("cluster", ONE_GRAPH)
def _(folder, **options):
    options = {"random_state": 3, "how": "paper", **WALKS, **options}
    make = functools.partial(tasks.SpectralKernelClustering, **options)
    found = make(2).fit(CLUB), make(4).fit(sp.block_diag([CLUB, CLUB], format="csr"))
    same = [each.labels_[:, None] == each.labels_ for each in found]
    return [bits(same), *near([each.eigenvalues_ for each in found])]


@cases("graphs", MANY_GRAPHS)
def _(folder, **options):
    graphs = [tasks.LabelledGraph(A, np.arange(A.shape[0]) % 3 // 2) for A in MANY]
    options = {"random_state": 3, **WALKS, **options}
    spectrum = tasks.KernelSpectrumFeatures(6, **options)
    pairs = tasks.LabelPairFeatures(**options)
    return near(spectrum.fit_transform(graphs)) + near(pairs.fit_transform(graphs))


@cases("lanczos", {name: {"estimate": name} for name in ("walks", "exact")}, rtol=1e-7)
def _(folder, **options):
    parts = sp.block_diag([web(300), web(350)], format="csr")
    options = {"random_state": 3, **WALKS, **options}
    found = tasks.SpectralKernelClustering(3, how="paper", **options).fit(parts)
    make = tasks.KernelSpectrumFeatures(4, **options)
    return near(found.eigenvalues_, make.fit_transform([web(1200), CLUB]))


@cases("learnable", LEARNABLE, needs=("torch",))
def _(folder, A=CLUB, degree=2, **options):
    found, free = [], models.FreeModulation(8, degree=degree)
    options = {"n_walks": 16, "seed": 5, "dtype": torch.float64, **WALKS, **options}
    for modulation in (models.DiffusionModulation(8, degree=degree, lam=1.5, laplacian=True), free):
        K = models.LearnableKernel(weights(A), modulation, **options).double()
        product = K(torch.tensor(block(A.shape[0])))
        (product * product.detach().cos()).sum().backward()
        gradients = [each.grad for each in modulation.parameters()]
        found += [K.values(), product, K.rows([3, 0]), K.diagonal(), gradients]
    by_length = []
    for unit in torch.eye(8, dtype=torch.float64):
        free.coefficients.data = unit
        by_length.append(K.values())
    return [bits(by_length), *near(found)]


@cases("gp", rtol=1e-7, needs=("torch", "gpytorch"))
def _(folder):
    options = {"n_walks": 32, "n_exact": 1, "seed": 5, "dtype": torch.float64, **WALKS}
    kernel = models.GRFKernel(weights(web(60)), **options).double()
    own = kernel(torch.arange(60)).to_dense(), kernel(torch.arange(60), diag=True)
    operator = models.KernelLinearOperator.of(sampled(**SAMPLES["negative"]))
    V, y = torch.tensor(block(34)), torch.tensor(block(30, 1)[:, 0])
    # By name, as it was by default: the variance of the targets.
    variance = float(y.var(correction=0))
    model = models.NodeGP(torch.arange(0, 60, 2), y, kernel, outputscale=variance)
    found = [own, operator @ V, operator.mT @ V, operator.diagonal(), model.fit(3, seed=0)]
    law = model.posterior(torch.arange(60), tol=1e-10, seed=0)
    return near(found) + near(model.noise, model.outputscale, law.mean, law.std)


@cases("encoding", ENCODINGS, needs=("torch", "torch_geometric"))
def _(folder, **options):
    from torch_geometric.data import Data

    options = {"seed": 4, **WALKS, **options}
    found = models.grf_pe(MANY, 6, dtype=torch.float64, **options)
    alone = Data(edge_index=torch.tensor(np.array(CLUB.nonzero())), num_nodes=34)
    assert torch.equal(models.AddGRFPE(6, **options)(alone).grf_pe, found[4].float())
    return near(found) if "rotation" in options else [bits(found)]


@cases("masks", needs=("torch",))
def _(folder):
    options = {"seed": 4, "dtype": torch.float64, **WALKS}
    found = [models.graph_mask(CLUB, scaling=each, **options) for each in ("cosine", "rows", None)]
    found += [models.graph_mask(web(60, "d"), normalization="rw", degree=1, **options)]
    found += [models.graph_mask(CLUB, estimate="exact", **options)]
    found += [models.patch_grid_mask(5, 4, class_token=True, kernel="diffusion:2", **options)]
    factored = models.factored_mask(web(60, "w"), n_walks=64, class_token=2, **options)
    return near(found, factored.dense(), factored(torch.tensor(block(62))))


def command(folder, words):
    """What a command prints that knows of no data and draws nothing."""
    nx.write_weighted_edgelist(nx.karate_club_graph(), folder / "g.txt")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.setenv("GRFPP_DATA", str(folder / "nothing"))
        patch.setattr(reproduce, "missing_packages", lambda: ["matplotlib"])
        patch.chdir(folder)
        lab_graphs.load.cache_clear()  # of tests that know of data
        assert run(words.split()) == 0
    return out.getvalue()


@cases("cli-estimate")
def _(folder):
    told = json.loads(
        command(folder, f"estimate g.txt --json --rows 0,2 --check -o k.npz {WALKS_IN_WORDS}")
    )
    rows, error = [row["values"] for row in told["rows"]], told["relative_error"]["value"]
    return [bits(grfpp.KernelEstimate.load(folder / "k.npz").factors, rows), *near(rows, error)]


@cases("cli-project")
def _(folder):
    asked = "--directed --scale .9 -l 1 -k cosine:.7 --project 4 -o x.npz"
    command(folder, f"estimate g.txt {asked} {WALKS_IN_WORDS}")
    with np.load(folder / "x.npz") as file:
        return near(file["X"], file["Y"])


@cases("cli-reproduce", rtol=1e-8)
def _(folder):
    command(folder, "reproduce halting reuse other-kernels clustering --tiny --out page -j 2")
    with (folder / "page" / "rows.csv").open(newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row.get("walks") != "pooled" and row.get("method") != "regularised"
        ]
    what = [[row[key] for key in ("experiment", "graph", "n_walks")] for row in rows]
    numbers = [[float(row[key]) for key in ("error", "standard_error")] for row in rows]
    return [bits(np.array(what)), *near(numbers)]


@pytest.mark.parametrize("name", CASES)
def test_golden(name, tmp_path):
    make, rtol, needs = CASES[name]
    for package in needs:
        pytest.importorskip(package)
    found, wanted = make(tmp_path), GOLDEN[name]
    hashes = [each for each in wanted if isinstance(each, str)]
    assert found[: len(hashes)] == hashes
    numbers = np.array(wanted[len(hashes) :], dtype=float)
    atol = rtol * np.abs(numbers).max(initial=0)
    np.testing.assert_allclose(found[len(hashes) :], numbers, rtol=rtol, atol=atol)


if __name__ == "__main__":
    for name, (make, *_) in CASES.items():
        if len(sys.argv) == 1 or any(part in name for part in sys.argv[1:]):
            with tempfile.TemporaryDirectory() as folder:
                values = str(tuple(make(Path(folder)))).replace("'", '"')
            print(f'    "{name}": {values},', flush=True)
