"""
The parts of a Variable: its tensor, its place in the graph and its flags.

The methods that compute are in ``_methods``; Functions, which record, know this class only.
"""

from __future__ import annotations

from collections import OrderedDict
from operator import attrgetter
from typing import Any

from autograd_cy import Tensor

from ..tensors.wrapping import typename, wrap
from ._versions import Version, version_of

__all__ = ["VariableBase", "name_absent", "plain_data"]


def plain_data(data: Any) -> Tensor:
    """The tensor that a program gave as data; one that has a graph of its own is refused."""
    if not isinstance(data, Tensor):
        raise RuntimeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
    if data.requires_grad:
        raise RuntimeError(
            "Variable: the tensor requires grad in the modern API, whose graph a Variable doesn't "
            "know; give tensor.detach()"
        )
    return data


def _flag(name: str, value: Any) -> bool:
    if value is not True and value is not False:
        raise TypeError(f"{name} must be a bool, but got {type(value).__name__}")
    return value


class VariableBase:
    """
    The state of a Variable.

    What is at its default costs nothing: the attributes of the class stand for it.
    """

    _tensor: Any
    _gradient: Any = None
    _needs_grad: bool = False
    _is_volatile: bool = False
    _maker: Any = None
    _hooks: Any = None
    _ver: Version | None = None

    #: Which of its creator's outputs it is.
    output_nr: int = 0

    def __init__(
        self,
        data: Any,
        *,
        requires_grad: bool = False,
        volatile: bool = False,
        creator: Any = None,
    ) -> None:
        self._tensor = plain_data(data)
        if _flag("requires_grad", requires_grad):
            self._needs_grad = True
        if _flag("volatile", volatile):
            self._is_volatile = True
            if requires_grad:
                raise RuntimeError("Variable can't be volatile and require_grad at the same time!")
        if creator is not None:
            if not hasattr(creator, "previous_functions"):
                raise RuntimeError(
                    "Variable creator has to be a Function object or None, but got "
                    f"{type(creator).__name__}"
                )
            self._maker = creator

    # What users read ------------------------------------------------------------------------

    def _set_data(self, data: Any) -> None:
        self._tensor = plain_data(data)

    data = property(attrgetter("_tensor"), _set_data, doc="The tensor itself; may be assigned.")
    creator = property(
        attrgetter("_maker"), doc="The Function that made it; None for leaves and volatile results."
    )
    grad = property(
        attrgetter("_gradient"), doc="A volatile Variable, once backward has reached this leaf."
    )

    def _set_grad(self, grad: Any) -> None:
        if grad is not None and not isinstance(grad, VariableBase):
            raise TypeError(f"_grad has to be a Variable or None, but got {type(grad).__name__}")
        self._gradient = grad

    _grad = property(attrgetter("_gradient"), _set_grad, doc="As `grad`, and may be assigned.")

    def _set_creator(self, creator: Any) -> None:
        if creator is not None:
            raise RuntimeError("_creator can be only set to None")
        self._maker = None
        self.output_nr = 0

    _creator = property(attrgetter("_maker"), _set_creator, doc="As `creator`; may become None.")

    def _set_requires_grad(self, value: Any) -> None:
        if self._maker is not None:
            way_out = (
                ""
                if value
                else ". If you want to use a computed variable in a subgraph that doesn't require "
                "differentiation use var_no_grad = var.detach()"
            )
            raise RuntimeError(
                f"you can only change requires_grad flags of leaf variables{way_out}"
            )
        self._needs_grad = _flag("requires_grad", value)

    requires_grad = property(
        attrgetter("_needs_grad"), _set_requires_grad, doc="True if backward computes its gradient."
    )

    def _set_volatile(self, value: Any) -> None:
        if self._maker is not None:
            raise RuntimeError(
                "you can only change volatile flags of leaf variables; var.detach() is one"
            )
        self._is_volatile = _flag("volatile", value)

    volatile = property(
        attrgetter("_is_volatile"),
        _set_volatile,
        doc="True if nothing computed from it is recorded.",
    )

    @property
    def _version(self) -> int:
        return 0 if self._ver is None else self._ver.count

    def _set_hooks(self, hooks: Any) -> None:
        if hooks is not None and not hasattr(hooks, "values"):
            raise TypeError(
                f"_backward_hooks has to be a dict or None, but got {type(hooks).__name__}"
            )
        self._hooks = hooks
        if self._maker is not None:
            self._maker._hook_output(self.output_nr, hooks)

    _backward_hooks = property(
        attrgetter("_hooks"), _set_hooks, doc="The hooks by number, or None."
    )

    def _hooks_to_add_to(self) -> Any:
        if self._hooks is None:
            self._backward_hooks = OrderedDict()
        return self._hooks

    # In-place operations ----------------------------------------------------------------------

    def _refuse_if_shared(self) -> None:
        version = self._ver
        if version is not None:
            sharers = version.live()
            if sharers > 1:
                raise RuntimeError(
                    "in-place operations can be only used on variables that don't share storage "
                    f"with any other variables, but detected that there are {sharers} objects "
                    "sharing it; use clone() first"
                )

    def _refuse_leaf(self) -> None:
        if self._needs_grad and self._maker is None:
            raise RuntimeError(
                "a leaf Variable that requires grad has been used in an in-place operation; use "
                ".data to change its values outside of the graph, or clone() first"
            )

    def _changed(self) -> None:
        version_of(self).increase()

    # Copies and files ---------------------------------------------------------------------------

    def _copy_of_flags(self, data: Any) -> Any:
        result = type(self).__new__(type(self))
        result._tensor = data
        result._needs_grad = self._needs_grad
        result._is_volatile = self._is_volatile
        return result

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self._maker is not None:
            raise RuntimeError(
                "Only Variables created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment; use detach() first"
            )
        return self._copy_of_flags(wrap(self._tensor).clone())

    def __reduce_ex__(self, protocol: Any) -> Any:
        # Hooks are state, not an argument: they may lead back to the Variable.
        flags = self._needs_grad, self._is_volatile
        return _rebuild, (type(self), self._tensor, *flags), self._hooks

    def __setstate__(self, hooks: Any) -> None:
        self._hooks = hooks

    def __dir__(self) -> list[str]:
        absent = vars(VariableBase)
        return [name for name in super().__dir__() if type(absent.get(name)) is not _OfToday]

    def __repr__(self) -> str:
        text = repr(wrap(self._tensor))
        return "Variable containing:" + ("" if text.startswith("\n") else "\n") + text

    __hash__ = object.__hash__
    # NumPy's numbers and arrays leave operators to the Variable.
    __array_ufunc__ = None

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a Variable is no array; use variable.data, or variable.data.numpy()")

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # Asked for by functions of the modern API, which don't know Variables.
        name = getattr(func, "__name__", "this function")
        raise TypeError(
            f"{name} of the modern API got a legacy Variable; give its tensor, variable.data, or "
            "use autograd_cy.legacy"
        )


class _OfToday:
    """
    An attribute of modern tensors that Variables have not, which says where it is.

    Not ``__getattr__``, with which reading any attribute takes four times as long.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, variable: Any, owner: Any) -> Any:
        raise AttributeError(
            f"a Variable of 2017 has no attribute {self.name!r}; where the modern API asks for it, "
            "give the tensor, variable.data"
        )


def name_absent(variable: type) -> None:
    """Let the class of Variables name the way out for what only modern tensors have."""
    known = set(dir(variable))
    for name in dir(Tensor):
        if not name.startswith("_") and name not in known and hasattr(Tensor, name):
            setattr(VariableBase, name, _OfToday(name))


def _rebuild(cls: type[VariableBase], data: Any, requires_grad: bool, volatile: bool) -> Any:
    """A leaf with what a pickle keeps."""
    result = cls.__new__(cls)
    result._tensor = data
    result._needs_grad = requires_grad
    result._is_volatile = volatile
    return result


def described(t: Tensor) -> str:
    """``torch.FloatTensor of size 2x3``, for messages."""
    return f"{typename(t)} of size {'x'.join(map(str, t.shape)) or '()'}"
