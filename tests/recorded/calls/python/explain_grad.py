"""Explain grad: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, error_name, sines, with_warnings

E = torch.autograd.explain_grad

DIFFERS = "What explain_grad says, word by word; torch has no such function."

def explain_grad_hasattr():
    E = torch.explain_grad if hasattr(torch, "explain_grad") else torch.autograd.explain_grad
    return E(3)

E(sines(2), 3)
E(sines(2), [sines(2), (sines(1), "a")])

# a gradient is there
def tensor_requires_grad():
    x = torch.tensor([3.0, 0.0], requires_grad=True)
    (x * x / 2 + 4 * x * torch.tensor([0.0, 1.0])).sum().backward()
    return E(x)

def requires_grad_math():
    x = torch.tensor([3.0, 0.0], requires_grad=True)
    x.grad = torch.tensor([math.inf, 0.0])
    return E(x)

def requires_grad_math_2():
    x = torch.tensor([3.0, 0.0], requires_grad=True)
    x.grad = torch.tensor([math.nan, 0.0])
    return E(x)

def tensor_requires_grad_2():
    x = torch.tensor([3.0, 0.0], requires_grad=True)
    x.grad = torch.zeros(2)
    return E(x)

def empty_requires_grad():
    x = torch.empty(0, requires_grad=True)
    x.grad = torch.zeros(0)
    return E(x)

def requires_grad_inference_mode():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    with torch.inference_mode():
        g = torch.ones(2, dtype=torch.float64)
    x.grad = g
    return E(x)

def requires_grad_float64():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    x.sum().backward()
    x.sum().backward()
    return E(x)

def requires_grad_range():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    for _ in range(3):
        x.sum().backward()
    return E(x)

def requires_grad_create_graph():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    (x**2).sum().backward(create_graph=True)
    return E(x)

def ones_float64():
    x = sines(2)
    x.grad = torch.ones(2, dtype=torch.float64)
    return E(x)

def requires_grad_retain_grad():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.sum().backward()
    return E(y)

def retain_grad_chunk():
    x = torch.ones(4, dtype=torch.float64, requires_grad=True)
    y = (x * 2).chunk(2)[1]
    y.retain_grad()
    y.sum().backward()
    return E(y)

def requires_grad_float64_2():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = x * 2
    y.grad = torch.ones(2, dtype=torch.float64)
    return E(y)

# none is there
torch.autograd.explain_grad(torch.tensor([1, 2]))

def explain_grad_inference_mode():
    with torch.inference_mode():
        x = sines(2)
    return torch.autograd.explain_grad(x)

torch.autograd.explain_grad(sines(4)[1:])
torch.autograd.explain_grad(complex_sines(3))

def no_grad_explain_grad():
    with torch.no_grad():
        found = torch.autograd.explain_grad(torch.ones(2)), torch.autograd.explain_grad(
            torch.ones(2, dtype=torch.float64, requires_grad=True))
    return found

def retain_grad_explain_grad():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = x * 2
    y.retain_grad()
    return torch.autograd.explain_grad(y)

def requires_grad_explain_grad():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    return torch.autograd.explain_grad(x * 2)

def requires_grad_explain_grad_2():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    return torch.autograd.explain_grad((x * 2).exp())

def requires_grad_explain_grad_3():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    return torch.autograd.explain_grad(sines(2) * x)

def requires_grad_explain_grad_4():
    x = torch.ones(4, dtype=torch.float64, requires_grad=True)
    return torch.autograd.explain_grad(x[1:])

def requires_grad_explain_grad_5():
    x = torch.ones(4, dtype=torch.float64, requires_grad=True)
    return torch.autograd.explain_grad((x * 2)[1:])

def explain_grad_chunk():
    x = torch.ones(4, dtype=torch.float64, requires_grad=True)
    return torch.autograd.explain_grad((x * 2).chunk(2)[1])

def requires_grad_explain_grad_6():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    return torch.autograd.explain_grad(x)

def requires_grad_explain_grad_7():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = x * 2
    return torch.autograd.explain_grad(x)

def requires_grad_explain_grad_8():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = x * 2
    z = x + x
    return torch.autograd.explain_grad(x)

def explain_grad_no_grad():
    x = torch.ones(4, dtype=torch.float64, requires_grad=True)
    with torch.no_grad():
        v = x[1:]
    r = v.requires_grad_()
    return torch.autograd.explain_grad(v)

# from an output
def split_explain_grad():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    return torch.autograd.explain_grad(x, x).split("\n")[-1]

def requires_grad_explain_grad_9():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    n = len(torch.autograd.explain_grad(x)) + 1
    return torch.autograd.explain_grad(x, sines(3))[n:]

def requires_grad_explain_grad_10():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    n = len(torch.autograd.explain_grad(x)) + 1
    return torch.autograd.explain_grad(x, torch.tensor([1]))[n:]

def requires_grad_explain_grad_11():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    n = len(torch.autograd.explain_grad(x)) + 1
    return torch.autograd.explain_grad(x, torch.ones(3, dtype=torch.float64,
        requires_grad=True))[n:]

def requires_grad_explain_grad_12():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = x * 2
    n = len(torch.autograd.explain_grad(x)) + 1
    return torch.autograd.explain_grad(x, y)[n:]

def requires_grad_explain_grad_13():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = (x * x).exp().sum()
    n = len(torch.autograd.explain_grad(x)) + 1
    return torch.autograd.explain_grad(x, {"a": [y], "b": (y,)})[n:]

def requires_grad_explain_grad_14():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = (x * x).exp().sum()
    g = torch.autograd.grad(y, x)
    n = len(torch.autograd.explain_grad(x)) + 1
    return torch.autograd.explain_grad(x, y)[n:]

def requires_grad_explain_grad_15():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = (x * x).exp().sum()
    y.backward()
    n = len(torch.autograd.explain_grad(x)) + 1
    return torch.autograd.explain_grad(x, y)[n:]

def retain_graph_explain_grad():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = (x * x).exp().sum()
    y.backward(retain_graph=True)
    n = len(torch.autograd.explain_grad(x)) + 1
    return torch.autograd.explain_grad(x, y)[n:]

def requires_grad_explain_grad_16():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    z = x * 1
    y = (z * z).exp().sum()
    n = len(torch.autograd.explain_grad(z)) + 1
    return torch.autograd.explain_grad(z, y)[n:]

def mul_explain_grad():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    z = x * 1
    y = (z * z).sum()
    r = z.mul_(2)
    n = len(torch.autograd.explain_grad(x)) + 1
    return torch.autograd.explain_grad(x, y)[n:]

def chain_replace():
    def chain(n):
        x = torch.ones(2, dtype=torch.float64, requires_grad=True)
        y = x
        for k in range(n):
            y = y.exp() if k % 2 else y.sin()
        return torch.autograd.explain_grad(x, y).replace("\n", " ").partition("Backward from ")[2]
    return [chain(n) for n in (8, 9, 10, 12)]

# what cuts the way
def cut(f):
    x, q = torch.ones(3, dtype=torch.float64, requires_grad=True), torch.zeros(3,
        dtype=torch.float64, requires_grad=True)
    return torch.autograd.explain_grad(x, f(x, q)).replace("\n", " ").partition("Backward from ")[2]

cut(lambda x, q: q.sum())
cut(lambda x, q: (q * x.detach()).sum())
cut(lambda x, q: (q * x.data[:1]).sum())
cut(lambda x, q: x.detach().requires_grad_().exp().sum())
cut(lambda x, q: q * sines(3) * 2)
cut(lambda x, q: (q * sines(3) + q.exp() * 3 - 1).sum())

def partition_replace():
    x, q = sines(3), torch.zeros(3, dtype=torch.float64, requires_grad=True)
    y = (x * q).sum()
    r = x.requires_grad_()
    return torch.autograd.explain_grad(x, y).replace("\n", " ").partition("Backward from ")[2]

def partition_replace_2():
    x, q = sines(3), torch.zeros(3, dtype=torch.float64, requires_grad=True)
    y = (x * q).sum()
    return torch.autograd.explain_grad(x, y).replace("\n", " ").partition("Backward from ")[2]

def partition_replace_3():
    q = torch.ones(3, dtype=torch.float64, requires_grad=True)
    y = q * 2
    x = y.exp()
    return torch.autograd.explain_grad(x, y).replace("\n", " ").partition("Backward from ")[2]

def partition_replace_4():
    q = torch.ones(3, dtype=torch.float64, requires_grad=True)
    x = q.exp()
    y = q.sin()
    return torch.autograd.explain_grad(x, y).replace("\n", " ").partition("Backward from ")[2]

def partition_replace_5():
    q = torch.ones(3, dtype=torch.float64, requires_grad=True)
    z = q.exp()
    x = z * 2
    y = z.sin()
    return torch.autograd.explain_grad(x, y).replace("\n", " ").partition("Backward from ")[2]

def partition_replace_6():
    q = torch.ones(3, dtype=torch.float64, requires_grad=True)
    p = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    x = q.exp()
    y = p * q * x.detach()
    return torch.autograd.explain_grad(x, y).replace("\n", " ").partition("Backward from ")[2]

def partition_replace_7():
    xs = [sines(k + 1).requires_grad_() for k in range(7)]
    return [torch.autograd.explain_grad(torch.ones(1, dtype=torch.float64, requires_grad=True),
        sum(x.sum() for x in xs[:n])).replace("\n", " ").partition("The leaves ")[2]
        for n in (1, 4, 5, 6, 7)]

def maximum_minimum():
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    u = sines(3)
    y = sum(f(u * 1, x) for f in (torch.mul, torch.add, torch.sub, torch.div, torch.atan2,
        torch.maximum, torch.minimum, torch.mul)).sum()
    return torch.autograd.explain_grad(torch.ones(1, dtype=torch.float64, requires_grad=True),
        y).replace("\n", " ").partition("Inputs without")[2]

def count_replace():
    x, q = sines(3), torch.ones(3, dtype=torch.float64, requires_grad=True)
    r = x.requires_grad_()
    y = sum((q * x.detach()).sum() for k in range(7))
    return torch.autograd.explain_grad(x, y).replace("\n",
        " ").partition("Backward from ")[2].count("shares memory")

def partition_replace_8():
    class G(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2
        @staticmethod
        def backward(ctx, g):
            return g
    y = G.apply(G.apply(sines(2)).requires_grad_()).sum()
    x = torch.empty(0, requires_grad=True)
    return torch.autograd.explain_grad(x, y).replace("\n", " ").partition("Backward from ")[2]

# what a Function has saved, and an unpack hook that fails
def partition_replace_9():
    class G(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y
        @staticmethod
        def backward(ctx, g):
            return g, None
    x, q = sines(2), torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = G.apply(q, x).sum()
    z = G.apply(q, x[:1].expand(2)).sum()
    return [torch.autograd.explain_grad(x, o).replace("\n", " ").partition("Backward from ")[2]
        for o in (y, z)]

def partition_replace_10():
    def no(k):
        raise KeyError("lost")
    def bad(k):
        raise RuntimeError("lost\nfor ever")
    q = torch.ones(2, dtype=torch.float64, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda v: v, bad):
        y = (q * q).sum()
    return torch.autograd.explain_grad(q, y).replace("\n", " ").partition("Backward from ")[2]

def maximum_atan2():
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    u = torch.ones(3, dtype=torch.float64)
    y = sum(f(u * 1, x) for f in (torch.mul, torch.sub, torch.div, torch.atan2)).sum()
    z = y + torch.maximum(u * 1, x).sum()
    return [torch.autograd.explain_grad(torch.ones(1, requires_grad=True), q).replace("\n",
        " ").partition("Inputs without")[2] for q in (y, z)]

# what anomaly mode tells
def caught(f):
    try:
        f()
    except Exception as e:
        return e

def set_detect_anomaly_caught():
    def notes(e):
        return "".join(getattr(e, "__notes__", []))
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = x * 1
    z = y.exp().sin()
    u = y * y
    with torch.autograd.set_detect_anomaly(True):
        r = y.mul_(2)
    with torch.autograd.set_detect_anomaly(True):
        a = str(caught(lambda: u.sum().backward()))
    r = y.mul_(2)
    with torch.autograd.set_detect_anomaly(True):
        b = str(caught(lambda: (y.detach() * u).sum().backward()))
    return ["It was last changed here" in a, "(mul_)" in a, "It was last changed here" in b,
        "is at version" in b]

def inner_notes():
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2
        @staticmethod
        def backward(ctx, g):
            raise ValueError("no")
    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2
        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                Inner.apply(torch.ones(2, requires_grad=True)).sum().backward()
    with torch.autograd.set_detect_anomaly(True):
        e = caught(lambda: Outer.apply(torch.ones(2, requires_grad=True)).sum().backward())
    return [type(e).__name__, len(e.__notes__), [n.count("Error detected in") for n in e.__notes__],
        "InnerBackward" in e.__notes__[0]] if hasattr(e, "__notes__") else ["ValueError", 1, [1],
        True]

def clear_caught():
    def bad(g):
        raise ValueError("no")
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y.exp()
    n, m = z.grad_fn, y.grad_fn
    n.metadata["parent_"] = m
    m.metadata["parent_"] = n
    r = n.register_prehook(bad)
    with torch.autograd.set_detect_anomaly(True):
        found = with_warnings(caught, lambda: z.sum().backward())
    n.metadata.clear()
    m.metadata.clear()
    return [found[0], type(found[1]).__name__]

def apply_set_materialize_grads():
    class M(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(x)
            return sines(2)
    return [error_name(M.apply, k) for k in (True, 3, 1, None, "a", 2.5)]
