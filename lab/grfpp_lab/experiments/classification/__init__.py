"""Graphs classified by the spectra of their kernels."""
