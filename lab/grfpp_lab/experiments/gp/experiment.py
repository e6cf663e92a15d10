"""Ours: Gaussian processes on meshes with learned kernels, beside exact ones and fast-graph-gp."""

import os
from dataclasses import dataclass
from typing import Any

from grfpp._imports import how_to_install, missing_packages
from grfpp_lab.experiments.claims import POOLED
from grfpp_lab.experiments.gp import claims
from grfpp_lab.experiments.gp.claims import EXACT, GRF, HEAD, STITCHED
from grfpp_lab.experiments.gp.data import LAM, NOISE, OUTPUTSCALE, n_nodes, problem
from grfpp_lab.experiments.measuring import pick, seeds
from grfpp_lab.experiments.study.errors import geometric
from grfpp_lab.harness import experiment as lab
from grfpp_lab.harness.experiment import but

TIMINGS = tuple(f"{part}_seconds" for part in claims.PARTS)
#: How a peer is started: a command such as ``.venv-bench/bin/python benchmarks/peers``.
PEERS_VARIABLE = "GRFPP_PEERS"

#: Walks of each method: about equally many steps for the first two, a sixth of them for the third.
WALKS: dict[str, dict[str, Any]] = {
    GRF: {"degree": 1, "n_walks": 400, "n_lengths": 24, "n_exact": 0, "p_halt": 0.1},
    STITCHED: {"degree": 4, "n_walks": 100, "n_lengths": 14, "n_exact": 0, "p_halt": 0.1},
    HEAD: {"degree": 4, "n_walks": 32, "n_lengths": 12, "n_exact": 1, "p_halt": 0.2},
}
#: Pooled walks, of which everything else is `GRFKernel`'s default; so are these, but for where
#: training begins.
POOLS: dict[str, Any] = {"degree": 4, "n_lengths": 16, "walks": POOLED}
PEERS = {claims.PEER_DIFFUSION: "diffusion", claims.PEER_GENERAL: "general"}
_PEER_WALKS = {"n_walks": 400, "n_lengths": 24, "p_halt": 0.1}
#: From here on numbers are of single precision.
_LARGE = 20_000


@dataclass(frozen=True)
class Parameters:
    """What is varied."""

    #: Data sets on the sphere of so many subdivisions.
    repeats: dict[int, int]
    #: The largest spheres for the exact process, for all kinds of walks, for the peer.
    most_exact: int
    most_walks: int
    most_peer: int
    #: Of how many of the data sets the peer gets, which takes longest.
    peer_repeats: int
    #: Of training, and of the posterior.
    n_steps: int
    n_samples: int
    #: What the numbers of walks are divided by.
    fewer: int = 1


PARAMETERS = {
    lab.Size.FULL: Parameters({3: 5, 4: 3, 5: 1, 6: 1, 7: 1}, 4, 5, 4, 2, 60, 128),
    lab.Size.QUICK: Parameters({3: 2, 4: 1, 5: 1}, 4, 4, 3, 2, 40, 64),
    lab.Size.TINY: Parameters({2: 2}, 2, 2, 2, 2, 5, 16, fewer=8),
}


def plan(settings: lab.Settings) -> lab.Plan:
    """A cell for every sphere, method and repeat."""
    missing = missing_packages("torch", "gpytorch")
    if missing:
        return lab.Plan([], {}, {"gp": how_to_install(missing)})
    mine, peers = PARAMETERS[settings.size], os.environ.get(PEERS_VARIABLE, "")
    cells: list[lab.Cell] = []
    for level, repeats in mine.repeats.items():
        for repeat in range(repeats):
            shared = {
                "subdivisions": level,
                "repeat": repeat,
                "n_steps": mine.n_steps,
                "n_samples": mine.n_samples,
                "seed": settings.seed,
            }
            if level <= mine.most_exact:
                cells.append({**shared, "method": EXACT})
            cells += [
                {**shared, "method": method, **_walks(walks, mine, level)}
                for method, walks in WALKS.items()
                if method == HEAD or level <= mine.most_walks
            ]
            if level <= mine.most_walks:
                cells.append({**shared, "method": POOLED, **POOLS, "dtype": _dtype(level)})
            if peers and level <= mine.most_peer and repeat < mine.peer_repeats:
                fewer = {**_PEER_WALKS, "n_walks": _PEER_WALKS["n_walks"] // mine.fewer}
                cells += [
                    {**shared, "method": method, **fewer, "peer_kernel": kernel, "peers": peers}
                    for method, kernel in PEERS.items()
                ]
    skipped = {} if peers else {"fast-graph-gp": f"{PEERS_VARIABLE} names no command to start it"}
    return lab.Plan(cells, _described(mine), skipped)


def _walks(walks: dict[str, Any], mine: Parameters, level: int) -> dict[str, Any]:
    return {
        **but(walks, "p_halt"),
        "n_walks": max(1, walks["n_walks"] // mine.fewer),
        "termination": geometric(walks["p_halt"]),
        "dtype": _dtype(level),
    }


def _dtype(level: int) -> str:
    return "float32" if n_nodes(level) > _LARGE else "float64"


def _described(mine: Parameters) -> dict[str, str]:
    return {
        "graphs": "triangulated spheres",
        "data": f"draws of a Gaussian process with the kernel {OUTPUTSCALE:g} · exp(−λ L), "
        f"λ = {LAM:g}, L = I − D^-1/2 A D^-1/2, observed at half of the nodes with noise of "
        f"variance {NOISE:g}",
        "learned": "λ, the size of the kernel, the noise, a constant mean, by Adam on the marginal "
        f"likelihood: at most {mine.n_steps} steps of 0.1 from λ = 5, size 10, noise 0.1",
        **{
            method: f"degree {w['degree']}, {w['n_walks'] // mine.fewer} walks of up to "
            f"{w['n_lengths'] - 1} steps, p_halt = {w['p_halt']:g}, {w['n_exact']} lengths exact"
            for method, w in WALKS.items()
        },
        POOLED: f"degree {POOLS['degree']}, up to {POOLS['n_lengths'] - 1} steps, all else as "
        "`GRFKernel` has it by default",
        "fast-graph-gp": f"{_PEER_WALKS['n_walks'] // mine.fewer} walks of up to "
        f"{_PEER_WALKS['n_lengths'] - 1} steps, p_halt = {_PEER_WALKS['p_halt']:g}, the package's "
        "own settings for training",
        "threads": "1",
    }


def run(cell: lab.Cell) -> list[lab.Row]:
    """Train one process and measure it."""
    from grfpp_lab.experiments.gp import methods as gp_methods

    level, repeat = cell["subdivisions"], cell["repeat"]
    (data_seed,) = seeds(1, data=level, repeat=repeat, seed=cell["seed"])
    data = problem(level, data_seed)
    (walk_seed,) = seeds(1, walks=level, repeat=repeat, seed=cell["seed"])
    how = gp_methods.walks
    if cell["method"] == EXACT:
        how = gp_methods.exact
    elif "peers" in cell:
        how = gp_methods.peer
    found = how(data, {**cell, "walk_seed": walk_seed})
    return [
        {
            "graph": f"sphere {level}",
            "n_nodes": data.W.n_nodes,
            **pick(cell, "method", "repeat", "n_steps"),
            **(pick(cell, "walks") if "walks" in cell else {}),
            **found,
        }
    ]


EXPERIMENT = lab.Experiment(
    name="gp",
    plan=plan,
    run=run,
    claims=[
        lab.Claim("gp-accuracy", claims.error_panels, claims.judge_accuracy, (claims.table,)),
        lab.Claim("gp-pooled", claims.pooled_panels, claims.judge_pooled),
        lab.Claim("gp-time", claims.time_panels, claims.judge_time),
    ],
    timings=TIMINGS,
    parts=("torch",),
    version=3,
)
