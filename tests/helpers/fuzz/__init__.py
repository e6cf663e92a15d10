"""A mutation fuzzer for every file that grfpp reads.

A mutant is a sound file, damaged: a pure function of the format's name and of a number. Each is
read in a process of its own kind (`worker`), whose crashes, hangs and hunger for memory others
survive (`pool`). What is refused must be refused by an `InputError`; what is accepted must have the
weights that a reference reader finds, and be fit to sample from (`check`).

To add a format, add a line to `formats.FORMATS`.
"""
