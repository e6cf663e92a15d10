"""The kinds of encodings, and what each of them can be told."""

from __future__ import annotations

from inspect import signature
from typing import Any, Literal, get_args

from grfpp.arguments import one_of
from grfpp.errors import InputError
from grfpp.torch.encodings.contrasts import Contrasts
from grfpp.torch.encodings.landmarks import Landmarks
from grfpp.torch.encodings.profiles import Profiles
from grfpp.torch.encodings.recipe import EncodingRecipe
from grfpp.torch.encodings.return_masses import ReturnMasses
from grfpp.torch.encodings.smooth_features import SmoothFeatures

Kind = Literal["projected", "return", "smooth", "contrast", "profile", "landmark"]
Recipe = EncodingRecipe | ReturnMasses | SmoothFeatures | Landmarks

#: What every kind has a default of its own for, or has not.
_OPEN = ("dim", "degree", "n_walks")
_EXACT: dict[str, type[ReturnMasses | SmoothFeatures | Landmarks]] = {
    "return": ReturnMasses,
    "smooth": SmoothFeatures,
    "contrast": Contrasts,
    "profile": Profiles,
    "landmark": Landmarks,
}


def recipe_of(kind: Kind, **options: Any) -> Recipe:
    """The recipe of a kind with these options; `_OPEN` ones may be ``None``, for its own."""
    name = one_of(kind, "kind", get_args(Kind))
    given = {key: value for key, value in options.items() if value is not None or key not in _OPEN}
    if name == "projected":
        return EncodingRecipe.of(**{"degree": 2, "n_walks": 16, "seed": 0, **given})
    make = _EXACT[name].of
    known = signature(make).parameters
    for option in sorted(given.keys() - known.keys()):
        raise InputError(
            f"is not an option of kind {name!r}, which has {', '.join(known)}", argument=option
        )
    return make(**given)
