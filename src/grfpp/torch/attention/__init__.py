"""Attention masks from graph kernels."""
