"""Sparse and dense linear algebra that knows nothing of walks: each numerical method once.

- `csr`: `csr`, `stack_rows`, `GrowingMatrix`; `times`, `transposed_times`, `sparse_product`, and
  `CsrProduct`, which picks SciPy, a dense array or the compiled loops (`loops`); `within_steps`.
- `chebyshev`: `recurrence` (the one driver); `apply`, `Expansion`, `ChebyshevTerms` (products,
  entries, diagonals, pairings), `block_products` and `power_diagonals` of block-diagonal matrices.
- `lanczos`: `lanczos_steps` (the one driver); `function_times` with its bound, `spectral_measure`.
- `cg`: `solve` (the one driver: NumPy or torch, several right-hand sides, preconditioner, stop
  rule, coefficients for quadrature by `on_step`); `inverse_times`, `solve_shifted`.
- `spectra`: `largest_eigenpairs` (the one call of ARPACK for operators), `leading_eigenpairs`,
  `symmetric_eigenvalues`, `spectral_density`, `perron_root`.
- `functions`: dense functions and power series; `symmetrize`; `tensors`.
"""
