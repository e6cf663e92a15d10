"""Laws by name: from specs and from dictionaries."""

import json

import pytest
from small_graphs import LAWS

from grfpp.errors import InputError
from grfpp.termination import termination_from_dict, termination_from_spec
from grfpp.termination.bounded import CustomLength, FixedLength, UniformLength
from grfpp.termination.unbounded import FirstStepThenGeometric, Geometric, NegativeBinomial, Poisson


@pytest.mark.parametrize("name", LAWS)
def test_dictionaries_keep_the_law(name):
    values = json.loads(json.dumps(LAWS[name].to_dict()))
    assert values["name"] == name
    assert termination_from_dict(values) == LAWS[name]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "unknown termination law ''; known: geometric, poisson"),
        ({"name": "levy"}, "unknown termination law 'levy'"),
        ({"name": "poisson"}, "does not hold the parameters"),
        ({"name": "poisson", "mean": 2, "p_halt": 0.1}, "does not hold the parameters"),
        ({"name": "poisson", "mean": "2"}, "mean must be a positive"),
        ({"name": "fixed", "n": 1.5}, "n must be a whole number"),
    ],
)
def test_other_dictionaries_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        termination_from_dict(values)


@pytest.mark.parametrize(
    ("spec", "law"),
    [
        ("geometric", Geometric(0.1)),
        ("geometric:0.25", Geometric(0.25)),
        ("poisson:4", Poisson(4.0)),
        ("negative-binomial:3:0.2", NegativeBinomial(3, 0.2)),
        ("first-step:0.75", FirstStepThenGeometric(0.75)),
        ("fixed:10", FixedLength(10)),
        ("uniform:8", UniformLength(8)),
        ("custom:0.5:0.25:0.25", CustomLength([0.5, 0.25, 0.25])),
    ],
)
def test_specs(spec, law):
    assert termination_from_spec(spec) == law


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "unknown termination law ''"),
        ("levy:2", "unknown termination law 'levy'; known: geometric, poisson, negative-binomial"),
        ("poisson:four", "must be numbers, as in poisson:4"),
        ("poisson:", "must be numbers"),
        ("poisson", "wrong number of parameters for the law 'poisson'"),
        ("poisson:1:2", "wrong number of parameters"),
        ("poisson:nan", "mean must be a positive, finite number"),
        ("geometric:0", r"p_halt must be a number in \(0, 1\]"),
        ("fixed:1.5", "n must be a whole number"),
        ("custom", "non-empty|sequence of numbers"),
        ("custom:0.5", "must sum to 1"),
    ],
)
def test_other_specs_are_refused(spec, message):
    with pytest.raises(InputError, match=message):
        termination_from_spec(spec)
