"""Rows of pooled walks, made by hand."""

from grfpp_lab.experiments.refined.measuring import AVERAGED, FAST, INDEPENDENT, POOLED


def row(graph, method, error, degree=2, budget=576, kernel=FAST, **more):
    """A row whose error without the diagonal is twice that of the whole matrix."""
    return {
        "graph": graph,
        "n_nodes": 2000,
        "columns": 100,
        "kernel": kernel,
        "method": method,
        "degree": degree,
        "budget": budget,
        "steps_per_node": budget,
        "entries": 0.5 * (budget or 0),
        "repeats": 2,
        "error": error,
        "standard_error": 0.001 * error,
        "off_error": 2 * error,
        "off_standard_error": 0.002 * error,
        "seconds": 0.01 * (budget or 0),
        **more,
    }


def beside(graph, ratio, error=0.1, **more):
    """Independent and pooled walks whose errors have this ratio; averaged ones have 0.7 of it."""
    return [
        row(graph, INDEPENDENT, error, **more),
        row(graph, POOLED, error / ratio, **more),
        row(graph, AVERAGED, 0.7 * error / ratio, **more),
    ]
