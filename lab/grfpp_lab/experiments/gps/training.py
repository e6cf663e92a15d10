"""The graph transformer GPS and its training. Needs torch; imported by processes that train."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from grfpp._imports import require
from grfpp_lab.experiments.gps.data import Metric, Task
from grfpp_lab.experiments.gps.encodings import DIM
from grfpp_lab.experiments.training import learning_rate, repeatable

require("torch_geometric")

# Below the check, so that a missing package is named.
from torch_geometric.loader import DataLoader  # noqa: E402
from torch_geometric.nn import GPSConv, ResGatedGraphConv, global_mean_pool  # noqa: E402


class GraphTransformer(nn.Module):  # type: ignore[misc]  # untyped base
    """Classifies nodes, or whole graphs by the mean of their nodes.

    An encoding, where there is one, takes some of the channels from the features of the nodes, as
    in GraphGPS: all models have the same width, however many numbers an encoding has.

    Parameters
    ----------
    n_inputs, n_outputs
        Number of features of a node, and of outputs.
    channels, n_layers, n_heads
        Width and depth.
    pe_dim
        Numbers of an encoding a node; 0 for none. A linear map brings them to `DIM` channels.
    of_nodes
        Whether nodes are classified.
    """

    def __init__(
        self,
        n_inputs: int,
        n_outputs: int,
        *,
        channels: int,
        n_layers: int,
        n_heads: int,
        pe_dim: int,
        of_nodes: bool,
    ) -> None:
        super().__init__()
        self.of_nodes = of_nodes
        # What all models have comes first, so that one seed gives them the same first weights.
        self.layers = nn.ModuleList(
            GPSConv(
                channels,
                ResGatedGraphConv(channels, channels),
                heads=n_heads,
                attn_type="performer",
                attn_kwargs={"head_channels": channels // n_heads},
            )
            for _ in range(n_layers)
        )
        self.head = nn.Sequential(
            nn.Linear(channels, channels), nn.ReLU(), nn.Linear(channels, n_outputs)
        )
        self.features = nn.Linear(n_inputs, channels - (DIM if pe_dim else 0))
        self.encoding = (
            nn.Sequential(nn.BatchNorm1d(pe_dim), nn.Linear(pe_dim, DIM)) if pe_dim else None
        )

    def forward(self, data: Any, pe: Tensor | None) -> Tensor:
        """Scores of all nodes or graphs of a batch."""
        x = self.features(data.x)
        if self.encoding is not None:
            x = torch.cat([x, self.encoding(pe)], dim=-1)
        for layer in self.layers:
            x = layer(x, data.edge_index, data.batch)
        return self.head(x if self.of_nodes else global_mean_pool(x, data.batch))


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
