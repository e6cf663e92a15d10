"""Results of fixed seeds, kept in ``golden.json``: a change of no number leaves that file alone.

They are of independent walks, whatever the default, but for those that say "pooled" or "local".

Only public names are used. What is the same to the last bit by design is kept as a hash of values,
types and shapes. What goes through BLAS, LAPACK or exp, or could be summed in another order, is
kept as two numbers, the product with a fixed vector and the norm.
``python tests/test_golden.py [part of a name ...]`` makes them anew.
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

PATH = Path(__file__).with_name("golden.json")
GOLDEN = json.loads(PATH.read_text("utf-8"))

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
                GOLDEN[name] = make(Path(folder))
    lines = (f"{json.dumps(name)}: {json.dumps(GOLDEN[name])}" for name in CASES)
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
