"""
Checkpoints that keep the results of some operations, and compute only the others again.

Two modes of functions see each call: that of the first run notes the calls and keeps results, that
of a recomputation hands them out instead of calling. A call that isn't made would save tensors for
backward, too: mostly arguments or results of it, which are handed to the hooks in its place.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import autograd_cy
from autograd_cy import Tensor, no_grad
from autograd_cy._C.forward import _levels_of
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.random import _default_draws
from autograd_cy._C.saved import _get_hooks
from autograd_cy._vmap.pytree import flatten
from autograd_cy.autograd.function import Function
from autograd_cy.autograd.graph import saved_tensors_hooks
from autograd_cy.overrides import TorchFunctionMode, resolve_name

_PUBLIC = "autograd_cy.utils.checkpoint"


class CheckpointPolicy(enum.Enum):
    """
    A choice for the result of an operation inside of a selective checkpoint.

    ``MUST_SAVE`` and ``PREFER_SAVE`` keep it, ``MUST_RECOMPUTE`` and ``PREFER_RECOMPUTE`` compute
    it again. Here must and prefer are the same; the difference is for compilers. As all memory is
    that of the CPU, ``MUST_CPU_OFFLOAD`` and ``PREFER_CPU_OFFLOAD`` keep results where they are.

    Examples
    --------
    >>> from autograd_cy.utils.checkpoint import CheckpointPolicy
    >>> CheckpointPolicy.MUST_SAVE.value
    0
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """
    The first argument of a policy function.

    Parameters
    ----------
    is_recompute : bool
        Always False: policies are called in the first run only.
    op_output : object
        What the operation returned.

    Examples
    --------
    >>> from autograd_cy.utils.checkpoint import SelectiveCheckpointContext
    >>> SelectiveCheckpointContext(is_recompute=False).op_output is None
    True
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


CheckpointPolicy.__module__ = SelectiveCheckpointContext.__module__ = _PUBLIC

_SAVE = {
    CheckpointPolicy.MUST_SAVE,
    CheckpointPolicy.PREFER_SAVE,
    CheckpointPolicy.MUST_CPU_OFFLOAD,
    CheckpointPolicy.PREFER_CPU_OFFLOAD,
}


_HERE = object()  # where a tensor stands among the leaves of a result


class Uncached(RuntimeError):
    """A recomputation takes a derivative of what was kept: it must compute everything."""


class _SavedResults(Function):
    """Results that were kept, with a place in the graph of the recomputation."""

    @staticmethod
    def forward(ctx: Any, record: _Record, results: _Results, *inputs: Tensor) -> tuple:
        ctx.record = record
        outputs = tuple([x.detach() for x in results.tensors])
        ctx.mark_non_differentiable(*(x for x, m in zip(outputs, results.differentiable) if not m))
        return outputs

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        ctx.record.off = True
        raise Uncached(
            "a selective checkpoint has kept a result that a derivative inside of the function "
            "needs the history of; let this exception pass, everything will be computed again"
        )


class _Window(NamedTuple):
    """A saved tensor by its place in the memory of an argument or result, or itself."""

    number: int  # of the argument; of the result, if it is negative: -1 is the first
    geometry: tuple | None  # None: the whole of it
    itself: Tensor | None


class _Results(NamedTuple):
    """The results of a call, and the tensors that it saved for backward."""

    tensors: list[Tensor]
    versions: list[int]
    differentiable: list[bool]
    structure: Any
    leaves: list[Any]
    saved: list[_Window]
    random: bool


class _Record:
    """The calls of a first run in order, with the results of those that are kept."""

    def __init__(self, policy: Callable[..., Any], mutable: bool):
        self.policy = policy
        self.mutable = mutable
        self.calls: list[tuple[Callable, list[_Results]]] = []
        self.running = False  # the first run
        self.off = False  # all is computed again, as derivatives are taken inside


def _geometry(x: Tensor) -> tuple:
    return tuple(x.shape), x.stride(), x.storage_offset()


def _window(x: Tensor, inputs: list[Tensor], results: list[Tensor]) -> _Window:
    numbered = [*enumerate(inputs), *((-1 - i, y) for i, y in enumerate(results))]
    for number, y in numbered:
        if x is y:
            return _Window(number, None, None)
    if not (x.is_conj() or x.is_neg()):
        memory = x.untyped_storage().data_ptr()
        for number, y in numbered:
            plain = y.dtype == x.dtype and not (y.is_conj() or y.is_neg())
            if plain and y.numel() and y.untyped_storage().data_ptr() == memory:
                same = _geometry(x) == _geometry(y)
                return _Window(number, None if same else (_geometry(x), _geometry(y)), None)
    return _Window(0, None, x.detach())


def _looked_through(window: _Window, inputs: list[Tensor], results: list[Tensor]) -> Tensor:
    if window.itself is not None:
        return window.itself
    number = window.number
    x = inputs[number] if number >= 0 else results[-1 - number]
    if window.geometry is None:
        return x
    (size, stride, offset), (shape, strides, start) = window.geometry
    if _geometry(x)[:2] != (shape, strides):
        raise RuntimeError(
            "torch.utils.checkpoint: in the recomputation a tensor has size "
            f"{list(x.shape)} and stride {x.stride()}, which the first run had with size "
            f"{list(shape)} and stride {strides}. The function must do the same whenever it runs"
        )
    return x.as_strided(size, stride, x.storage_offset() + offset - start)


def _makes_tensors(func: Callable, kwargs: dict) -> bool:
    """Tell whether a function makes new tensors, which may be kept."""
    return not (_changes(func) or kwargs.get("out") is not None)


def _changes(func: Callable) -> bool:
    """Tell whether a function is an attribute or changes its first argument."""
    name = getattr(func, "__name__", "")
    if name.startswith("__") and name.endswith("__"):
        return name in ("__get__", "__set__", "__delete__", "__setitem__")
    return name.endswith("_")


def _of_namespace(func: Callable) -> Callable:
    """Return the function of the top level for a method, so that policies know one of them."""
    name = getattr(func, "__name__", "")
    other = getattr(autograd_cy, name, func) if func is getattr(Tensor, name, None) else func
    return other if callable(other) else func


def _func_name(func: Callable) -> str:
    return str(resolve_name(func) or getattr(func, "__name__", repr(func)))


def _tensors(args: tuple, kwargs: dict) -> list[Tensor]:
    return [x for x in flatten((args, kwargs))[0] if isinstance(x, Tensor)]


def _can_save(inputs: list[Tensor], results: list[Tensor]) -> bool:
    """
    Tell whether results are tensors of their own, in no vmap and without tangents.

    Of others the memory, the examples or the tangents would be lost.
    """
    return not (
        any(x._is_view() or any(x is y for y in inputs) for x in results)
        or any(_batch_level(x) >= 0 or _levels_of(x) for x in [*inputs, *results])
    )


class _FirstRun(TorchFunctionMode):
    def __init__(self, record: _Record):
        super().__init__()
        self.record = record

    def __enter__(self) -> Any:
        self.record.running = True
        return super().__enter__()

    def __exit__(self, *error: Any) -> Any:
        self.record.running = False
        return super().__exit__(*error)

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        func, kwargs = _of_namespace(func), kwargs or {}
        record = self.record
        if record.off or not _makes_tensors(func, kwargs):
            return func(*args, **kwargs)
        saved_results: list[_Results] = []
        record.calls.append((func, saved_results))
        saved: list[Tensor] = []
        before = _default_draws()
        hooks = _get_hooks()[0]
        if hooks:
            pack, unpack = hooks[:2]

            def noting(x: Tensor) -> Any:
                saved.append(x)
                return pack(x)

            with saved_tensors_hooks(noting, unpack):
                result = func(*args, **kwargs)
        else:
            result = func(*args, **kwargs)
        leaves, structure = flatten(result)
        results = [x for x in leaves if isinstance(x, Tensor)]
        if not results:
            return result
        if not _is_save(record.policy, func, result, args, kwargs) or record.off:
            return result
        inputs = _tensors(args, kwargs)
        if _can_save(inputs, results):
            saved_results.append(
                _Results(
                    [x.detach() for x in results],
                    [x._version for x in results],
                    [x.requires_grad for x in results],
                    structure,
                    [_HERE if isinstance(x, Tensor) else x for x in leaves],
                    [_window(x, inputs, results) for x in saved],
                    _default_draws() != before,
                )
            )
        return result


def _is_save(policy: Callable, func: Callable, result: Any, args: tuple, kwargs: dict) -> bool:
    context = SelectiveCheckpointContext(is_recompute=False, op_output=result)
    answer = policy(context, func, *args, **kwargs)
    if answer is None or isinstance(answer, bool):
        return bool(answer)
    if not isinstance(answer, CheckpointPolicy):
        raise TypeError(
            "torch.utils.checkpoint: a policy function must return a CheckpointPolicy or a bool, "
            f"but returned {answer!r} for {_func_name(func)}"
        )
    return answer in _SAVE


class _Again(TorchFunctionMode):
    def __init__(self, record: _Record):
        super().__init__()
        self.record = record
        self.state = threading.local()  # .next: numbers of the next calls, of the run inside last

    def __enter__(self) -> Any:
        if self.record.running:  # a derivative is taken inside of the function
            self.record.off = True
            self.record.calls.clear()
        self.state.next = [*getattr(self.state, "next", ()), 0]
        return super().__enter__()

    def __exit__(self, *error: Any) -> Any:
        self.state.next.pop()
        return super().__exit__(*error)

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        func, kwargs = _of_namespace(func), kwargs or {}
        record = self.record
        if record.off or not _makes_tensors(func, kwargs):
            return func(*args, **kwargs)
        number = self.state.next[-1]
        self.state.next[-1] += 1
        if number >= len(record.calls):
            return func(*args, **kwargs)  # the first run ended before, by an error
        first, saved_results = record.calls[number]
        if first is not func:
            raise RuntimeError(
                f"torch.utils.checkpoint: {_func_name(func)} encountered during backward, but "
                f"{_func_name(first)} was called in its place in the first run. The function must "
                "do the same whenever it runs"
            )
        if not saved_results:
            return func(*args, **kwargs)
        return self.hand_out(saved_results[0], func, args, kwargs)

    def hand_out(self, results: _Results, func: Callable, args: tuple, kwargs: dict) -> Any:
        changed = [x._version for x in results.tensors] != results.versions
        if changed and not self.record.mutable:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated: a result "
                f"of {_func_name(func)} was changed in place after it had been kept. Change a "
                "clone, let the policy compute it again, or pass allow_cache_entry_mutation=True"
            )
        inputs = _tensors(args, kwargs)
        with no_grad():
            if results.random:
                func(*args, **kwargs)  # what is drawn later must be what it was
            hooks = _get_hooks()[0]
            if hooks:
                for window in results.saved:
                    hooks[0](_looked_through(window, inputs, results.tensors))
        outputs = iter(_SavedResults.apply(self.record, results, *inputs))
        leaves = [next(outputs) if x is _HERE else x for x in results.leaves]
        return results.structure.build(leaves)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., CheckpointPolicy | bool | None] | list[Callable],
    allow_cache_entry_mutation: bool = False,
) -> tuple[Any, Any]:
    """
    Make the contexts of a checkpoint that keeps the results of some operations.

    Give it, with its first argument bound, as ``context_fn`` of `checkpoint`.

    Parameters
    ----------
    policy_fn_or_list : callable or list of callable
        A function of a `SelectiveCheckpointContext`, the operation and its arguments, which
        returns a `CheckpointPolicy`; or the operations whose results are kept.
    allow_cache_entry_mutation : bool, default False
        Whether kept results may be changed in place; else that is an error in backward.

    Returns
    -------
    tuple of context managers
        For the first run and the recomputation.

    Raises
    ------
    TypeError
        If `policy_fn_or_list` is neither.
    ValueError
        If the list holds anything but functions that return new tensors.

    Notes
    -----
    An operation is the function that the program calls: ``torch.mm`` also for ``a.mm(b)``,
    ``torch.matmul`` for ``a @ b``, ``torch.nn.functional.linear`` for a module `Linear`. What
    changes a tensor in place, returns a view or an argument, or is inside of a `vmap` or of forward
    mode is always done again. Where the function takes derivatives itself, nothing is kept.

    Examples
    --------
    >>> import functools
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> keep = functools.partial(create_selective_checkpoint_contexts, [torch.mm])
    >>> x = torch.ones(2, 2, requires_grad=True)
    >>> y = checkpoint(lambda x: x.mm(x).sin(), x, use_reentrant=False, context_fn=keep)
    >>> y.sum().backward()
    >>> x.grad
    tensor([[-1.6646, -1.6646],
            [-1.6646, -1.6646]])
    """
    policy: Callable[..., Any]
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not callable(op):
                raise ValueError(
                    "Expected op in `op_list` to be a function of tensors but got: "
                    f"{op} of type {type(op)}."
                )
            if _changes(op):
                raise ValueError(
                    f"Expected op in `op_list` to return new tensors but got: {_func_name(op)}, "
                    "which is always done again."
                )
        chosen = list(policy_fn_or_list)

        def policy(*args: Any, **kwargs: Any) -> bool:
            return args[1] in chosen  # after the context; names are the operation's

    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    record = _Record(policy, allow_cache_entry_mutation)
    return _FirstRun(record), _Again(record)


create_selective_checkpoint_contexts.__module__ = _PUBLIC
