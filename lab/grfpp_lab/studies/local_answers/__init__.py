"""Local answers beside their peers: ``python -m grfpp_lab.studies.local_answers``."""
