"""Put a graph mask into a model that is there already, and take it out again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from grfpp.errors import InputError
from grfpp.torch.fused_calls import begin_masking, end_masking
from grfpp.torch.mask_bias import MaskBias
from grfpp.torch.merging import MASK, merged_arguments

_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)


def add_mask(
    module: nn.Module, mask: torch.Tensor, lam: float = 0.5, learn: bool = False
) -> AddedMask:
    """Make all self-attention of a model ``softmax(Q Kᵀ / √d + λ M) V``, from now on.

    The model keeps its weights and their names: what was saved before can be loaded afterwards,
    and the other way round. The mask moves with the model (``model.to(…)``) and is copied with it.

    Every ``nn.MultiheadAttention`` in the model gets the mask, as in ``nn.TransformerEncoder`` and
    torchvision's vision transformers. Where there is none, calls of
    ``torch.nn.functional.scaled_dot_product_attention`` from as many tokens as the mask has to as
    many get it while the model runs, as in timm's and in transformers'; a model that turns out to
    make no such call raises an error.

    Parameters
    ----------
    module
        A model, a layer of it, or an ``nn.MultiheadAttention``.
    mask
        ``M``, one row and one column a token, as `graph_mask` and `patch_grid_mask` make it.
    lam
        ``λ``, the paper's 0.5.
    learn
        Whether ``λ`` is learned: one number for the whole model. It is the only thing that is
        added to the state, as ``graph_mask.lam`` of each attention. Make the optimiser afterwards.

    Returns
    -------
    AddedMask
        To look at ``λ`` and to take the mask out again.

    Examples
    --------
    >>> import torch
    >>> from grfpp.torch import add_mask, patch_grid_mask
    >>> layer = torch.nn.TransformerEncoderLayer(16, 4, batch_first=True)
    >>> names = list(layer.state_dict())
    >>> added = add_mask(layer, patch_grid_mask(3, 3))
    >>> list(layer.state_dict()) == names, added.lam
    (True, 0.5)
    >>> layer(torch.ones(2, 9, 16)).shape
    torch.Size([2, 9, 16])
    >>> added.remove()
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"add_mask needs a torch module, not a {type(module).__name__}")
    if any(isinstance(getattr(each, MASK, None), MaskBias) for each in module.modules()):
        raise InputError("this model has a mask already; remove() that one first")
    bias = MaskBias(mask, lam, learn)
    weight = next(module.parameters(), None)
    if weight is not None:
        bias.to(weight.device)
    attentions = [each for each in module.modules() if isinstance(each, nn.MultiheadAttention)]
    added = AddedMask(bias)
    if attentions:
        for attention in attentions:
            attention.add_module(MASK, bias)
            added.places.append(attention)
            added.handles.append(
                attention.register_forward_pre_hook(merged_arguments, with_kwargs=True)
            )
        added.settings = _without_shortcuts(module)
        return added
    if isinstance(module, _CONTAINERS):
        raise InputError(
            f"there is no nn.MultiheadAttention in this {type(module).__name__}, and a container "
            "has no room for a mask of its own; add it to the model around it"
        )
    module.add_module(MASK, bias)
    added.places.append(module)
    added.handles += [
        module.register_forward_pre_hook(begin_masking),
        module.register_forward_hook(end_masking, always_call=True),
    ]
    return added


@dataclass
class AddedMask:
    """A mask in a model: made by `add_mask`.

    Attributes
    ----------
    bias
        Holds the mask and ``λ``.
    places
        The modules that have it.
    handles
        What torch gave for its hooks.
    settings
        What else was changed: module, name, and the value of before.
    """

    bias: MaskBias
    places: list[nn.Module] = field(default_factory=list)
    handles: list[Any] = field(default_factory=list)
    settings: list[tuple[nn.Module, str, Any]] = field(default_factory=list)

    @property
    def lam(self) -> float:
        """``λ`` as it is now."""
        return float(self.bias.lam.detach())

    def remove(self) -> None:
        """Make the model what it was."""
        for handle in self.handles:
            handle.remove()
        for place in self.places:
            if MASK in dict(place.named_children()):
                delattr(place, MASK)
        for module, name, value in self.settings:
            setattr(module, name, value)
        self.handles, self.places, self.settings = [], [], []


def _without_shortcuts(model: nn.Module) -> list[tuple[nn.Module, str, Any]]:
    """Keep encoders from ways of evaluation that do not call their attention.

    Torch 2.5 and later see that there are hooks; before, this setting is what holds layers back.
    Nested tensors, which encoders make of padded sequences, take no masks in any version.
    """
    settings = []
    for each in model.modules():
        if isinstance(each, nn.TransformerEncoderLayer):
            settings.append((each, "activation_relu_or_gelu", each.activation_relu_or_gelu))
            each.activation_relu_or_gelu = 0
        elif isinstance(each, nn.TransformerEncoder):
            settings.append((each, "use_nested_tensor", each.use_nested_tensor))
            each.use_nested_tensor = False
    return settings
