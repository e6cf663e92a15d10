"""The method of least predicted time, among those that can be used."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from grfpp.errors import InputError
from grfpp.memory import readable_bytes
from grfpp.planner.costs import Costs
from grfpp.planner.methods import METHODS
from grfpp.planner.methods.walks import foreseen_error
from grfpp.planner.plan import Offer, Plan
from grfpp.planner.problem import Problem
from grfpp.planner.weights import fits

#: Walks are tried where the tolerance is this loose and they take so much less than all others:
#: whether they suffice is known after they have been walked.
_LOOSE, _CHEAPER = 0.005, 0.5
_FEW_ENTRIES = 300_000


def choose(
    problem: Problem,
    n_columns: int,
    costs: Costs,
    n_products: float = 1.0,
    method: str = "auto",
    *,
    thorough: bool = True,
) -> Plan:
    """Compare all methods for products with so many columns.

    Parameters
    ----------
    n_columns
        Of one product.
    n_products
        How many products there will be: what is done once is shared by them.
    method
        ``"auto"``, or the name of the method that is asked for.
    thorough
        Whether to ask for the memory of all methods, not of those alone that might be picked.

    Examples
    --------
    >>> import grfpp, networkx as nx
    >>> from grfpp.planner.costs import MachineCosts
    >>> W = grfpp.Graph(nx.path_graph(10_000)).normalized("sym")
    >>> problem = Problem(W, grfpp.Diffusion(1.0), 1e-3)
    >>> choose(problem, 1, Costs(MachineCosts())).method
    'chebyshev'
    """
    offers = [each.offer(problem, n_columns, costs) for each in METHODS.values()]
    fastest = np.inf
    for place in sorted(range(len(offers)), key=lambda each: offers[each].seconds(n_products)):
        if thorough or offers[place].seconds(n_products) < fastest:
            offers[place] = _that_fits(offers[place])
        if not offers[place].out and offers[place].method != "walks":
            fastest = min(fastest, offers[place].seconds(n_products))
    foreseen = foreseen_error(problem) if thorough and _can_foresee(problem) else None
    offers = [_that_pays(each, offers, problem, n_products, foreseen) for each in offers]
    usable = [each for each in offers if not each.out]
    if method != "auto":
        picked, why = method, "as asked for"
    elif usable:
        picked = min(usable, key=lambda each: each.seconds(n_products)).method
        why = "the least time" if len(usable) > 1 else "the only one"
    else:
        reasons = "; ".join(f"{each.method}: {each.out}" for each in offers)
        raise InputError(f"no method can multiply with {problem.kernel!r} of this graph: {reasons}")
    return Plan(
        repr(problem.kernel),
        problem.n_nodes,
        problem.n_entries,
        problem.tol,
        n_columns,
        picked,
        tuple(offers),
        why,
        n_products,
    )


def _that_fits(offer: Offer) -> Offer:
    if offer.out or fits(offer.n_bytes):
        return offer
    return replace(offer, out=f"needs {readable_bytes(int(offer.n_bytes))} of memory")


def _can_foresee(problem: Problem) -> bool:
    """Whether the error of walks can be foreseen at once: few edges, and nothing to compile."""
    return problem.n_entries < _FEW_ENTRIES and "numba" in sys.modules


def _that_pays(
    offer: Offer,
    offers: list[Offer],
    problem: Problem,
    n_products: float,
    foreseen: float | None,
) -> Offer:
    """Take walks out where trying them is not worth it."""
    if offer.method != "walks" or offer.out:
        return offer
    others = [each for each in offers if not each.out and each is not offer]
    if not others:
        return offer
    best = min(others, key=lambda each: each.seconds(n_products))
    if foreseen is not None and foreseen > 10 * problem.tol:
        why = f"would have an error of about {foreseen:.2g}; {best.method} reaches {problem.tol:g}"
    elif problem.tol < _LOOSE:
        why = f"by chance: for tolerances from {_LOOSE:g} on; {best.method} reaches {problem.tol:g}"
    elif offer.seconds(n_products) > _CHEAPER * best.seconds(n_products):
        why = f"{offer.seconds(n_products):.2g} s at least; {best.method} takes less"
    else:
        return offer
    return replace(offer, out=why)
