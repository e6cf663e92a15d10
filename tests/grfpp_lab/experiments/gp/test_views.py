"""Names of methods."""

from grfpp_lab.experiments.gp.views import METHODS


def test_every_method_has_a_name_of_its_own():
    assert len(set(METHODS)) == len(METHODS)
