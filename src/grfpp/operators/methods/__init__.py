"""The methods of multiplying with a kernel, a file each; a new one is a file and a line below."""

from grfpp.operators.methods.base import Method, Product
from grfpp.operators.methods.chebyshev import Chebyshev
from grfpp.operators.methods.dense import Dense
from grfpp.operators.methods.lanczos import Lanczos
from grfpp.operators.methods.solve import Solve
from grfpp.operators.methods.walks import Walks

#: By name, in the order in which plans list them.
METHODS: dict[str, type[Method]] = {
    method.name: method for method in (Dense, Chebyshev, Lanczos, Solve, Walks)
}

__all__ = ["METHODS", "Method", "Product"]
