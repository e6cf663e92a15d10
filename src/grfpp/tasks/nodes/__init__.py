"""Tasks whose samples are the nodes of one graph."""
