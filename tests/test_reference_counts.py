"""Nothing is counted twice or too seldom, nothing stays allocated: also where an action fails.

Each action runs many times on the same objects. Counts of their references, blocks of tensors and
what Python's allocator holds must be afterwards as they were.
"""

import contextlib
import copy
import gc
import pickle
import sys
import tracemalloc

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy import autograd, func
from autograd_cy._C import storage
from autograd_cy.autograd import forward_ad

TIMES = 30


class Asked(torch.Tensor):
    @classmethod
    def __torch_function__(cls, f, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            return f(*args, **(kwargs or {}))


class Answer:
    @classmethod
    def __torch_function__(cls, f, types, args=(), kwargs=None):
        return 42


class Double(autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor, x + 1

    @staticmethod
    def backward(ctx, grad, other):
        return grad * ctx.factor, None

    @staticmethod
    def jvp(ctx, tangent, factor):
        return tangent * 2, tangent


class Batched(autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(t):
        return t * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Failing(Double):
    @staticmethod
    def backward(ctx, grad, other):
        raise KeyError("on purpose")


class Wide(autograd.Function):
    """Ten results of ten arguments."""

    @staticmethod
    def forward(ctx, *args):
        ctx.save_for_backward(*args)
        return tuple(a * 2 for a in args)

    @staticmethod
    def backward(ctx, *grads):
        return tuple(g * 2 for g in grads)

    @staticmethod
    def jvp(ctx, *tangents):
        return tuple(t * 2 for t in tangents)


def fail(*args):
    raise KeyError("on purpose")


def keep(grad):
    return grad


x = torch.ones(3, requires_grad=True)
y = torch.ones(3)
z = torch.ones(3, dtype=torch.complex64)
index = torch.tensor([0, 2])
mask = torch.tensor([True, False, True])
asked = torch.ones(3).as_subclass(Asked)
answer = Answer()
wrong = torch.ones(5)
name = "a name that is too long to be interned by chance"
attributes = {"name": name}
array = np.ones(3, dtype=np.float32)


def hooked(hook):
    w = x * 2
    handles = [w.register_hook(hook), w.grad_fn.register_hook(lambda a, b: None)]
    handles.append(w.grad_fn.register_prehook(lambda a: None))
    w.retain_grad()
    try:
        w.sum().backward()
    finally:
        for h in handles:
            h.remove()
        x.grad = None


def accumulated(hook):
    handle = x.register_post_accumulate_grad_hook(hook)
    try:
        (x * 2).sum().backward()
    finally:
        handle.remove()
        x.grad = None


def saved(pack, unpack):
    with autograd.graph.saved_tensors_hooks(pack, unpack):
        out = (x * x).exp()
    autograd.grad(out.sum(), x)


def in_place():
    w = x * 1
    v = w[:2]
    v.mul_(y[:2])
    w[0] = 5.0
    v.add_(1)
    autograd.grad(w.sum(), x)


def moved():
    with forward_ad.dual_level():
        d = forward_ad.make_dual(y, y)
        d.add_(d)
        return forward_ad.unpack_dual((d * d)[:2].exp()).tangent


def checked_version():
    w = x * 1
    out = w * w
    w.add_(1)
    out.sum().backward()


def attribute():
    w = torch.ones(1)
    w.label = name
    return pickle.loads(pickle.dumps(w)), copy.deepcopy(w)


def called_by_hand():
    node = (x * x).grad_fn
    node(y)
    node.metadata["a"] = name
    return node.next_functions, node.name(), node._saved_self, node._raw_saved_self


long = torch.ones(12, requires_grad=True)
deep = torch.ones((1, 2) * 5, requires_grad=True)


def wide():
    parts = Wide.apply(*[p * 1 for p in long.unbind()])
    autograd.grad(torch.stack(parts).sum() + torch.cat(long.split(1)).sum(), long)
    node = torch.stack(parts).grad_fn
    node(torch.ones(12))
    long.unbind()[0].grad_fn(*torch.ones(12))


def wide_and_failing():
    parts = (long * 1).unbind()
    parts[3].register_hook(fail)
    torch.stack(parts).sum().backward()


def wide_nodes_fail(hook):
    parts = (long * 1).unbind()
    parts[0].grad_fn.register_prehook(hook)
    parts[0].grad_fn.register_hook(hook)
    torch.stack(parts[:5]).sum().backward()


def many_dimensions():
    w = deep * 2
    v = w.transpose(1, 3).unsqueeze(0)[..., :1]
    autograd.grad((v * v).sum(1).sum(), deep)
    with torch.no_grad():
        other = deep.clone()
        other.unsqueeze_(0).transpose_(1, 2).squeeze_(0)
        other.resize_(4, 8).t_()
        other.set_(deep.detach())
    return deep.view(4, 8), w.detach(), copy.deepcopy(deep), deep.data, deep[index.new_zeros(1)]


def many_tangents():
    ones = torch.ones(12)
    return func.jvp(lambda t: Wide.apply(*t.unbind()), (ones,), (ones,))


def meeting():
    """Gradients that are added: new ones, shared ones and stretched ones, in every order."""
    for first in MEETING:
        for second in MEETING:
            for create in (False, True):
                w = x * 1
                total = first(w) + second(w)
                autograd.grad(total, x, create_graph=create)


def replaced():
    """Counters of versions that several pieces of memory share."""
    for _ in range(4):
        t, others = torch.ones(3), [torch.ones(3), torch.zeros(5), torch.ones(2)]
        view = t[:2]
        for other in others:
            t.data = other
        others[0].data = view.data
        t.set_(others[1])


MEETING = (
    lambda w: (w * 2).sum(),
    lambda w: w.sum(),
    lambda w: (w + y).sum(),
    lambda w: (w + w).exp().sum(),
    lambda w: (w * z).real.sum(),
    lambda w: w[0] * 1,
)
ACTIONS = {
    "gradients that meet": meeting,
    "wide nodes": wide,
    "hooks on wide nodes fail": wide_and_failing,
    "hooks around wide nodes fail": lambda: wide_nodes_fail(fail),
    "hooks around wide nodes are wrong": lambda: wide_nodes_fail(lambda *a: name),
    "hooks around wide nodes change": lambda: wide_nodes_fail(
        lambda *a: tuple(None if g is None else g * 1 for g in a[0])
    ),
    "wide functions": many_tangents,
    "wide functions in vmap": lambda: func.vmap(lambda t: torch.stack(t.unbind()))(
        torch.ones(2, 12)
    ),
    "wide nodes called wrongly": lambda: long.unbind()[0].grad_fn(*[y[0]] * 11, name),
    "wide nodes lack gradients": lambda: autograd.grad(
        (long * 1).unbind(), long, [wrong] * 12
    ),
    "many dimensions": many_dimensions,
    "many wrong dimensions": lambda: deep.permute(*range(9)),
    "many lists": lambda: torch.tensor([[[[[[[[1.0]]]]]]]]).tolist(),
    "arithmetic": lambda: (y + y, y * 2, 2 - y, -y, y @ y, y.sum(), y == y, torch.exp(y)),
    "wrong shapes": lambda: torch.add(y, wrong),
    "wrong kind": lambda: torch.add(y, name),
    "wrong name": lambda: torch.add(y, y, nosuch=name),
    "NumPy's names": lambda: (torch.sum(y, axis=0, keepdims=True), y.sum(axis=0)),
    "NumPy's wrong names": lambda: torch.sum(y, axis=name),
    "several results": lambda: (y.max(0), torch.topk(y, 2), y.sort(), y.unbind(), y.split(2)),
    "results in out": lambda: torch.add(y, y, out=torch.empty(3)),
    "out refused": lambda: torch.add(x, x, out=y),
    "indices": lambda: (y[index], y[mask], y[:2], y[None, ..., 0], y[1], y[[0, 1]]),
    "wrong indices": lambda: y[name],
    "indices outside": lambda: y[index + 5],
    "assignment": lambda: y.__setitem__(index, torch.ones(2)),
    "wrong assignment": lambda: y.__setitem__(index, wrong),
    "made of lists": lambda: torch.tensor([[1.0, 2.0], [3.0, 4.0]]).tolist(),
    "made of wrong lists": lambda: torch.tensor([[1.0, 2.0], [3.0]]),
    "made of wrong objects": lambda: torch.tensor([1.0, name]),
    "arrays": lambda: (torch.from_numpy(array), y.numpy(), torch.tensor(array), np.asarray(y)),
    "exchange": lambda: (torch.from_dlpack(array), np.from_dlpack(y), memoryview(y)),
    "conversion": lambda: (y.double(), y.to(torch.int64), z.real, torch.view_as_real(z), z.conj()),
    "join": lambda: (torch.cat([y, y]), torch.stack([y, y]), torch.where(mask, y, y)),
    "wrong join": lambda: torch.cat([y, name]),
    "asked": lambda: (asked + asked, torch.exp(asked), asked.sum(), asked[0], asked.shape),
    "asked and failing": lambda: asked + wrong,
    "answered": lambda: (torch.exp(answer), torch.add(y, answer), torch.cat([y, answer])),
    "backward": lambda: autograd.grad((x * x).exp().sum(), x),
    "second derivatives": lambda: autograd.grad(
        autograd.grad((x * x * x).sum(), x, create_graph=True)[0].sum(), x
    ),
    "backward fails": lambda: autograd.grad((x * 2), x),
    "unused": lambda: autograd.grad((x * 2).sum(), torch.ones(1, requires_grad=True)),
    "hooks": lambda: hooked(keep),
    "hooks fail": lambda: hooked(fail),
    "hooks are wrong": lambda: hooked(lambda g: name),
    "hooks after accumulation": lambda: accumulated(keep and (lambda t: None)),
    "hooks after accumulation fail": lambda: accumulated(fail),
    "saved": lambda: saved(lambda t: (t, name), lambda packed: packed[0]),
    "packing fails": lambda: saved(fail, keep),
    "unpacking fails": lambda: saved(keep, fail),
    "unpacking is wrong": lambda: saved(keep, lambda t: name),
    "function": lambda: autograd.grad(Double.apply(x, 2.0)[0].sum(), x),
    "function fails": lambda: autograd.grad(Failing.apply(x, 2.0)[0].sum(), x),
    "function of a wrong kind": lambda: Double.apply(x, name),
    "in place": in_place,
    "memory replaced": replaced,
    "in place refused": lambda: x.add_(1),
    "changed since": checked_version,
    "views": lambda: (y.view(3, 1), y.t(), y.expand(2, 3), y[None], y.as_strided((2,), (1,))),
    "wrong views": lambda: y.view(2, 2),
    "tangents": moved,
    "tangents of wrong shape": lambda: func.jvp(torch.exp, (y,), (wrong,)),
    "transforms": lambda: (
        func.grad(lambda t: (t * t).sum())(y),
        func.vmap(torch.exp)(torch.ones(2, 3)),
        func.jacrev(torch.exp)(y),
        func.jacfwd(torch.exp)(y),
    ),
    "transforms fail": lambda: func.vmap(fail)(y),
    "transforms of wrong results": lambda: func.grad(lambda t: name)(y),
    "function in vmap": lambda: func.vmap(Batched.apply)(torch.ones(2, 3, requires_grad=True)),
    "copies": attribute,
    "nodes": called_by_hand,
    "numbers first": lambda: (torch.add(y, 2, y), y.addcmul(2, y, y)),
    "wrong numbers first": lambda: torch.add(y, "2", y),
    "refused numbers": lambda: torch.sum(y, 0, 1, 2, 3),
    "random": lambda: (torch.rand(3), torch.randperm(4), torch.randint(3, (2,)), y[:1].normal_()),
    "wrong random": lambda: y.uniform_(2.0, 1.0),
    "text": lambda: (repr(x * 2), str(y), f"{y[0]:.2f}"),
    "numbers": lambda: (y[0].item(), float(y[0]), int(index[0]), bool(mask[0]), y.tolist()),
}  # fmt: skip
WATCHED = [
    x, y, z, index, mask, asked, answer, wrong, name, array, keep, fail, Double, Failing, Asked,
    Answer, torch.add, torch.exp, torch.cat, torch.sum, torch.Tensor.add, torch.Tensor.sum,
    torch.float32, torch.float64, torch.int64, torch.Tensor, torch.Size,
]  # fmt: skip


FAILURES = ("fail", "wrong", "refused", "lack", "unused", "outside", "changed since")


def state():
    gc.collect()
    return (
        [sys.getrefcount(o) for o in WATCHED],
        sys.getrefcount(None) // TIMES,
        storage.memory_summary()["live_blocks"],
    )


@pytest.mark.filterwarnings("ignore:This overload of add")
@pytest.mark.parametrize("action", ACTIONS)
def test_all_counts_are_as_before(action):
    def run():
        if any(word in action for word in FAILURES):
            with contextlib.suppress(Exception):
                ACTIONS[action]()
                raise SystemExit("nothing failed")
        else:
            ACTIONS[action]()

    for _ in range(3):
        run()
    before = state()
    grown = []
    tracemalloc.start()
    try:
        # Lists of free objects fill up in the first rounds; what leaks grows in every round.
        while len(grown) < 12 and (not grown or grown[-1] > 16 * TIMES):
            allocated = tracemalloc.get_traced_memory()[0]
            for _ in range(TIMES):
                run()
            gc.collect()
            grown.append(tracemalloc.get_traced_memory()[0] - allocated)
    finally:
        tracemalloc.stop()
    after = state()
    counts = {repr(o)[:60]: b - a for o, a, b in zip(WATCHED, before[0], after[0]) if b != a}
    assert not counts
    assert abs(after[1] - before[1]) <= 1, "references to None"
    assert after[2] == before[2], "blocks of tensors"
    assert grown[-1] <= 16 * TIMES, f"{grown} bytes more in each round"
