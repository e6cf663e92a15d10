"""Attention with a graph mask in time and memory linear in the number of tokens.

Linear attention replaces ``exp(q · k)`` by ``φ(q) · φ(k)``. The softmax's factor ``exp(λ M)`` is
replaced by its first terms: with ``M = X Yᵀ``, the weights ``φ(q_i) · φ(k_j) (1 + λ M_ij)`` are
products ``(φ(q_i) ⊗ [1, λ X_i]) · (φ(k_j) ⊗ [1, Y_j])``; ``φ(q_i) · φ(k_j) + λ M_ij`` is cheaper.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from grfpp._checks import instance_of, one_of, truth
from grfpp.errors import InputError, shown
from grfpp.torch.attention.masks import FactoredMask
from grfpp.torch.attention.softmax import SelfAttention, check_sizes, checked_strength

FeatureMap = Callable[[Tensor], Tensor]
How = Literal["multiply", "add"]

#: Bytes of a block of products of keys and values that the mask multiplies, 64 MB: bounds the
#: memory beyond that of the result.
_BLOCK_BYTES = 1 << 26


def elu_features(x: Tensor) -> Tensor:
    """``elu(x) + 1``, a positive feature map.

    References
    ----------
    Katharopoulos et al., "Transformers are RNNs: fast autoregressive transformers with linear
    attention", 2020.
    """
    return nn.functional.elu(x) + 1


def linear_masked_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: FactoredMask,
    lam: float | Tensor = 0.5,
    how: How = "multiply",
) -> Tensor:
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
    >>> from grfpp.torch import factored_mask, linear_masked_attention
    >>> mask, rng = factored_mask(grid(4, 4)), torch.Generator().manual_seed(0)
    >>> q, k, v = torch.rand(3, 16, 8, generator=rng)
    >>> weights = (q @ k.T) * (1 + 0.5 * mask.dense())
    >>> explicit = weights @ v / weights.sum(1, keepdim=True)
    >>> bool(torch.allclose(linear_masked_attention(q, k, v, mask), explicit, atol=1e-5))
    True

    References
    ----------
    Katharopoulos et al., "Transformers are RNNs: fast autoregressive transformers with linear
    attention", 2020. Reid et al., "Linear Transformer topological masking with graph random
    features", 2025, multiplies weights by the mask.
    """
    strength = _checked(mask, lam, how)
    check_sizes((mask.n_tokens,), query, key)
    for name, features in (("query", query), ("key", key)):
        if not torch.compiler.is_compiling() and (features < 0).any():
            problem = f"features must not be negative, found {features.min().item():.3g}"
            raise InputError(problem, argument=name, advice="use a feature map such as elu(x) + 1")
    # A column of ones gives the sums of the weights.
    value = torch.cat([value, torch.ones_like(value[..., :1])], dim=-1)
    plain = query @ (key.transpose(-1, -2) @ value)
    masked = mask(value) if how == "add" else _times_mask(query, key, value, mask)
    both = plain + strength * masked
    return both[..., :-1] / both[..., -1:].clamp_min(torch.finfo(both.dtype).tiny)


def _checked(mask: Any, lam: Any, how: Any) -> float | Tensor:
    """Check mask and mode, and ``λ``, which is returned."""
    instance_of(mask, "mask", FactoredMask)
    one_of(how, "how", get_args(How))
    strength = checked_strength(lam)
    if torch.compiler.is_compiling():
        return strength  # there are no values to check
    if not mask.is_nonnegative:
        problem = "must not have negative entries: linear attention divides by sums of weights"
        advice = "use a kernel whose modulation has none, such as 'diffusion'"
        raise InputError(problem, argument="mask", advice=advice)
    if strength < 0:
        raise InputError(f"must not be negative, found {strength:g}", argument="lam")
    return strength


def _times_mask(query: Tensor, key: Tensor, value: Tensor, mask: FactoredMask) -> Tensor:
    """``Σ_j φ(q_i) · φ(k_j) M_ij v_j``, a block of features at a time."""
    n_features = query.shape[-1]
    per_feature = value.numel() * value.element_size()
    width = max(1, min(n_features, _BLOCK_BYTES // max(1, per_feature)))
    if width == n_features:
        return _block(query, key, value, mask)
    total = torch.zeros_like(value)
    for q, k in zip(query.split(width, -1), key.split(width, -1), strict=True):
        # Blocks stored for the backward pass would together take the memory of the whole product.
        total = total + checkpoint(_block, q, k, value, mask, use_reentrant=False)
    return total


def _block(query: Tensor, key: Tensor, value: Tensor, mask: FactoredMask) -> Tensor:
    products = key[..., :, None] * value[..., None, :]
    masked = mask(products.flatten(-2)).unflatten(-1, products.shape[-2:])
    return (query[..., None, :] @ masked).squeeze(-2)


class LinearMaskedAttention(SelfAttention):
    """Multi-head self-attention in linear time and memory, with a graph mask that is never N×N.

    Its weights have the names and shapes of those of ``nn.MultiheadAttention``.

    Parameters
    ----------
    embed_dim, num_heads, bias
        As for ``nn.MultiheadAttention``.
    mask
        ``M`` as `factored_mask` makes it, without negative entries, because weights are divided by
        their sums (diffusion has none).
    lam
        ``λ``, at least 0.
    learn
        Whether ``λ`` is learned; it is then ``lam`` in the state of the module, and its absolute
        value is used.
    how
        ``"multiply"`` for weights ``φ(q) · φ(k) (1 + λ M)``, ``"add"`` for ``φ(q) · φ(k) + λ M``,
        which is cheaper and gives neighbours the same weight whatever their tokens contain.
    feature_map
        ``φ``, applied to queries and keys of each head, without negative values; by default
        ``elu(x) + 1``.

    Examples
    --------
    >>> import torch
    >>> from grfpp.datasets import grid
    >>> from grfpp.torch import LinearMaskedAttention, factored_mask
    >>> attention = LinearMaskedAttention(16, 4, factored_mask(grid(32, 32)))
    >>> attention(torch.ones(2, 1024, 16)).shape
    torch.Size([2, 1024, 16])

    References
    ----------
    Katharopoulos et al., "Transformers are RNNs: fast autoregressive transformers with linear
    attention", 2020. Reid et al., "Linear Transformer topological masking with graph random
    features", 2025.
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
            problem = f"must be a function of a tensor, found {shown(feature_map)}"
            raise InputError(problem, argument="feature_map")
        self.graph_mask = mask
        self.how = how
        self.feature_map = feature_map
        if truth(learn, "learn"):
            self.lam = nn.Parameter(torch.tensor(strength))
        else:
            self.register_buffer("lam", torch.tensor(strength), persistent=False)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        features = self.feature_map(query), self.feature_map(key)
        lam = self.lam.abs().to(value.dtype)
        return linear_masked_attention(*features, value, self.graph_mask, lam, self.how)
