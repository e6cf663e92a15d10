"""The ways to multiply with a kernel, a file each."""

from grfpp.planner.methods.base import Method, Multiplier, Product
from grfpp.planner.methods.dense import Dense
from grfpp.planner.methods.lanczos import Lanczos
from grfpp.planner.methods.polynomials import Chebyshev
from grfpp.planner.methods.solve import Solve
from grfpp.planner.methods.walks import Walks

#: By name, in the order in which plans list them.
METHODS: dict[str, Method] = {
    each.name: each for each in (Dense(), Chebyshev(), Lanczos(), Solve(), Walks())
}

__all__ = ["METHODS", "Method", "Multiplier", "Product"]
