"""fast-graph-gp: a Gaussian process on nodes, trained and asked for predictions."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import gpytorch
import linear_operator
import numpy as np
import scipy.sparse as sp
import torch
from common import processor_seconds, read_graph
from grf_gp import GRFGP, DiffusionGRFKernel, GeneralGRFKernel, GRFSampler
from grf_gp.utils import set_gp_defaults


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Walk, train, predict; with the settings that the package itself recommends.

    ``kernel`` is ``"diffusion"``, which walks on the Laplacian as its authors do (a series of
    alternating signs), or ``"general"``, which learns every length's weight, on the graph itself.
    The graph must be normalised already, without self-loops.
    """
    torch.set_num_threads(request["threads"])
    set_gp_defaults(linear_operator.settings, gpytorch.settings)
    torch.manual_seed(request["seed"])
    graph = read_graph(request["graph"])
    W = sp.csr_array((graph.weights, graph.indices, graph.indptr), shape=(graph.n_nodes,) * 2)
    diffusion = request["kernel"] == "diffusion"
    matrix = sp.csr_array(sp.eye_array(graph.n_nodes) - W) if diffusion else W
    with np.load(request["data"]) as data:
        train, targets, test = (torch.from_numpy(data[k]) for k in ("train", "targets", "test"))
    targets = targets.double()

    began = processor_seconds()
    sampler = GRFSampler(
        torch.sparse_csr_tensor(
            *(torch.from_numpy(part.astype(np.int64)) for part in (matrix.indptr, matrix.indices)),
            torch.from_numpy(matrix.data),
            size=matrix.shape,
        ),
        walks_per_node=request["n_walks"],
        p_halt=request["p_halt"],
        max_walk_length=request["n_lengths"],
        seed=request["seed"] + 1,
        use_tqdm=False,
        n_processes=request["threads"],
    )
    walks = sampler()
    walked = processor_seconds()

    kind = DiffusionGRFKernel if diffusion else GeneralGRFKernel
    kernel = kind(walks, max_walk_length=request["n_lengths"])
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = GRFGP(train, targets, likelihood, kernel).double()
    likelihood.noise = 0.1
    model.train()
    likelihood.train()
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimiser = torch.optim.Adam(model.parameters(), lr=request["lr"])
    for _ in range(request["n_steps"]):
        optimiser.zero_grad()
        loss = -objective(model(train), targets)
        loss.backward()
        optimiser.step()
    trained = processor_seconds()

    model.eval()
    found = model.predict(test, batch_size=request["n_samples"])
    predicted = processor_seconds()
    np.savez(
        request["answer"],
        mean=found.mean.detach().numpy(),
        variance=found.variance.detach().numpy(),
    )
    return {
        "version": version("fast-graph-gp"),
        "walk_seconds": walked - began,
        "train_seconds": trained - walked,
        "predict_seconds": predicted - trained,
        "noise": likelihood.noise.item(),
        "lam": kernel.beta.item() if diffusion else None,
        "outputscale": kernel.sigma_f.item() ** 2 if diffusion else None,
    }
