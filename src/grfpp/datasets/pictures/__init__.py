"""Pictures, and the graphs of their superpixels."""
