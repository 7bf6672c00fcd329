"""The loss of sequences without an alignment, as a module."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_cy import Tensor

from . import functional
from .loss import _Loss


class CTCLoss(_Loss):
    """The negative log likelihood of classes in their order, at any times.

    Parameters
    ----------
    blank : int, optional
        The class that stands for none.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the losses; for a mean each is divided by the number of its classes.
    zero_infinity : bool, optional
        Whether the loss of what can't be is 0, not infinity.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.full((2, 1, 2), 0.5).log()
    >>> torch.nn.CTCLoss()(x, torch.tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        """Return the loss."""
        return functional.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
