"""What the rows of the experiment `normals` are, and how to find one's way in them."""

from __future__ import annotations

from collections.abc import Sequence

from grfpp_lab.experiments.normals.paper import AL_MOHY, BRUTE, GRF, REUSED, STITCHED
from grfpp_lab.experiments.views import POOLED, select
from grfpp_lab.harness.experiment import Row, Rows

#: The parts of the experiment.
COSINES, SECONDS, PICTURE = "cosines", "seconds", "picture"
#: A head of a statue: features of many sizes, and a face to look at.
PICTURED_MESH = "mesh 98480"

#: Ours, and the textbook's, which no kernel is needed for.
KRIGING, HARMONIC = "kriging", "harmonic"
BIHARMONIC, BIHARMONIC_RW = "biharmonic", "biharmonic, random walk"
BESIDE = (KRIGING, HARMONIC, BIHARMONIC, BIHARMONIC_RW)

#: What is timed: the dense kernel, polynomials, and all the way from the file to the cosine.
DENSE, EXACT, END_TO_END = "brute force, dense", "Chebyshev", "GRF++, from file to cosine"
KRIGING_END = "kriging, from file to cosine"
TIMED = (EXACT, AL_MOHY, GRF, STITCHED, REUSED, POOLED, END_TO_END, KRIGING_END, DENSE)

MASK, DEGREE = 0.8, 2
SIGMAS, N_WALKS = (0.5, 0.6, 0.8), (4, 8, 16)
#: As many steps as GRF++ of degree 2 has, where the paper compares equal numbers of walks.
TWICE = "GRF, twice the walks"
GRF_WALKS = (*N_WALKS, 2 * N_WALKS[-1])

#: Methods of the table of cosines: the rows that are theirs, and their numbers of walks.
COMPARED: dict[str, tuple[str, Sequence[int | None]]] = {
    BRUTE: (BRUTE, (None,)),
    AL_MOHY: (AL_MOHY, (None,)),
    GRF: (GRF, N_WALKS),
    TWICE: (GRF, GRF_WALKS[1:]),
    STITCHED: (STITCHED, N_WALKS),
    REUSED: (REUSED, N_WALKS),
    POOLED: (POOLED, N_WALKS),
    **{method: (method, (None,)) for method in BESIDE},
}


def chosen_rows(rows: Rows, method: str) -> dict[str, Row]:
    """For every mesh the row of a method's best setting.

    The best one is that with the largest mean cosine on the masks kept for this purpose; the
    cosine that counts is from other masks.
    """
    source, n_walks = COMPARED[method]
    best: dict[str, Row] = {}
    for row in select(rows, part=COSINES, method=source):
        if row["n_walks"] not in n_walks:
            continue
        before = best.get(row["graph"])
        if before is None or row["cosine_to_choose_by"] > before["cosine_to_choose_by"]:
            best[row["graph"]] = row
    return best


def true_meshes(by_mesh: dict[str, Row]) -> dict[str, Row]:
    """Without the meshes that only stand in for those of the paper."""
    return {name: row for name, row in by_mesh.items() if not row["stand_in"]}


def beside_paper(rows: Rows, method: str) -> list[Row]:
    """A method's rows on the paper's own meshes, where the paper has a number too."""
    own = true_meshes(chosen_rows(rows, method)).values()
    return [row for row in own if row["paper_cosine"] is not None]
