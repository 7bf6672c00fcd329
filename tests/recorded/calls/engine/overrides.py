"""Overrides: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import error_name, metadata, sines


# which classes are asked, in which order
def where_stack():
    class A:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return cls.__name__, func.__name__, [k.__name__
                for k in types], len(args), sorted(kwargs or {})
    class B(A):
        pass
    a, b, x = A(), B(), sines(3)
    return [torch.add(a, x), torch.add(x, a), torch.add(x, other=a), torch.add(a, b),
        torch.add(b, a), torch.cat([x, a]), torch.cat((a, b)), torch.sum(a, dim=0),
        torch.where(x > 0, a, b), torch.exp(a), torch.stack([x, x, b], 0)]

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

def classmethod_not_implemented_2():
    class A:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented
    class B:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "b", [k.__name__ for k in types]
    return [torch.add(A(), B()), torch.add(B(), A()), torch.cat([sines(3), A(), B()])]

def add_sines():
    class A:
        pass
    return torch.add(A(), sines(3))

def classmethod_value_error():
    class A:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise ValueError("of A")
    return [error_name(torch.add, A(), sines(3)), error_name(torch.exp, A()),
        error_name(torch.cat, [A()])]

def sort_unbind():
    class L(torch.Tensor):
        pass
    x = sines(3).as_subclass(L)
    return [type(y).__name__ for y in (x, x + 1, x.sum(), x[0], torch.exp(x),
        torch.cat([x, sines(3)]), x.detach(), -x, abs(x), x.T, x.sort()[0], x.grad, x.unbind()[0],
        2**x, x.clone())]

def as_subclass_stack():
    class L(torch.Tensor):
        pass
    class K(L):
        pass
    a, b = sines(3).as_subclass(L), sines(3).as_subclass(K)
    return [type(a + b).__name__, type(b + a).__name__, type(torch.stack([a, b])).__name__]

sines(3).as_subclass(int)
sines(3).as_subclass(3)
metadata(sines(3).as_subclass(torch.Tensor))
metadata(sines(3).requires_grad_().as_subclass(torch.nn.Parameter))[1:2]

def seen_input():
    class L(torch.Tensor):
        seen = []
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})
    x = sines(3).as_subclass(L)
    y = (x + 1) * x
    y = y.sum(dim=0)
    y = torch.exp(input=y)
    return L.seen

def has_torch_function_is_tensor_like():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    return [o.has_torch_function((A(),)), o.has_torch_function((sines(3), 1, None)),
        o.has_torch_function(()), o.is_tensor_like(A()), o.is_tensor_like(sines(3)),
        o.is_tensor_like(3), o.handle_torch_function(torch.add, (A(),), A(), 1)]

# modes
def torch_function_mode_seen():
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

def torch_function_mode_import_module():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    class M(o.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return "m"
    x = sines(3)
    with M():
        found = [x + 1, 1 + x, x - 1, x * x, x / 2, x // 2, x % 2, x**2, x @ x, x < 1, x <= 1,
            x > 1, x >= 1, x == 1, x != 1, -x, +x, abs(x), x[0], torch.add(x, 1), x.exp()]
    return [found, x + 0]

def torch_function_mode_import_module_2():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    class M(o.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise ValueError("in the mode")
    def f():
        with M():
            return sines(3).exp()
    x = sines(3)
    return [error_name(f), x.exp(), x + 1]

def repr_not_implemented():
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
torch.sum(sines(2, 3), axis=0)
torch.sum(sines(2, 3), axis=1, keepdims=True)
sines(2, 3).sum(axis=1)
torch.add(x1=sines(2), x2=1)
torch.mean(a=sines(3))
torch.exp(x=sines(2))
torch.argmax(sines(2, 3), axis=1, keepdims=True)
torch.sum(sines(2, 3), axis=0, dim=1)
torch.sum(sines(2, 3), axis="a")
torch.sum(sines(2, 3), dim="a")
torch.exp(y=sines(2))
torch.exp(x=3)
torch.exp(input=3)
torch.sum(sines(2, 3), axis=5)
torch.Tensor.exp(3)
torch.Tensor.exp()
torch.Tensor.add()
torch.Tensor.numel(3)

# names of functions
[torch.overrides.resolve_name(f) for f in (torch.Tensor.add_, torch.add, F.linear, F.conv2d, F.relu,
    torch.Tensor.T.__get__, torch.Tensor.grad.__get__, torch.Tensor.backward, torch.Tensor.__add__,
    torch.linalg.norm, len)]
