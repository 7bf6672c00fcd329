"""A CUDA driver for tests on machines without a GPU: see ``tests/gpu/README.md``."""
