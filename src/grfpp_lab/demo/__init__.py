"""The demonstration: four small graphs, one kernel, regular GRFs beside GRFs++."""
