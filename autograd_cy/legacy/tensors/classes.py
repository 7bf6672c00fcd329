"""The eight tensor classes, each of one dtype, and what of the core they show."""

from __future__ import annotations

import autograd_cy as ag
from autograd_cy import Size, Tensor
from autograd_cy._tensors.tensor_types import construct
from autograd_cy.storage import TypedStorage

from .._dispatch import is_variable
from .filling import Filling
from .indexing import Indexing
from .linear_algebra import LinearAlgebra
from .memory import Memory
from .pointwise import Pointwise
from .products import Products
from .reductions import Reductions
from .shaping import Shaping
from .sorting import Sorting
from .wrapping import CLASSES, _make, core, refuse, wrap

__all__ = ["TYPES", "EraTensor"]


class EraTensor(
    Pointwise,
    Reductions,
    Sorting,
    Products,
    Shaping,
    Indexing,
    Filling,
    LinearAlgebra,
    Memory,
):
    """The base of the tensor classes; ``type(x)`` is one of them."""

    __slots__ = ()
    kind = ag.float32

    def __new__(cls, *args):
        return _make(cls, _core_tensor(cls, args))

    def __init__(self, *args):
        pass

    @property
    def data(self):
        """The tensor itself; ``data`` of a Variable is what programs mean."""
        return wrap(Tensor.data.__get__(self))

    @data.setter
    def data(self, tensor):
        Tensor.data.__set__(self, tensor)

    @property
    def requires_grad(self):
        """False: Variables record, tensors don't."""
        return False

    @requires_grad.setter
    def requires_grad(self, value):
        if value:
            raise RuntimeError(
                "tensors of the era don't record; use Variable(tensor, requires_grad=True)"
            )

    def requires_grad_(self, requires_grad=True):
        """Refused: Variables record, tensors don't."""
        self.requires_grad = requires_grad
        return self


def _core_tensor(cls, args):
    if len(args) == 1:
        (data,) = args
        if is_variable(data):
            refuse(f"torch.{cls.__name__}", args, "sizes, values or a tensor (use .data)")
        if isinstance(data, Tensor):
            if data.dtype is not cls.kind:
                refuse(f"torch.{cls.__name__}", args, f"a torch.{cls.__name__}")
            return core(data)
        values = not isinstance(data, (Size, TypedStorage, int)) and hasattr(data, "__len__")
        if values and not cls.kind.is_floating_point:
            _check_whole(cls, data)
    return construct(cls.kind, args)


def _check_whole(cls, data):
    values = ag.as_tensor(data)
    if values.dtype.is_floating_point and values.numel():
        raise TypeError(
            "tried to construct a tensor from a nested int sequence, but found an item of type "
            f"float: a torch.{cls.__name__} holds no fractions"
        )


def _class(name, dtype):
    cls = type(
        name,
        (EraTensor,),
        {
            "__slots__": (),
            "__module__": "autograd_cy.legacy",
            "__doc__": f"Tensors of {str(dtype).partition('.')[2]}: of sizes, values or a tensor.",
            "kind": dtype,
        },
    )
    CLASSES[dtype] = cls
    return cls


# By name, as programs ask for them.
TYPES: dict[str, type] = {
    f"{name}Tensor": _class(f"{name}Tensor", dtype)
    for name, dtype in (
        ("Double", ag.float64),
        ("Float", ag.float32),
        ("Half", ag.float16),
        ("Long", ag.int64),
        ("Int", ag.int32),
        ("Short", ag.int16),
        ("Char", ag.int8),
        ("Byte", ag.uint8),
    )
}


def _later(name):
    """A method that came after the era: it works, and its tensors are of the era's classes."""

    def method(self, *args, **kwargs):
        # Looked up when called: some of the core's methods are loaded then.
        result = getattr(Tensor, name)(self, *args, **kwargs)
        if not isinstance(result, Tensor) or result.requires_grad:
            return result
        return result.item() if result.dim() == 0 else wrap(result)

    method.__name__ = name
    method.__doc__ = f"``Tensor.{name}`` of the modern API, with results of the era's classes."
    return method


# What tells or keeps, and doesn't compute.
_AS_IN_CORE = {
    "as_subclass",
    "backward",
    "data_ptr",
    "detach",  # what the core's own Python asks for to get a plain tensor
    "is_shared",
    "item",
    "register_hook",
    "register_post_accumulate_grad_hook",
    "untyped_storage",
}


def _adopt():
    for name, value in vars(Tensor).items():
        own = any(name in vars(cls) for cls in EraTensor.__mro__[: EraTensor.__mro__.index(Tensor)])
        plain = not name.startswith("_") and name not in _AS_IN_CORE
        if plain and not own and callable(value) and not isinstance(value, (staticmethod, type)):
            setattr(EraTensor, name, _later(name))
    for name in ("T", "H", "mT", "mH", "real"):
        view = vars(Tensor)[name]
        setattr(EraTensor, name, property(lambda self, view=view: wrap(view.__get__(self))))


_adopt()
