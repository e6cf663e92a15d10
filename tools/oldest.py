"""Print constraints with the lowest versions of the core dependencies that pyproject.toml allows.

python tools/oldest.py > oldest.txt: the other packages are those of constraints.txt.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

#: What a core dependency needs in a version of its own.
_FOLLOWS = {"llvmlite"}


def main() -> None:
    """Print a line for every package."""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    lowest = dict(each.split(">=") for each in project["dependencies"])
    locked = Path("constraints.txt").read_text("utf-8").splitlines()
    core = {re.sub("[-_.]+", "-", name).lower() for name in lowest} | _FOLLOWS
    others = [line for line in locked if re.split("[=#]", line)[0].lower() not in core]
    print(*(f"{name}=={version}" for name, version in lowest.items()), *others, sep="\n")


if __name__ == "__main__":
    main()
