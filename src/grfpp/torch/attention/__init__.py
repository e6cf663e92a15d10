"""Attention masks from graph kernels."""

from grfpp.imports.lazy import lazy_names

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "adapter": "AddedMask add_mask remove_mask",
        "factored": "FactoredMask",
        "linear": "LinearMaskedAttention linear_masked_attention",
        "masks": "factored_mask graph_mask patch_grid_mask",
        "softmax": "MaskedAttention masked_attention",
    },
)
