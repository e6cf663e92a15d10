"""Positional encodings in graph transformers."""
