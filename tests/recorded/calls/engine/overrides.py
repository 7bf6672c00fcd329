"""Overrides: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import sines


# which classes are asked, in which order
class A:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "a"

def relu_functional():
    a, x = A(), sines(3)
    return [x + a, x * a, x - a, x / a, x @ a, x == a, x < a, x.add(a), torch.Tensor.add(x, a),
        torch.nn.functional.relu(a)]

def classmethod_not_implemented():
    class A:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented
    return torch.add(A(), sines(3))

def add_torch():
    class A:
        pass
    return torch.add(A(), sines(3))

sines(3).as_subclass(int)
sines(3).as_subclass(3)

def has_torch_function_is_tensor_like():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    return [o.has_torch_function((A(),)), o.has_torch_function((sines(3), 1, None)),
        o.has_torch_function(()), o.is_tensor_like(A()), o.is_tensor_like(sines(3)),
        o.is_tensor_like(3), o.handle_torch_function(torch.add, (A(),), A(), 1)]

# modes
def torch_function_mode_import_module():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    class M(o.TorchFunctionMode):
        def __init__(self, name, seen):
            super().__init__()
            self.name, self.seen = name, seen
        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.seen.append((self.name, func.__name__))
            return func(*args, **(kwargs or {}))
    seen, x = [], sines(3)
    with M("a", seen):
        y = torch.exp(x).mul(2)
        y = x + y - 1
        y = -y
        y = abs(~(y > 0)).sum()
        with M("b", seen):
            y = torch.sum(x, dim=0)
        y = x[0]
        x[1] = 2.0
        x *= 2
    y = x * 2
    return seen

def torch_function_mode_not_implemented():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    class M(o.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented
        def __repr__(self):
            return "M"
    def f(x):
        with M():
            return torch.exp(x)
    return f(sines(3))

# NumPy's names
torch.sum(sines(2, 3), axis="a")
torch.exp(x=3)
torch.Tensor.exp(3)
torch.Tensor.numel(3)

# names of functions
[torch.overrides.resolve_name(f) for f in (torch.Tensor.add_, torch.add, F.linear, F.conv2d, F.relu,
    torch.Tensor.T.__get__, torch.Tensor.grad.__get__, torch.Tensor.backward, torch.Tensor.__add__,
    torch.linalg.norm, len)]
