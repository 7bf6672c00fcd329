"""Torch function: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import error_name


# classes that answer: attributes that are set and deleted, functions that call themselves
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

def tensor_type_2():
    class C1(torch.Tensor):
        @staticmethod
        def __new__(cls, x, label):
            return torch.Tensor._make_subclass(cls, x)
        def __init__(self, x, label):
            self.label = label
    return C1(torch.ones(2), "a").label, type(C1(torch.ones(2), "a")).__name__

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

# indices and what is assigned are asked, those of a tuple or list, too; numbers of slices aren't
def classmethod_super():
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

# modes that are left, or entered for good, by what a mode within them says
def torch_function_mode_overrides():
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

def torch_function_mode_overrides_2():
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
