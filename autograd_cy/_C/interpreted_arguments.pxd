# cython: language_level=3
"""Arguments of interpreted operators."""

cpdef tuple known_arguments(tuple dims, tuple args)
