"""What an estimate tells of itself: what made it and, measured when asked for, how good it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

#: What is measured.
MEASURED = (
    *("relative_error", "relative_error_std"),
    *("off_diagonal_error", "off_diagonal_error_std"),
)


class EstimateMeta(dict[str, Any]):
    """A dictionary in which `MEASURED` are found out by the first who asks.

    Examples
    --------
    >>> meta = EstimateMeta({"seed": 0}, lambda: dict.fromkeys(MEASURED, 0.25))
    >>> "relative_error" in meta, meta["relative_error"], len(meta)
    (True, 0.25, 5)
    """

    def __init__(
        self, known: Mapping[str, Any], measure: Callable[[], Mapping[str, Any] | None]
    ) -> None:
        super().__init__(known)
        self._measure = measure

    def __missing__(self, key: str) -> Any:
        found = self._measure() if key in MEASURED else None
        if found is None:
            raise KeyError(key)
        self.update(found)
        return self[key]

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None if key in MEASURED else super().__contains__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value, measured if need be; `default` where there is none."""
        try:
            return self[key]
        except KeyError:
            return default

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)  # what measures belongs to the estimate
