"""PyTorch: learnable kernels, Gaussian processes, attention masks, positional encodings.

Needs the extra ``torch`` (``pip install 'grfpp[torch]'``), and ``gp`` for Gaussian processes. The
names here are imported when they are first used, so that none of them costs the others' packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grfpp.lazy import lazy_names
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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "attention.adapter": "AddedMask add_mask remove_mask",
        "attention.factored": "FactoredMask",
        "attention.linear": "LinearMaskedAttention linear_masked_attention",
        "attention.masks": "factored_mask graph_mask patch_grid_mask",
        "attention.small_vit": "SmallViT",
        "attention.softmax": "MaskedAttention masked_attention",
        "encodings.transform": "AddGRFPE grf_pe",
        "gp.kernel": "GRFKernel",
        "gp.node_gp": "NodeGP",
        "gp.operator": "KernelLinearOperator",
        "gp.pathwise": "posterior_samples",
        "kernels.learnable": "LearnableKernel",
        "kernels.length_factor": "LengthFactor",
        "kernels.modulation": (
            "DiffusionModulation FreeModulation LearnableModulation MLPModulation "
            "RegularizedLaplacianModulation"
        ),
    },
)

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
