"""Labels of nodes, predicted by kernels."""
