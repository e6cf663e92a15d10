"""How fast this machine is: a few constants, measured once, and corrected by what runs."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

#: Raised when the constants mean something else.
_VERSION = 2
#: What is read back is believed within this factor of the built-in values.
_BELIEVED = 100.0
#: Bytes that a core has near by.
_CACHE = 2**20
#: How far a product that took longer than predicted moves the next prediction, and all of them.
_WEIGHT, _MOST = 0.2, 2.0


@dataclass(frozen=True)
class MachineCosts:
    """Seconds of the pieces that methods are made of.

    Examples
    --------
    >>> costs = MachineCosts()
    >>> costs.product(10_000, 1_000, 16) < 16 * costs.product(10_000, 1_000, 1)
    True
    """

    #: One step of an iteration, however small: Python and the library's checks.
    step: float = 1.2e-5
    #: One check of Lanczos' method.
    check: float = 1.5e-4
    #: One entry of ``W`` times one number, for one column and in wide blocks; the same where blocks
    #: do not stay in the cache and each entry leads to another place.
    narrow: float = 1.0e-9
    wide: float = 3.5e-10
    far_narrow: float = 2.0e-9
    far: float = 1.5e-9
    #: One number of a block that is gone through once, in the cache and beyond.
    number: float = 2.5e-10
    far_number: float = 6.0e-10
    #: One multiplication with addition of dense matrices.
    dense: float = 2.0e-11
    #: All eigenvectors of ``n`` nodes: times ``n²`` and times ``n³``.
    eigen_square: float = 5.0e-8
    eigen_cube: float = 5.0e-11
    #: One step of a pooled walk, on all cores.
    walk: float = 3.0e-8

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Constants that were measured; ``None`` where there are none that can be believed."""
        built_in = asdict(cls())
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["version"] != _VERSION:
                return None
            values = {name: float(found["seconds"][name]) for name in built_in}
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        for name, value in values.items():
            if not built_in[name] / _BELIEVED <= value <= built_in[name] * _BELIEVED:
                return None
        return cls(**values)

    def write(self, path: Path) -> bool:
        """Keep them, whole or not at all; tells whether that could be done."""
        from grfpp.io.storage.atomic import atomic_write

        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as stream:
                text = json.dumps({"version": _VERSION, "seconds": asdict(self)}, indent=1)
                stream.write(text.encode())
        except (OSError, ValueError):
            return False
        return True

    def product(
        self,
        n_entries: float,
        n_nodes: float,
        width: float,
        passes: float = 3,
        scattered: float = 1.0,
    ) -> float:
        """A step of an iteration: a product with ``W``, and so many passes over a block.

        `scattered` is the share of entries that lead elsewhere in memory (`scattering`).
        """
        # From one column to sixteen, on a logarithmic scale.
        part = min(1.0, math.log2(max(width, 1)) / 4)
        entry = self.narrow * math.exp(part * math.log(self.wide / self.narrow))
        if stays_in_cache(n_nodes, width):
            number = self.number
        else:
            far = self.far_narrow * math.exp(part * math.log(self.far / self.far_narrow))
            entry += scattered * max(far - entry, 0.0)
            number = self.number + max(self.far_number - self.number, 0.0) * (passes > 3)
        return self.step + width * (n_entries * entry + passes * n_nodes * number)

    def times(self, factor: float) -> MachineCosts:
        """The same on a machine that takes so many times as long."""
        return replace(
            self, **{each.name: getattr(self, each.name) * factor for each in fields(self)}
        )


def stays_in_cache(n_nodes: float, width: float) -> bool:
    """Whether a block of so many columns is found there again by the next step.

    Examples
    --------
    >>> stays_in_cache(1_000, 16), stays_in_cache(1_000_000, 1)
    (True, False)
    """
    return 8 * n_nodes * width <= _CACHE


class Costs:
    """The machine's constants, with a correction for each method that what runs has made.

    Examples
    --------
    >>> costs = Costs(MachineCosts())
    >>> costs.observe("dense", predicted=1.0, took=1.5)
    >>> 1 < costs.correction("dense") < 1.5
    True
    """

    def __init__(self, machine: MachineCosts, *, learns: bool = True) -> None:
        self.machine = machine
        self._learns = learns
        self._corrections: dict[str, float] = {}

    def correction(self, method: str) -> float:
        """What its predictions are multiplied by."""
        return self._corrections.get(method, 1.0)

    def observe(self, method: str, predicted: float, took: float) -> None:
        """Learn from a product: a little, since machines are disturbed.

        Not at all where choices are to be the same again, whatever has run before.
        """
        if not (self._learns and predicted > 0 and took > 0):
            return
        ratio = min(max(took / predicted, 1 / _MOST), _MOST)
        moved = self.correction(method) * ratio**_WEIGHT
        self._corrections[method] = min(max(moved, 1 / _MOST), _MOST)


def costs_file() -> Path:
    """Where the constants of this machine are kept."""
    from grfpp.datasets.fetch import cache_folder

    return cache_folder() / "machine.json"


@lru_cache(maxsize=1)
def current_costs() -> Costs:
    """Those of this process: as kept on the machine, or the built-in ones."""
    found: Any = None
    try:
        found = MachineCosts.read(costs_file())
    except (OSError, RuntimeError):  # no home
        found = None
    return Costs(found or MachineCosts())
