"""The kinds of cases; the order is that of the table."""

from importlib import import_module

NAMES = ("calls", "gradients", "arguments", "programs", "files", "threads", "sizes",
         "aliases")  # fmt: skip


def load(name):
    """The module of a part."""
    return import_module(f".{name}", __name__)
