"""PyTorch: learnable kernels, Gaussian processes, attention masks, positional encodings.

Needs the extra ``torch``, and ``gp`` for Gaussian processes. The names here are
imported when they are first used, so that none of them costs the others' packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grfpp._imports import lazy_names, require

if TYPE_CHECKING:
    from grfpp.torch.attention.adapter import AddedMask as AddedMask
    from grfpp.torch.attention.adapter import add_mask as add_mask
    from grfpp.torch.attention.adapter import remove_mask as remove_mask
    from grfpp.torch.attention.linear import LinearMaskedAttention as LinearMaskedAttention
    from grfpp.torch.attention.linear import linear_masked_attention as linear_masked_attention
    from grfpp.torch.attention.masks import FactoredMask as FactoredMask
    from grfpp.torch.attention.masks import factored_mask as factored_mask
    from grfpp.torch.attention.masks import graph_mask as graph_mask
    from grfpp.torch.attention.masks import patch_grid_mask as patch_grid_mask
    from grfpp.torch.attention.softmax import MaskedAttention as MaskedAttention
    from grfpp.torch.attention.softmax import masked_attention as masked_attention
    from grfpp.torch.encodings.exact import AddContrastPE as AddContrastPE
    from grfpp.torch.encodings.exact import AddLandmarkPE as AddLandmarkPE
    from grfpp.torch.encodings.exact import AddProfilePE as AddProfilePE
    from grfpp.torch.encodings.exact import AddReturnPE as AddReturnPE
    from grfpp.torch.encodings.exact import AddSmoothPE as AddSmoothPE
    from grfpp.torch.encodings.projected import AddGRFPE as AddGRFPE
    from grfpp.torch.encodings.projected import grf_pe as grf_pe
    from grfpp.torch.gp.kernels import GRFKernel as GRFKernel
    from grfpp.torch.gp.kernels import NodeKernel as NodeKernel
    from grfpp.torch.gp.node_gp import NodeGP as NodeGP
    from grfpp.torch.gp.node_gp import NodeGPRegressor as NodeGPRegressor
    from grfpp.torch.gp.operators import KernelLinearOperator as KernelLinearOperator
    from grfpp.torch.gp.posterior import posterior_samples as posterior_samples
    from grfpp.torch.kernels.learnable import LearnableKernel as LearnableKernel
    from grfpp.torch.kernels.learnable import LengthFactor as LengthFactor
    from grfpp.torch.kernels.modulation import DiffusionModulation as DiffusionModulation
    from grfpp.torch.kernels.modulation import FreeModulation as FreeModulation
    from grfpp.torch.kernels.modulation import LearnableModulation as LearnableModulation
    from grfpp.torch.kernels.modulation import MLPModulation as MLPModulation
    from grfpp.torch.kernels.modulation import (
        RegularizedLaplacianModulation as RegularizedLaplacianModulation,
    )

require("torch")

_HOMES = {
    "attention.adapter": "AddedMask add_mask remove_mask",
    "attention.linear": "LinearMaskedAttention linear_masked_attention",
    "attention.masks": "FactoredMask factored_mask graph_mask patch_grid_mask",
    "attention.softmax": "MaskedAttention masked_attention",
    "encodings.exact": "AddContrastPE AddLandmarkPE AddProfilePE AddReturnPE AddSmoothPE",
    "encodings.projected": "AddGRFPE grf_pe",
    "gp.kernels": "GRFKernel NodeKernel",
    "gp.node_gp": "NodeGP NodeGPRegressor",
    "gp.operators": "KernelLinearOperator",
    "gp.posterior": "posterior_samples",
    "kernels.learnable": "LearnableKernel LengthFactor",
    "kernels.modulation": (
        "DiffusionModulation FreeModulation LearnableModulation MLPModulation "
        "RegularizedLaplacianModulation"
    ),
}
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
__all__ = sorted(" ".join(_HOMES.values()).split())  # noqa: PLE0605 - from the table
