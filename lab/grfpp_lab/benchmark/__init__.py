"""The benchmark: this package side by side with its peers, in one run on one machine."""
