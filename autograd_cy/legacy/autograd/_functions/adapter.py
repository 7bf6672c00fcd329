"""
Functions of 2017 that take value and derivative from an operator of today.

A class names the operator (``core``) and the method of tensors with the checks and shapes of 2017
(``method``). A call whose operands the operator treats as 2017 did runs the operator on aliases of
them, which records its node; ``backward`` calls the node. Any other call takes its value from the
method, and its derivative from the operator on operands in the shapes and types that it expects.
What is kept for ``backward`` by the rules of 2017 (versions, errors, release) is a line in the row.
"""

from __future__ import annotations

import autograd_cy as ag
from autograd_cy import Tensor

from ...tensors.wrapping import CLASSES, _make, wrap
from ..function import Function, InplaceFunction
from .shapes import in_shape

__all__ = ["FLOATING", "Adapter", "alias", "derive", "detached", "leaf", "never"]

#: The classes of tensors that can have a gradient in the graph of today.
FLOATING = frozenset(cls for dtype, cls in CLASSES.items() if dtype.is_floating_point)

# An alias has a version of its own, so writes through ``.data`` aren't seen, as in 2017.
detached = Tensor.data.__get__
_set_data = Tensor.data.__set__
_needing = Tensor.requires_grad_
_recording = ag.is_grad_enabled
_root = ag.zeros((), requires_grad=True)


def leaf(t, needed):
    """An alias of a tensor, which needs a gradient or not."""
    return _needing(detached(t)) if needed else detached(t)


def alias(t, needed):
    """An alias that an in-place operator may change: no leaf, and no view of one."""
    if not needed:
        return detached(t)
    made = ag.mul(_root, 1)
    _set_data(made, t)
    return made


def _as_floating(t, shape):
    """An operand of another type or shape as the operator expects it."""
    t = t if t.dtype.is_floating_point else ag.Tensor.to(t, ag.float64)
    return ag.reshape(t, shape)


def never(self, *inputs):
    """A ``fits`` of Functions whose values differ from those of today."""
    return False


class Adapter(Function):
    """
    A Function that an operator computes and differentiates.

    Attributes
    ----------
    name : str
        The operator and, unless told otherwise, the method of tensors of 2017.
    keeps : tuple of int
        Places of the inputs that are saved; -1 is the output.
    places : tuple of int or None
        The inputs that the edges of the node belong to; None for all, in order.
    several : bool
        Whether the operator records several nodes.
    views : bool
        Whether the output shares memory with the input.
    """

    name = ""
    keeps: tuple = ()
    places: tuple | None = None
    several = False
    views = False
    operator = operator_ = None

    _node = _leaves = _sizes = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            cls.operator = staticmethod(getattr(ag, cls.name))
            in_place = getattr(ag, f"{cls.name}_", None)
            cls.operator_ = None if in_place is None else staticmethod(in_place)

    def arguments(self):
        """Arguments of operator and method after the tensors."""
        return ()

    def core(self, *inputs):
        """Run the operator of today."""
        return self.operator(*inputs, *self.arguments())

    def core_(self, x, *others):
        """Run the operator of today in place."""
        self.operator_(x, *others, *self.arguments())

    def method(self, x, *others):
        """Run the method of 2017, which refuses what 2017 did."""
        return getattr(x, self.name)(*others, *self.arguments())

    def method_(self, x, *others):
        """Run the in-place method of 2017."""
        return getattr(x, f"{self.name}_")(*others, *self.arguments())

    def fits(self, x, *others):
        """Whether the operator treats these inputs as 2017 did."""
        return type(x) in FLOATING

    def adapted(self, inputs):
        """Inputs that don't fit, as the operator takes them."""
        shape = inputs[0].shape
        return [_as_floating(t, shape) for t in inputs]

    def forward(self, *inputs):
        """Compute the output, and record the operator if a gradient is needed."""
        self._node = self._leaves = self._sizes = None
        if self._requires_grad and not _recording():
            with ag.enable_grad():
                return self._computed(inputs)
        return self._computed(inputs)

    def _computed(self, inputs):
        fits = self.fits(*inputs)
        if self.inplace:
            out = self._changed(inputs, fits)
        elif not fits:
            out = self._unusual(inputs)
        else:
            try:
                if self._requires_grad:
                    out = self._recorded(inputs)
                else:
                    out = self.core(*inputs)
            except (RuntimeError, IndexError, TypeError, ValueError):
                self.method(*inputs)  # its message is that of 2017
                raise
            out = _make(type(inputs[0]), out) if Tensor.dim(out) else wrap(out)
        if self.views:
            self.mark_shared_storage((inputs[0], out))
        if self.keeps:
            self.to_save = tuple([out if i < 0 else inputs[i] for i in self.keeps])
        return out

    def _needs(self, inputs):
        if self._trusted:
            return self.needs_input_grad
        # A class of a program may compute with the gradients of all inputs.
        return [t.dtype.is_floating_point for t in inputs]

    def _recorded(self, inputs):
        if len(inputs) == 1:
            leaves = (_needing(detached(inputs[0])),)
        else:
            leaves = [leaf(t, need) for t, need in zip(inputs, self._needs(inputs))]
        out = self.core(*leaves)
        if self.several:
            self._leaves = leaves
            self._node = out
        else:
            self._node = out.grad_fn
        self._shape, self._dtype = out.shape, out.dtype
        return detached(out)

    def _unusual(self, inputs):
        """Take the value from the method of 2017; the operator only records."""
        out = self.method(*inputs)
        if not isinstance(out, Tensor):
            out = inputs[0].new((out,))
        if self._requires_grad:
            self._sizes = [(t.shape, t.dtype) for t in inputs]
            self._recorded(self.adapted(inputs))
        return out

    def _changed(self, inputs, fits):
        """Change the first input."""
        x, *others = inputs
        self.mark_dirty(x)
        if not self._requires_grad:
            return self.method_(*inputs)
        if fits and self.operator_ is not None and not self.several:
            needs = self._needs(inputs)
            made = alias(x, needs[0])
            leaves = [leaf(t, need) for t, need in zip(others, needs[1:])]
            try:
                self.core_(made, *leaves)
            except (RuntimeError, IndexError, TypeError, ValueError):
                self.method_(*inputs)
                raise
            self._node, self._shape = made.grad_fn, made.shape
            return x
        self._sizes = [(t.shape, t.dtype) for t in inputs]
        before = x.clone()
        out = self.method_(*inputs)
        self._recorded(self.adapted((before, *others)))
        return out

    def backward(self, *grads):
        """The gradients of the operator."""
        for version, count in self._versions:
            if version.count != count:
                _ = self.saved_tensors  # which raises
        if self._sizes is None:
            return derive(self, grads)
        made = derive(self, [Tensor.to(grad, self._dtype) for grad in grads])
        return tuple(
            grad if grad is None else in_shape(Tensor.to(grad, dtype), shape)
            for grad, (shape, dtype) in zip(made, self._sizes, strict=True)
        )

    def _do_backward(self, grad_outputs, retain_variables):
        made = super()._do_backward(grad_outputs, retain_variables)
        if not retain_variables and self._versions:
            self._node = self._leaves = None
        return made


def derive(self, grads):
    """The gradients of all inputs, from those of the outputs."""
    node, needs = self._node, self.needs_input_grad
    if node is None:
        return (None,) * len(needs)
    if grads[0].shape != self._shape:
        grads = (ag.reshape(grads[0], self._shape), *grads[1:])
    if self._leaves is not None:
        wanted = [t for t in self._leaves if t.requires_grad]
        found = iter(
            ag.autograd.grad(node, wanted, grads[0], retain_graph=True, materialize_grads=True)
        )
        return tuple([next(found) if t.requires_grad else None for t in self._leaves])
    with ag.no_grad():
        made = node(*grads)
    if len(needs) == 1:
        return made[:1] if type(made) is tuple else (made,)
    if self.places is None:
        return made[: len(needs)]
    if type(made) is not tuple:
        made = (made,)
    complete = [None] * len(needs)
    for place, grad in zip(self.places, made):
        complete[place] = grad
    return tuple(complete)


class InplaceAdapter(Adapter, InplaceFunction):
    """An adapter that has an in-place form; ``inplace`` is its last argument."""

    def __init__(self, inplace=False):
        self.inplace = inplace


__all__ += ["InplaceAdapter"]
