"""Regressions: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from autograd_cy import nn
from tests.recorded.inputs import differs, error_name, sines

G = torch.autograd.graph
N = torch.linalg.matrix_norm

# What is remembered of saved tensors that may be changed, tied parameters, norms of matrices, classes that are asked.
def tid_to_weakhandle_sid_to_tid():
    x = sines(3).requires_grad_()
    with G.allow_mutation_on_saved_tensors() as c:
        y = x * 2
        z = (y * y).sum()
        u = (x * x).sum()
        r = y.mul_(3)
        before = [len(c.cloned), len(c.original) > 0, len(c.tid_to_weakhandle) > 0,
            len(c.sid_to_tid) > 0]
        c.clear()
    return [before, len(c.cloned), len(c.original), len(c.tid_to_weakhandle), len(c.sid_to_tid)]

@differs("Torch keeps what it knows of tensors that are gone.")
def values_sid_to_tid():
    x = sines(3).requires_grad_()
    with G.allow_mutation_on_saved_tensors() as c:
        y = x * 1
        for k in range(4):
            z = (y * y).sum()
            r = y.mul_(2)
            del z
        found = sum(map(len, c.sid_to_tid.values()))
        u = (y * y).sum()
        r = y.mul_(0)
        u.backward()
    return [found <= 2, x.grad, y]

@differs("Nodes of torch have no weak references.")
def kept_weakref():
    import weakref
    x = sines(3).requires_grad_()
    with G.allow_mutation_on_saved_tensors() as c:
        y = x * 1
        z = y.exp()
        u = z * z
        kept = weakref.ref(z.grad_fn) if 0 else weakref.ref(u.grad_fn)
        del u, z
        n = len(c.original)
    return [kept() is None, n]

# seeds of another dtype
torch.func.vjp(lambda x: x * 2, sines(2, dtype=torch.float32))[1](sines(2))
torch.func.vjp(lambda x: (x * 2).to(torch.float64),
    sines(2, dtype=torch.float32))[1](sines(2, dtype=torch.float32))

# tied parameters
def functional_call_tie_weights():
    class T(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2, bias=False)
            self.b = nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight
        def forward(self, x):
            return self.b(self.a(x))
    m = T().double()
    f = torch.func.functional_call
    k = sines(2, 2)
    return [f(m, {"a.weight": k}, (sines(2),)), f(m, {"b.weight": k}, (sines(2),)),
        f(m, {"a.weight": k, "b.weight": k}, (sines(2),)),
        error_name(f, m, {"a.weight": k, "b.weight": k * 2}, (sines(2),)),
        f(m, {"a.weight": k, "b.weight": k * 2}, (sines(2),), tie_weights=False),
        m.a.weight is m.b.weight, error_name(lambda: f(m, {"a.weight": k}, (sines(2),),
        strict=True)),]

# norms of matrices
[N(sines(2, 3), o) for o in ("fro", "nuc", 2, -2, 1, -1, math.inf, -math.inf)]
[N(sines(2, 3, 4), o, dim=(2, 0), keepdim=True).shape for o in ("fro", "nuc", 2, 1, math.inf)]
[N(sines(2, 3, 4), o, dim=(0, -1)) for o in ("fro", "nuc", 2, -2, 1, -math.inf)]
N(torch.zeros(0, 3), "nuc")
N(torch.zeros(0, 3), "fro")
N(torch.zeros(2, 0, 3), "nuc")
error_name(N, torch.zeros(0, 3), -2)
error_name(N, torch.zeros(0, 3), -1)
error_name(N, sines(2))
error_name(N, sines(2, 2), 3)
error_name(N, sines(2, 2), "x")
error_name(lambda: N(sines(2, 2), dim=(0, 0)))
error_name(lambda: N(sines(2, 2), dim=(0, -2)))
error_name(lambda: N(sines(2, 2), dim=(0, 2)))
error_name(lambda: N(sines(2, 2), dim=(0,)))
error_name(N, sines(2, 2, dtype=torch.float16), 2)
N(sines(2, 2, dtype=torch.float32), "nuc", dtype=torch.float64).dtype

# classes
def radd_object():
    class S(torch.Tensor):
        pass
    class O:
        def __radd__(self, other):
            return "mine"
        def __eq__(self, other):
            return "same"
    s = sines(2).as_subclass(S)
    return [s + O(), s == O(), error_name(lambda: s + "a"), error_name(lambda: s < object()),
        type(s + 1).__name__, type(1 + s).__name__, s == "a"]

def numel_iter():
    class S(torch.Tensor):
        pass
    s = S([1.0, 2.0])
    e = S()
    u = sines(3).as_subclass(S)
    return [s, e.numel(), [type(x).__name__ for x in u], error_name(lambda: iter(u.sum())),
        type(s).__name__]

def seen_disable_torch_function():
    class M(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))
    seen = []
    with M():
        r = sines(2).add(1) if 0 else torch.add(torch.ones(1), 1)
        n = len(seen)
        with torch._C.DisableTorchFunction():
            r = torch.add(torch.ones(1), 1)
            k = len(seen)
        r = torch.add(torch.ones(1), 1)
    r = torch.add(torch.ones(1), 1)
    return [n, k, len(seen)]
