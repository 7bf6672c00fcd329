"""The loss of sequences without an alignment."""

from __future__ import annotations

from collections.abc import Sequence

import autograd_cy as _operators
from autograd_cy import Tensor
from autograd_cy._tensors.public import public
from autograd_cy.nn.functional._arguments import reduction_code

__all__ = ["ctc_loss"]


@public
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return the negative log likelihood of classes in their order, at any times.

    (Graves, Fernandez, Gomez and Schmidhuber, Connectionist temporal classification, 2006.) The
    gradient is that of the loss with respect to ``log_probs``; PyTorch's differs by what
    ``log_softmax`` takes out of it again.

    Parameters
    ----------
    log_probs : Tensor
        Logarithms of probabilities, of shape ``(T, N, C)`` or ``(T, C)``.
    targets : Tensor
        Classes of shape ``(N, S)``, or all one after the other.
    input_lengths, target_lengths : Tensor or sequence of int
        How many times and how many classes each example has.
    blank : int, optional
        The class that stands for none.
    reduction : {"mean", "sum", "none"}, optional
        What becomes of the losses; for a mean each is divided by the number of its classes.
    zero_infinity : bool, optional
        Whether the loss of what can't be is 0, not infinity.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.full((2, 1, 2), 0.5).log()
    >>> torch.nn.functional.ctc_loss(x, torch.tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """
    code = reduction_code(None, None, reduction)
    return _operators.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, code, zero_infinity
    )
