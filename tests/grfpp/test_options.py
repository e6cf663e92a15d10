"""Options are checked when they are made, once and for all who hold them."""

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grfpp import Geometric, InputError, Matched, Poisson, WalkOptions
from grfpp.options import MAX_DEGREE, WalkKeywords, drawn_seed, law_of


def test_keywords_and_fields_are_the_same():
    assert set(WalkKeywords.__annotations__) == {field.name for field in fields(WalkOptions)}


def test_defaults():
    options = WalkOptions()
    assert (options.degree, options.n_walks, options.n_jobs) == (2, 16, -1)
    assert (options.walks, options.termination) == ("pooled", Matched(9))
    assert WalkOptions(walks="independent").termination == Geometric(0.1)
    assert options.dtype == np.float64
    assert isinstance(options.seed, int) and options.seed != WalkOptions().seed


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
    with pytest.raises(InputError, match="n_walks must be a whole number >= 1, found 0"):
        options.changed(n_walks=0)
    with pytest.raises(FrozenInstanceError):
        options.degree = 3


@pytest.mark.parametrize(
    ("name", "bad", "words"),
    [
        ("degree", 0, "degree must be a whole number >= 1, found 0"),
        ("n_walks", 2**31, "n_walks must be at most 2147483647, found 2147483648"),
        ("reuse_walks", "no", "reuse_walks must be True or False, found 'no'"),
        ("truncate", 2, "truncate must be True or False, found 2"),
        ("symmetrize", "yes", "symmetrize must be True or False, found 'yes'"),
        ("deflate", -1, "deflate must be a whole number >= 0, found -1"),
        ("deflate", True, "deflate must be a whole number >= 0, found True"),
        ("deflate", None, "deflate must be a whole number >= 0, found None"),
        ("deflate", "all", "deflate must be a whole number >= 0 or 'auto', found 'all'"),
        ("degree", MAX_DEGREE + 1, f"degree must be at most {MAX_DEGREE}, found"),
        ("n_walks", 1.5, "n_walks must be a whole number >= 1, found 1.5"),
        ("termination", 0.1, r"termination must be a law such as Geometric\(0.1\)"),
        ("termination", "bernoulli:2", "unknown termination law 'bernoulli'"),
        ("seed", -1, "seed must be a whole number >= 0, found -1"),
        ("seed", 1.0, "seed must be a whole number >= 0, found 1.0"),
        ("on_infinite_variance", "no", "on_infinite_variance must be 'raise', 'warn' or 'ignore'"),
        ("storage", "disk", "storage must be 'memory' or 'recompute', not 'disk'"),
        ("dtype", np.int32, "dtype must be float64 or float32, not int32"),
        ("dtype", "number", "dtype must be float64 or float32, not 'number'"),
        ("walks", "lonely", "walks must be 'independent' or 'pooled', not 'lonely'"),
        ("n_jobs", 0, "n_jobs must be a whole number, not 0"),
    ],
)
def test_refusals(name, bad, words):
    with pytest.raises(InputError, match=words):
        WalkOptions.of(**{name: bad})


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
def test_the_papers_estimate_is_symmetrised_on_request_only(directed):
    assert WalkOptions(walks="independent").symmetrizes(directed=directed) is False
    assert WalkOptions(reuse_walks=True).symmetrizes(directed=directed) is False
    assert WalkOptions(symmetrize=False).symmetrizes(directed=directed) is False
    assert WalkOptions(symmetrize=1).symmetrizes(directed=False) is True
    assert WalkOptions(symmetrize=True, reuse_walks=True).symmetrizes(directed=False) is True


@pytest.mark.parametrize(
    ("directed", "reuse", "wanted"),
    [(False, False, True), (True, False, False), (False, True, False), (True, True, False)],
)
def test_pooled_estimates_are_symmetrised_where_weights_are_symmetric(directed, reuse, wanted):
    options = WalkOptions(reuse_walks=reuse)
    object.__setattr__(options, "walks", "pooled")
    assert options.symmetrizes(directed=directed) is wanted


@pytest.mark.parametrize(("name", "value"), [("symmetrize", True), ("deflate", 1)])
def test_directed_graphs_have_no_symmetric_estimate(name, value):
    options = WalkOptions.of(**{name: value})
    options.check_direction(directed=False)
    with pytest.raises(InputError, match=f"{name} needs symmetric weights, and this graph is"):
        options.check_direction(directed=True)


@pytest.mark.parametrize("options", [{}, {"symmetrize": False}, {"deflate": "auto"}])
def test_what_suits_the_graph_suits_directed_ones(options):
    WalkOptions(**options).check_direction(directed=True)


def test_options_can_be_ruled_out():
    with pytest.raises(InputError, match="storage is not an option here"):
        WalkOptions.of(without=("storage", "dtype"), storage="memory", degree=2)


def test_unknown_options_are_a_type_error():
    with pytest.raises(TypeError, match="n_walk"):
        WalkOptions.of(n_walk=3)


def test_laws():
    assert law_of("geometric:0.3") == Geometric(0.3)


def test_seeds_are_drawn():
    assert drawn_seed() != drawn_seed() >= 0
