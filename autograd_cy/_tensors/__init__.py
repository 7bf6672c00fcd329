"""Functions and methods of tensors that are written in Python; `_namespace` gathers them."""
