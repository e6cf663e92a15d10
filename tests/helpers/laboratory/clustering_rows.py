"""Rows of clustering, made by hand."""

from grfpp_lab.experiments.clustering.claims import (
    EXACT,
    GRF,
    GRF_PP,
    LOUVAIN,
    POOLED_PP,
    REGULARIZED,
)


def rows(**errors):
    """Rows of methods on graphs, by ``graph=(GRF, GRF++, exact, Louvain)``."""
    return [
        {
            "graph": graph,
            "n_nodes": 10 * (place + 1),
            "n_clusters": 2,
            "method": method,
            "n_walks": 16 if method in (GRF, GRF_PP) else None,
            "repeats": 10,
            "error": error,
            "standard_error": 0.01,
            "deviation": 0.03,
        }
        for place, (graph, values) in enumerate(errors.items())
        for method, error in zip((GRF, GRF_PP, EXACT, LOUVAIN), values, strict=True)
    ]


def pooled_rows(n_walks=16, **errors):
    """Rows of pooled walks, by ``graph=error``."""
    (like,) = [row for row in rows(karate=(0, 0, 0, 0)) if row["method"] == GRF_PP]
    own = {**like, "method": POOLED_PP, "walks": "pooled", "n_walks": n_walks}
    return [{**own, "graph": graph, "error": error} for graph, error in errors.items()]


def regularized_rows(**errors):
    """Rows of the default, by ``graph=error``."""
    (like,) = [row for row in rows(karate=(0, 0, 0, 0)) if row["method"] == EXACT]
    return [
        {**like, "method": REGULARIZED, "graph": graph, "error": error}
        for graph, error in errors.items()
    ]
