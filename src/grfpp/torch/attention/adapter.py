"""Put a graph mask into an existing model, and take it out again."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from grfpp._checks import instance_of
from grfpp.errors import InputError
from grfpp.torch.attention.softmax import MaskBias, check_mask, check_sizes, merged

#: Name of the submodule that holds a mask.
_MASK = "graph_mask"
#: Name of the attribute that records the changes of a module.
_CHANGES = "_graph_mask_changes"
#: Parameters of the ``forward`` of ``nn.MultiheadAttention``, in their order.
_ARGUMENTS = (
    *("query", "key", "value", "key_padding_mask", "need_weights", "attn_mask"),
    *("average_attn_weights", "is_causal"),
)
#: Attributes that keep encoders from fast paths of evaluation, which do not call their attention;
#: nested tensors take no masks.
_WITHOUT_FAST_PATH = {
    nn.TransformerEncoderLayer: ("activation_relu_or_gelu", 0),
    nn.TransformerEncoder: ("use_nested_tensor", False),
}


def add_mask(module: nn.Module, mask: Tensor, lam: float = 0.5, learn: bool = False) -> AddedMask:
    """Make all self-attention of a model ``softmax(Q Kᵀ / √d + λ M) V``.

    The model keeps its weights and their names: states from before load afterwards, and the other
    way round unless ``λ`` is learned. The mask moves with the model (``model.to(…)``) and is copied
    with it; `remove_mask` takes it out of a copy too.

    Parameters
    ----------
    module
        A model, a layer of it, or an ``nn.MultiheadAttention``.
    mask
        ``M``, one row and one column per token, as `graph_mask` and `patch_grid_mask` make it. For
        a batch of different graphs, `graph_mask` of their list; ``added.mask = …`` for the next.
    lam
        ``λ``, the paper's 0.5.
    learn
        Whether ``λ`` is learned: one number for the whole model, which is added to the state as
        ``graph_mask.lam`` of each ``nn.MultiheadAttention``, or of the model where there is none.
        States without it load, and leave ``λ`` unchanged; a state with it loads where ``λ`` is
        learned, and elsewhere with ``strict=False``. Create the optimiser afterwards.

    Returns
    -------
    AddedMask
        Shows ``λ``, exchanges the mask, and removes it.

    Notes
    -----
    A pre-forward hook adds the mask to every ``nn.MultiheadAttention`` that is called with one
    tensor as queries and keys, as in ``nn.TransformerEncoder`` and torchvision's vision
    transformers; another number of tokens than the mask's is an error. Modules that are not
    torch's own may call ``torch.nn.functional.scaled_dot_product_attention`` themselves, as those
    of timm and transformers do: their ``forward`` is replaced by one that runs within a
    ``TorchFunctionMode``, which adds the mask to calls with as many queries and keys as it has
    tokens. Other attention, such as that of a decoder to its memory or of a pooling head, is not
    changed. A model whose self-attention never has the mask's number of tokens raises an error.

    Gradient checkpointing of modules is exact; a checkpointed function that calls
    ``scaled_dot_product_attention`` outside any module is run again without the mask. Masked
    modules of the second kind do not work in ``nn.DataParallel`` (use
    ``DistributedDataParallel``). Mask a model before compiling it: what was compiled before is
    compiled again.

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
    AddedMask(TransformerEncoderLayer, shape=(9, 9), lam=0.5, learned=False)
    >>> layer(torch.ones(2, 9, 16)).shape
    torch.Size([2, 9, 16])
    >>> added.remove()

    References
    ----------
    Choromanski et al., "Computationally-efficient graph modeling with refined graph random
    features", 2026, paragraph "Image Classification".
    """
    model = _unwrapped(module)
    if any(isinstance(part, MaskBias) or _CHANGES in vars(part) for part in model.modules()):
        problem = "has a mask already, or is part of a model that has one"
        advice = "remove that one with remove_mask(model)"
        raise InputError(problem, argument="module", advice=advice)
    bias = MaskBias(instance_of(mask, "mask", Tensor), lam, learn)
    weight = next(model.parameters(), None)
    if weight is not None:
        bias.to(weight.device)
    attentions = [part for part in model.modules() if isinstance(part, nn.MultiheadAttention)]
    custom = _custom_modules(model, attentions)
    if not attentions and not custom:
        problem = f"has no attention: this {type(model).__name__} has neither nn.MultiheadAttention"
        problem += " nor modules that could call scaled_dot_product_attention"
        raise InputError(problem, argument="module")
    count = None
    if custom:
        from grfpp.torch.attention.fused import MaskedForward, count_masked

        count = count_masked
        for part in custom:
            _replace(part, bias, "forward", MaskedForward(part, bias, part is model))
    # Modules that are in none of the others hold the mask; containers of torch cannot.
    inner = {id(part) for module in custom for part in module.modules() if part is not module}
    for part in attentions or [module for module in custom if id(module) not in inner]:
        _replace(part, bias, _MASK, bias)
    for attention in attentions:
        hook = partial(_merge, count, attention is model)
        vars(attention)[_CHANGES].hook = attention.register_forward_pre_hook(hook, with_kwargs=True)
    for part in model.modules():
        for kind, (name, value) in _WITHOUT_FAST_PATH.items():
            if isinstance(part, kind):
                _replace(part, bias, name, value)
    _reset_compiler()
    return AddedMask(model, bias)


def remove_mask(module: nn.Module) -> None:
    """Remove the mask that `add_mask` has put into a model, or into the original of a copy.

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
    if not _undo(_unwrapped(module), None):
        raise InputError("has no mask that add_mask put there", argument="module")


@dataclass(repr=False)
class AddedMask:
    """A mask in a model, as `add_mask` returns it.

    Attributes
    ----------
    model
        The model.
    bias
        The module that holds the mask and ``λ``.

    Examples
    --------
    Another mask for every batch of graphs:

    >>> import networkx as nx, torch
    >>> from grfpp.torch import add_mask, graph_mask
    >>> layer = torch.nn.TransformerEncoderLayer(16, 4, batch_first=True)
    >>> added = add_mask(layer, graph_mask(nx.path_graph(5)))
    >>> added.mask = graph_mask([nx.cycle_graph(9), nx.path_graph(7)])
    >>> layer(torch.ones(2, 9, 16)).shape
    torch.Size([2, 9, 16])
    >>> added
    AddedMask(TransformerEncoderLayer, shape=(2, 9, 9), lam=0.5, learned=False)
    """

    model: nn.Module
    bias: MaskBias

    def __repr__(self) -> str:
        return f"AddedMask({type(self.model).__name__}, {self.bias.extra_repr()})"

    @property
    def mask(self) -> Tensor:
        """``M``; assign another one for every batch of other graphs."""
        return self.bias.mask

    @mask.setter
    def mask(self, mask: Tensor) -> None:
        check_mask(mask)
        self.bias.mask = mask.detach().to(self.bias.lam.device)

    @property
    def lam(self) -> float:
        """The current ``λ``."""
        return float(self.bias.lam.detach())

    def remove(self) -> None:
        """Restore the model."""
        _undo(self.model, self.bias)


@dataclass
class _Changes:
    """Changes of a module, stored in the module so that copies have them too."""

    bias: MaskBias
    #: Attributes before the change; ``None`` for those that did not exist.
    attributes: dict[str, Any] = field(default_factory=dict)
    #: Handle of the pre-forward hook, if any.
    hook: Any = None


def _replace(module: nn.Module, bias: MaskBias, name: str, value: Any) -> None:
    """Set an attribute, and record its former value."""
    changes: _Changes = vars(module).setdefault(_CHANGES, _Changes(bias))
    changes.attributes[name] = vars(module).get(name)
    setattr(module, name, value)


def _undo(model: nn.Module, bias: MaskBias | None) -> int:
    """Undo the changes for one mask, or for all; return the number of changed modules."""
    n_changed = 0
    for part in list(model.modules()):
        changes: _Changes | None = vars(part).get(_CHANGES)
        if changes is None or (bias is not None and changes.bias is not bias):
            continue
        if changes.hook is not None:
            changes.hook.remove()
        for name, value in changes.attributes.items():
            delattr(part, name)
            if value is not None:
                setattr(part, name, value)
        delattr(part, _CHANGES)
        n_changed += 1
    if n_changed:
        _reset_compiler()
    return n_changed


def _unwrapped(module: Any) -> nn.Module:
    """The model inside the wrappers of torch.compile and of parallel training."""
    instance_of(module, "module", nn.Module)
    is_parallel = isinstance(module, nn.DataParallel | nn.parallel.DistributedDataParallel)
    inner = dict(module.named_children()).get("module" if is_parallel else "_orig_mod")
    return module if inner is None else _unwrapped(inner)


def _custom_modules(model: nn.Module, attentions: list[nn.MultiheadAttention]) -> list[nn.Module]:
    """Modules that may call fused attention themselves; those of torch.nn do not."""
    inside = {id(part) for attention in attentions for part in attention.modules()}
    return [
        part
        for part in model.modules()
        if id(part) not in inside
        and not type(part).__module__.startswith("torch.nn.")
        and not isinstance(part, torch.jit.ScriptModule)
        and "_orig_mod" not in dict(part.named_children())
    ]


def _reset_compiler() -> None:
    """Drop compiled code, which ignores hooks that are added or removed after compilation."""
    if "torch._dynamo" in sys.modules:
        torch.compiler.reset()


def _merge(
    count: Any, required: bool, attention: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Add the mask to the arguments of an ``nn.MultiheadAttention``, if it is self-attention."""
    named = {**dict(zip(_ARGUMENTS, args, strict=False)), **kwargs}
    query, key = named.get("query"), named.get("key")
    if query is None or key is None:
        return None  # torch raises the error
    # Two views of one tensor are the same tokens too.
    if query is not key and not query.is_set_to(key):
        if not required:
            return None
        raise InputError("must be the queries: a graph mask is for self-attention", argument="key")
    if query.is_nested:
        raise InputError("must not be a nested tensor", argument="query")
    if named.get("is_causal") and named.get("attn_mask") is None:
        raise InputError("=True is a hint about attn_mask, which is missing", argument="is_causal")
    bias = getattr(attention, _MASK)
    axes = (1, 0) if attention.batch_first and query.ndim == 3 else (0, 1)
    check_sizes(bias.mask.shape, query, key, *axes)
    scaled = bias(query)
    if scaled.ndim == 3:
        scaled = scaled.repeat_interleave(attention.num_heads, dim=0)
    named["attn_mask"] = merged(scaled, named.get("attn_mask"), False)
    named["is_causal"] = False
    padding = named.get("key_padding_mask")
    if padding is not None:  # torch needs both masks of one type
        named["key_padding_mask"] = merged(query.new_zeros(()), padding, False)
    if count is not None:
        count(bias)
    return (), named
