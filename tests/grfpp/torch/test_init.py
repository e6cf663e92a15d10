"""Names of the package, which are imported when they are first used."""

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import grfpp.torch


def test_every_public_name_is_there():
    assert sorted(grfpp.torch.__all__) == grfpp.torch.__all__
    assert set(grfpp.torch.__all__) <= set(dir(grfpp.torch))
    for name in grfpp.torch.__all__:
        assert getattr(grfpp.torch, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = grfpp.torch.Nothing
