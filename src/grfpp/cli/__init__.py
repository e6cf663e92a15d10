"""The command line: parse, call, print. One file a command."""

from grfpp.cli.app import app, main, run

__all__ = ["app", "main", "run"]
