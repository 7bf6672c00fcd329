"""A CUDA driver for tests on machines without a GPU; ``tests/gpu/README.md`` says how it is used."""
