"""The paper's estimation study: errors, speed and theory, an experiment a file."""
