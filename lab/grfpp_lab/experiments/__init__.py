"""The paper's estimation study: one module an experiment, a runner, and one page."""
