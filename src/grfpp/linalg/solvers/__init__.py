"""Linear systems with weight matrices, by conjugate gradients."""
