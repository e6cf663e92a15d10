"""The paper's table of mean cosines between true and predicted normals."""

from __future__ import annotations

from grfpp_lab.experiments.quoted import quoted_cells

BRUTE, AL_MOHY, GRF, STITCHED, REUSED = "brute force", "Al-Mohy", "GRF", "GRF++", "GRF++r"
METHODS = (BRUTE, AL_MOHY, GRF, STITCHED, REUSED)

#: Mean cosine by the number of vertices and the method. The largest mesh is in the paper's shorter
#: table only, which leaves Al-Mohy's method out.
PAPER = {
    (int(size), method.replace("_", " ")): float(cosine)
    for (size, method), cosine in quoted_cells("normals", "cosines.txt").items()
    if cosine != "-"
}
