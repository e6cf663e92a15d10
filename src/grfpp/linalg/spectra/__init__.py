"""Eigenvalues and eigenvectors of a weight matrix, and what comes of them."""
