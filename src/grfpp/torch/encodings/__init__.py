"""Positional encodings of nodes."""
