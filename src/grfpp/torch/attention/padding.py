"""Masks of several graphs in one batch, padded to as many tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from grfpp.errors import InputError
from grfpp.memory import require_bytes


def is_batch(graphs: Any) -> bool:
    """Whether this is a list of graphs, and not one graph that is held in a list.

    Examples
    --------
    >>> import networkx as nx
    >>> is_batch([nx.path_graph(3), nx.path_graph(5)]), is_batch([[0, 1], [1, 0]])
    (True, False)
    """
    return isinstance(graphs, list) and bool(graphs) and not any(map(_is_part, graphs))


def _is_part(item: Any) -> bool:
    """Whether an item of a list is a row or an edge: a list, a tuple, a number, one dimension."""
    return isinstance(item, list | tuple | int | float) or getattr(item, "ndim", 2) < 2


def padded(masks: Sequence[torch.Tensor]) -> torch.Tensor:
    """Masks of shape ``(n_i, n_i)`` -> one of shape ``(len(masks), n, n)``.

    Tokens beyond those of a graph are padding. Their columns are minus infinity: nothing attends to
    them, whatever ``λ`` is. Their rows are zero otherwise, so that softmax gives numbers there, to
    be thrown away.

    Examples
    --------
    >>> padded([torch.ones(1, 1), torch.ones(2, 2)])
    tensor([[[1., -inf],
             [0., -inf]],
            [[1., 1.],
             [1., 1.]]])
    """
    n = max(mask.shape[0] for mask in masks)
    size = len(masks) * n * n * masks[0].element_size()
    require_bytes(size, f"masks of {len(masks)} graphs for {n} tokens each")
    batch = masks[0].new_zeros(len(masks), n, n)
    for place, mask in zip(batch, masks, strict=True):
        own = mask.shape[0]
        place[:own, :own] = mask
        place[:, own:] = float("-inf")
    return batch


def beside(bias: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    """``λ M`` in the shape that goes with queries of shape ``(batch, …, n_tokens, d)``."""
    if bias.ndim == 2:
        return bias
    check_batch(bias, query.shape[0] if query.ndim > 2 else None)
    return bias.reshape(len(bias), *[1] * (query.ndim - 3), *bias.shape[1:])


def check_batch(bias: torch.Tensor, n_sequences: int | None) -> None:
    """Refuse other numbers of sequences than a batch of masks has."""
    if n_sequences != len(bias):
        found = "a single one" if n_sequences is None else str(n_sequences)
        raise InputError(
            f"this mask is for a batch of {len(bias)} graphs, in their order, but attention was "
            f"asked for in a batch of {found}"
        )
