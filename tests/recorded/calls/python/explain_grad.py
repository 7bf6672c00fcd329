"""Explain grad: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import sines

E = torch.autograd.explain_grad

DIFFERS = "What explain_grad says, word by word; torch has no such function."

def explain_grad_hasattr():
    E = torch.explain_grad if hasattr(torch, "explain_grad") else torch.autograd.explain_grad
    return E(3)

E(sines(2), 3)
E(sines(2), [sines(2), (sines(1), "a")])

# a gradient is there
def requires_grad_float64():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = x * 2
    y.grad = torch.ones(2, dtype=torch.float64)
    return E(y)

# none is there
torch.autograd.explain_grad(sines(4)[1:])

# from an output
def split_explain_grad():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    return torch.autograd.explain_grad(x, x).split("\n")[-1]

def requires_grad_explain_grad():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = (x * x).exp().sum()
    g = torch.autograd.grad(y, x)
    n = len(torch.autograd.explain_grad(x)) + 1
    return torch.autograd.explain_grad(x, y)[n:]

def requires_grad_explain_grad_2():
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

def requires_grad_explain_grad_3():
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

# what cuts the way
def partition_replace():
    q = torch.ones(3, dtype=torch.float64, requires_grad=True)
    x = q.exp()
    y = q.sin()
    return torch.autograd.explain_grad(x, y).replace("\n", " ").partition("Backward from ")[2]

def partition_replace_2():
    q = torch.ones(3, dtype=torch.float64, requires_grad=True)
    p = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    x = q.exp()
    y = p * q * x.detach()
    return torch.autograd.explain_grad(x, y).replace("\n", " ").partition("Backward from ")[2]

# what a Function has saved, and an unpack hook that fails
def partition_replace_3():
    def no(k):
        raise KeyError("lost")
    def bad(k):
        raise RuntimeError("lost\nfor ever")
    q = torch.ones(2, dtype=torch.float64, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda v: v, bad):
        y = (q * q).sum()
    return torch.autograd.explain_grad(q, y).replace("\n", " ").partition("Backward from ")[2]

# what anomaly mode tells
def join_set_detect_anomaly():
    def notes(e):
        return "".join(getattr(e, "__notes__", []))
    def caught(f):
        try:
            f()
        except Exception as e:
            return e
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
