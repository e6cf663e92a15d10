"""PyTorch: learnable kernels, Gaussian processes, attention masks, positional encodings.

Needs the extra ``torch``, and ``gp`` for Gaussian processes. The names here are
imported when they are first used, so that none of them costs the others' packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grfpp.imports.lazy import lazy_names
from grfpp.imports.optional import require

if TYPE_CHECKING:
    from grfpp.torch.attention.adapter import AddedMask as AddedMask
    from grfpp.torch.attention.adapter import add_mask as add_mask
    from grfpp.torch.attention.adapter import remove_mask as remove_mask
    from grfpp.torch.attention.factored import FactoredMask as FactoredMask
    from grfpp.torch.attention.linear import LinearMaskedAttention as LinearMaskedAttention
    from grfpp.torch.attention.linear import linear_masked_attention as linear_masked_attention
    from grfpp.torch.attention.masks import factored_mask as factored_mask
    from grfpp.torch.attention.masks import graph_mask as graph_mask
    from grfpp.torch.attention.masks import patch_grid_mask as patch_grid_mask
    from grfpp.torch.attention.small_vit import SmallViT as SmallViT
    from grfpp.torch.attention.softmax import MaskedAttention as MaskedAttention
    from grfpp.torch.attention.softmax import masked_attention as masked_attention
    from grfpp.torch.encodings.add_contrast_pe import AddContrastPE as AddContrastPE
    from grfpp.torch.encodings.add_landmark_pe import AddLandmarkPE as AddLandmarkPE
    from grfpp.torch.encodings.add_profile_pe import AddProfilePE as AddProfilePE
    from grfpp.torch.encodings.add_return_pe import AddReturnPE as AddReturnPE
    from grfpp.torch.encodings.add_smooth_pe import AddSmoothPE as AddSmoothPE
    from grfpp.torch.encodings.transform import AddGRFPE as AddGRFPE
    from grfpp.torch.encodings.transform import grf_pe as grf_pe
    from grfpp.torch.gp.kernel import GRFKernel as GRFKernel
    from grfpp.torch.gp.node_gp import NodeGP as NodeGP
    from grfpp.torch.gp.node_kernel import NodeKernel as NodeKernel
    from grfpp.torch.gp.operator import KernelLinearOperator as KernelLinearOperator
    from grfpp.torch.gp.pathwise import posterior_samples as posterior_samples
    from grfpp.torch.gp.regressor import NodeGPRegressor as NodeGPRegressor
    from grfpp.torch.kernels.learnable import LearnableKernel as LearnableKernel
    from grfpp.torch.kernels.length_factor import LengthFactor as LengthFactor
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
    "attention.factored": "FactoredMask",
    "attention.linear": "LinearMaskedAttention linear_masked_attention",
    "attention.masks": "factored_mask graph_mask patch_grid_mask",
    "attention.small_vit": "SmallViT",
    "attention.softmax": "MaskedAttention masked_attention",
    "encodings.add_contrast_pe": "AddContrastPE",
    "encodings.add_landmark_pe": "AddLandmarkPE",
    "encodings.add_profile_pe": "AddProfilePE",
    "encodings.add_return_pe": "AddReturnPE",
    "encodings.add_smooth_pe": "AddSmoothPE",
    "encodings.transform": "AddGRFPE grf_pe",
    "gp.kernel": "GRFKernel",
    "gp.node_gp": "NodeGP",
    "gp.node_kernel": "NodeKernel",
    "gp.operator": "KernelLinearOperator",
    "gp.pathwise": "posterior_samples",
    "gp.regressor": "NodeGPRegressor",
    "kernels.learnable": "LearnableKernel",
    "kernels.length_factor": "LengthFactor",
    "kernels.modulation": (
        "DiffusionModulation FreeModulation LearnableModulation MLPModulation "
        "RegularizedLaplacianModulation"
    ),
}
__getattr__, __dir__ = lazy_names(__name__, _HOMES)
__all__ = sorted(" ".join(_HOMES.values()).split())  # noqa: PLE0605 - told by the table
