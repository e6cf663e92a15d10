"""Pictures of meshes coloured by numbers; drawing them needs the extra ``plot``."""
