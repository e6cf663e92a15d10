"""PyTorch: learnable kernels, Gaussian processes, attention masks, positional encodings.

Needs the extra ``torch``, and ``gpytorch`` for Gaussian processes. The stub ``__init__.pyi`` lists
the public names, which are imported when they are first used, so that none of them needs the
packages of the others.
"""

import lazy_loader

from grfpp._imports import require

require("torch")
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
