"""The paper's tables."""

from grfpp_lab.experiments.classification.paper import SQUARED_DIFFUSION, quoted


def test_the_papers_tables():
    assert len({method for method, _ in quoted()}) == 27
    assert sum(name == "MUTAG" for _, name in quoted()) == 24
    assert quoted()["CORE-SP", "REDDIT-BINARY"].mean == 91.0
    assert str(quoted()["WL-PM", "DD"]) == "out of memory"
    for name, (grf, grfpp) in SQUARED_DIFFUSION.items():
        assert grf < grfpp < quoted()["Diffusion", name].mean + 5
