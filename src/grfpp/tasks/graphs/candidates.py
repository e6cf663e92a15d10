"""Features of a list of graphs for every setting that a choice is to be made among."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from grfpp.arguments import whole
from grfpp.errors import InputError
from grfpp.kernels import Diffusion, SquaredDiffusion
from grfpp.tasks.graphs.label_pairs import LabelPairFeatures
from grfpp.tasks.graphs.spectrum import KernelSpectrumFeatures
from grfpp.tasks.kernels import kernel_and_method, squared_width
from grfpp.typing import FloatArray

#: The spectrum; that of walks between equal labels; both of them; the spectrum with the sums of the
#: kernel over pairs of labels.
SPECTRUM, SAME_LABEL, BOTH, PAIRS = "spectrum", "same-label", "both-spectra", "label-pairs"
KINDS = (SPECTRUM, SAME_LABEL, BOTH, PAIRS)


class Setting(NamedTuple):
    """What a choice is made among; no walks where the kernel is exact."""

    sigma: float
    n_walks: int
    n_eigenvalues: int


def candidate_features(
    graphs: Any,
    *,
    sigmas: Sequence[float],
    n_walks: Sequence[int],
    n_eigenvalues: Sequence[int],
    kind: str = SPECTRUM,
    **options: Any,
) -> dict[Setting, FloatArray]:
    """Features for every width, number of walks and number of eigenvalues.

    Each spectrum is computed once, as long as the longest that is wanted.

    Parameters
    ----------
    graphs
        As for `KernelSpectrumFeatures`.
    sigmas, n_walks, n_eigenvalues
        What is chosen among.
    kind
        Which features: one of `KINDS`. All but the first need labelled graphs.
    options
        Other parameters of `KernelSpectrumFeatures`. With ``estimate="exact"`` there are no walks
        to choose among. Nor are there widths, where the kernel is ``exp(λ W)`` or ``exp(λ W²)``
        and only spectra count: those of one width are then monotone functions of those of
        another, and forests do not see the difference.

    Examples
    --------
    >>> import networkx as nx
    >>> graphs = [nx.cycle_graph(5), nx.path_graph(3)]
    >>> found = candidate_features(
    ...     graphs, sigmas=[0.5, 0.9], n_walks=[4], n_eigenvalues=[2, 3], random_state=0
    ... )
    >>> [(tuple(setting), X.shape) for setting, X in found.items()][:2]
    [((0.5, 4, 2), (2, 2)), ((0.5, 4, 3), (2, 3))]
    """
    if kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    lengths = sorted({whole(k, "n_eigenvalues", 1) for k in n_eigenvalues})
    if not (len(sigmas) and len(n_walks) and lengths):
        raise InputError("sigmas, n_walks and n_eigenvalues must each have a value at least")
    kernel, how = kernel_and_method(
        options.get("kernel", "diffusion"), options.get("estimate", "walks")
    )
    n_walks = [whole(n, "n_walks", 1) for n in n_walks]
    for sigma in sigmas:
        squared_width(sigma)
    if how == "exact":
        n_walks = [0]
        if kind != PAIRS and isinstance(kernel, Diffusion | SquaredDiffusion):
            sigmas = sigmas[-1:]
    found = {}
    for sigma, walks in product(sigmas, n_walks):
        own = {**options, "sigma": sigma, "n_walks": max(walks, 1)}
        spectra, sums = _columns(graphs, kind, lengths[-1], own)
        for k in lengths:
            found[Setting(sigma, walks, k)] = np.hstack([each[:, :k] for each in spectra] + sums)
    return found


def _columns(
    graphs: Any, kind: str, longest: int, options: dict[str, Any]
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Spectra, of which the first columns count, and other features."""
    spectra, sums = [], []
    if kind != SAME_LABEL:
        spectra.append(KernelSpectrumFeatures(longest, **options).fit_transform(graphs))
    if kind in (SAME_LABEL, BOTH):
        within = KernelSpectrumFeatures(longest, restrict="same-label", **options)
        spectra.append(within.fit_transform(graphs))
    if kind == PAIRS:
        sums.append(LabelPairFeatures(**options).fit_transform(graphs))
    return spectra, sums
