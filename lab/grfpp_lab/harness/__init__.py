"""Cells of work in processes of their own, stored and resumed."""
