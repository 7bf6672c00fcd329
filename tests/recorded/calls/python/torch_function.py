"""Torch function: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import error_name


# classes that answer: attributes that are set and deleted, functions that call themselves
def seen_torch_function():
    seen = []
    class C(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)
    x = torch.ones(2).as_subclass(C)
    x.requires_grad = True
    x.grad = torch.ones(2)
    y = x.grad
    del x.grad
    return seen, type(y).__name__, x.grad, x.requires_grad

def seen_types():
    seen = []
    class C(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func.__name__, len(types), len(args), sorted(kwargs or {})))
            return super().__torch_function__(func, types, args, kwargs)
    x = torch.ones(2).as_subclass(C)
    with torch._C.DisableTorchFunctionSubclass():
        y = x + 1
        with torch._C.DisableTorchFunctionSubclass():
            z = x * 2
        z = x * 3
    n = len(seen)
    u = torch.add(x, x, alpha=2)
    return n, seen, type(y).__name__, type(u).__name__

def stack_sort():
    class C(torch.Tensor):
        pass
    class D(torch.Tensor):
        pass
    c, d = torch.ones(2).as_subclass(C), torch.ones(2).as_subclass(D)
    return (error_name(lambda: c + d), error_name(lambda: torch.add(c, d)),
        type(c + torch.ones(2)).__name__, type(torch.ones(2) + c).__name__,
        type(torch.stack([torch.ones(2), c])).__name__, [type(v).__name__ for v in torch.sort(c)],
        type(torch.sort(c)).__name__, [type(v).__name__ for v in torch.split(c, 1)],
        type(c.max()).__name__)

def tensor_type():
    class C(torch.Tensor):
        pass
    return type(C([1.0, 2])).__name__, C([1.0, 2]), C(torch.ones(2)), C(), error_name(
        lambda: C(None))

def label_make_subclass():
    class C1(torch.Tensor):
        @staticmethod
        def __new__(cls, x, label):
            return torch.Tensor._make_subclass(cls, x)
        def __init__(self, x, label):
            self.label = label
    return C1(torch.ones(2), "a").label, type(C1(torch.ones(2), "a")).__name__

def rest_overrides():
    def f(a, b=2, *rest, c=3, **more):
        if torch.overrides.has_torch_function((a,)):
            return torch.overrides.handle_torch_function(f, (a,), a, b, *rest, c=c, **more)
        return a, b, rest, c, more
    class C:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func is f, len(args), sorted((kwargs or {}).items())
    return f(1), f(C()), f(C(), 5, 6, 7, c=8, d=9)

def has_torch_function_overrides():
    class C:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented
    return (error_name(lambda: torch.add(C(), 1)), error_name(lambda: torch.ones(1) + C()),
        error_name(lambda: C() + torch.ones(1)), torch.overrides.has_torch_function((C(),)),
        torch.overrides.has_torch_function((1, torch.ones(1))),
        torch.overrides.has_torch_function_unary(C()),
        torch.overrides.has_torch_function_variadic(1, C()),)

torch.overrides.is_tensor_like(torch.ones(1))
torch.overrides.is_tensor_like(1)
torch.overrides.is_tensor_method_or_property(torch.Tensor.add)
torch.overrides.is_tensor_method_or_property(torch.Tensor.grad.__get__)
torch.overrides.resolve_name(torch.add)
torch.overrides.resolve_name(torch.nn.functional.cross_entropy)
torch.overrides.resolve_name(len)
torch.Tensor.grad.__get__ in torch.overrides.get_default_nowrap_functions()
torch.Tensor._base.__get__ in torch.overrides.get_default_nowrap_functions()
torch.Tensor.shape.__get__ in torch.overrides.get_default_nowrap_functions()
len(torch.overrides.get_default_nowrap_functions()) >= 2

def as_subclass_base():
    class C(torch.Tensor):
        pass
    b = torch.ones(2).as_subclass(C)
    return type(b[:1]).__name__, type(b[:1]._base).__name__, type(b.data).__name__, type(b.T
        if b.dim() == 2 else b.detach()).__name__

# indices and what is assigned are asked, those of a tuple or list, too; numbers of slices aren't
def as_subclass_types():
    seen = []
    class C(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func.__name__, [k.__name__ for k in types], len(args)))
            return super().__torch_function__(func, types, args, kwargs or {})
    x = torch.arange(6.0).reshape(2, 3)
    c = lambda v: torch.tensor(v).as_subclass(C)
    got = [x[c([True, False])], x[c(1)], x[0, c([0, 1])], x[[0, c(1)]], x[torch.tensor([0])], x[1]]
    return [type(v).__name__ for v in got], list(seen), [v.as_subclass(torch.Tensor) for v in got]

def seen_types_2():
    seen = []
    class C(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func.__name__, [k.__name__ for k in types], len(args)))
            return super().__torch_function__(func, types, args, kwargs or {})
    x = torch.arange(6.0).reshape(2, 3)
    c = lambda v: torch.tensor(v).as_subclass(C)
    x[0] = c(5.0)
    x[c([False, True])] = 7.0
    x[1, c([0])] = c([8.0])
    x[1, 1] = 9.0
    with torch._C.DisableTorchFunctionSubclass():
        x[c(0)] = 1.5
    return x, type(x).__name__, seen

def torch_function_classmethod():
    class N:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "N", func.__name__, len(args), sorted(kwargs or {})
    x = torch.arange(3.0)
    x[N()] = 2.0
    x[0] = N()
    return x[N()], x[0, N()], x[[N()]], x

def reshape_parameter():
    x = torch.arange(6.0).reshape(2, 3)
    p = torch.nn.Parameter(torch.tensor([1, 0]), requires_grad=False)
    return type(x[p]).__name__, x[p]

# modes that are left, or entered for good, by what a mode within them says
def exit_does():
    seen = []
    class M(torch.overrides.TorchFunctionMode):
        def __init__(self, name, does=None):
            self.name, self.does = name, does
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(self.name)
            does, self.does = self.does, None
            if does is not None:
                does()
            return func(*args, **(kwargs or {}))
    x = torch.ones(2)
    a = M("a")
    b = M("b", lambda: a.__exit__(None, None, None))
    y = a.__enter__(), b.__enter__()
    y = torch.add(x, 1), seen.append("|"), torch.add(x, 1), seen.append("|")
    b.__exit__(None, None, None)
    y = torch.add(x, 1), seen.append("|")
    with M("c"):
        y = torch.add(x, 1)
    seen.append("|")
    with M("d"), M("e"):
        y = torch.add(x, 1)
    y = torch.add(x, 1)
    return seen, error_name(lambda: a.__exit__(None, None, None))

def enter_does():
    seen = []
    class M(torch.overrides.TorchFunctionMode):
        def __init__(self, name, does=None):
            self.name, self.does = name, does
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(self.name)
            does, self.does = self.does, None
            if does is not None:
                does()
            return func(*args, **(kwargs or {}))
    x = torch.ones(2)
    a, c = M("a"), M("c")
    b = M("b", lambda: c.__enter__())
    with a:
        y = b.__enter__()
        y = torch.add(x, 1), seen.append("|"), torch.add(x, 1), seen.append("|")
        b.__exit__(None, None, None)
        y = torch.add(x, 1), seen.append("|")
        c.__exit__(None, None, None)
        y = torch.add(x, 1), seen.append("|")
    y = torch.add(x, 1)
    return seen
