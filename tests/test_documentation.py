"""The shell sessions in the documentation are what the program really prints.

Python examples there are run by pytest itself, as doctests.
"""

import re
import shlex
import tomllib
from pathlib import Path

import networkx as nx
import pytest

from grfpp.cli import run

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/command-line.md")


def settled(text):
    """Leave out what depends on the machine: seconds, last digits, and how many of those."""
    text = re.sub(r"\d+\.\d+ s\b", "…", text)
    text = re.sub(r"(?<=\.csv, )[\d.]+ (kB|bytes)", "…", text)
    return re.sub(r"\d+\.\d{9,}", lambda number: f"{float(number[0]):.8f}", text)


def sessions(page):
    """Commands of a page and what it says they print."""
    for block in re.findall(r"```console\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


@pytest.mark.parametrize("page", PAGES)
def test_shell_sessions(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    nx.write_weighted_edgelist(nx.karate_club_graph(), "karate.txt")
    Path("calls.csv").write_text("day;who;whom;minutes\n1;ann;bob;9\n1;bob;cy;4\n2;bob;ann;2\n")
    changes = "operation,source,target,weight\nadd,cy,dan,3\nremove,bob,ann,\n"
    Path("changes.csv").write_text(changes)
    Path("seeds.jsonl").write_text('{"0": 2, "33": 1}\n{"16": 1, "0": -1}\n')
    found = list(sessions(page))
    assert found
    for command, printed in found:
        program, *arguments = shlex.split(command)
        if program == "head":
            lines = Path(arguments[1]).read_text("utf-8").splitlines(keepends=True)
            shown = "".join(lines[: -int(arguments[0])])
        else:
            assert program == "grfpp"
            run(arguments)
            out, err = capsys.readouterr()
            shown = out + err
        assert settled(shown) == settled(printed), command


@pytest.mark.parametrize("page", ["README.md", *sorted(p.name for p in ROOT.glob("docs/*.md"))])
def test_links_lead_somewhere(page):
    path = ROOT / page if page == "README.md" else ROOT / "docs" / page
    for target in re.findall(r"\]\(([^)#\s]+)", path.read_text("utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_nothing_is_installed_from_an_index_that_has_it_not():
    """Only pyproject.toml, where extras name each other, may say grfpp[...]."""
    texts = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py")]
    for path in texts:
        found = re.search(r"grfpp\[[a-z{]|pip install '?grfpp", path.read_text("utf-8"))
        assert not found, path


def test_the_readme_tells_of_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    _, _, text = (ROOT / "README.md").read_text("utf-8").partition("## Install\n")
    install, _, _ = text.partition("\n## ")
    for extra in project["optional-dependencies"]:
        assert f"`{extra}`" in install
