"""Triangle meshes: files, tables, and a sphere."""
