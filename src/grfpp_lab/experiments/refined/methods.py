"""The ways to a kernel that are compared, and how they look in charts."""

from __future__ import annotations

from grfpp_lab.experiments.views import Series

#: The paper's; walks of one row as a pool; and their mean with the transpose, the default.
INDEPENDENT, POOLED, AVERAGED = "independent", "pooled", "pooled, averaged"
#: The same with exact eigenvectors.
DEFLATED = "pooled, averaged, deflated"
#: Two that have no walks: polynomials, and the largest entries of each row of the kernel.
CHEBYSHEV, LARGEST = "Chebyshev", "largest entries"
#: Stitching degree of the claims: the library's default.
DEGREE = 2

_STYLES = {
    (INDEPENDENT, 2): (0, False),
    (POOLED, 2): (1, False),
    (POOLED, 4): (2, False),
    (POOLED, 8): (3, False),
    (AVERAGED, 2): (1, True),
    (AVERAGED, 8): (3, True),
    (DEFLATED, 4): (4, True),
    (DEFLATED, 8): (4, False),
    (CHEBYSHEV, None): (5, True),
    (LARGEST, None): (5, False),
}


def name_of(method: str, degree: int | None) -> str:
    """What the legend calls it."""
    return method if degree is None else f"{method}, degree {degree}"


def series(*wanted: tuple[str, int | None]) -> list[Series]:
    """The methods of a chart, by name and degree."""
    return [
        Series(
            name_of(method, degree), {"method": method, "degree": degree}, *_STYLES[method, degree]
        )
        for method, degree in wanted
    ]


#: Those that walk, of which charts show.
WALKED: tuple[tuple[str, int | None], ...] = (
    (INDEPENDENT, 2),
    (POOLED, 2),
    (AVERAGED, 2),
    (POOLED, 4),
    (POOLED, 8),
    (DEFLATED, 8),
)
