"""The error about a saved tensor that was changed in place names what has changed it.

Storages keep only where that name lies, so it must not go away with the call that made it.
"""

import gc
import re

import numpy as np
import pytest
from calls import CLASS_OF, RECORDS, Case, make, method_name, tensor
from grouping import each

import autograd_cy as ag

IN_PLACE = [r for r in RECORDS if r.call.inplace and r.call.method and r.tests.samples]
# Made of another operator, which does the change.
MADE_OF = {"index_copy_": "scatter_", "index_fill_": "masked_fill_"}


def named_by_error(change, array):
    """The name in the error, after a change of what a product has saved."""
    leaf = tensor(array, True)
    changed = leaf * 1
    product = changed * changed
    with ag.no_grad():
        change(changed)
    if changed._version == 0:
        return None
    gc.collect()
    words = [f"{i}_{'x' * (i % 20)}" for i in range(200)]  # memory of names that went away
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as error:
        product.sum().backward()
    del words
    return re.search(r"last changed by (\S+)\. Hint", str(error.value))[1]


@each("record", [pytest.param(r, id=r.key) for r in IN_PLACE])
def test_the_error_names_the_method(record):
    if not set("fc") & set(record.call.dtypes):
        return  # only integers, which nothing differentiates
    call = make(Case(record, 0), "float64" if "f" in record.call.dtypes else "complex128")
    if not call.leaves or CLASS_OF[str(np.asarray(call.arrays[0]).dtype)] not in "fc":
        return
    name = method_name(record) + "_"
    args, kwargs = call.arguments([tensor(a) for a in call.arrays])

    def change(t):
        getattr(t, name)(*args[1:], **kwargs)

    found = named_by_error(change, call.arrays[0])
    assert found in (None, name, MADE_OF.get(name)), found


@pytest.mark.parametrize("name", ["i0_", "put_", "polygamma_"])
def test_names_that_are_made_by_the_call_stay(name):
    args = {"put_": (ag.tensor([0]), ag.tensor([1.0], dtype=ag.float64)), "polygamma_": (1,)}
    found = {
        named_by_error(lambda t: getattr(t, name)(*args.get(name, ())), np.array([0.5, 1.5]))
        for _ in range(20)
    }
    assert found == {name}


def test_the_name_of_a_function_that_is_gone_stays():
    def change(t):
        class Doubled(ag.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                return x.mul_(2)

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        Doubled.__name__ = "".join(["Dou", "bled"])
        with ag.enable_grad():
            Doubled.apply(t)

    for _ in range(20):
        assert named_by_error(change, np.array([0.5, 1.5])) in ("mul_", "DoubledBackward")
