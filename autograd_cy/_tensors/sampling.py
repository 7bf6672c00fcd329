"""Drawing categories by their weights."""

from __future__ import annotations

from autograd_cy._C import creation as _creation
from autograd_cy._C.arguments import int_arg
from autograd_cy._C.batching import _rule_of_random
from autograd_cy._C.ops_random import _category_weights
from autograd_cy._C.out_forms import stored as _stored
from autograd_cy._C.random import Generator
from autograd_cy._C.tensor import Tensor, _install
from autograd_cy._tensors.events import seen_as

__all__ = ["multinomial"]


@seen_as("aten::multinomial")
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """
    Return indices drawn with probabilities proportional to the weights in each row.

    Parameters
    ----------
    input : Tensor
        Weights of shape ``(categories,)`` or ``(rows, categories)``, of a floating-point dtype; not
        negative, and finite. They need not sum up to one.
    num_samples : int
        How many indices are drawn for each row.
    replacement : bool, default False
        Whether an index may be drawn again in its row.
    generator : Generator, optional
    out : Tensor, optional
        An int64 tensor for the result.

    Returns
    -------
    Tensor
        int64, of shape ``(num_samples,)`` or ``(rows, num_samples)``. It has no gradient.

    Raises
    ------
    RuntimeError
        If the weights are no weights, or there are too few categories to draw from.

    Notes
    -----
    Without replacement, weights are divided by exponentially distributed numbers, and the largest
    quotients win [1]_; with replacement, cumulative sums are searched.

    References
    ----------
    .. [1] P. Efraimidis and P. Spirakis, "Weighted random sampling with a reservoir", 2006.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.multinomial(ag.tensor([0.0, 3.0, 0.0]), 4, replacement=True)
    tensor([1, 1, 1, 1])
    """
    count = int_arg(num_samples, "multinomial", "num_samples", 2)
    if generator is not None and not isinstance(generator, Generator):
        raise TypeError(
            "multinomial(): argument 'generator' must be autograd_cy.Generator, "
            f"not {type(generator).__name__}"
        )
    rule = _rule_of_random()
    if rule is not None:
        options = {"generator": generator, "out": out}
        return rule("multinomial", multinomial, (input, count, replacement), options, "rows")
    if not input.is_floating_point():
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {input.dtype}"
        )
    if input.dim() not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim; got the shape {tuple(input.shape)}")
    if count <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples, got {count}")
    if not replacement and count > input.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement: "
            f"{count} of {input.shape[-1]}; pass replacement=True to draw some again"
        )
    weights = _category_weights(input.detach())
    if replacement:
        from autograd_cy._C.ops_sorting import searchsorted  # a family that is loaded later

        sums = weights.cumsum(-1)
        total = sums[..., -1:] if sums.shape[-1] else weights.sum(-1, True)
        drawn = _creation.empty(
            *weights.shape[:-1], count, dtype=weights.dtype, device=input.device
        )
        # A product may round up to the total, which is beyond all categories.
        drawn = (drawn.uniform_(generator=generator) * total).minimum(total * (1 - 2.0**-53))
        result = searchsorted(sums, drawn, right=True)
    else:
        waits = _creation.empty_like(weights).exponential_(generator=generator)
        result = (weights / waits).topk(count, -1)[1]
    return _stored(result, out, "multinomial")


_install("multinomial", multinomial)
