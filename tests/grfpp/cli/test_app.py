"""The program as a whole: help, exit codes, and what becomes of errors."""

import io
import os
import signal
import subprocess
import sys
from time import monotonic, sleep
from unittest.mock import Mock

import pytest
from cli_helpers import accepted, refused, start, warned, write_karate

import grfpp
from grfpp.cli import estimate, run
from grfpp.cli.app import COMMANDS, app, main
from grfpp.kernels.registry import KERNELS
from grfpp.termination import LAWS


def test_version_and_help_that_lists_the_commands(capsys):
    assert accepted(capsys, "--version") == f"grfpp {grfpp.__version__}\n"
    for arguments in ([], ["--help"], ["-h"]):
        out = accepted(capsys, *arguments)
        assert all(f"\n  {command} " in out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_examples_at_80_columns(capsys, command):
    out = accepted(capsys, command, "--help")
    assert f"\n    grfpp {command}" in out.partition("Example commands:")[2]
    assert "--json" in out
    with app.make_context("grfpp", [command, "--help"], resilient_parsing=True) as context:
        parameters = app.get_command(context, command).params
    assert [each.name for each in parameters if not each.help] == []
    if COMMANDS[command].startswith("grfpp."):
        assert max(map(len, out.splitlines())) <= 80


def test_help_names_every_kernel_and_every_law(capsys):
    out = accepted(capsys, "estimate", "--help")
    for name in [*KERNELS, "taylor", *LAWS]:
        assert f" {name}:" in out, name


def test_help_loads_nothing_heavy():
    """One after the other, in one process: what one of them loads is told beside its name."""
    code = (
        "import contextlib, io, sys, grfpp.cli\n"
        "heavy = {'numba', 'matplotlib', 'networkx', 'jinja2', 'torch', 'sklearn', 'rich'}\n"
        "for command in ('estimate', 'query', 'cluster', 'interpolate', 'label', 'classify'):\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as told:\n"
        "        assert grfpp.cli.run([command, '--help']) == 0\n"
        "    for word in ('Example commands:', '--seed', '--json'):\n"
        "        assert word in told.getvalue(), (command, word)\n"
        "    assert not heavy & set(sys.modules), (command, heavy & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (grfpp.InputError("two\nlines"), "two lines"),
        (PermissionError(13, "Permission denied", "k.npz"), "Permission denied: k.npz"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (ModuleNotFoundError("No module named 'trimesh'", name="trimesh"), "trimesh"),
        (MemoryError(), "memory"),
    ],
)
def test_what_the_user_can_mend_is_one_line(capsys, tmp_path, monkeypatch, error, told):
    monkeypatch.setattr(estimate, "sample_estimate", Mock(side_effect=error))
    assert told in refused(capsys, "estimate", write_karate(tmp_path))


@pytest.mark.parametrize(
    "error", [RuntimeError("ours"), ModuleNotFoundError("ours", name="grfpp.lost"), ValueError("x")]
)
def test_bugs_are_not_hidden(tmp_path, monkeypatch, error):
    monkeypatch.setattr(estimate, "sample_estimate", Mock(side_effect=error))
    with pytest.raises(type(error)):
        run(["estimate", str(write_karate(tmp_path))])


#: The program with walks that say when they begin, and do not end.
WAITING = """
import sys, time
from pathlib import Path
from grfpp.cli import estimate, main

def walk(*_, **__):
    Path(begun).touch()
    time.sleep(600)

*sys.argv, begun = sys.argv
estimate.sample_estimate = walk
main()
"""


@pytest.mark.parametrize(
    ("number", "code", "told"),
    [(signal.SIGINT, 130, "grfpp: interrupted\n"), (signal.SIGTERM, 143, "")],
)
def test_signals_end_it_quietly_and_leave_no_file(tmp_path, number, code, told):
    graph, begun = write_karate(tmp_path), tmp_path / "begun"
    arguments = ["estimate", graph, "--output", tmp_path / "k.npz", begun]
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = monotonic() + 60
    while not begun.exists() and monotonic() < deadline:
        sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, "", told)
    assert {path.name for path in tmp_path.iterdir()} == {graph.name, "begun"}


def test_a_reader_that_leaves_gets_no_traceback(tmp_path):
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    output = tmp_path / "k.npz"
    process = start("estimate", write_karate(tmp_path), "--output", output, env=buffered)
    process.stdout.close()  # long before there is anything to print
    err = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), err) == (141, "")
    # What it was asked to write was written before it had to print.
    assert grfpp.KernelEstimate.load(output).n_nodes == 34


@pytest.mark.filterwarnings("always")
def test_warnings_are_one_line(tmp_path, capsys):
    path = tmp_path / "ring.txt"
    path.write_text("".join(f"{i} {(i + 1) % 9}\n" for i in range(9)))
    err = warned(
        *(capsys, "estimate", path, "--kernel", "inverse-power:2", "--scale", "0.8"),
        *("--termination", "poisson:4", "--truncate", "--on-infinite-variance", "warn"),
    )
    assert err.startswith("grfpp: warning: with Poisson(mean=4.0) the variance")
    assert "--termination geometric:" in err
    # And of the error that comes of it.
    assert [line.split(":")[1] for line in err.splitlines()] == [" warning", " warning"]
    assert "the relative error of this estimate is above one half" in err
    assert "(kernel: InversePower(power=2, of=1), relative error: " in err


def test_old_terminals_get_question_marks(tmp_path, monkeypatch):
    path = tmp_path / "graph.csv"
    path.write_text("source,target\nä,ö\n", encoding="utf-8")
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "argv", ["grfpp", "estimate", str(path), "--rows", "ä"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit, match="0"):
        main()
    assert b"\nrow ?    ?: 1.5" in out.buffer.getvalue()


def test_without_the_laboratory_its_commands_say_what_to_install(capsys, monkeypatch, tmp_path):
    for module in ("grfpp_lab", "grfpp_lab.experiments.normals.picture"):
        monkeypatch.setitem(sys.modules, module, None)
    for command in ("demo", "bench", "reproduce"):
        message = refused(capsys, command)
        assert "pip install './lab[all]' in a clone of grfpp" in message
    assert "estimate" in accepted(capsys, "--help")
    message = refused(capsys, "interpolate", "mesh.off", "--picture", tmp_path / "errors.png")
    assert message.startswith("--picture needs grfpp-lab")
