"""Tables and charts of node labels."""

from laboratory.label_rows import random_rows, row

from grfpp_lab.experiments.labels.rivals import PROPAGATION
from grfpp_lab.experiments.labels.views import OURS, accuracy_panels, calibration_panels, table


def test_tables_and_panels():
    other = row(method=PROPAGATION, accuracy=0.68, calibration_error=None, chosen=None)
    made = [row(), other, *random_rows([0.7, 0.8]), row("pubmed")]
    found = table(made)
    assert [group.title for group in found.groups] == ["Cora", "Pubmed"]
    ours, theirs = found.groups[0].rows
    assert ours == [
        *(OURS, "73.0", "0.030", "2", "Diffusion(lam=20.0), svm (1)"),
        *("75.0 ± 7.1", "0.030", "2"),
    ]
    assert theirs == [PROPAGATION, "68.0", "", "2", "", "", "", ""]
    first, second = accuracy_panels(made)
    assert (first.title, second.title) == ("Cora", "Pubmed")
    assert [(curve.name, list(curve.x)) for curve in first.curves] == [
        (OURS, [0, 1, 2]),
        (PROPAGATION, [0]),
    ]
    assert [curve.name for curve in calibration_panels(made)[0].curves] == [OURS]
