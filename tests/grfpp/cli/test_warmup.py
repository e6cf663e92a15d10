import json

from grfpp.cli.app import run


def test_it_says_how_long_it_took(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("GRFPP_CACHE", str(tmp_path))  # where it keeps what it measured
    assert run(["warmup"]) == 0
    assert capsys.readouterr().out.startswith("ready after ")
    assert run(["warmup", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seconds"] > 0
