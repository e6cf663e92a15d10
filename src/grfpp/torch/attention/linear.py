"""Attention whose time and memory grow linearly with the number of tokens, with a graph mask.

Linear attention replaces ``exp(q · k)`` by ``φ(q) · φ(k)`` with a positive feature map ``φ``, so
that the sums over keys are made once for all queries. The softmax of the paper turns the mask into
a factor ``exp(λ M)`` on each weight, which no sum of products of features gives. Its first terms
do: ``1 + λ M``. With ``M = X Yᵀ`` the weight of a pair is

    φ(q_i) · φ(k_j) (1 + λ M_ij) = (φ(q_i) ⊗ [1, λ X_i]) · (φ(k_j) ⊗ [1, Y_j]),

a product of queries and keys into which the features of the graph are folded. The alternative

    φ(q_i) · φ(k_j) + λ M_ij = [φ(q_i), λ X_i] · [φ(k_j), Y_j]

gives neighbours the same weight whatever they hold, and is cheaper. In both, the features stay
sparse factors: what is computed is ``M`` times a tall matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from grfpp.arguments import one_of
from grfpp.errors import InputError, shown
from grfpp.torch.attention.factored import FactoredMask
from grfpp.torch.attention.mask_bias import check_tokens, checked_strength
from grfpp.torch.attention.self_attention import SelfAttention, check_heads

FeatureMap = Callable[[torch.Tensor], torch.Tensor]
How = Literal["multiply", "add"]

#: Room for the products of keys and values that are carried through the mask at a time.
_BLOCK_BYTES = 1 << 26


def elu_features(x: torch.Tensor) -> torch.Tensor:
    """``elu(x) + 1``, the usual positive feature map (Katharopoulos et al. 2020)."""
    return nn.functional.elu(x) + 1


def linear_masked_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: FactoredMask,
    lam: float | torch.Tensor = 0.5,
    how: How = "multiply",
) -> torch.Tensor:
    """Values averaged with the weights ``φ(q) · φ(k) (1 + λ M)``, or ``φ(q) · φ(k) + λ M``.

    Parameters
    ----------
    query, key
        Features ``φ(q)`` and ``φ(k)`` of shape ``(…, n_tokens, m)``, not negative.
    value
        Of shape ``(…, n_tokens, d)``.
    mask
        ``M``, not negative.
    lam
        ``λ``, not negative.
    how
        ``"multiply"`` or ``"add"``.

    Examples
    --------
    >>> import torch
    >>> from grfpp.datasets import grid
    >>> from grfpp.torch.attention.masks import factored_mask
    >>> mask, rng = factored_mask(grid(4, 4)), torch.Generator().manual_seed(0)
    >>> q, k, v = torch.rand(3, 16, 8, generator=rng)
    >>> weights = (q @ k.T) * (1 + 0.5 * mask.dense())
    >>> explicit = weights @ v / weights.sum(1, keepdim=True)
    >>> bool(torch.allclose(linear_masked_attention(q, k, v, mask), explicit, atol=1e-5))
    True
    """
    strength = _checked(mask, lam, how)
    check_heads(query, key, value)
    check_tokens(mask.n_tokens, query.shape[-2], key.shape[-2])
    return _mixed(query, key, value, mask, strength, how)


def _checked(mask: Any, lam: Any, how: Any) -> float | torch.Tensor:
    """Take at the door what makes a graph part of the weights; gives ``λ``."""
    if not isinstance(mask, FactoredMask):
        raise InputError(
            f"mask must be a FactoredMask, as factored_mask makes it, not a "
            f"{type(mask).__name__}; dense masks are for masked_attention and MaskedAttention"
        )
    one_of(how, "how", get_args(How))
    strength = checked_strength(lam)
    if torch.compiler.is_compiling():
        return strength  # there are no values to look at
    if not mask.is_nonnegative:
        raise InputError(
            "linear attention divides by the sums of its weights, so the mask must not have "
            "negative entries; use a kernel whose modulation has none, such as 'diffusion'"
        )
    if strength < 0:
        raise InputError(f"lam must not be negative in linear attention, found {strength:g}")
    return strength


def _mixed(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: FactoredMask,
    lam: float | torch.Tensor,
    how: How,
) -> torch.Tensor:
    """`linear_masked_attention` of what has been checked, but for signs."""
    for name, features in (("queries", query), ("keys", key)):
        if not torch.compiler.is_compiling() and (features < 0).any():
            raise InputError(
                f"features of {name} must not be negative in linear attention, found "
                f"{features.min().item():.3g}; use a feature map such as elu(x) + 1"
            )
    # The sums of the weights come out as one more value that is 1 everywhere.
    value = torch.cat([value, torch.ones_like(value[..., :1])], dim=-1)
    plain = query @ (key.transpose(-1, -2) @ value)
    masked = mask(value) if how == "add" else _times_mask(query, key, value, mask)
    both = plain + lam * masked
    return both[..., :-1] / both[..., -1:].clamp_min(torch.finfo(both.dtype).tiny)


def _times_mask(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: FactoredMask
) -> torch.Tensor:
    """``Σ_j φ(q_i) · φ(k_j) M_ij v_j``, some of the features at a time."""
    n_features = query.shape[-1]
    per_feature = value.numel() * value.element_size()
    width = max(1, min(n_features, _BLOCK_BYTES // max(1, per_feature)))
    if width == n_features:
        return _block(query, key, value, mask)
    total = torch.zeros_like(value)
    for first in range(0, n_features, width):
        part = slice(first, first + width)
        # Kept for the way back, the blocks would take as much room as all features at once.
        total = total + checkpoint(
            _block, query[..., part], key[..., part], value, mask, use_reentrant=False
        )
    return total


def _block(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: FactoredMask
) -> torch.Tensor:
    products = key[..., :, None] * value[..., None, :]
    carried = mask(products.flatten(-2)).unflatten(-1, products.shape[-2:])
    return (query[..., None, :] @ carried).squeeze(-2)


class LinearMaskedAttention(SelfAttention):
    """Multi-head self-attention in linear time and memory, with a graph mask that is never N×N.

    Its weights have the names and shapes of those of ``nn.MultiheadAttention``.

    Parameters
    ----------
    embed_dim, num_heads, bias
        As for ``nn.MultiheadAttention``.
    mask
        ``M`` as `factored_mask` makes it; its entries must not be negative, because weights are
        divided by their sums (those of diffusion are not).
    lam
        ``λ``, at least 0.
    learn
        Whether ``λ`` is learned; it is then ``lam`` in the state of the module, and counts without
        its sign.
    how
        ``"multiply"`` for weights ``φ(q) · φ(k) (1 + λ M)``, ``"add"`` for ``φ(q) · φ(k) + λ M``;
        the second is cheaper and lets the graph speak whatever tokens hold.
    feature_map
        ``φ``, applied to queries and keys of each head; it must not give negative numbers.
        ``elu(x) + 1`` unless told otherwise.

    Examples
    --------
    >>> import torch
    >>> from grfpp.datasets import grid
    >>> from grfpp.torch import LinearMaskedAttention
    >>> from grfpp.torch.attention.masks import factored_mask
    >>> attention = LinearMaskedAttention(16, 4, factored_mask(grid(32, 32)))
    >>> attention(torch.ones(2, 1024, 16)).shape
    torch.Size([2, 1024, 16])
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        mask: FactoredMask,
        lam: float = 0.5,
        *,
        learn: bool = False,
        how: How = "multiply",
        feature_map: FeatureMap = elu_features,
        bias: bool = True,
    ) -> None:
        super().__init__(embed_dim, num_heads, bias)
        strength = float(_checked(mask, lam, how))
        if not callable(feature_map):
            raise InputError(
                f"feature_map must be a function of a tensor, found {shown(feature_map)}"
            )
        self.graph_mask = mask
        self.how = how
        self.feature_map = feature_map
        if learn:
            self.lam = nn.Parameter(torch.tensor(strength))
        else:
            self.register_buffer("lam", torch.tensor(strength), persistent=False)

    def _attend(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        check_tokens(self.graph_mask.n_tokens, query.shape[-2], key.shape[-2])
        features = self.feature_map(query), self.feature_map(key)
        lam = self.lam.abs().to(value.dtype)
        return _mixed(*features, value, self.graph_mask, lam, self.how)
