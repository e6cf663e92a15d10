"""PyTorch: learnable kernels, Gaussian processes, attention masks, positional encodings.

Needs the extra ``torch`` (``pip install 'grfpp[torch]'``), and ``gp`` for Gaussian processes. The
names here are imported when they are first used, so that none of them costs the others' packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from grfpp.torch.optional import require

if TYPE_CHECKING:
    from grfpp.torch.adapter import AddedMask, add_mask, remove_mask
    from grfpp.torch.attention import MaskedAttention, masked_attention
    from grfpp.torch.encodings import AddGRFPE, grf_pe
    from grfpp.torch.factored import FactoredMask
    from grfpp.torch.gp import GRFKernel
    from grfpp.torch.kernel import LearnableKernel
    from grfpp.torch.length_factor import LengthFactor
    from grfpp.torch.linear_attention import LinearMaskedAttention, linear_masked_attention
    from grfpp.torch.masks import factored_mask, graph_mask, patch_grid_mask
    from grfpp.torch.modulation import (
        DiffusionModulation,
        FreeModulation,
        LearnableModulation,
        MLPModulation,
        RegularizedLaplacianModulation,
    )
    from grfpp.torch.node_gp import NodeGP
    from grfpp.torch.operator import KernelLinearOperator
    from grfpp.torch.pathwise import posterior_samples

require("torch")

#: Where each name lives.
_HOMES = {
    "AddGRFPE": "encodings",
    "AddedMask": "adapter",
    "DiffusionModulation": "modulation",
    "FactoredMask": "factored",
    "FreeModulation": "modulation",
    "GRFKernel": "gp",
    "KernelLinearOperator": "operator",
    "LearnableKernel": "kernel",
    "LearnableModulation": "modulation",
    "LengthFactor": "length_factor",
    "LinearMaskedAttention": "linear_attention",
    "MLPModulation": "modulation",
    "MaskedAttention": "attention",
    "NodeGP": "node_gp",
    "RegularizedLaplacianModulation": "modulation",
    "add_mask": "adapter",
    "factored_mask": "masks",
    "graph_mask": "masks",
    "grf_pe": "encodings",
    "linear_masked_attention": "linear_attention",
    "masked_attention": "attention",
    "patch_grid_mask": "masks",
    "posterior_samples": "pathwise",
    "remove_mask": "adapter",
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
