"""Objects that tensors hold go when the tensors go, also in cycles, and no sooner."""

import gc
import io
import tracemalloc
import weakref

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy import Tensor


class Sub(Tensor):
    pass


def leaf(*shape):
    return ag.ones(*shape or (3,)).requires_grad_(True)


def assigned(x, **values):
    for name, value in values.items():
        setattr(x, name, value)
    return x


def unassigned(x, *names):
    for name in names:
        delattr(x, name)
    return x


def refused(call, *errors):
    with pytest.raises(errors or RuntimeError):
        call()


def dual():
    with ag.autograd.forward_ad.dual_level():
        x = ag.autograd.forward_ad.make_dual(ag.ones(3), ag.ones(3))
        return x.view(3)[1:] * x[:2]


CALLS = {
    "grad": lambda: assigned(assigned(leaf(), grad=ag.ones(3)), grad=ag.zeros(3)),
    "grad of None": lambda: assigned(assigned(leaf(), grad=ag.ones(3)), grad=None).grad,
    "grad deleted": lambda: unassigned(assigned(leaf(), grad=ag.ones(3)), "grad"),
    "grad of another kind": lambda: refused(lambda: assigned(leaf(), grad=ag.ones(4))),
    "data": lambda: leaf().data + leaf().data,
    "other data": lambda: assigned(leaf(), data=ag.ones(2, 2)),
    "other data of a result": lambda: assigned(leaf() * 2, data=ag.ones(2, 2)),
    "data of a view": lambda: assigned(ag.ones(4)[1:], data=ag.ones(2)),
    "data refused": lambda: refused(lambda: assigned(leaf(), data=ag.ones(3).long())),
    "attributes": lambda: unassigned(assigned(ag.ones(3), a=ag.ones(3), b=[1]), "a"),
    "its own attribute": lambda: assigned(x := ag.ones(3), a=x),
    "its own grad's attribute": lambda: assigned(x := leaf(), grad=assigned(ag.ones(3), a=x)),
    "a subclass": lambda: assigned(x := ag.ones(3).as_subclass(Sub), a=x),
    "a subclass of a result": lambda: (leaf() * 2).as_subclass(Sub),
    "a subclass of a view": lambda: leaf()[1:].as_subclass(Sub),
    "a subclass made": lambda: (Sub([1.0, 2.0]), Sub(2, 3), Sub(ag.ones(2)), Sub()),
    "a parameter": lambda: ag.nn.Parameter(ag.ones(3)),
    "a class refused": lambda: refused(lambda: Tensor._make_subclass(int, ag.ones(3)), TypeError),
    "made": lambda: (Tensor(2, 3), Tensor([1.0]), Tensor(ag.ones(2)), Tensor()),
    "made and refused": lambda: refused(lambda: Tensor(2, 2.5), TypeError),
    "many dimensions": lambda: ag.ones(*[1] * 9) + ag.ones(*[2] * 6).permute(5, 4, 3, 2, 1, 0)[0],
    "dimensions come and go": lambda: ag.ones(64).resize_(*[2] * 6).resize_(64).resize_(*[2] * 6),
    "too many elements": lambda: refused(lambda: ag.ones(1).expand(*[2**13] * 6)),
    "a buffer": lambda: memoryview(ag.ones(3)).release(),
    "a buffer that outlives": lambda: memoryview(assigned(x := ag.ones(3), data=ag.ones(2)) * x[0]),
    "a buffer refused": lambda: refused(lambda: memoryview(leaf()), BufferError),
    "a buffer of strides": lambda: refused(
        lambda: io.BytesIO().write(ag.ones(4)[::2]), BufferError
    ),
    "written": lambda: io.BytesIO().write(ag.ones(3)),
    "numbers": lambda: (ag.ones(3) * 2.5 + 3) * True + np.float32(2) + np.int16(2) * np.bool_(True),
    "numbers of two parts": lambda: ag.ones(3) * (2 + 1j) * np.complex64(1j),
    "a number too long": lambda: refused(lambda: ag.ones(3) + 2**70, OverflowError),
    "no number": lambda: refused(lambda: ag.ones(3) + "a", TypeError),
    "read": lambda: (ag.ones(3).tolist(), ag.ones(1).item(), float(ag.ones(1)), list(ag.ones(3))),
    "read otherwise": lambda: (ag.ones(1) * 1j).conj().item(),
    "sizes": lambda: (ag.ones(2, 3).shape + ag.Size([2]), ag.ones(2, 3).stride(), ag.Size([2]) * 3),
    "meta": lambda: ag.ones(3, device="meta").t() + ag.empty_strided((2, 3), (1, 2), device="meta"),
    "meta refused": lambda: refused(lambda: ag.empty(2**40, 2**40, device="meta")),
    "duals": dual,
    "duals that stay": lambda: ag.func.jvp(lambda x: x.view(3)[1:] * x[:2], (ag.ones(3),),
                                           (ag.ones(3),)),
    "batches": lambda: ag.func.vmap(lambda x: Tensor(x) + x.data + x.conj())(ag.ones(3, 2)),
    "retained": lambda: (y := leaf() * 2, y.retain_grad(), y.sum().backward(), y.grad)[0],
    "names refused": lambda: refused(lambda: ag.ones(3).nothing, AttributeError),
    "half in steps": lambda: ag.ones(3).half() * 0.1 + ag.ones(3).bfloat16().add_(0.1),
    "lazy": lambda: (ag.ones(3) * 1j).conj().add_(1).imag.add_(ag.ones(3)),
    "out of another shape": lambda: ag.exp(ag.ones(3), out=ag.empty(0)),
    "overlap": lambda: (x := ag.ones(6), x[:4:2].copy_(x[2::2]), ag.add(x[::2], 1, out=x[:3])),
}  # fmt: skip


@each("name", CALLS)
def test_nothing_stays(name):
    call = CALLS[name]
    gc.freeze()  # so that each collection is short
    try:
        for _ in range(3):
            call()
        gc.collect()
        blocks = ag.memory_summary()["live_blocks"]
        tracemalloc.start()
        call()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(40):
            call()
            gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
        gc.unfreeze()
    assert ag.memory_summary()["live_blocks"] == blocks
    assert grown < 1200  # forty of anything are more


def test_what_is_held_stays():
    """Each of these reads what a count too few would have given back."""
    x = leaf()
    g = ag.ones(3)
    x.grad = g
    del g
    x.note = [ag.full((3,), 5.0)]
    view, held = x.detach()[1:], memoryview(x.detach())
    base = view._base
    y = (x * 3).as_subclass(Sub)
    wide = ag.ones(*[2] * 6)
    data = x.data
    x.data = ag.zeros(4)
    gc.collect()
    for _ in range(20):
        ag.ones(3) + 1.5, ag.ones(*[2] * 6), [ag.empty(3).fill_(9) for _ in range(4)]
    assert x.grad.tolist() == [1.0] * 3 and x.note[0].tolist() == [5.0] * 3
    assert view.tolist() == [1.0] * 2 and base.tolist() == [1.0] * 3 == held.tolist()
    assert data.tolist() == [1.0] * 3 and wide.sum() == 64 and y.tolist() == [3.0] * 3
    assert isinstance(y, Sub) and type(y.grad_fn).__name__ == "AliasBackward0"


CYCLES = {
    "attribute": lambda x: assigned(x, a=[x]),
    "gradient": lambda x: assigned(x, grad=assigned(ag.ones(3), a=x)),
    "gradient, noted later": lambda x: assigned(
        assigned(x, grad=(g := ag.ones(3))).grad, a=(x, g)
    ),
    "view": lambda x: assigned(z := ag.ones(4), a=assigned(z[1:], b=x)),
    "node": lambda x: assigned(x, a=(y := x.exp(), y.grad_fn.next_functions)),
    "hook": lambda x: x.register_hook(lambda grad: x),
    "hook of a result": lambda x: assigned(
        y := x * 2, a=(y.register_hook(lambda g: y), y.grad_fn.next_functions, x)
    ),
    "dict": lambda x: x.__dict__.update(a=x),
}  # fmt: skip


@pytest.mark.parametrize("name", CYCLES)
@pytest.mark.parametrize("cls", [Tensor, Sub])
def test_the_collector_sees_what_leads_back(name, cls):
    class Mark:
        pass

    for make in (leaf, lambda: leaf().as_subclass(cls)):
        x, mark = make(), Mark()
        CYCLES[name](x)
        x.mark, gone = mark, weakref.ref(mark)
        del mark
        gc.collect()
        assert gone() is not None and x.mark is gone()
        del x
        gc.collect()
        assert gone() is None


def test_the_collector_looks_at_those_alone_that_hold_something():
    x = ag.ones(3)
    assert not gc.is_tracked(x) and not gc.is_tracked(x + 1)
    x.grad = ag.ones(3)
    assert not gc.is_tracked(x)
    x.grad.note = 1
    assert gc.is_tracked(x.grad) and not gc.is_tracked(x)
    x.grad = x.grad
    assert gc.is_tracked(x)
    assert gc.is_tracked(assigned(ag.ones(3), a=1)) and gc.is_tracked(ag.ones(3).as_subclass(Sub))
    y = ag.ones(3)
    assert y.__dict__ == {} and gc.is_tracked(y)
