"""Gaussian processes on a mesh: data, and the methods that are compared."""

import math
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import torch

from grfpp._imports import require
from grfpp.graph import Graph
from grfpp.termination import termination_from_spec
from grfpp.torch import DiffusionModulation, GRFKernel, NodeGP
from grfpp.typing import FloatArray
from grfpp_lab.experiments.gp.data import Problem
from grfpp_lab.experiments.measuring import pick
from grfpp_lab.harness.experiment import Cell
from grfpp_lab.harness.processes import run_command

gpytorch = require("gpytorch")

#: Where training begins.
_LAM, _OUTPUTSCALE, _NOISE = 5.0, 10.0, 0.1
#: Seconds after which a peer is stopped.
_PATIENCE = 1800.0

Answer = dict[str, Any]


class ExactDiffusion(gpytorch.kernels.Kernel):  # type: ignore[misc, name-defined]  # untyped base
    """``exp(−λ L)`` from all eigenvectors."""

    def __init__(self, W: Graph) -> None:
        super().__init__()
        values, vectors = np.linalg.eigh(W.adjacency.toarray())
        self.gaps, self.vectors = torch.from_numpy(1 - values), torch.from_numpy(vectors)
        self.raw = torch.nn.Parameter(torch.tensor(math.log(_LAM)))

    def forward(self, x1: Any, x2: Any, diag: bool = False, **params: Any) -> Any:
        """Entries between two lists of nodes."""
        left, right = (self.vectors[x[:, 0]] for x in (x1, x2))
        left = left * torch.exp(-self.raw.exp() * self.gaps)
        return (left * right).sum(1) if diag else left @ right.T


def exact(data: Problem, cell: Cell) -> Answer:
    """All eigenvectors, Cholesky's method: no approximation."""
    began = perf_counter()
    kernel = ExactDiffusion(data.W)
    ready = perf_counter()
    model = _model(data, kernel, torch.float64)
    with gpytorch.settings.max_cholesky_size(data.W.n_nodes):
        model.fit(cell["n_steps"])
        trained = perf_counter()
        model.eval()
        with torch.no_grad():
            found = model(torch.from_numpy(data.test)) * model.scale + model.offset
            mean, variance = found.mean.numpy(), found.variance.numpy()
    return {
        **_measured(data, mean, variance, model.noise),
        **_learned(kernel.raw.exp().item(), model),
        **_seconds(began, ready, trained),
    }


def walks(data: Problem, cell: Cell) -> Answer:
    """Graph random features, stitched or not."""
    dtype = getattr(torch, cell["dtype"])
    began = perf_counter()
    kernel = GRFKernel(
        data.W,
        DiffusionModulation(cell["n_lengths"], degree=cell["degree"], lam=_LAM, laplacian=True),
        **_walk_options(cell),
        seed=cell["walk_seed"],
        dtype=dtype,
        n_jobs=1,
    )
    ready = perf_counter()
    model = _model(data, kernel, dtype)
    model.fit(cell["n_steps"], seed=cell["walk_seed"] % 2**32)
    trained = perf_counter()
    found = model.posterior(data.test, n_samples=cell["n_samples"], seed=cell["walk_seed"] % 2**32)
    mean, variance = (part.double().numpy() for part in (found.mean, found.std**2))
    return {
        **_measured(data, mean, variance, model.noise),
        **_learned(kernel.modulation.lam.item(), model),
        **_seconds(began, ready, trained),
    }


def _walk_options(cell: Cell) -> dict[str, Any]:
    """The paper's walks as the cell has them; pooled ones as `GRFKernel` takes them by itself."""
    if "walks" in cell:
        return {"walks": cell["walks"]}
    return {
        **pick(cell, "n_walks", "n_exact"),
        "termination": termination_from_spec(cell["termination"]),
        "walks": "independent",
    }


def peer(data: Problem, cell: Cell) -> Answer:
    """fast-graph-gp, in an environment of its own."""
    with TemporaryDirectory() as folder:
        files = {name: str(Path(folder) / f"{name}.npz") for name in ("graph", "data", "answer")}
        data.W.save(files["graph"])
        np.savez(files["data"], train=data.train, targets=data.noisy[data.train], test=data.test)
        request = {
            "peer": "fast-graph-gp regression",
            **files,
            **{name: cell[name] for name in ("n_walks", "n_lengths", "n_steps", "n_samples")},
            "kernel": cell["peer_kernel"],
            "p_halt": cell["p_halt"],
            "lr": 0.1,
            "seed": cell["walk_seed"] % 2**31,
            "threads": 1,
        }
        command = shlex.split(cell["peers"])
        answer = run_command(command, request, timeout=_PATIENCE, threads=1)
        with np.load(files["answer"]) as found:
            mean, variance = found["mean"], found["variance"]
    return {
        **_measured(data, mean, variance, answer["noise"]),
        **{name: answer[name] for name in ("lam", "outputscale", "noise")},
        **{f"{part}_seconds": answer[f"{part}_seconds"] for part in ("walk", "train", "predict")},
    }


def _model(data: Problem, kernel: Any, dtype: torch.dtype) -> NodeGP:
    return NodeGP(
        torch.from_numpy(data.train),
        torch.from_numpy(data.noisy[data.train]).to(dtype),
        kernel,
        noise=_NOISE,
        outputscale=_OUTPUTSCALE,
    )


def _measured(data: Problem, mean: FloatArray, variance: FloatArray, noise: float) -> Answer:
    """Errors at the test nodes, and how often intervals of 95 % hold what was observed."""
    error = mean - data.noisy[data.test]
    whole = variance + noise
    density = 0.5 * np.log(2 * np.pi * whole) + 0.5 * error**2 / whole
    return {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "latent_rmse": float(np.sqrt(np.mean((mean - data.smooth[data.test]) ** 2))),
        "coverage": float(np.mean(np.abs(error) < 1.96 * np.sqrt(whole))),
        "nlpd": float(np.mean(density)),
    }


def _learned(lam: float, model: NodeGP) -> Answer:
    return {"lam": lam, "outputscale": model.outputscale, "noise": model.noise}


def _seconds(began: float, ready: float, trained: float) -> Answer:
    return {
        "walk_seconds": ready - began,
        "train_seconds": trained - ready,
        "predict_seconds": perf_counter() - trained,
    }
