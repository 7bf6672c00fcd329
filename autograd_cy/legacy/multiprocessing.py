"""Python's :mod:`multiprocessing`, for Hogwild; see :mod:`autograd_cy.multiprocessing`."""

from autograd_cy import multiprocessing as _modern
from autograd_cy.multiprocessing import *  # noqa: F403

__all__ = [*_modern.__all__]
