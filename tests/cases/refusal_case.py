"""What every refusal obeys: an `InputError` whose field names the argument that is wrong."""

from functools import partial

import pytest

from grfpp import InputError


def several(given):
    return given if isinstance(given, list) else [given]


def refused(unnamed=(), **calls):
    """Make a test of calls, or lists of them, by the argument that the error names."""
    named = dict(unnamed, **calls)
    cases = [(argument, call) for argument in named for call in several(named[argument])]

    @pytest.mark.parametrize(("argument", "call"), cases)
    def test(argument, call):
        with pytest.raises(InputError, check=lambda error: error.argument == argument):
            call()

    return test


def bad_values(makes, **values):
    """Make a test of one or several `make(name=value)`, with bad values of each argument."""
    return refused(
        {
            name: [
                partial(make, **{name: value}) for make in several(makes) for value in several(v)
            ]
            for name, v in values.items()
        }
    )
