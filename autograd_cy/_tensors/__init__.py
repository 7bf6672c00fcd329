"""Functions and methods of tensors that are written in Python; `namespace` gathers those of the top
level, compiled and not."""
