"""Custom Functions: operations whose derivative the user writes.

The steps of a call are in ext/engine/function.pyx; here are the classes that users derive from and
the methods of `ctx`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autograd_cy._C import function as _function
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.function import FunctionNode
from autograd_cy._C.tensor import Tensor, _is_grad_enabled, _must_be_bool

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "once_differentiable",
]


class FunctionCtx:
    """
    The object that the methods of a :class:`Function` get as `ctx`.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        Whether each argument of ``apply`` requires grad.
    saved_tensors : tuple
        What :meth:`save_for_backward` kept; reading it checks that nothing was changed since.
    materialize_grads : bool
        See :meth:`set_materialize_grads`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> class Square(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad if ctx.needs_input_grad[0] else None
    >>> x = ag.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    needs_input_grad: tuple[bool, ...]
    materialize_grads: bool
    if TYPE_CHECKING:

        @property
        def saved_tensors(self) -> tuple[Tensor, ...]: ...

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """
        Keep inputs, outputs or intermediate tensors for backward, as ``ctx.saved_tensors``.

        Call it at most once, in ``forward`` or ``setup_context``. Tensors kept as attributes
        instead escape the check for in-place changes, and outputs kept so leak memory.

        Parameters
        ----------
        *tensors : Tensor or None

        Raises
        ------
        TypeError
            From ``apply``, if something else was given.

        Examples
        --------
        >>> import autograd_cy as ag
        >>> class Exp(ag.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         y = x.exp()
        ...         ctx.save_for_backward(y)
        ...         return y
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         (y,) = ctx.saved_tensors
        ...         return grad * y
        >>> x = ag.zeros(1, requires_grad=True)
        >>> Exp.apply(x).backward()
        >>> x.grad
        tensor([1.])
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """
        Keep tensors for ``jvp``, where ``ctx.saved_tensors`` gives them.

        Examples
        --------
        >>> import autograd_cy as ag
        >>> class Square(ag.autograd.Function):
        ...     @staticmethod
        ...     def forward(x):
        ...         return x * x
        ...     @staticmethod
        ...     def setup_context(ctx, inputs, output):
        ...         ctx.save_for_forward(*inputs)
        ...     @staticmethod
        ...     def jvp(ctx, tangent):
        ...         (x,) = ctx.saved_tensors
        ...         return 2 * x * tangent
        """
        for i, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save "
                    f"non-tensors as attributes on ctx (argument {i} is {type(t).__name__})."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """
        Say which inputs ``forward`` changed in place; each must be returned.

        Examples
        --------
        >>> import autograd_cy as ag
        >>> class AddOne(ag.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.mark_dirty(x)
        ...         return x.add_(1)
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         return grad
        >>> y = ag.zeros(1, requires_grad=True).clone()
        >>> AddOne.apply(y) is y
        True
        """
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """
        Say which outputs have no derivative; backward gets zeros for them.

        Outputs of integer dtype are so by themselves.
        """
        self.non_differentiable = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Do nothing: that inputs and outputs share memory is seen by itself."""
        _warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are "
            "automatically tracked. Note that calls to `set_()` are not tracked",
            FutureWarning,
        )

    def set_materialize_grads(self, value: bool) -> None:
        """
        Set whether backward gets zeros (True, the default) or None for outputs without a
        gradient.

        The same goes for tangents in ``jvp``.
        """
        _must_be_bool("set_materialize_grads", "value", value, 1)
        self.materialize_grads = value


class _Deprecated:
    @property
    def saved_variables(self):
        _warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors


class BackwardCFunction(FunctionNode, FunctionCtx, _Deprecated):
    """
    The node of a custom Function's call: ``grad_fn`` of its results, and their `ctx`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.function import BackwardCFunction
    >>> class Same(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x.clone()
    >>> y = Same.apply(ag.ones(1, requires_grad=True))
    >>> isinstance(y.grad_fn, BackwardCFunction), y.grad_fn.name()
    (True, 'SameBackward')
    """

    def apply(self, *args: Any) -> Any:
        """The Function's backward with this node as `ctx`."""
        return _function._call_backward(self, args)

    def apply_jvp(self, *args: Any) -> Any:
        """The Function's jvp with this node as `ctx`."""
        return self._forward_cls.jvp(self, *args)


class FunctionMeta(type):
    """
    Give each Function class the class of its nodes, named as it is with "Backward" added.

    Parameters
    ----------
    name, bases, attrs
        As for ``type``.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.function import FunctionMeta
    >>> type(ag.autograd.Function) is FunctionMeta
    True
    """

    def __init__(cls, name, bases, attrs):
        cls._backward_cls = type(
            name + "Backward",
            (BackwardCFunction,),
            {"_forward_cls": cls, "__module__": cls.__module__},
        )
        cls._signature = None
        super().__init__(name, bases, attrs)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """
    An operation with a derivative of your own.

    Derive a class, define static methods, and call ``YourClass.apply(...)``. Either
    ``forward(ctx, *args)`` does everything, or ``forward(*args)`` computes and
    ``setup_context(ctx, inputs, output)`` keeps what backward needs (the form that composes with
    vmap). ``backward(ctx, *grad_outputs)`` returns one gradient per argument, None for those that
    have none; ``vjp`` is another name of it. ``jvp(ctx, *tangents)`` serves forward mode.

    ``backward`` is run under grad mode exactly when the caller asked for ``create_graph``, so
    higher derivatives work if it is made of differentiable operations; mark it with
    :func:`once_differentiable` if it isn't.

    Attributes
    ----------
    generate_vmap_rule : bool
        Whether the rule for vmap is made from the other methods; False unless a class says so.
    boxed_grads_call : bool
        If True, it is ``backward(ctx, grads)``, with one list; a backward that clears it gives the
        memory of the gradients back early.
    clear_saved_tensors_on_access : bool
        If True, ``ctx.saved_tensors`` can be read once and lets the tensors go then.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> class Cube(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(x):
    ...         return x**3
    ...     @staticmethod
    ...     def setup_context(ctx, inputs, output):
    ...         ctx.save_for_backward(*inputs)
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x**2 * grad
    >>> x = ag.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)
    """

    # Options of a class, which are True or False. Whether vmap works by the other methods:
    generate_vmap_rule = False
    # Whether backward gets one list of gradients, which it may empty to give their memory back:
    boxed_grads_call = False
    # Whether saved tensors are let go when they are read, which is possible once then:
    clear_saved_tensors_on_access = False

    def __init__(self, *args, **kwargs):
        _warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
        )

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Make forward and backward "
            f"static, with ctx first, and call {type(self).__name__}.apply(...); programs of the "
            "Variable era run with autograd_cy.legacy.)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; the first argument is `ctx` unless ``setup_context`` is defined."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Keep what backward and jvp need; runs after ``forward``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:
        """Return one gradient per argument of ``apply``, from `ctx` and one per output."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    # The same function: which of the two a class defines is seen by identity.
    vjp = backward

    @staticmethod
    def jvp(*args: Any, **kwargs: Any) -> Any:
        """
        Return one tangent per output, from `ctx` and one per argument of ``apply``.

        Arguments that aren't tensors have None.
        """
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(*args: Any, **kwargs: Any) -> Any:
        """
        Return the results of batches: ``(output, out_dims)``, from `info`, `in_dims` and arguments.

        See :func:`autograd_cy.vmap`.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or "
            "set generate_vmap_rule=True."
        )

    _function.function_apply.__name__ = "apply"  # as messages about it call it
    apply = classmethod(_function.function_apply)


def _bind(cls, args, kwargs, split):
    """Return arguments of ``forward`` (without ctx) in order, with keywords and defaults."""
    if not split:
        args = (None, *args)
    signature = cls.__dict__.get("_signature")
    if signature is None:
        signature = cls._signature = inspect.signature(cls.forward)
    parameters = signature.parameters
    if split and not kwargs and len(args) == len(parameters):
        return args
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(
            f"{cls.__name__}.forward: keyword-only arguments ({', '.join(bound.kwargs)}) can't be "
            "passed on; make them positional"
        )
    return bound.args if split else bound.args[1:]


_function._set_function(Function, _bind)


# --- decorators and old forms -----------------------------------------------------------------


def once_differentiable(fn: Callable) -> Callable:
    """
    Decorator of a ``backward`` that can't be differentiated itself.

    It runs without recording; an error comes only when its result is differentiated.

    Parameters
    ----------
    fn : callable
        The method: takes `ctx` and the gradients of the results.

    Returns
    -------
    callable

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.function import once_differentiable
    >>> class Double(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> x = ag.ones(1, requires_grad=True)
    >>> ag.autograd.grad(Double.apply(x), x)
    (tensor([2.]),)
    """

    @functools.wraps(fn)
    def wrapper(ctx, *args):
        from autograd_cy.autograd.grad_mode import no_grad

        # Asked before the call, which may empty a list of gradients.
        grads = args[0] if len(args) == 1 and isinstance(args[0], list) else args
        recorded = any(isinstance(a, Tensor) and a.requires_grad for a in grads)
        with no_grad():
            outputs = fn(ctx, *args)
        if not _is_grad_enabled():
            return outputs
        if not recorded:
            return outputs
        several = isinstance(outputs, tuple)
        items = outputs if several else (outputs,)
        # Leaves that require grad make the refusal part of the graph.
        leaves = [
            t.detach().requires_grad_()
            if isinstance(t, Tensor) and (t.is_floating_point() or t.is_complex())
            else None
            for t in items
        ]
        refuse = _function.DelayedError(
            "trying to differentiate twice a function that was marked with @once_differentiable "
            f"({type(ctx).__name__})",
            len(leaves),
        )
        refused = refuse(*leaves)
        if not several:
            return outputs if refused is None else refused
        return tuple(item if t is None else t for t, item in zip(refused, items))

    return wrapper


class InplaceFunction(Function):
    """
    A Function with a flag `inplace`, for those that can also change their input.

    Kept for old programs; :class:`Function` with ``mark_dirty`` does the same.

    Parameters
    ----------
    inplace : bool, default False

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd.function import InplaceFunction
    >>> class Double(InplaceFunction):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.mark_dirty(x)
    ...         return x.mul_(2)
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return 2 * grad
    >>> x = ag.ones(1, requires_grad=True)
    >>> Double.apply(x.clone()).backward()
    >>> x.grad
    tensor([2.])
    """

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace


def _flat(x):
    """Leaves of nested tuples, lists and dicts, and how to put them together again."""
    if isinstance(x, dict):
        keys = list(x)
        parts = [_flat(x[k]) for k in keys]

        def build(leaves):
            return type(x)((k, make(leaves)) for k, (_, make) in zip(keys, parts))

    elif isinstance(x, (tuple, list)):
        parts = [_flat(y) for y in x]

        def build(leaves):
            items = [make(leaves) for _, make in parts]
            return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)

    else:
        return [x], lambda leaves: next(leaves)
    return [leaf for leaves, _ in parts for leaf in leaves], build


class NestedIOFunction(Function):
    """
    A Function whose arguments and results are nested tuples, lists and dicts of tensors.

    Define ``forward_extended(self, *input)`` and ``backward_extended(self, *grad_output)`` with
    the nested structures; call an instance. Tensors given to ``save_for_backward`` are in
    ``saved_tensors`` in the structure in which they were given.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> class AddPair(ag.autograd.NestedIOFunction):
    ...     def forward_extended(self, pair):
    ...         return {"sum": pair[0] + pair[1]}
    ...     def backward_extended(self, grads):
    ...         return ((grads["sum"], grads["sum"]),)
    >>> x = ag.ones(1, requires_grad=True)
    >>> AddPair()((x, x * 3))["sum"]
    tensor([4.], grad_fn=<_FlatBackward>)
    """

    def __init__(self):
        pass

    def __call__(self, *input):
        leaves, self._build_input = _flat(input)
        results = _Flat.apply(self, *leaves)
        return self._build_output(iter(results if isinstance(results, tuple) else (results,)))

    def save_for_backward(self, *args: Any) -> None:
        """Keep nested structures of tensors for backward."""
        self._saved = args

    def mark_dirty(self, *args: Any) -> None:
        """Say which input tensors were changed in place."""
        self._dirty = tuple(x for x in _flat(args)[0] if isinstance(x, Tensor))

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which output tensors have no derivative."""
        self._non_differentiable = tuple(x for x in _flat(args)[0] if isinstance(x, Tensor))

    @property
    def saved_tensors(self):
        saved = iter(self._ctx.saved_tensors)
        leaves = [next(saved) if is_tensor else x for is_tensor, x in self._saved_leaves]
        return self._build_saved(iter(leaves))

    def forward_extended(self, *input: Any) -> Any:
        """Compute the nested result."""
        raise NotImplementedError("NestedIOFunction: define forward_extended")

    def backward_extended(self, *grad_output: Any) -> Any:
        """Return the gradients, in the structure of the arguments."""
        raise NotImplementedError("NestedIOFunction: define backward_extended")


class _Flat(Function):
    """The flat Function that runs a NestedIOFunction."""

    @staticmethod
    def forward(ctx, nested, *leaves):
        ctx.nested = nested
        nested._ctx = ctx
        nested._saved = ()
        nested._dirty = nested._non_differentiable = ()
        results = nested.forward_extended(*nested._build_input(iter(leaves)))
        outputs, nested._build_output = _flat(results)
        saved, nested._build_saved = _flat(nested._saved)
        nested._saved_leaves = [
            (isinstance(x, Tensor), None if isinstance(x, Tensor) else x) for x in saved
        ]
        ctx.save_for_backward(*(x for x in saved if isinstance(x, Tensor)))
        if nested._dirty:
            ctx.mark_dirty(*nested._dirty)
        if nested._non_differentiable:
            ctx.mark_non_differentiable(*nested._non_differentiable)
        nested._saved = ()
        return tuple(outputs)

    @staticmethod
    def backward(ctx, *grads):
        nested = ctx.nested
        structured = nested._build_output(iter(grads))
        arguments = structured if isinstance(structured, tuple) else (structured,)
        grad_inputs = nested.backward_extended(*arguments)
        return None, *_flat(grad_inputs if isinstance(grad_inputs, tuple) else (grad_inputs,))[0]
