"""How names are imported: late, from where they moved to, from packages that may be missing."""
