"""What the tests of grfpp.cli share: the program in this process and in one of its own."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import networkx as nx

from grfpp.cli import run

PROGRAM = [sys.executable, "-m", "grfpp"]


def write_karate(folder):
    path = folder / "karate.txt"
    nx.write_weighted_edgelist(nx.karate_club_graph(), path)
    return path


def refused(capsys, *arguments):
    """Run what must be refused; give the one line that says why."""
    assert run([*map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("grfpp: ")
    assert err.count("\n") == 1
    return err.removeprefix("grfpp: ").rstrip("\n")


def accepted(capsys, *arguments):
    """Run what must succeed in silence on stderr; give what it printed."""
    assert run([*map(str, arguments)]) == 0
    out, err = capsys.readouterr()
    assert not err, err
    return out


def warned(capsys, *arguments):
    """Run what must succeed with warnings; give these."""
    assert run([*map(str, arguments)]) == 0
    return capsys.readouterr().err


def document(capsys, *arguments):
    """Run what must succeed in silence on stderr; give the JSON that it printed."""
    return json.loads(accepted(capsys, *arguments, "--json"))


def facts(out):
    """Labels and texts of what was printed, by the first word of the label."""
    return dict(line.split(maxsplit=1) for line in out.splitlines())


def table(path):
    """The lines of a file of comma-separated values, by column."""
    with Path(path).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def start(*arguments, **options):
    """Start the program in a process of its own."""
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*PROGRAM, *map(str, arguments)], text=True, **{**pipes, **options})
