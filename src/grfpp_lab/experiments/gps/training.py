"""Learn, choose the epoch by the validation graphs, and measure on the test graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from grfpp.imports.optional import require
from grfpp_lab.experiments.gps.data import Metric, Task
from grfpp_lab.experiments.gps.model import GraphTransformer
from grfpp_lab.experiments.training import learning_rate, repeatable

require("torch_geometric")

# Below the check, so that a missing package is named.
from torch_geometric.loader import DataLoader  # noqa: E402 - below the check above


@dataclass(frozen=True)
class Learning:
    """How a model learns."""

    #: Its size.
    channels: int
    n_layers: int
    n_heads: int
    #: Of AdamW, whose rate rises for a tenth of the steps and then falls as a cosine.
    epochs: int
    batch_size: int
    rate: float


@dataclass(frozen=True)
class Learned:
    """What came out."""

    #: The metric on the test and on the validation graphs, after the epoch that was best on the
    #: latter (the first of them). It is best where it is largest, an error where it is smallest.
    test: float
    val: float
    #: Which that was, from 1.
    epoch: int
    #: Mean loss of the last epoch.
    train_loss: float
    #: Of the model.
    n_parameters: int


def learn(
    task: Task,
    train: Sequence[Any],
    val: Sequence[Any],
    test: Sequence[Any],
    learning: Learning,
    *,
    flip_signs: bool,
    seed: int,
) -> Learned:
    """Train one model on one thread; the same arguments give the same numbers.

    Parameters
    ----------
    task
        What to learn.
    train, val, test
        PyG graphs, with encodings as ``pe`` or without.
    learning
        How.
    flip_signs
        Whether each batch to learn from has its encodings' columns with signs of their own.
    seed
        Of the model's first weights and of the order of the graphs.
    """
    with repeatable(seed):
        first = train[0]
        pe_dim = first.pe.shape[1] if "pe" in first else 0
        model = GraphTransformer(
            first.x.shape[1],
            task.n_outputs,
            channels=learning.channels,
            n_layers=learning.n_layers,
            n_heads=learning.n_heads,
            pe_dim=pe_dim,
            of_nodes=task.of_nodes,
        )
        order = torch.Generator().manual_seed((seed + 1) % 2**63)
        signs = torch.Generator().manual_seed((seed + 2) % 2**63)
        loader = DataLoader(train, learning.batch_size, shuffle=True, generator=order)
        evaluations = [DataLoader(part, 2 * learning.batch_size) for part in (val, test)]
        optimizer = torch.optim.AdamW(model.parameters(), lr=learning.rate, weight_decay=1e-5)
        n_steps = learning.epochs * len(loader)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: learning_rate(step / n_steps)
        )

        sign = -1.0 if task.is_error else 1.0
        best, at, tested, mean_loss = -np.inf, 0, 0.0, 0.0
        for epoch in range(1, learning.epochs + 1):
            model.train()
            losses = []
            for data in loader:
                pe = data.pe if pe_dim else None
                if pe is not None and flip_signs:
                    pe = pe * (2 * torch.randint(2, (pe_dim,), generator=signs) - 1)
                optimizer.zero_grad()
                loss = _loss(model(data, pe), data.y, task.metric)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                losses.append(loss.item())
            mean_loss = float(np.mean(losses))
            found = sign * _evaluated(model, evaluations[0], task.metric, pe_dim)
            if found > best:
                best, at = found, epoch
                tested = _evaluated(model, evaluations[1], task.metric, pe_dim)
        n_parameters = sum(each.numel() for each in model.parameters())
        return Learned(tested, sign * float(best), at, mean_loss, n_parameters)


def _loss(scores: Tensor, y: Tensor, metric: Metric) -> Tensor:
    if metric == "AP":
        return functional.binary_cross_entropy_with_logits(scores, y)
    if metric == "MAE":
        return functional.l1_loss(scores, y)
    if metric == "accuracy":
        return functional.cross_entropy(scores, y)
    # As in the benchmark: a class counts the more, the fewer nodes of the batch are in it.
    counts = torch.bincount(y, minlength=scores.shape[1])
    weight = (len(y) - counts) / len(y) * (counts > 0)
    return functional.cross_entropy(scores, y, weight=weight)


@torch.no_grad()  # type: ignore[untyped-decorator]  # torch is not read by mypy
def _evaluated(model: Any, loader: Any, metric: Metric, pe_dim: int) -> float:
    model.eval()
    scores, truth = [], []
    for data in loader:
        scores.append(model(data, data.pe if pe_dim else None).numpy())
        truth.append(data.y.numpy())
    return score(np.concatenate(scores), np.concatenate(truth), metric)


def score(scores: npt.NDArray[Any], truth: npt.NDArray[Any], metric: Metric) -> float:
    """The metric, from 0 to 1, or an error from 0 up.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.1, 0.9]])
    >>> score(scores, np.array([0, 0, 0, 1]), "accuracy")
    1.0
    >>> score(scores, np.array([0, 0, 1, 1]), "weighted accuracy")
    0.75
    >>> score(scores, np.array([[1, 0], [1, 0], [0, 0], [0, 1]]), "AP")
    1.0
    >>> round(score(scores, np.array([[1, 0], [1, 0], [1, 0], [0, 1]]), "MAE"), 3)
    0.2
    """
    if metric == "AP":
        from sklearn.metrics import average_precision_score

        asked = (truth == 1).any(axis=0) & (truth == 0).any(axis=0)
        return float(average_precision_score(truth[:, asked], scores[:, asked], average="macro"))
    if metric == "MAE":
        return float(np.abs(scores - truth).mean())
    right = scores.argmax(axis=1) == truth
    if metric == "accuracy":
        return float(right.mean())
    return float(np.mean([right[truth == each].mean() for each in np.unique(truth)]))
