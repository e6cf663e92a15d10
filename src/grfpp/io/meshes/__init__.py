"""Files of triangle meshes."""
