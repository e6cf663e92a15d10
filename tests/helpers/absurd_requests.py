"""Run as a program: requests that no machine can meet, and some that it can, in little memory.

Writes a line of JSON for each: its name, what became of it, and how much memory that took.
"""

import functools
import itertools
import json
import re
import resource
import signal
import sys
import time
from pathlib import Path

import networkx as nx
import numpy as np

import grfpp
from grfpp import datasets
from grfpp import torch as neural
from grfpp.cli.app import run
from grfpp.tasks import GraphRandomFeatures, KernelSpectrumFeatures, SpectralKernelClustering

#: Bytes of address space beyond what is there when the requests begin.
ROOM = 4 * 10**9
#: Seconds that a request may take, on a machine that is busy with other things.
PATIENCE = 60

MILLION, FAR = 10**6, 10**12
FOLDER = Path(sys.argv[1])
kernel = grfpp.Diffusion(1.0)
W = datasets.grid(1000, 1000).normalized("sym")
tangle = datasets.erdos_renyi(30_000, 10 / 30_000).normalized("sym")
club = grfpp.Graph(nx.karate_club_graph()).normalized("sym")
file = FOLDER / "karate.txt"
nx.write_weighted_edgelist(nx.karate_club_graph(), file)


@functools.cache
def walked(degree=1, n_walks=16):
    """An estimate that holds nothing yet."""
    return grfpp.sample(W, kernel, degree, n_walks, seed=0, storage="recompute")


def numbers(*shape):
    """Ones that take no memory."""
    return np.broadcast_to(1.0, shape)


def edges(n_nodes):
    return grfpp.Graph((np.array([[0], [1]]), None), n_nodes=n_nodes)


def absurd_file():
    path = FOLDER / "absurd.npz"
    grfpp.sample(club, kernel, seed=0).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    meta = json.loads(str(arrays.pop("meta"))) | {"n_nodes": FAR, "order": [FAR, 0]}
    np.savez(path, meta=json.dumps(meta), **arrays)
    return grfpp.KernelEstimate.load(path)


def learned(graph, n_lengths=4, degree=2, n_walks=1):
    modulation = neural.DiffusionModulation(n_lengths, degree=degree)
    return neural.LearnableKernel(graph, modulation, n_walks=n_walks, seed=0)


def command(*arguments):
    code = run([*map(str, arguments)])
    if code == 2:
        raise grfpp.InputError("told in one line")
    return code


ABSURD = {
    "factors of degree 1024": lambda: grfpp.sample(W, kernel, degree=1024, seed=0),
    "a million walks": lambda: grfpp.sample(W, kernel, n_walks=MILLION, seed=0),
    "walks without number": lambda: grfpp.sample(W, kernel, n_walks=2**31 - 1, walks="independent"),
    "a budget without end": lambda: grfpp.sample(tangle, kernel, termination="matched:1e12"),
    "a law of all lengths": lambda: grfpp.CustomLength(numbers(FAR)),
    "a law that matches none": lambda: grfpp.CustomLength.matching(grfpp.Geometric(1e-12)),
    "all eigenvectors": lambda: grfpp.sample(W, kernel, deflate=MILLION - 1, seed=0),
    "a thousand eigenvectors": lambda: grfpp.sample(W, kernel, deflate=1000, seed=0),
    "the whole as a part": lambda: grfpp.sample_submatrix(W, kernel, *[range(MILLION)] * 2, seed=0),
    "full features": lambda: grfpp.sample(tangle, kernel, seed=0).features(),
    "a thousand factors": lambda: walked(500).factors,
    "a thousand matrices": lambda: walked(500).matrices(),
    "a file of a thousand factors": lambda: walked(500).save(FOLDER / "k.npz"),
    "the diagonal of many": lambda: walked(8).diagonal(),
    "components": lambda: walked().project(10**9),
    "all rows": lambda: walked().rows(range(MILLION)),
    "a dense matrix": lambda: walked().toarray(),
    "an exact matrix": lambda: kernel.exact(W),
    "a million columns, exact": lambda: kernel.apply(W, numbers(MILLION, MILLION)),
    "a million columns": lambda: walked() @ numbers(MILLION, MILLION),
    "probes": lambda: grfpp.relative_error(walked(), kernel, W, n_probes=10**9),
    "coefficients": lambda: kernel.coefficients(10**10),
    "a modulation": lambda: kernel.modulation(2, FAR),
    "digits": lambda: kernel.modulation_decimal(2, 10, 10**9),
    "a million steps": lambda: grfpp.sample(club, grfpp.PStep(MILLION, 2), seed=0),
    "a million steps, exact": lambda: grfpp.PStep(MILLION, 2).exact(club),
    "terms without end": lambda: grfpp.TaylorKernel(itertools.repeat(1.0)),
    "terms": lambda: grfpp.TaylorKernel(numbers(FAR)),
    "an encoding": lambda: neural.grf_pe([club], dim=FAR),
    "lengths": lambda: neural.DiffusionModulation(FAR),
    "free lengths": lambda: neural.FreeModulation(FAR),
    "deposits": lambda: learned(W, 1000, n_walks=10**4),
    "deposits of many factors": lambda: learned(tangle, 8, degree=1000, n_walks=16),
    "learned rows": lambda: learned(tangle).rows(range(30_000)),
    "a mask": lambda: neural.graph_mask(W),
    "a mask of patches": lambda: neural.patch_grid_mask(MILLION, MILLION),
    "class tokens": lambda: neural.graph_mask(club, class_token=10**9),
    "a grid": lambda: datasets.grid(MILLION, MILLION),
    "a tree": lambda: datasets.binary_tree(29),
    "a random graph": lambda: datasets.erdos_renyi(FAR, 0.5),
    "a regular graph": lambda: datasets.random_regular(FAR, 4),
    "nodes beyond numbers": lambda: edges(2**31),
    "nodes": lambda: edges(2**31 - 2),
    "dense weights": lambda: grfpp.Graph(numbers(MILLION, MILLION)),
    "clusters of few nodes": lambda: SpectralKernelClustering(n_clusters=10**9).fit(club),
    "clusters": lambda: SpectralKernelClustering(n_clusters=10**5).fit(W),
    "eigenvalues": lambda: KernelSpectrumFeatures(n_eigenvalues=FAR).fit_transform([club]),
    "features": lambda: GraphRandomFeatures(n_components=10**9).fit_transform(W),
    "an absurd file": absurd_file,
    "a command with many walks": lambda: command("estimate", file, "--walks", FAR),
    "a command with many steps": lambda: command("estimate", file, "--kernel", "p-step:1000000:2"),
    "a command with components": lambda: command(
        "estimate", file, "--project", FAR, "--output", FOLDER / "x.npz"
    ),
    "a command with clusters": lambda: command("cluster", file, "-k", 10**9),
}

#: What fits into the same room.
POSSIBLE = {
    "factors": lambda: grfpp.sample(tangle, kernel, seed=0),
    "components": lambda: grfpp.sample(tangle, kernel, n_walks=1, seed=0).project(512, seed=0),
    "columns": lambda: kernel.apply(W, numbers(MILLION, 20), tol=0.1),
    "one row of all": lambda: grfpp.sample_submatrix(W, kernel, [0], range(MILLION), 1, 1, seed=0),
    "sparse features": lambda: grfpp.sample(tangle, kernel, n_walks=1, seed=0).features(),
    "an exact matrix": lambda: kernel.exact(datasets.grid(40, 50).normalized("sym")),
    "a mask": lambda: neural.graph_mask(datasets.grid(40, 50)),
}


def status(key):
    return 1024 * int(re.search(rf"{key}:\s+(\d+)", Path("/proc/self/status").read_text())[1])


def measured(request):
    """What becomes of a request, the seconds it takes and the bytes."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    before, begin = status("VmRSS"), time.perf_counter()
    signal.alarm(PATIENCE)
    try:
        request()
        outcome, message = "met", ""
    except Exception as error:
        outcome, message = type(error).__name__, str(error)
    finally:
        signal.alarm(0)
    seconds = time.perf_counter() - begin
    return {"outcome": outcome, "message": message, "seconds": seconds} | {
        "bytes": status("VmHWM") - before
    }


def too_long(*_):
    raise TimeoutError(f"more than {PATIENCE} s")


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, too_long)
    learned(tangle)  # compiled before anything is measured
    for walks in ("pooled", "independent"):
        grfpp.sample(club, kernel, seed=0, walks=walks) @ np.ones((34, 2))
    limit = status("VmSize") + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for kind, requests in (("absurd", ABSURD), ("possible", POSSIBLE)):
        for name, request in requests.items():
            print(json.dumps({"kind": kind, "name": name} | measured(request)), flush=True)
