"""Positional encodings of nodes: one base class in `base`, encodings in `projected` and `exact`."""
