"""Options are checked when they are made, once and for all who hold them."""

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grfpp import Geometric, InputError, Matched, Poisson, WalkOptions
from grfpp.options import MAX_DEGREE, OF_ESTIMATES, drawn_seed


def test_defaults():
    options = WalkOptions()
    assert (options.degree, options.n_walks, options.n_jobs) == (2, 16, -1)
    assert (options.walks, options.termination) == ("pooled", Matched(9))
    assert WalkOptions(walks="independent").termination == Geometric(0.1)
    assert options.dtype == np.float64
    assert isinstance(options.seed, int) and options.seed != WalkOptions().seed
    assert drawn_seed() != drawn_seed() >= 0
    assert "tol" in OF_ESTIMATES and "n_walks" not in OF_ESTIMATES


def test_loose_forms_are_taken():
    options = WalkOptions.of(
        degree=np.int64(3), termination="poisson:4", seed=np.int32(5), dtype="float32"
    )
    assert options == WalkOptions(
        degree=3, termination=Poisson(4.0), seed=5, dtype=np.dtype(np.float32)
    )
    assert type(options.degree) is int and type(options.seed) is int


def test_changes_are_checked_too():
    options = WalkOptions(seed=1)
    assert options.changed(degree=4) == WalkOptions(degree=4, seed=1)
    with pytest.raises(InputError):
        options.changed(n_walks=0)
    with pytest.raises(FrozenInstanceError):
        options.degree = 3


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("degree", [0, -1, 1.0, True, "2", None, [2], MAX_DEGREE + 1, 10**30]),
        ("n_walks", [0, 1.5, True, "2", None, 2**31]),
        ("termination", [0.1, Geometric, ("poisson", 4)]),
        ("seed", [-1, 1.0, True, "1", [1], np.random.default_rng(0)]),
        ("reuse_walks", ["no", None]),
        ("truncate", [2]),
        ("symmetrize", ["yes"]),
        ("deflate", [-1, True, None, "all"]),
        ("on_infinite_variance", ["no", "", None, True]),
        ("storage", ["disk"]),
        ("dtype", [int, np.float16, complex, "float128", "nonsense", "O", [1, 2]]),
        ("walks", ["lonely"]),
        ("n_jobs", [0, 1.5, "2", None, True]),
        ("n_groups", [-1, 1, 10**9]),
        ("check_error", ["no"]),
        ("tol", [0, 1.0, 1e-13, 1e-300, float("nan"), "small"]),
        ("max_steps", [-1, 100]),  # the latter without a tol
        ("tol_kind", ["max"]),
    ],
)
def test_refusals(name, bad):
    for value in bad:
        with pytest.raises(InputError) as caught:
            WalkOptions.of(**{name: value})
        assert caught.value.argument == name


@pytest.mark.parametrize(
    ("name", "options"),
    [("storage", {"storage": "recompute"}), ("reuse_walks", {"reuse_walks": True})],
)
def test_what_goes_with_no_tolerance_nor_with_independent_walks(name, options):
    with pytest.raises(InputError) as caught:
        WalkOptions(tol=0.1, **options)
    assert caught.value.argument == name
    with pytest.raises(InputError, match="pooled"):
        WalkOptions(walks="independent", termination=Matched(9))


@settings(max_examples=50)
@given(
    st.sampled_from([field.name for field in fields(WalkOptions)]),
    st.complex_numbers() | st.text(max_size=3) | st.binary() | st.lists(st.integers(), max_size=2),
)
def test_nonsense_is_an_input_error(name, bad):
    if name == "dtype" and (bad == "" or not isinstance(bad, complex)):
        return  # numpy knows many names of types, and reads empty lists as one
    with pytest.raises(InputError, match=name):
        WalkOptions.of(**{name: bad})


@pytest.mark.parametrize("directed", [False, True])
def test_what_is_symmetrised_unless_asked_for(directed):
    assert WalkOptions().symmetrizes(directed=directed) is not directed
    assert WalkOptions(walks="independent").symmetrizes(directed=directed) is False
    assert WalkOptions(reuse_walks=True).symmetrizes(directed=directed) is False
    assert WalkOptions(symmetrize=False).symmetrizes(directed=directed) is False
    assert WalkOptions(symmetrize=1, reuse_walks=True).symmetrizes(directed=directed) is True


@pytest.mark.parametrize(("name", "value"), [("symmetrize", True), ("deflate", 1)])
def test_directed_graphs_have_no_symmetric_estimate(name, value):
    options = WalkOptions.of(**{name: value})
    options.check_direction(directed=False)
    with pytest.raises(InputError) as caught:
        options.check_direction(directed=True)
    assert caught.value.argument == name
    for suitable in ({}, {"symmetrize": False}, {"deflate": "auto"}):
        WalkOptions(**suitable).check_direction(directed=True)


def test_options_can_be_ruled_out():
    with pytest.raises(InputError) as caught:
        WalkOptions.of(without=("storage", "dtype"), storage="memory", degree=2)
    assert caught.value.argument == "storage"
    with pytest.raises(TypeError, match="n_walk"):
        WalkOptions.of(n_walk=3)
