"""The command for ``torch.distributed.launch``: see :mod:`autograd_cy.distributed.run`."""

from __future__ import annotations

from .run import main

__all__ = ["main"]


if __name__ == "__main__":
    main()
