"""Features, products, projections and nearest nodes of two workers, beside one machine's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grfpp import distributed
from grfpp.graph import Graph
from grfpp.kernels import Diffusion
from grfpp.local import LocalKernel
from grfpp.sampling import sample
from grfpp_lab.studies.distributed.clusters import line, same_bits

KERNEL = Diffusion(1.0)
#: Ways to sample, of which all have the bits of one machine.
OPTIONS: dict[str, dict[str, Any]] = {
    "pooled, degree 2": {},
    "degree 1, float32": {"degree": 1, "dtype": "float32"},
    "independent walks": {"walks": "independent", "n_walks": 4},
    "deflated": {"deflate": 2},
    "to a tolerance of 0.02": {"tol": 0.02, "degree": 1},
}


def columns(n_nodes: int, width: int = 4) -> Any:
    """A block to multiply."""
    return np.random.default_rng(1).normal(size=(n_nodes, width))


def questions(W: Graph) -> dict[str, Callable[[Any], Any]]:
    """What is asked of an estimate."""
    return {
        "factors": lambda K: [side for pair in K.factors for side in pair],
        "products": lambda K: (K @ columns(W.n_nodes), K.T @ columns(W.n_nodes)),
        "projections": lambda K: K.project(16, seed=0),
        "rows": lambda K: K.rows([0, W.n_nodes // 2], sparse=True),
    }


def tell(client: Any, W: Graph, seed: int) -> list[bool]:
    """Compare all of them."""
    print(f"\nBits: {W!r}, exp(W), two worker processes and this one")
    met = []
    for name, options in OPTIONS.items():
        there = distributed.sample(client, W, KERNEL, seed=seed, **options)
        here = sample(W, KERNEL, seed=seed, **options)
        found = {title: same_bits(ask(there), ask(here)) for title, ask in questions(W).items()}
        met.append(line(name, ", ".join(k for k, same in found.items() if same), *_all(found)))
    few = Graph(W.adjacency[:1500, :1500])  # of which features are not too many to compare
    there, here = (
        distributed.sample(client, few, KERNEL, seed=seed),
        sample(few, KERNEL, seed=seed),
    )
    same = same_bits(there.features(), here.features())
    met.append(line("features, degree 2, 1,500 nodes", "the same" if same else "", "same", same))
    near = LocalKernel(W, KERNEL, seed=seed).top_k(np.arange(W.n_nodes))
    same = same_bits(distributed.top_k(client, W, KERNEL, seed=seed), near)
    met.append(line("ten nearest of all nodes", "the same" if same else "", "same", same))
    return met


def _all(found: dict[str, bool]) -> tuple[str, bool]:
    return "all the same", all(found.values())
