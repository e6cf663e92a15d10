"""Graphs in folders: arrays in files of their own, mapped into memory rather than read."""
