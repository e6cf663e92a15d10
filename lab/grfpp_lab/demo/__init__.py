"""The demonstration: four small graphs, one kernel, GRFs, GRFs++ and pooled walks."""
