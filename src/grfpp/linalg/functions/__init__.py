"""Functions of a weight matrix: dense, by polynomials, by Krylov spaces, by power series."""
