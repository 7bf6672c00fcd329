"""The version, in one place, and the one of PyTorch whose documents are followed."""

__version__ = "0.2.0"
FOLLOWED = "2.13.0"
