"""Torch function: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from tests.recorded.inputs import differs, error_name, sines


# functions that aren't compiled, asked through a class
def add_as_subclass():
    class A(torch.Tensor):
        pass
    class B(torch.Tensor):
        pass
    return torch.add(sines(3).as_subclass(A), sines(3).as_subclass(B))

def as_subclass_cat():
    class A(torch.Tensor):
        pass
    class B(torch.Tensor):
        pass
    class C(A):
        pass
    a, b, c = (sines(3).as_subclass(k) for k in (A, B, C))
    return [error_name(lambda: a + b), error_name(lambda: b * a), error_name(torch.cat, [a, b]),
        type(a + c).__name__, type(c + a).__name__, type(torch.cat([a, c, sines(3)])).__name__]

def iter_next():
    class L(torch.Tensor):
        pass
    return [type(L(sines(3))).__name__, L(sines(3)), L([1.0, 2.0]), L().shape, type(L()).__name__,
        error_name(lambda: iter(L(torch.tensor(3.0)))), type(next(iter(L([1.0, 2.0])))).__name__]

def tensor_super():
    class Mixin:
        seen = []
        def __init_subclass__(cls, tag=None, **kwargs):
            super().__init_subclass__(**kwargs)
            Mixin.seen.append((cls.__name__, tag))
    class L(torch.Tensor, Mixin, tag=3):
        pass
    class K(L, tag=4):
        pass
    return [Mixin.seen, error_name(type, "J", (torch.Tensor,), {}),
        error_name(lambda: type("J", (torch.Tensor,), {}, tag=1))]

def label_hasattr():
    class L(torch.Tensor):
        def __new__(cls, data, name):
            made = torch.Tensor.as_subclass(data, cls)
            made.label = name
            return made
        def __init__(self, data, name):
            pass
        def __add__(self, other):
            return "added"
    x = L(sines(3), "a")
    return [x.label, type(x).__name__, x + 1, type(x - 1).__name__, type(1 + x).__name__,
        hasattr(x * 1, "label")]

# modes: operators inside of what they do, and where they are disabled
def torch_function_mode_ndim():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    x, u = sines(3), sines(3)
    class M(o.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            b = x > 0.5
            y = -x + abs(x) * (+x) - 2 * x
            y[0] = 7.0
            y[b] = y[1]
            y += 1
            return y, ~b, b | b, x // 0.5, x**2, x @ x, x.shape, x.grad, func.__name__
    with M():
        r = [torch.exp(u), -u]
    return [r, x + 1, -x, x[0], x.grad, x.ndim]

def ndim_disable_torch_function():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    class M(o.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return "m"
    x, b = sines(3), sines(3) > 0.5
    with M():
        with torch._C.DisableTorchFunction():
            r = [x + 1, -x, +x, ~b, abs(x), x[0], x @ x, 2 - x, x.exp(), torch.sum(x, dim=0),
                x.grad, x.ndim]
            x[0] = 1.0
            x += 1
        q = [x + 1, -x, +x, ~b, abs(x), x[0], x.exp(), x.grad, x.ndim]
    return [r, q, x, x + 1, x.ndim, -x, ~b, abs(x), +x]

def import_module_torch_function_mode():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    with o.TorchFunctionMode():
        sines(3) + 1
    return 0

torch.overrides._pop_mode()

def torch_function_mode_import_module():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    class M(o.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return [k.__name__ for k in types], len(args), kwargs
    class A:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "a"
    class L(torch.Tensor):
        pass
    x, y = sines(3), L(sines(3))
    with M():
        r = torch.add(x, A()), torch.add(A(), y, alpha=2), x + y, torch.exp(x)
    return [y[:2] for y in r], torch.add(x, A())

# what is said about functions
def resolve_name_new_ones():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    return [o.resolve_name(f) for f in (torch.sin, torch.Tensor.new_ones, torch.Tensor.grad.__get__,
        torch.nn.functional.relu, torch.Tensor.__add__ if 0 else torch.exp, len,
        3)], [o.is_tensor_method_or_property(f) for f in (torch.Tensor.add,
        torch.Tensor.grad.__get__, len)]

def get_ignored_functions_linalg():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    g = o.get_overridable_functions()
    ig = o.get_ignored_functions()
    return [torch.add in g[torch], torch.Tensor.add_ in g[torch.Tensor], torch.tensor in g[torch],
        torch.tensor in ig, torch.add in ig, torch.linalg.inv in g[torch.linalg]]

def has_torch_function_unary_is_tensor_like():
    from importlib import import_module
    o = import_module(torch.__name__ + ".overrides")
    class A:
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return "a"
    return [o.has_torch_function_unary(A()), o.has_torch_function_unary(sines(1)),
        o.has_torch_function_variadic(1, sines(1), A()), o.has_torch_function_variadic(1, sines(1)),
        o.has_torch_function((sines(1).as_subclass(type("L", (torch.Tensor,), {})),)),
        o.is_tensor_like(A()), o.is_tensor_like(A), torch.add(A(), 1)]

# what one call leaves behind
def isclose_axis():
    import sys
    class A:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return 1
    def grown(f, n=100):
        f(), f(), f()
        before = sys.getallocatedblocks()
        for _ in range(n):
            f()
        return (sys.getallocatedblocks() - before + n // 4) // n
    x, y = sines(3), sines(2, 3)
    return [grown(lambda: torch.allclose(x, x)), grown(lambda: torch.equal(x, other=x)),
        grown(lambda: x.isclose(x, rtol=0.1)), grown(lambda: torch.ones(2, 3)),
        grown(lambda: x.new_zeros(2)), grown(lambda: error_name(torch.meshgrid, 3)),
        grown(lambda: torch.sum(y, axis=0)), grown(lambda: y.sum(axis=1, keepdims=True)),
        grown(lambda: error_name(lambda: torch.sum(y, axis="a"))),
        grown(lambda: error_name(lambda: torch.sum(y, unknown=1))),
        grown(lambda: error_name(lambda: torch.sum(y, axis=0, dim=1))),
        grown(lambda: error_name(lambda: torch.sum(y, axis=7))),
        grown(lambda: error_name(lambda: torch.exp(input=3))),
        grown(lambda: error_name(torch.Tensor.numel, 3))]

def getrefcount_type_error():
    import sys
    x = sines(3)
    n = sys.getrefcount(x), sys.getrefcount(TypeError)
    for _ in range(40):
        a = torch.allclose(x, x), torch.sum(x, axis=0), error_name(lambda: torch.sum(x,
            axis="a")), error_name(lambda: torch.sum(x, unknown=1)), torch.stack([x, x],
            axis=0) if 0 else 0
    return [b - a < 20 for a, b in zip(n, (sys.getrefcount(x), sys.getrefcount(TypeError)))]

# names of NumPy in functions that aren't compiled
torch.nn.functional.softmax(sines(2, 3), dim=1)
torch.tensor_split(sines(4), 2, dim=0)
torch.fft.fft(sines(4), dim=-1)
torch.special.i0(input=sines(2))
torch.nansum(sines(2, 3), axis=1)
torch.aminmax(sines(2, 3), dim=0)
error_name(lambda: torch.nansum(sines(2, 3), axis=0, dim=1))
error_name(lambda: torch.special.i0(y=1))
error_name(lambda: torch.nansum(sines(2, 3), axis="a"))
error_name(lambda: torch.special.i0(input=3))
torch.special.i0(input=3)
torch.special.i0(3)
torch.nansum(sines(2, 3), axis=4)

# ours alone
@differs("It is asked of a module of our own.")
def overrides_sin():
    c, f, x, y = torch._C.overrides._is_call, torch.exp, sines(2), sines(2)
    return [c(None, f, (), {}), c((f, (x,), {}), f, (x,), {}),
        c((f, (x,), {}), torch.sin, (x,), {}), c((f, (x,), {}), f, (y,), {}),
        c((f, (x,), {}), f, (x, x), {}), c((f, (x,), {"out": y}), f, (x,), {}),
        c((f, (x,), {"out": y}), f, (x,), {"out": y}),
        c((f, (x,), {"out": y}), f, (x,), {"out": x}),
        c((f, (x,), {"out": y}), f, (x,), {"dim": y}), c((f, (), {}), f, (), {}),
        c((f, (x, y), {}), f, (x, x), {}),]

@differs("It is asked of a module of our own.")
def overrides_int():
    o = torch._C.overrides
    return [o._is_intercepted(torch.exp), o._is_intercepted(torch.ones), o._is_intercepted(len),
        o._intercept(len), o._intercept(lambda: 0), o._intercept(torch.exp),
        o._intercept(torch.ones), o._check_first_argument(len, int)]

@differs("Torch asks an object whose answer asks torch, without end.")
def exp_torch():
    class Foreign:
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))
        def __radd__(self, other):
            return "r"
    return torch.exp(Foreign())

@differs("Torch asks an object whose answer asks torch, without end.")
def tensor_torch():
    class Foreign:
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))
        def __radd__(self, other):
            return "r"
        __rsub__ = __radd__
    Foreign.__module__ = "other.things"
    class L(torch.Tensor):
        pass
    x = L(sines(3))
    return x + Foreign()

@differs("Torch asks an object whose answer asks torch, without end.")
def add_alpha():
    class Foreign:
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))
    x, y = sines(3), Foreign()
    return [error_name(torch.add, x, y), error_name(torch.add, x, y),
        error_name(lambda: torch.add(x, y, alpha=2)), error_name(lambda: x + y),
        error_name(torch.cat, [y]), torch.add(x, 1)]

@differs("It is asked of a module of our own.")
def overrides_str():
    m = torch._C.overrides._mixed
    class Thing:
        pass
    Thing.__module__ = "here.there"
    def f():
        pass
    f.__module__ = None
    return [str(m(torch.exp, Thing)), str(m(f, f)), str(m(3, Thing)), str(m(len, len)),
        m(f, f)._is_final]
