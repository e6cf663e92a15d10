"""Labels of nodes, predicted from those of some nodes by kernels."""
