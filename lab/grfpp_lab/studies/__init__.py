"""Measurements of one thing each, run by name: ``python -m grfpp_lab.studies.coverage``."""
