"""What was picked to multiply with a kernel, and what the others would have cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grfpp.memory import readable_bytes


@dataclass(frozen=True)
class Offer:
    """What one method would take, or why it is out."""

    method: str
    #: Seconds once, and seconds for each product.
    setup: float = 0.0
    product: float = 0.0
    n_bytes: float = 0.0
    #: In words: how it works here.
    note: str = ""
    #: Why the method cannot be used; empty where it can.
    out: str = ""

    def seconds(self, n_products: float = 1.0) -> float:
        """For so many products."""
        return self.setup + n_products * self.product


@dataclass(frozen=True)
class Plan:
    """What multiplies, what the other methods would have cost, and why.

    Examples
    --------
    >>> fast = Offer("chebyshev", product=0.002, n_bytes=1e6, note="9 products with W")
    >>> print(Plan("Diffusion(lam=1.0)", 34, 156, 1e-3, 16, "chebyshev",
    ...            (fast, Offer("solve", out="not an inverse power")), "the fastest"))
    Diffusion(lam=1.0) of 34 nodes, 156 entries, 16 columns to 0.001: chebyshev, the fastest
      method        seconds    memory
    * chebyshev       0.002      1 MB  9 products with W
      solve               -         -  not an inverse power
    """

    kernel: str
    n_nodes: int
    n_entries: int
    tol: float
    #: Columns that the offers are for.
    n_columns: int
    #: The method that was picked.
    method: str
    offers: tuple[Offer, ...]
    #: Why this one.
    why: str
    #: Products that the offers are for, all of so many columns.
    n_products: float = 1.0

    def __getitem__(self, method: str) -> Offer:
        return next(each for each in self.offers if each.method == method)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        yield (
            f"{self.kernel} of {self.n_nodes:,} nodes, {self.n_entries:,} entries, "
            f"{self.n_columns:,} column{'s' * (self.n_columns > 1)} to {self.tol:g}: "
            f"{self.method}, {self.why}"
        )
        yield f"  {'method':<12}{'seconds':>9}{'memory':>10}"
        for each in self.offers:
            mark = "*" if each.method == self.method else " "
            if each.out:
                yield f"{mark} {each.method:<12}{'-':>9}{'-':>10}  {each.out}"
                continue
            took = f"{each.seconds(self.n_products):.2g}"
            size = readable_bytes(int(each.n_bytes))
            yield f"{mark} {each.method:<12}{took:>9}{size:>10}  {each.note}"
