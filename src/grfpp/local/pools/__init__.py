"""Pools that start where it is asked, in compiled form: plain arrays, trusted."""
