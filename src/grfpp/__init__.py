"""Graph node kernels from random walks: refined graph random features (GRFs++).

The stub ``__init__.pyi`` lists the public names; each is imported when it is first used.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
# `import *` must not need the packages of extras.
__all__ = [name for name in __all__ if name not in ("distributed", "torch")]
