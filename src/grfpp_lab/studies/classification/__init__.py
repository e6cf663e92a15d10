"""Graph classification beside Weisfeiler–Lehman: ``python -m grfpp_lab.studies.classification``."""
