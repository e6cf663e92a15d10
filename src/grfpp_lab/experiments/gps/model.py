"""A small graph transformer: GPS layers of gated convolutions and Performer attention."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from grfpp.imports.optional import require
from grfpp_lab.experiments.gps.encodings import DIM

require("torch_geometric")

# Below the check, so that a missing package is named.
from torch_geometric.nn import GPSConv, ResGatedGraphConv, global_mean_pool  # noqa: E402 - below the check above


class GraphTransformer(nn.Module):  # type: ignore[misc]  # untyped base
    """Classifies nodes, or whole graphs by the mean of their nodes.

    An encoding, where there is one, takes some of the channels from the features of the nodes, as
    in GraphGPS: all models have the same width, however many numbers an encoding has.

    Parameters
    ----------
    n_inputs, n_outputs
        Features of a node, and what is to be told.
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
