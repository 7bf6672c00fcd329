"""vmap refuses what is refused without it, for calls next to the samples of every operator."""

import warnings

import pytest
from grouping import each
from refused import chosen, function_of, outcomes
from test_op_vmap import supported, within_vmap

import autograd_cy as ag
from autograd_cy._C import batching

LEVEL = 1
# Its formula finds the dimension first: an IndexError instead of a RuntimeError.
OTHER_TYPE = ("nn_functional_glu",)


def batched(x):
    """Two examples that are both `x`, of tensors in whatever holds them."""
    if isinstance(x, ag.Tensor):
        return batching._wrap(ag.stack((x, x)), 0, LEVEL)
    if isinstance(x, (tuple, list)):
        return type(x)(batched(y) for y in x)
    return x


def asked(record):
    return supported(record)


@each("record", [pytest.param(r, id=r.key) for r in chosen() if asked(r)])
def test_examples_that_are_refused_alone_are_refused(record):
    function, taken = function_of(record), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label, args, kwargs, found in outcomes(record):
            if not isinstance(found, Exception) or isinstance(found, NotImplementedError):
                continue
            try:
                within_vmap(
                    function, *map(batched, args), **{k: batched(x) for k, x in kwargs.items()}
                )
            except type(found):
                continue
            except Exception as error:
                by_type = record.key in OTHER_TYPE and isinstance(error, IndexError)
                if not by_type and not all("out of bounds" in str(x) for x in (found, error)):
                    taken.append((label, found, error))
            else:
                taken.append((label, found, None))
    assert not taken, "\n".join(f"{label}: {a!r}, batched {b!r}" for label, a, b in taken)
