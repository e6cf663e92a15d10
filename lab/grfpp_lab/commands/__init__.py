"""The commands `grfpp bench`, `grfpp demo` and `grfpp reproduce`."""
