"""Regressions: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from autograd_cy import nn
from tests.recorded.inputs import differs, error_name, sines


# What is remembered of saved tensors that may be changed, tied parameters, norms of matrices, classes that are asked.
@differs("Nodes of torch have no weak references.")
def original_weakref():
    import weakref
    G = torch.autograd.graph
    x = sines(3).requires_grad_()
    with G.allow_mutation_on_saved_tensors() as c:
        y = x * 1
        z = y.exp()
        u = z * z
        kept = weakref.ref(z.grad_fn) if 0 else weakref.ref(u.grad_fn)
        del u, z
        n = len(c.original)
    return [kept() is None, n]

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

# classes
def as_subclass_object():
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

def overrides_disable_torch_function():
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
