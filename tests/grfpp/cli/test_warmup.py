import json

from grfpp.cli.app import run


def test_it_says_how_long_it_took(capsys):
    assert run(["warmup"]) == 0
    assert capsys.readouterr().out.startswith("ready  after ")
    assert run(["warmup", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["seconds"] > 0 and document["costs"] is None
