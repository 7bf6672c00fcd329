"""The protocol of objects that have a state: modules, optimizers, schedules, loaders ..."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

__all__ = ["Stateful"]


@runtime_checkable
class Stateful(Protocol):
    """
    An object whose state can be saved, and loaded again.

    :func:`~autograd_cy.distributed.checkpoint.save` takes its ``state_dict()``, and
    :func:`~autograd_cy.distributed.checkpoint.load` calls its ``load_state_dict``.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.checkpoint import Stateful
    >>> isinstance(ag.nn.Linear(2, 1), Stateful)
    True
    """

    def state_dict(self) -> dict[str, Any]:
        """Return the state: dicts, lists and tuples of tensors, numbers and texts."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """
        Take a state.

        Parameters
        ----------
        state_dict : dict
            As :meth:`state_dict` returned it.
        """
