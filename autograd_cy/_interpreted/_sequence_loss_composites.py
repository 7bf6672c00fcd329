"""The loss of sequences without an alignment, by the recursion over all of them.

A. Graves, S. Fernandez, F. Gomez, J. Schmidhuber, "Connectionist temporal classification" (2006).
The recursion is made of operators, so that derivatives of every order are those of the loss.
"""

from __future__ import annotations

from typing import Any

from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted._value_checks import checked_lengths
from autograd_cy._tensors.namespace import (
    arange,
    cat,
    full,
    gather,
    int64,
    logsumexp,
    stack,
    tensor,
    where,
    zeros,
)
from autograd_cy._tensors.namespace import bool as bool_

# The logarithm of what can't be: finite, so that differences of two of them are numbers.
NEVER = -1e30


def _numbers(lengths: Any, name: str, targets: Tensor) -> list[int] | Tensor:
    """
    Lengths, to be looked at; those on another device than the CPU stay there, unseen.

    Targets of one dimension say by them alone which are whose, so that they must be seen.
    """
    if isinstance(lengths, Tensor):
        if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == bool_:
            raise RuntimeError(f"ctc_loss: {name} must be integral, not {lengths.dtype._scalar}")
        lengths = lengths.reshape(-1)
        if not lengths.is_cpu and targets.ndim == 2:
            return lengths.to(int64)
    if isinstance(lengths, int):
        raise TypeError(f"ctc_loss(): argument '{name}' must be tuple of ints, not int")
    numbers = lengths.tolist() if isinstance(lengths, Tensor) else lengths
    return [int(n) for n in numbers] if isinstance(numbers, list | tuple) else [int(numbers)]


def _rows(targets: Tensor, lengths: list[int] | Tensor, width: int) -> Tensor:
    """Targets as one row for each example, filled up with zeros."""
    if targets.ndim == 2 or isinstance(lengths, Tensor):
        if targets.shape[0] != len(lengths) or targets.shape[1] < width:
            raise RuntimeError(
                f"ctc_loss: Expected tensor to have size at least {width} at dimension 1, and "
                f"{len(lengths)} at dimension 0, but got shape {list(targets.shape)} for argument "
                "#2 'targets'"
            )
        return targets[:, :width]
    if targets.ndim != 1 or targets.shape[0] != sum(lengths):
        raise RuntimeError(
            f"ctc_loss: Expected tensor to have size {sum(lengths)} at dimension 0, but got shape "
            f"{list(targets.shape)} for argument #2 'targets'"
        )
    rows, start = [], 0
    for n in lengths:
        fill = zeros(width - n, dtype=targets.dtype, device=targets.device)
        rows.append(cat((targets[start : start + n], fill)))
        start += n
    return stack(rows)


def _check_lengths(
    log_probs: Tensor,
    input_lengths: list[int] | Tensor,
    target_lengths: list[int] | Tensor,
    blank: int,
) -> None:
    times, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"ctc_loss: blank must be in label range, of {classes} classes")
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if len(lengths) != batch:
            raise RuntimeError(
                f"ctc_loss: {name} must be of size batch_size, {batch}, but there are "
                f"{len(lengths)}"
            )
        if not isinstance(lengths, Tensor) and any(n < 0 for n in lengths):
            raise RuntimeError(
                f"ctc_loss: {name} must not be negative, but there is {min(lengths)}"
            )
    if not isinstance(input_lengths, Tensor) and any(n > times for n in input_lengths):
        raise RuntimeError(
            f"ctc_loss: Expected input_lengths to have value at most {times}, but got value "
            f"{max(input_lengths)}"
        )


def _nothing(x: Tensor, there: Tensor) -> Tensor:
    """0, of which the derivative is NaN at some elements and 0 at the others."""
    x = where(there, x, 1.0)
    return ((x - x.detach()) * where(there, 0.0, 1.0) + where(there, 0.0, 1.0)).sqrt()


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int,
    reduction: int,
    zero_infinity: bool,
) -> Tensor:
    if not log_probs.numel():
        raise RuntimeError(f"ctc_loss: log_probs must not be empty, got {list(log_probs.shape)}")
    times = _numbers(input_lengths, "input_lengths", targets)
    sizes = _numbers(target_lengths, "target_lengths", targets)
    single = log_probs.ndim == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
    if log_probs.ndim != 3:
        raise RuntimeError(
            f"ctc_loss: log_probs must be of shape (T, N, C) or (T, C), not {list(log_probs.shape)}"
        )
    if log_probs.element_size() < 4 or not log_probs.is_floating_point():
        raise NotImplementedError(
            f"ctc_loss: not implemented for {log_probs.dtype._scalar}; convert log_probs to float32"
        )
    _check_lengths(log_probs, times, sizes, blank)
    if isinstance(times, Tensor):
        times = checked_lengths(times, log_probs.shape[0], False)
    if isinstance(sizes, Tensor):
        sizes = checked_lengths(sizes, targets.shape[1], True)
    longest = log_probs.shape[0] if isinstance(times, Tensor) else max(times, default=0)
    width = targets.shape[1] if isinstance(sizes, Tensor) else max(sizes, default=0)
    targets = _rows(targets.to(int64), sizes, width)
    times, sizes = (_there(n, log_probs) for n in (times, sizes))
    if width:
        # What lies behind the end of a row is no target, whatever it is.
        inside = arange(width, device=log_probs.device) < sizes.reshape(-1, 1)
        targets = where(inside, targets, blank)
    losses = _losses(log_probs, targets, times, sizes, longest, blank)
    infinite = losses == float("inf")
    if zero_infinity:
        losses = where(infinite, 0.0, losses)
    else:
        mean = log_probs.clamp_min(NEVER).mean((0, 2))
        # Where there is no input nothing depends on it.
        infinite = infinite & (times > 0)
        losses = losses + where(infinite, _nothing(mean, infinite), 0.0)
    if reduction == 1:
        return (losses / sizes.clamp_min(1).to(losses.dtype)).mean()
    if reduction == 2:
        return losses.sum()
    return losses[0] if single else losses


def _there(lengths: list[int] | Tensor, like: Tensor) -> Tensor:
    if isinstance(lengths, Tensor):
        return lengths
    return tensor(lengths, dtype=int64, device=like.device)


def _losses(
    log_probs: Tensor, targets: Tensor, lengths: Tensor, wanted: Tensor, longest: int, blank: int
) -> Tensor:
    (batch, width), dtype, place = targets.shape, log_probs.dtype, log_probs.device
    never = full((batch, 1), NEVER, dtype=dtype, device=place)
    # Blanks before, between and after the classes.
    labels = full((batch, 2 * width + 1), blank, dtype=int64, device=place)
    if width:
        labels[:, 1::2] = targets
    ends = wanted.reshape(-1, 1) * 2
    places = arange(2 * width + 1, device=place)
    # A blank between two classes may be left out, if they are not the same.
    skipped = full((batch, 2 * width + 1), NEVER, dtype=dtype, device=place)
    if width > 1:
        skipped[:, 3::2] = where(targets[:, 1:] == targets[:, :-1], NEVER, 0.0).to(dtype)
    reached: Tensor | None = None
    for t in range(longest):
        here = gather(log_probs[t], 1, labels).clamp_min(NEVER)
        if reached is None:
            reached = where((places < 2) & (places <= ends), here, NEVER)
            continue
        ways = [reached]
        if width:
            ways += [
                cat((never, reached[:, :-1]), 1),
                cat((never, never, reached[:, :-2]), 1) + skipped,
            ]
        longer = logsumexp(stack(ways), 0) + here
        reached = where((lengths > t).unsqueeze(1), longer, reached)
    if reached is None:
        # Nothing is reached; the gradient is 0, and not missing.
        reached = where((lengths > 0).unsqueeze(1), gather(log_probs[0], 1, labels), NEVER)
    last = gather(reached, 1, ends)
    before = where(ends > 0, gather(reached, 1, (ends - 1).clamp_min(0)), NEVER)
    losses = -logsumexp(cat((last, before), 1), 1)
    losses = where(losses > -NEVER / 2, float("inf"), losses)
    # Without time there is nothing to say.
    return where(lengths == 0, where(ends[:, 0] == 0, 0.0, float("inf")).to(dtype), losses)
