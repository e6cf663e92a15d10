"""The paper's tables."""

from grfpp_lab.experiments.classification.paper import SQUARED, quoted


def test_the_papers_tables():
    assert len({method for method, _ in quoted()}) == 27
    assert sum(name == "MUTAG" for _, name in quoted()) == 24
    assert quoted()["CORE-SP", "REDDIT-BINARY"].mean == 91.0
    assert str(quoted()["WL-PM", "DD"]) == "out of memory"
    for name in {name for name, _ in SQUARED}:
        exact = quoted()["Diffusion", name].mean
        assert SQUARED[name, "GRF"] < SQUARED[name, "GRF++"] < exact + 5
