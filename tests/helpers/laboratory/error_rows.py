"""Rows of errors whose size is a function of graph, degree and walks."""

import itertools

GRAPHS, WALKS = ("er-20", "karate"), (4, 16)


def error_rows(error, degrees=(1, 2, 4), spread=0.001, **more):
    """Rows whose errors are a function of graph, degree and walks."""
    return [
        {
            "graph": graph,
            "n_nodes": 20,
            "degree": degree,
            "n_walks": n_walks,
            "error": error(graph, degree, n_walks),
            "standard_error": spread,
            **more,
        }
        for graph, degree, n_walks in itertools.product(GRAPHS, degrees, WALKS)
    ]


def as_paper(graph, degree, n_walks):
    return 0.6 / (degree * n_walks) ** 0.5
