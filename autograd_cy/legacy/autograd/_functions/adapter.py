"""
Functions of 2017 that take value and derivative from an operator of today.

A class names the operator (``core``) and the method of tensors with the checks and shapes of 2017
(``method``). A call whose operands the operator treats as 2017 did runs the operator on aliases of
them, which records its node; ``backward`` calls the node. Any other call takes its value from the
method, and its derivative from the operator on operands in the shapes and types that it expects.
What is kept for ``backward`` by the rules of 2017 (versions, errors, release) is a line in the row.
"""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor

from ...tensors.wrapping import CLASSES, _make, wrap
from ..function import Function, InplaceFunction
from .shapes import in_shape

__all__ = [
    "FLOATING",
    "Adapter",
    "InplaceAdapter",
    "Pointwise",
    "Unary",
    "as_floating",
    "define",
    "detached",
    "leaf",
    "never",
]

#: The classes of tensors that can have a gradient in the graph of today.
FLOATING = frozenset(cls for dtype, cls in CLASSES.items() if dtype.is_floating_point)

# An alias has a version of its own, so writes through ``.data`` aren't seen, as in 2017.
detached = Tensor.data.__get__
_set_data: Any = Tensor.data.__set__  # type: ignore[attr-defined]
_needing = Tensor.requires_grad_
_dim = Tensor.dim
_root = ag.zeros((), requires_grad=True)
_REFUSALS = RuntimeError, IndexError, TypeError, ValueError


def leaf(t, needed):
    """An alias of a tensor, which needs a gradient or not."""
    # What was made in inference mode can't be saved by a node.
    result = ag.clone(t) if Tensor.is_inference(t) else detached(t)
    return _needing(result) if needed and result.is_floating_point() else result


def _alias(t, needed):
    """An alias that an in-place operator may change: no leaf, and no view of one."""
    if not needed:
        return detached(t)
    result = ag.mul(_root, 1)
    _set_data(result, t)
    return result


def as_floating(t, shape):
    """An operand of another type or shape as the operator expects it."""
    t = t if t.dtype.is_floating_point else Tensor.to(t, ag.float64)
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
    extra : tuple
        Arguments of both after the tensors.
    keeps : tuple of int
        Places of the inputs that are saved; -1 is the output.
    places : tuple of int or None
        The inputs that the edges of the node belong to; None for all, in order.
    several : bool
        Whether the operator records several nodes.
    views : bool
        Whether the output shares memory with the input.
    plain : bool
        Whether the gradients are those of the node as they are.
    direct : bool
        Whether ``core`` only calls the operator.
    """

    name = ""
    extra: tuple = ()
    keeps: tuple = ()
    places: tuple | None = None
    several = False
    views = False
    plain = True
    direct = True
    _operator: Any = None
    _operator_: Any = None

    # The node, or the outputs where there are several; leaves and operands of such calls.
    _node: Any = None
    _shape: Any = None
    _leaves: Any = None
    _sizes: Any = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.plain = cls.places is None and cls._derived is Adapter._derived
        cls.direct = cls.core is Adapter.core
        if "name" in vars(cls):
            for suffix in ("", "_"):
                operator = getattr(ag, f"{cls.name}{suffix}", None)
                if operator is not None and f"_operator{suffix}" not in vars(cls):
                    setattr(cls, f"_operator{suffix}", staticmethod(operator))

    def core(self, *inputs):
        """Run the operator of today."""
        return self._operator(*inputs, *self.extra)

    def core_(self, *inputs):
        """Run the operator of today in place."""
        self._operator_(*inputs, *self.extra)

    def method(self, x, *others):
        """Run the method of 2017, which refuses what 2017 did."""
        return getattr(x, self.name)(*others, *self.extra)

    def method_(self, x, *others):
        """Run the in-place method of 2017."""
        return getattr(x, f"{self.name}_")(*others, *self.extra)

    def fits(self, x, *others):
        """Return whether the operator treats these inputs as 2017 did."""
        return type(x) in FLOATING

    def adapted(self, inputs):
        """Inputs that don't fit, as the operator takes them."""
        shape = inputs[0].shape
        return [as_floating(t, shape) for t in inputs]

    # Forward ----------------------------------------------------------------------------------

    def forward(self, *inputs):
        """Compute the output, and record the operator if a gradient is needed."""
        x = inputs[0]
        if self.inplace or self.several or not self.fits(*inputs):
            return self._special(inputs)
        try:
            if not self._requires_grad:
                leaves = inputs
            elif len(inputs) == 1:
                leaves = (_needing(detached(x)),)
            else:
                # As by `leaf`, which is slower.
                leaves = [
                    _needing(detached(t)) if need else detached(t)
                    for t, need in zip(inputs, self._needs(inputs))
                ]
            result = self._operator(*leaves, *self.extra) if self.direct else self.core(*leaves)
            if self._requires_grad:
                node = self._node = result.grad_fn
                if node is None:
                    return self._special(inputs)
        except _REFUSALS:
            if any(Tensor.is_inference(t) or not t.dtype.is_floating_point for t in inputs):
                return self._special(inputs)
            self.method(*inputs)  # its message is that of 2017
            raise
        keeps = self.keeps
        if _dim(result):
            # A node may have saved its result, whose version is to be another one.
            out = _make(type(x), detached(result) if keeps else result)
        else:
            self._shape = result.shape
            out = wrap(detached(result))
        if self.views:
            self.shared_pairs = ((x, out),)
        elif keeps:
            self.to_save = tuple([out if i < 0 else inputs[i] for i in keeps])
        return out

    def _special(self, inputs):
        """Compute in place, adapt operands, or record several nodes."""
        if self._requires_grad and not ag.is_grad_enabled():
            with ag.inference_mode(False), ag.enable_grad():
                return self._special(inputs)
        fits = self.fits(*inputs) and not any(map(Tensor.is_inference, inputs))
        if self.inplace:
            out = self._changed(inputs, fits)
        elif not fits:
            out = self._unusual(inputs)
        else:
            try:
                out = self._recorded(inputs) if self._requires_grad else self.core(*inputs)
            except _REFUSALS:
                self.method(*inputs)
                raise
            out = _make(type(inputs[0]), out) if _dim(out) else wrap(out)
        if self.views:
            self.shared_pairs = ((inputs[0], out),)
        if self.keeps:
            self.to_save = tuple([out if i < 0 else inputs[i] for i in self.keeps])
        return out

    def _needs(self, inputs):
        if self._trusted:
            return self.needs_input_grad
        # A class of a program may compute with the gradients of all inputs.
        return [t.dtype.is_floating_point for t in inputs]

    def _recorded(self, inputs):
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
        out = wrap(out) if isinstance(out, Tensor) else inputs[0].new((out,))
        if self._requires_grad:
            self._sizes = [(t.shape, t.dtype) for t in inputs]
            self._recorded(self.adapted(inputs))
        return out

    def _changed(self, inputs, fits):
        """Change the first input."""
        x, *others = inputs
        self.dirty_tensors = (x,)
        if not self._requires_grad:
            return self.method_(*inputs)
        if fits and self._operator_ is not None and not self.several:
            needs = self._needs(inputs)
            target = _alias(x, needs[0])
            leaves = [leaf(t, need) for t, need in zip(others, needs[1:])]
            try:
                self.core_(target, *leaves)
            except _REFUSALS:
                self.method_(*inputs)
                raise
            self._node = target.grad_fn
            return x
        self._sizes = [(t.shape, t.dtype) for t in inputs]
        before = x.clone()
        out = self.method_(*inputs)
        self._recorded(self.adapted((before, *others)))
        return out

    # Backward ---------------------------------------------------------------------------------

    def backward(self, *grads):
        """The gradients of the operator, for classes that programs derive from this one."""
        with ag.no_grad():
            return self._derived(grads)

    def _do_backward(self, grad_outputs, retain_variables):
        if self._backward_hooks or self._outputs is not None or not self._trusted:
            grads = super()._do_backward(grad_outputs, retain_variables)
        elif self.plain and not (self._shape or self._sizes or self._leaves) and self._node:
            # As in `_derived`, which has all cases.
            for version, count in self._versions:
                if version.count != count:
                    _ = self.saved_tensors
            grads = self._node(*grad_outputs)
            if type(grads) is not tuple:
                grads = (grads,)
            elif len(grads) != self.num_inputs:
                grads = grads[: self.num_inputs]
        else:
            grads = self._derived(grad_outputs)
        if not retain_variables and self._versions:
            self._release()
            self._node = self._leaves = None
        return grads

    def _derived(self, grads):
        for version, count in self._versions:
            if version.count != count:
                _ = self.saved_tensors  # which raises
        node = self._node
        if self._sizes is not None:
            return self._fitted(grads)
        if self._shape is not None and grads[0].shape != self._shape:
            grads = (ag.reshape(grads[0], self._shape), *grads[1:])
        if self._leaves is not None:
            return self._walked(grads)
        if node is None:
            return (None,) * self.num_inputs
        results = node(*grads)
        if self.num_inputs == 1:
            return results[:1] if type(results) is tuple else (results,)
        if self.places is None:
            return results
        complete = [None] * self.num_inputs
        for place, grad in zip(self.places, results if type(results) is tuple else (results,)):
            complete[place] = grad
        return tuple(complete)

    def _walked(self, grads):
        """The gradients through several nodes."""
        wanted = [t for t in self._leaves if t.requires_grad]
        results = iter(
            ag.autograd.grad(
                self._node, wanted, grads[0], retain_graph=True, materialize_grads=True
            )
        )
        return tuple([next(results) if t.requires_grad else None for t in self._leaves])

    def _fitted(self, grads):
        """The gradients of operands that had to be adapted, in their types and shapes."""
        sizes, self._sizes = self._sizes, None
        try:
            results = self._derived([Tensor.to(grad, self._dtype) for grad in grads])
        finally:
            self._sizes = sizes
        return tuple(
            grad if grad is None else in_shape(Tensor.to(grad, dtype), shape)
            for grad, (shape, dtype) in zip(results, sizes)
        )


class InplaceAdapter(Adapter, InplaceFunction):
    """An adapter that has an in-place form; ``inplace`` is its last argument."""

    def __init__(self, inplace=False):
        self.inplace = inplace


class Unary(Adapter):
    """An operator of each element, of which the operands may be exchanged."""

    reverse = False

    def fits(self, x):
        return not self.reverse and type(x) in FLOATING

    def forward(self, x):
        if self.inplace or self.reverse or type(x) not in FLOATING:
            return super().forward(x)
        try:
            if not self._requires_grad:
                return _make(type(x), self._operator(x, *self.extra))
            result = self._operator(_needing(detached(x)), *self.extra)
        except _REFUSALS:
            return super().forward(x)
        node = self._node = result.grad_fn
        if node is None:
            return super().forward(x)
        keeps = self.keeps
        if not keeps or keeps[0] == 0:
            out = _make(type(x), result)
            if keeps:
                self.to_save = (x,)
            return out
        # The node has saved its result, whose version is to be another one.
        out = _make(type(x), detached(result))
        self.to_save = (out,)
        return out


class Pointwise(Adapter):
    """An operator of two tensors, by default of their elements, which then have one shape."""

    one_shape = True

    def fits(self, a, b):
        kind = type(a)
        alike = kind is type(b) and kind in FLOATING
        return alike and (not self.one_shape or a.shape == b.shape)

    def forward(self, a, b):
        kind = type(a)
        if kind is not type(b) or self.inplace or self.several or kind not in FLOATING:
            return super().forward(a, b)
        if self.one_shape and a.shape != b.shape:
            return super().forward(a, b)
        try:
            if not self._requires_grad:
                return _make(kind, self._operator(a, b, *self.extra))
            needs = self.needs_input_grad if self._trusted else (True, True)
            first, second = detached(a), detached(b)
            if needs[0]:
                _needing(first)
            if needs[1]:
                _needing(second)
            result = self._operator(first, second, *self.extra)
        except _REFUSALS:
            return super().forward(a, b)
        node = self._node = result.grad_fn
        if node is None:
            return super().forward(a, b)
        if self.keeps:
            self.to_save = (a, b)
        return _make(kind, result)


def define(module: str, names: str, *bases: type, name: str = "", **row: Any) -> Any:
    """
    Make a class for each of the names, of the operator that has it in lower case or `name`.

    Returns
    -------
    type or tuple of type
    """
    classes = [
        type(bases[0])(each, bases, {"__module__": module, "name": name or each.lower(), **row})
        for each in names.split()
    ]
    return classes[0] if len(classes) == 1 else classes
