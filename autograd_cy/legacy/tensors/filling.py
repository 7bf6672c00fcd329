"""Methods that write numbers into a tensor, random ones too."""

from __future__ import annotations

import math

import autograd_cy as ag
from autograd_cy import Tensor

from .pointwise import floating_only
from .wrapping import Base, element_for, in_shape_of, same_dtype, wrap

__all__ = ["Filling"]


def _generator(generator):
    return {} if generator is None else {"generator": generator}


class Filling(Base):
    """The methods that fill."""

    __slots__ = ()

    def fill_(self, value):
        """Put a number into all elements."""
        Tensor.fill_(self, element_for(self, value, "fill_"))
        return self

    def zero_(self):
        """Put 0 into all elements."""
        Tensor.zero_(self)
        return self

    def normal_(self, mean=0, std=1, *, generator=None):
        """Draw from a normal distribution."""
        floating_only(self, "normal_")
        Tensor.normal_(self, mean, std, **_generator(generator))
        return self

    def uniform_(self, *args, generator=None, **bounds):
        """``uniform_(from=0, to=1)``: draw from an interval."""
        floating_only(self, "uniform_")
        low = args[0] if args else bounds.get("from", 0)
        high = args[1] if len(args) > 1 else bounds.get("to", 1)
        Tensor.uniform_(self, low, high, **_generator(generator))
        return self

    def random_(self, *args, generator=None):
        """``random_()``, ``random_(to)``, ``random_(from, to)``: draw integers below `to`."""
        Tensor.random_(self, *args, **_generator(generator))
        return self

    def exponential_(self, lambd=1, *, generator=None):
        """Draw from an exponential distribution."""
        floating_only(self, "exponential_")
        Tensor.exponential_(self, lambd, **_generator(generator))
        return self

    def bernoulli_(self, p=0.5, *, generator=None):
        """Draw ones with a probability, or the probabilities of a tensor, and zeros."""
        if isinstance(p, Tensor):
            p = in_shape_of(self, p, "bernoulli_")
        Tensor.bernoulli_(self, p, **_generator(generator))
        return self

    def bernoulli(self, *, generator=None):
        """Draw ones, with the elements as probabilities, and zeros."""
        floating_only(self, "bernoulli")
        return wrap(ag.bernoulli(self, **_generator(generator)))

    def cauchy_(self, median=0, sigma=1, *, generator=None):
        """Draw from a Cauchy distribution."""
        floating_only(self, "cauchy_")
        # The tangent of an angle that is uniform over half a turn.
        Filling.uniform_(self, -0.5, 0.5, generator=generator)
        self.mul_(3.141592653589793).tan_().mul_(sigma).add_(median)
        return self

    def log_normal_(self, mean=1, std=2, *, generator=None):
        """Draw the exponentials of a normal distribution of this mean and deviation."""
        return Filling.normal_(self, mean, std, generator=generator).exp_()

    def geometric_(self, p, *, generator=None):
        """
        Draw numbers of trials up to the first that succeeds with probability p.

        Integer types that can't count so far get about their largest number.
        """
        if not 0 < p < 1:
            raise RuntimeError(f"geometric_: p must be between 0 and 1, not {p}")
        u = ag.empty(self.shape, dtype=ag.float64, device=self.device)
        Tensor.uniform_(u, 0, 1, **_generator(generator))
        draws = ag.floor(ag.log1p(-u) / math.log1p(-p)) + 1
        if not self.dtype.is_floating_point:
            # Longer waits than the type can count; float64 has no 2^63 - 1, but 2^63 - 1024.
            most = ag.iinfo(self.dtype).max
            draws = ag.clamp(draws, max=float(most if most < 2**53 else most - 1023))
        Tensor.copy_(self, draws)
        return self

    def multinomial(self, num_samples, replacement=False, *, generator=None):
        """A LongTensor of indices drawn with the elements, or those of each row, as weights."""
        floating_only(self, "multinomial")
        rows = self if Tensor.dim(self) == 2 else ag.unsqueeze(self, 0)
        _check_weights(rows, num_samples, replacement)
        weights = ag.Tensor.double(rows)
        if replacement:
            sums = ag.cumsum(weights, 1)
            size = rows.shape[0], num_samples
            # Not quite the sum, so that an index of weight 0 at the end is never drawn.
            place = {"device": sums.device, **_generator(generator)}
            drawn = ag.rand(size, dtype=ag.float64, **place) * sums[:, -1:]
            places = ag.searchsorted(sums, drawn, right=True)
            places = ag.clamp(places, max=rows.shape[1] - 1)
        else:
            # The smallest of exponential times with these rates.
            times = ag.empty(rows.shape, dtype=ag.float64, device=rows.device)
            Tensor.exponential_(times, 1.0, **_generator(generator))
            places = ag.topk(ag.div(weights, times), num_samples, 1)[1]
        return wrap(places if rows is self else places[0])

    def apply_(self, callable):
        """Replace each element by what a function makes of it."""
        Tensor.apply_(self, callable)
        return self

    def map_(self, tensor, callable):
        """Replace each element by what a function makes of it and of that of another tensor."""
        other = in_shape_of(self, same_dtype(self, tensor, "map_"), "map_")
        Tensor.map_(self, other, callable)
        return self

    def map2_(self, first, second, callable):
        """Replace each element by what a function makes of it and of those of two tensors."""
        columns = [self.contiguous().view(-1).tolist()]
        for x in (first, second):
            other = in_shape_of(self, same_dtype(self, x, "map2_"), "map2_")
            columns.append(ag.reshape(other, (-1,)).tolist())
        values = ag.tensor([callable(*row) for row in zip(*columns)], dtype=self.dtype)
        Tensor.copy_(self, ag.reshape(values, self.shape))
        return self


def _check_weights(rows, num_samples, replacement):
    if Tensor.dim(rows) != 2 or not Tensor.numel(rows):
        raise RuntimeError("multinomial: expected weights in one or two dimensions")
    if num_samples < 1:
        raise RuntimeError("multinomial: cannot sample n_sample <= 0 samples")
    if bool(ag.any(rows < 0)) or not bool(ag.all(ag.isfinite(rows))):
        raise RuntimeError("multinomial: weights must be finite and not negative")
    drawable = int(ag.min(ag.sum(ag.gt(rows, 0), 1)))
    if not drawable:
        raise RuntimeError("multinomial: invalid multinomial distribution (sum of weights <= 0)")
    if not replacement and num_samples > drawable:
        raise RuntimeError(
            f"multinomial: {num_samples} samples without replacement, but only {drawable} weights "
            "are positive"
        )
