"""`grfpp.sample` for what is true of walks that know nothing of each other."""

import grfpp

LAW = grfpp.Geometric(0.1)
#: For whatever takes options about walks.
INDEPENDENT = {"walks": "independent", "termination": LAW}
#: The same for the command line.
IN_WORDS = ("--walks-kind", "independent", "--termination", "geometric:0.1")


def sample(graph, kernel, degree=2, n_walks=16, termination=LAW, seed=None, **options):
    # Most tests take so few walks that their error is large.
    options = {"walks": "independent", "check_error": False, **options}
    return grfpp.sample(graph, kernel, degree, n_walks, termination, seed, **options)
