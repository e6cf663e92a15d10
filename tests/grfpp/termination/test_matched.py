import pytest

from grfpp import Geometric, InputError, Matched, WalkOptions
from grfpp.termination import termination_from_dict, termination_from_spec


def test_it_has_a_mean_and_no_probabilities():
    assert Matched().mean == 9.0
    assert Matched.matching(Geometric(0.2)) == Matched(4.0)
    for ask in (Matched(4).survival, Matched(4).pmf):
        with pytest.raises(InputError, match="budget for pooled walks"):
            ask([2])


def test_names():
    assert termination_from_spec("matched:5") == Matched(5)
    assert termination_from_dict(Matched(5).to_dict()) == Matched(5)


@pytest.mark.parametrize("mean", [0, -1, float("nan"), "nine"])
def test_means_that_are_none(mean):
    with pytest.raises(InputError, match="mean"):
        Matched(mean)


def test_independent_walks_cannot_use_it():
    with pytest.raises(InputError, match="use walks='pooled'"):
        WalkOptions(walks="independent", termination=Matched(9))
