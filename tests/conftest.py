"""Lets the tests in subfolders import the helpers of this one: pytest puts it on the path."""
