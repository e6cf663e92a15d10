import json
from functools import partial

from grfpp.cli.app import run
from grfpp.operators import costs as measuring
from grfpp.operators.costs import current_costs


def test_it_says_how_long_it_took(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path))  # where it keeps what it measured
    monkeypatch.setattr(current_costs(), "machine", current_costs().machine)  # and put back
    monkeypatch.setattr(measuring, "measure_costs", partial(measuring.measure_costs, 1e-3))
    assert run(["warmup"]) == 0
    assert capsys.readouterr().out.startswith("ready     after ")
    assert run(["warmup", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seconds"] > 0
