"""Data sets that only experiments use; `grfpp datasets` lists them with the library's."""
