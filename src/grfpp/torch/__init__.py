"""PyTorch: learnable kernels, Gaussian processes, attention masks, positional encodings.

Needs the extra ``torch`` (``pip install 'grfpp[torch]'``), and ``gp`` for Gaussian processes. The
names here are imported when they are first used, so that none of them costs the others' packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from grfpp.optional import require

if TYPE_CHECKING:
    from grfpp.torch.attention.adapter import AddedMask, add_mask, remove_mask
    from grfpp.torch.attention.factored import FactoredMask
    from grfpp.torch.attention.linear import LinearMaskedAttention, linear_masked_attention
    from grfpp.torch.attention.masks import factored_mask, graph_mask, patch_grid_mask
    from grfpp.torch.attention.small_vit import SmallViT
    from grfpp.torch.attention.softmax import MaskedAttention, masked_attention
    from grfpp.torch.encodings.transform import AddGRFPE, grf_pe
    from grfpp.torch.gp.kernel import GRFKernel
    from grfpp.torch.gp.node_gp import NodeGP
    from grfpp.torch.gp.operator import KernelLinearOperator
    from grfpp.torch.gp.pathwise import posterior_samples
    from grfpp.torch.kernels.learnable import LearnableKernel
    from grfpp.torch.kernels.length_factor import LengthFactor
    from grfpp.torch.kernels.modulation import (
        DiffusionModulation,
        FreeModulation,
        LearnableModulation,
        MLPModulation,
        RegularizedLaplacianModulation,
    )

require("torch")

#: Where each name lives.
_HOMES = {
    "AddGRFPE": "encodings.transform",
    "AddedMask": "attention.adapter",
    "DiffusionModulation": "kernels.modulation",
    "FactoredMask": "attention.factored",
    "FreeModulation": "kernels.modulation",
    "GRFKernel": "gp.kernel",
    "KernelLinearOperator": "gp.operator",
    "LearnableKernel": "kernels.learnable",
    "LearnableModulation": "kernels.modulation",
    "LengthFactor": "kernels.length_factor",
    "LinearMaskedAttention": "attention.linear",
    "MLPModulation": "kernels.modulation",
    "MaskedAttention": "attention.softmax",
    "NodeGP": "gp.node_gp",
    "RegularizedLaplacianModulation": "kernels.modulation",
    "SmallViT": "attention.small_vit",
    "add_mask": "attention.adapter",
    "factored_mask": "attention.masks",
    "graph_mask": "attention.masks",
    "grf_pe": "encodings.transform",
    "linear_masked_attention": "attention.linear",
    "masked_attention": "attention.softmax",
    "patch_grid_mask": "attention.masks",
    "posterior_samples": "gp.pathwise",
    "remove_mask": "attention.adapter",
}

__all__ = [
    "AddGRFPE",
    "AddedMask",
    "DiffusionModulation",
    "FactoredMask",
    "FreeModulation",
    "GRFKernel",
    "KernelLinearOperator",
    "LearnableKernel",
    "LearnableModulation",
    "LengthFactor",
    "LinearMaskedAttention",
    "MLPModulation",
    "MaskedAttention",
    "NodeGP",
    "RegularizedLaplacianModulation",
    "SmallViT",
    "add_mask",
    "factored_mask",
    "graph_mask",
    "grf_pe",
    "linear_masked_attention",
    "masked_attention",
    "patch_grid_mask",
    "posterior_samples",
    "remove_mask",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
