"""Tasks whose samples are graphs."""
