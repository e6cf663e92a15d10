"""Modules that are named in texts and in programs that other processes run."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_modules_of_the_laboratory_exist_wherever_they_are_named():
    files = [p for folder in ("lab", "src", "docs") for p in (ROOT / folder).rglob("*.*")]
    named = {
        name
        for path in files
        if path.suffix in (".py", ".md")
        for name in re.findall(r"\bgrfpp_lab(?:\.[a-z_]+)+", path.read_text("utf-8"))
    }
    assert len(named) > 50
    for name in named:
        whole, parent = (
            Path(ROOT, "lab", *parts) for parts in (name.split("."), name.split(".")[:-1])
        )
        assert any(p.is_dir() or p.with_suffix(".py").exists() for p in (whole, parent)), name
