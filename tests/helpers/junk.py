"""Arguments that nobody should give, and what may become of them."""

import math
from decimal import Decimal
from fractions import Fraction
from inspect import Parameter, signature

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import grfpp

NUMBERS = [
    *(math.nan, math.inf, -math.inf, 0, -0.0, 1, -1, 2, 7, 0.5, 1.5, 1e3, 1e10),
    *(5e-324, 1e-300, 1e-9, 1e300, -1e308, 2**31, 2**63 - 1, 2**64, -(2**63), 10**400, 10**5000),
    *(np.float32(2), np.float16(0.5), np.longdouble(0.5), np.int8(3), np.uint64(2**64 - 1)),
    *(Fraction(1, 3), Fraction(10**400), Decimal(2), Decimal("NaN"), Decimal("sNaN")),
    *(1j, np.complex128(1), np.timedelta64(3, "s"), np.datetime64("NaT"), np.ma.masked),
]
OTHERS = [
    *(None, True, False, np.bool_(True), "", "1", "auto", "x" * 1000, "\0", b"1", np.str_("sym")),
    *("diffusion:", "diffusion:nan", "inverse-power:4", "poisson:-1", "geometric:0.5", "taylor:0"),
    *([], [1], [1, 2], [math.nan], [1, -1], [10**400], [[1], [1, 2]], ["a"], [None], (0.5, 0.5)),
    *({}, {1}, {"a": 1}, np.array([]), np.array(2), np.array([2]), np.array([0.5, 0.5])),
    *(np.zeros((2, 2)), np.array([None]), np.array(["a"]), range(3), slice(1), ..., NotImplemented),
    *(object(), int, np.float64, print, grfpp.Diffusion(1.0), grfpp.Geometric(0.5)),
    *(grfpp.Graph([[0, 1], [1, 0]]), grfpp.WalkOptions(seed=0)),
]
JUNK = st.sampled_from(NUMBERS) | st.sampled_from(OTHERS) | st.floats()
JUNK |= st.integers(-(10**6), 100) | st.text(max_size=5)

#: The same arguments every time: what fails once fails always.
FEW = settings(
    **{"max_examples": 25, "deadline": None, "derandomize": True, "database": None},
    suppress_health_check=list(HealthCheck),
)


def call_with_junk(data, make, good=None):
    """Call with junk for one or two parameters; refusals are what is wanted."""
    good = good or {}
    kinds = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    names = [name for name, each in signature(make).parameters.items() if each.kind not in kinds]
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    junk = {name: data.draw(JUNK, label=name) for name in chosen}
    try:
        return make(**{**good, **junk})
    except grfpp.InputError:
        return None
