"""Edges that are listed, one a row: frames, tuples, and what text lists share with them."""
