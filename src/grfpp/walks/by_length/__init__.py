"""Factors kept apart by walk length: one set of walks for every modulation."""

from grfpp.walks.by_length.deposits import LengthDeposits, sample_by_length

__all__ = ["LengthDeposits", "sample_by_length"]
