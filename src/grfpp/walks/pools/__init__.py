"""Pooled walks: the walkers of a row as one sparse vector of masses."""
