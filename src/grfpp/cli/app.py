"""The program `grfpp`: its commands, and what becomes of errors."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

import grfpp
from grfpp.cli.console import note, notices
from grfpp.cli.wording import in_options
from grfpp.errors import InputError

#: What shells expect of programs that are ended by bad input, Ctrl-C, or a reader that has left.
BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141

#: Where each command lives: a module with a function of the command's name, whose docstring is the
#: help, and `NOTES`. It is imported when the command is called.
COMMANDS = {
    "estimate": "grfpp.cli.estimate",
    "query": "grfpp.cli.query",
    "convert": "grfpp.cli.convert",
    "cluster": "grfpp.cli.cluster",
    "interpolate": "grfpp.cli.interpolate",
    "label": "grfpp.cli.label",
    "classify": "grfpp.cli.classify",
    "demo": "grfpp_lab.commands.demo",
    "datasets": "grfpp.cli.datasets",
    "bench": "grfpp_lab.commands.bench",
    "reproduce": "grfpp_lab.commands.reproduce",
    "warmup": "grfpp.cli.warmup",
}


class _Commands(TyperGroup):
    """The commands by name."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(COMMANDS[cmd_name])
        alone = typer.Typer(**_STYLE)
        alone.command(cmd_name, epilog=module.NOTES)(getattr(module, cmd_name))
        command: Any = get_command(alone)
        if ctx.obj is not None:
            ctx.obj[:] = [flag for parameter in command.params for flag in parameter.opts]
        return command


_STYLE: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
app = typer.Typer(
    name="grfpp", help="Graph node kernels from random walks (GRFs++).", cls=_Commands, **_STYLE
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"grfpp {grfpp.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Graph node kernels from random walks (GRFs++)."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Run the program on the arguments it was started with."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a "±" must not fail on an old terminal
    # Asked to end, clean up as for any other error: no half-written files are left.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code.

    What the user can mend is told in one line on stderr; only bugs give a traceback.
    """
    options: list[str] = []  # of the command that is called, once it is known
    try:
        with warnings.catch_warnings(), notices():
            # Each once, wherever in the library it comes from.
            warned = cache(lambda text: note(f"warning: {text}"))
            warnings.showwarning = lambda message, *_, **__: warned(in_options(message, options))
            command = get_command(app)
            with command.make_context("grfpp", list(arguments), obj=options) as context:
                command.invoke(context)
            sys.stdout.flush()
        return 0
    except typer.Exit as end:
        return end.exit_code
    except KeyboardInterrupt:
        note("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads on (`grfpp … | head`). What Python flushes at its end must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:
        explanation = _explanation(error, options)
        if explanation is None:
            raise
        note(explanation)
        return BAD_INPUT


def _explanation(error: Exception, options: Sequence[str]) -> str | None:
    """What to tell the user, or nothing when the error is ours."""
    if isinstance(error, InputError):
        return in_options(error, options)
    if hasattr(error, "format_message"):  # typer's own: unknown options, values of a wrong kind
        return str(error.format_message())
    if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("grfpp"):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{where}"
    if isinstance(error, MemoryError):
        return "the memory of this machine does not suffice"
    return None
