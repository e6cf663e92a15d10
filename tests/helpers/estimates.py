"""Estimates of all kinds, to be tried alike."""

import numpy as np
from small_graphs import GRAPHS, directed, karate

import grfpp
from grfpp import Diffusion, Geometric, Graph, PStep


def sampled(graph, degree, **options):
    options = {"n_walks": 6, "termination": Geometric(0.2), "seed": 3, **options}
    kernel = options.pop("kernel", Diffusion(0.7))
    return grfpp.sample(graph, kernel, degree, **options)


def negative(graph, degree, **options):
    # (-2 I + W)^3 has alpha_0 = -8, so that the factors estimate -K.
    return sampled(graph, degree, kernel=PStep(3, -2.0), termination=Geometric(0.3), **options)


def directed_graph():
    return Graph(directed()).normalized("rw", 0.8)


SOURCES = {
    "degree 1": lambda: sampled(karate(), 1),
    "degree 3": lambda: sampled(karate(), 3),
    "degree 4": lambda: sampled(GRAPHS["weighted, sym"], 4),
    "directed": lambda: sampled(directed_graph(), 2),
    "reused walks": lambda: sampled(karate(), 2, reuse_walks=True),
    "reused walks, directed": lambda: sampled(directed_graph(), 3, reuse_walks=True),
    "negative sign": lambda: negative(karate(), 2),
    "negative sign, degree 1": lambda: negative(directed_graph(), 1),
    "loops and isolated": lambda: sampled(GRAPHS["loops and isolated, sym"], 3),
    "one node": lambda: sampled(GRAPHS["one node with a loop"], 2),
    "float32": lambda: sampled(karate(), 2, dtype=np.float32),
    "symmetrised": lambda: sampled(GRAPHS["weighted, sym"], 2, symmetrize=True),
    "symmetrised, degree 3": lambda: negative(karate(), 3, symmetrize=True),
    "deflated": lambda: sampled(GRAPHS["weighted, sym"], 2, deflate=2),
    "deflated, degree 1": lambda: negative(karate(), 1, deflate=5),
    "deflated, loops and isolated": lambda: sampled(
        GRAPHS["loops and isolated, sym"], 3, deflate=3
    ),
    "deflated, symmetrised": lambda: negative(karate(), 2, deflate=4, symmetrize=True),
}
