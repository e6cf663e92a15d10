"""Count lines of code: no docstrings, comments or blank lines.

python tools/loc.py src/grfpp [--depth 1]
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def lines_of_code(source: str) -> int:
    """The number of lines that hold a token other than layout, comments and docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines.difference_update(range(first.lineno, (first.end_lineno or 0) + 1))
    return len(lines)


def main() -> None:
    """Print the lines and files of every part of a tree, and their sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--depth", type=int, default=1, help="folders that are counted apart")
    options = parser.parse_args()
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path in sorted(options.root.rglob("*.py")):
        part = "/".join(path.relative_to(options.root).parts[: options.depth])
        lines[part] += lines_of_code(path.read_text("utf-8"))
        files[part] += 1
    for part, count in lines.items():
        print(f"{count:7,d} lines {files[part]:4d} files  {part}")
    print(f"{lines.total():7,d} lines {files.total():4d} files  in all")


if __name__ == "__main__":
    main()
