"""Gaussian processes on the nodes of a graph: regression, with its parameters chosen by default.

The stub ``__init__.pyi`` lists the public names, which are imported when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
