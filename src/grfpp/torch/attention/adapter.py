"""Put a graph mask into a model that is there already, and take it out again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from grfpp.errors import InputError
from grfpp.torch.attention.mask_bias import MaskBias, check_mask
from grfpp.torch.attention.merging import MASK, merged_arguments, merged_or_refused

#: The attribute of a module that tells what was done to it.
_CHANGES = "_graph_mask_changes"
#: Modules that stand for the one inside, and where that is.
_WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel)


def add_mask(
    module: nn.Module, mask: torch.Tensor, lam: float = 0.5, learn: bool = False
) -> AddedMask:
    """Make all self-attention of a model ``softmax(Q Kᵀ / √d + λ M) V``, from now on.

    The model keeps its weights and their names: what was saved before can be loaded afterwards,
    and the other way round unless ``λ`` is learned. The mask moves with the model
    (``model.to(…)``) and is copied with it; `remove_mask` takes it out of a copy too.

    Every ``nn.MultiheadAttention`` in the model gets the mask where it is called with one tensor as
    queries and keys, as in ``nn.TransformerEncoder`` and torchvision's vision transformers. So do
    calls of ``torch.nn.functional.scaled_dot_product_attention`` from as many tokens as the mask
    has to as many, as in timm's and in transformers'. Attention from some tokens to others, such as
    that of a decoder to its memory or of a pooling head, is left alone; among fused calls it is
    told by the numbers of queries and keys. A model in which the mask meets no self-attention
    raises an error when it runs, and so does an ``nn.MultiheadAttention`` among another number of
    tokens.

    Gradient checkpointing of modules is exact; a function that is checkpointed and calls
    ``scaled_dot_product_attention`` itself, outside any module, is run again without the mask. Mask
    a model first and compile it then: what was compiled before is compiled anew.

    Parameters
    ----------
    module
        A model, a layer of it, or an ``nn.MultiheadAttention``.
    mask
        ``M``, one row and one column a token, as `graph_mask` and `patch_grid_mask` make it. For a
        batch of different graphs, `graph_mask` of their list; ``added.mask = …`` for the next one.
    lam
        ``λ``, the paper's 0.5.
    learn
        Whether ``λ`` is learned: one number for the whole model. It is the only thing that is
        added to the state, as ``graph_mask.lam`` of each ``nn.MultiheadAttention``, or of the model
        where there is none. States without it load, and leave ``λ`` as it is; a state with it loads
        where ``λ`` is learned, and elsewhere with ``strict=False``. Make the optimiser afterwards.

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
    >>> added
    AddedMask(TransformerEncoderLayer, n_tokens=9, lam=0.5, learned=False)
    >>> layer(torch.ones(2, 9, 16)).shape
    torch.Size([2, 9, 16])
    >>> added.remove()
    """
    model = _checked(module, "add_mask")
    for each in model.modules():
        if _CHANGES in vars(each):
            raise InputError(
                "this model has a mask already, or is part of one that has; take that one out "
                "first, with remove_mask(model)"
            )
        if isinstance(getattr(each, MASK, None), MaskBias):
            raise InputError(f"this model has a mask already, in its {type(each).__name__}")
    check_mask(mask)
    bias = MaskBias(mask, lam, learn)
    weight = next(model.parameters(), None)
    if weight is not None:
        bias.to(weight.device)
    attentions = [each for each in model.modules() if isinstance(each, nn.MultiheadAttention)]
    custom = list(_custom_modules(model, attentions))
    if not attentions and not custom:
        raise InputError(
            f"there is no attention in this {type(model).__name__}: neither "
            "nn.MultiheadAttention, nor a module that could call scaled_dot_product_attention"
        )
    if custom:
        # Here, because it takes seconds: it imports torch's compiler.
        from grfpp.torch.attention.fused_calls import Masker

        masker = Masker(bias)
        for attention in attentions:
            _hook(attention, bias, masker.merge, masker.end, with_kwargs=True)
        for each in custom:
            if each is not model:
                _hook(each, bias, masker.begin, masker.end)
        _hook(model, bias, masker.begin, masker.finish)
    else:
        for attention in attentions:
            merge = merged_or_refused if attention is model else merged_arguments
            _hook(attention, bias, merge, with_kwargs=True)
    for place in attentions or _outermost(custom):
        place.add_module(MASK, bias)
        _changes(place, bias).holds_mask = True
    _block_shortcuts(model, bias)
    _forget_compiled()
    return AddedMask(model, bias)


def remove_mask(module: nn.Module) -> None:
    """Take out the mask that `add_mask` has put into a model, or into what this is a copy of.

    Parameters
    ----------
    module
        The whole model that the mask was added to, a copy of it, or one that was saved and loaded.

    Examples
    --------
    >>> import copy, torch
    >>> from grfpp.torch import add_mask, patch_grid_mask, remove_mask
    >>> layer = torch.nn.TransformerEncoderLayer(16, 4, batch_first=True)
    >>> added = add_mask(layer, patch_grid_mask(3, 3))
    >>> twin = copy.deepcopy(layer)
    >>> remove_mask(twin)
    >>> twin(torch.ones(2, 5, 16)).shape                        # any number of tokens
    torch.Size([2, 5, 16])
    """
    if not _undo(_checked(module, "remove_mask"), None):
        raise InputError("add_mask has put no mask into this model")


@dataclass(repr=False)
class AddedMask:
    """A mask in a model: made by `add_mask`.

    Attributes
    ----------
    model
        The model that has it.
    bias
        Holds the mask and ``λ``.
    """

    model: nn.Module
    bias: MaskBias

    def __repr__(self) -> str:
        return f"AddedMask({type(self.model).__name__}, {self.bias.extra_repr()})"

    @property
    def mask(self) -> torch.Tensor:
        """``M``, which may be exchanged for another, as for every batch of other graphs."""
        return self.bias.mask

    @mask.setter
    def mask(self, mask: torch.Tensor) -> None:
        self.bias.exchange(mask)

    @property
    def lam(self) -> float:
        """``λ`` as it is now."""
        return float(self.bias.lam.detach())

    def remove(self) -> None:
        """Make the model what it was."""
        _undo(self.model, self.bias)


@dataclass
class _Changes:
    """What was done to a module. It is kept there, so that copies know too."""

    bias: MaskBias
    handles: list[Any] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    holds_mask: bool = False


def _changes(module: nn.Module, bias: MaskBias) -> _Changes:
    changes: _Changes = vars(module).setdefault(_CHANGES, _Changes(bias))
    return changes


def _hook(
    module: nn.Module, bias: MaskBias, before: Any, after: Any = None, with_kwargs: bool = False
) -> None:
    handles = _changes(module, bias).handles
    handles.append(module.register_forward_pre_hook(before, with_kwargs=with_kwargs))
    if after is not None:
        handles.append(module.register_forward_hook(after, always_call=True))


def _undo(model: nn.Module, bias: MaskBias | None) -> int:
    """Undo changes for one mask, or for all; how many modules had some."""
    n_changed = 0
    for each in list(model.modules()):
        changes: _Changes | None = vars(each).get(_CHANGES)
        if changes is None or (bias is not None and changes.bias is not bias):
            continue
        for handle in changes.handles:
            handle.remove()
        for name, value in changes.settings.items():
            setattr(each, name, value)
        if changes.holds_mask:
            delattr(each, MASK)
        delattr(each, _CHANGES)
        n_changed += 1
    if n_changed:
        _forget_compiled()
    return n_changed


def _checked(module: Any, name: str) -> nn.Module:
    """A model, without what only stands for it."""
    if not isinstance(module, nn.Module):
        raise InputError(f"{name} needs a torch module, not a {type(module).__name__}")
    while True:
        children = dict(module.named_children())
        if isinstance(module, _WRAPPERS):
            module = children["module"]
        elif "_orig_mod" in children:  # torch.compile
            module = children["_orig_mod"]
        else:
            return module


def _custom_modules(
    model: nn.Module, attentions: list[nn.MultiheadAttention]
) -> Iterator[nn.Module]:
    """Modules that may call fused attention themselves; those of torch.nn do not."""
    inside = {id(part) for attention in attentions for part in attention.modules()}
    for each in model.modules():
        of_torch = type(each).__module__.startswith("torch.nn.")
        stands_for_another = "_orig_mod" in dict(each.named_children())
        scripted = isinstance(each, torch.jit.ScriptModule)
        if not (of_torch or stands_for_another or scripted or id(each) in inside):
            yield each


def _outermost(custom: list[nn.Module]) -> list[nn.Module]:
    """Those that are in none of the others: containers of torch have no room for a mask."""
    inner = {id(part) for each in custom for part in each.modules() if part is not each}
    return [each for each in custom if id(each) not in inner]


def _block_shortcuts(model: nn.Module, bias: MaskBias) -> None:
    """Keep encoders from ways of evaluation that do not call their attention.

    Torch 2.5 and later see that there are hooks; before, this setting is what holds layers back.
    Nested tensors, which encoders make of padded sequences, take no masks in any version.
    """
    for each in model.modules():
        if isinstance(each, nn.TransformerEncoderLayer):
            name, value = "activation_relu_or_gelu", 0
        elif isinstance(each, nn.TransformerEncoder):
            name, value = "use_nested_tensor", False
        else:
            continue
        _changes(each, bias).settings[name] = getattr(each, name)
        setattr(each, name, value)


def _forget_compiled() -> None:
    """Compiled code does not look for hooks that came or went since."""
    if "torch._dynamo" in sys.modules:
        torch.compiler.reset()
