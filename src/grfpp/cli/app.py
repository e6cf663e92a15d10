"""The program `grfpp`: its commands, and how errors become messages and exit codes."""

from __future__ import annotations

import os
import re
import signal
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import cleandoc
from typing import Any

import click

import grfpp
from grfpp._imports import require
from grfpp.cli.console import log_notes, note
from grfpp.errors import InputError, InputWarning, did_you_mean

#: Exit code for bad input, as of programs that refuse their options.
BAD_INPUT = 2
#: Exit code after Ctrl-C: 128 plus the number of SIGINT, as shells expect.
INTERRUPTED = 130
#: Exit code where the reader of a pipe has closed it: 128 plus the number of SIGPIPE.
BROKEN_PIPE = 141

#: The module of each command, imported when the command is called. It has a command of that name;
#: its docstring, after the first paragraph, is shown below the options. `grfpp_lab` is optional.
COMMANDS = {
    "estimate": "grfpp.cli.estimate",
    "query": "grfpp.cli.query",
    "convert": "grfpp.cli.convert",
    "update": "grfpp.cli.update",
    "compact": "grfpp.cli.compact",
    "cluster": "grfpp.cli.cluster",
    "interpolate": "grfpp.cli.interpolate",
    "label": "grfpp.cli.label",
    "gp": "grfpp.cli.gp",
    "classify": "grfpp.cli.classify",
    "demo": "grfpp_lab.commands.demo",
    "datasets": "grfpp.cli.datasets",
    "bench": "grfpp_lab.commands.bench",
    "reproduce": "grfpp_lab.commands.reproduce",
    "warmup": "grfpp.cli.warmup",
}
#: A parameter set in an advice, such as ``n_walks=4``.
_SETTING = re.compile(r"\b([a-z]\w*)=('[^']*'|\"[^\"]*\"|[\w.+-]*\w)")


class _Commands(click.Group):
    """The commands by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, home in COMMANDS.items() if find_spec(home.partition(".")[0])]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in self.list_commands(ctx):
            require("grfpp_lab", f"grfpp {cmd_name}")
        module = import_module(COMMANDS[cmd_name])
        command: click.Command = getattr(module, cmd_name)
        command.epilog = cleandoc(module.__doc__ or "").partition("\n\n")[2]
        if isinstance(ctx.obj, dict):
            ctx.obj.update(_flags(command))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            advice = did_you_mean(args[0], self.list_commands(ctx))
            ctx.fail(f"no such command {args[0]!r}; {advice}")
        return super().resolve_command(ctx, args)


def _flags(command: click.Command) -> dict[str, str]:
    """The options of a command by the Python parameters that they set."""
    flags = {}
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            flags[f"{parameter.name}"] = max(parameter.opts, key=len)
            for opposite in parameter.secondary_opts:
                flags[f"not {parameter.name}"] = opposite
    aliases = {"random_state": "seed", "normalization": "normalize", "symmetrize": "undirected"}
    return {**{name: flags[other] for name, other in aliases.items() if other in flags}, **flags}


@click.group(
    "grfpp",
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(
    grfpp.__version__, prog_name="grfpp", message="%(prog)s %(version)s", help="Print the version."
)
@click.pass_context
def app(context: click.Context) -> None:
    """Graph node kernels from random walks (GRFs++)."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def main() -> None:
    """Run the program on the arguments it was started with."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a "±" must not fail on an old terminal
    # SIGTERM unwinds the stack as other errors do, so that no half-written files are left.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code.

    Errors that the user can correct are one line on stderr; only bugs raise.

    Parameters
    ----------
    arguments
        The words that follow `grfpp` on the command line.

    Examples
    --------
    >>> run(["estimate", "no-such-file.txt"])  # with a message on stderr
    2
    """
    flags: dict[str, str] = {}  # of the command, once it is known
    try:
        with warnings.catch_warnings(), log_notes():
            # Print equal warnings once, wherever in the library they are raised.
            warn = cache(lambda text: note(f"warning: {text}"))
            warnings.showwarning = lambda message, *_, **__: warn(in_options(message, flags))
            with app.make_context("grfpp", list(arguments), obj=flags) as context:
                app.invoke(context)
            sys.stdout.flush()
        return 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except KeyboardInterrupt:
        note("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes stdout at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:
        explanation = _explanation(error, flags)
        if explanation is None:
            raise
        note(explanation)
        return BAD_INPUT


def _explanation(error: Exception, flags: dict[str, str]) -> str | None:
    """The message for an error that the user can correct; ``None`` for a bug in grfpp."""
    if isinstance(error, InputError):
        return in_options(error, flags)
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("grfpp"):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "this machine has too little memory"
    return None


def _detail(name: str, value: Any) -> str:
    """One measured value of a warning."""
    text = f"{value:.4g}" if isinstance(value, float) else f"{value}"
    return f"{name.replace('_', ' ')}: {text}"


def in_options(message: Exception | str, flags: dict[str, str]) -> str:
    """A message of the library with the options of a command in place of Python's parameters.

    Examples
    --------
    >>> flags = {"n_walks": "--walks", "degree": "--degree"}
    >>> error = InputError("must be >= 1, found 0", argument="n_walks", advice="pass degree=2")
    >>> in_options(error, flags)
    '--walks must be >= 1, found 0; pass --degree 2'
    """
    if not isinstance(message, InputError | InputWarning):
        return str(message)
    argument = flags.get(f"{message.argument}", message.argument)
    text = str(InputError(message.problem, argument=argument, advice=message.advice))
    if isinstance(message, InputWarning) and message.details:
        text += f" ({', '.join(_detail(*item) for item in message.details.items())})"

    def in_option(match: re.Match[str]) -> str:
        name, value = match[1], match[2].strip("'\"")
        if value == "False":
            return flags.get(f"not {name}", match[0])
        if name == "symmetrize" and value != "True":  # of a graph, not of an estimate
            name = "undirected"
        if name not in flags:
            return match[0]
        return flags[name] if value == "True" else f"{flags[name]} {value}"

    return _SETTING.sub(in_option, text)
