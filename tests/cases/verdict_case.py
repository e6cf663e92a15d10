"""What every verdict of an experiment obeys, as a test over a table of rows."""

import pytest

from grfpp_lab.harness.experiment import Holds

YES, NOISE, NO, OPEN = Holds.YES, Holds.NOISE, Holds.NO, Holds.OPEN


def verdicts(cases):
    """Make a test of verdicts: a list of (judge, rows, answer, texts that the verdict contains).

    The answer must not depend on the order of the rows.
    """

    @pytest.mark.parametrize("case", cases, ids=range(len(cases)))
    def test(case):
        judge, rows, holds, *texts = case
        verdict = judge(rows)
        assert verdict.holds is holds, verdict
        for text in texts:
            assert text in verdict.measured
        assert judge(rows[::-1]).holds is holds

    return test


def check_claims(experiment, rows):
    """Every claim has a verdict, a chart, and tables whose lines are as long as their heads."""
    for claim in experiment.claims:
        assert claim.judge(rows).measured, claim.name
        assert claim.panels(rows), claim.name
        for table in (make(rows) for make in claim.tables):
            lengths = {len(line) for group in table.groups for line in group.rows}
            assert lengths == {len(table.columns)}, claim.name
