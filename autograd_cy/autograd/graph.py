"""The recorded graph: nodes, edges, saved tensors and their hooks, hooks on several tensors."""

from __future__ import annotations

import abc
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from autograd_cy._C import engine as _engine
from autograd_cy._C import saved as _saved
from autograd_cy._C.creation import _can_pin
from autograd_cy._C.creation import empty_like as _empty_like
from autograd_cy._C.node import AccumulateGrad, _gradient_node
from autograd_cy._C.node import Node as _Node
from autograd_cy._C.saved import SavedTensor
from autograd_cy._C.tensor import Tensor
from autograd_cy._environment.contexts import _Decorating
from autograd_cy._tensors.hooks import RemovableHandle
from autograd_cy.autograd.mutation import allow_mutation_on_saved_tensors

__all__ = [
    "AccumulateGrad",
    "GradientEdge",
    "Node",
    "SavedTensor",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "region_activation_memory_budget",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_warn_on_accumulate_grad_stream_mismatch",
]


class Node(abc.ABC):
    """
    The base class of all nodes of the graph: ``isinstance(tensor.grad_fn, Node)``.

    Nodes are made by operators. A custom Function's `ctx` is one too.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> y = ag.ones(1, requires_grad=True) * 2
    >>> isinstance(y.grad_fn, ag.autograd.graph.Node)
    True
    """

    @abc.abstractmethod
    def name(self) -> str:
        """Name of the operation, such as ``"MulBackward0"``."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Pairs (node, output number) that the computed gradients go to; node is None for none."""

    @abc.abstractmethod
    def metadata(self) -> dict:
        """Return a dictionary for the user's notes on this node."""

    @property
    @abc.abstractmethod
    def _input_metadata(self) -> tuple[Any, ...]: ...

    @abc.abstractmethod
    def _sequence_nr(self) -> int: ...

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after this node has run."""

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before this node runs."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> bool:
        return issubclass(subclass, _Node) if cls is Node else NotImplemented


class GradientEdge(NamedTuple):
    """
    A place in the graph where the gradient of one tensor passes.

    Usable instead of that tensor as output or input of :func:`autograd_cy.autograd.grad` and
    :func:`autograd_cy.autograd.backward`; the tensor itself may be gone.

    Attributes
    ----------
    node : Node
    output_nr : int
        Which of the results of the node's operation it is.
    ownership_token : object, optional
        Kept alive with the edge.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> ag.autograd.graph.get_gradient_edge(x * 2)[:2]
    (<MulBackward0 object at 0x...>, 0)
    """

    node: Node
    output_nr: int
    # Keeps alive what the node doesn't.
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """
    Return the edge of a tensor: its ``grad_fn`` and output number; of a leaf, its accumulator.

    Parameters
    ----------
    tensor : Tensor

    Returns
    -------
    GradientEdge

    Raises
    ------
    RuntimeError
        If the tensor doesn't require grad.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> y = x * 2
    >>> edge = ag.autograd.graph.get_gradient_edge(y)
    >>> ag.autograd.grad(y * 3, edge)
    (tensor([3.]),)
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    node = _gradient_node(tensor)
    return GradientEdge(node, 0 if isinstance(node, AccumulateGrad) else tensor.output_nr)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """
    Tell autograd that the memory of a tensor was changed where it couldn't see it.

    Needed after writes through ``numpy()`` or DLPack memory; backward then notices stale values.

    Parameters
    ----------
    tensor : Tensor or iterable of Tensors

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(2)
    >>> x.numpy()[0] = 5
    >>> ag.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    tensors = (tensor,) if isinstance(tensor, Tensor) else tensor
    if not isinstance(tensors, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in tensors:
        if not isinstance(t, Tensor):
            raise RuntimeError(
                "increment_version expect each element of the iterable to be a "
                f"tensor, got {type(t).__name__}"
            )
        t._bump_version()


# --- saved tensors ----------------------------------------------------------------------------


class saved_tensors_hooks(_saved.HooksContext):
    """
    Let every tensor that is saved for backward inside the block go through a pair of hooks.

    `pack_hook(tensor)` runs when an operation saves, and returns anything; `unpack_hook(packed)`
    runs when backward needs the tensor, and must return one with the same content. Of nested pairs
    the innermost is used. Numbers aren't packed.

    Parameters
    ----------
    pack_hook, unpack_hook : callable

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> to_array = lambda t: t.detach().numpy().copy()
    >>> with ag.autograd.graph.saved_tensors_hooks(to_array, ag.from_numpy):
    ...     y = x * x
    >>> y.sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook


class save_on_cpu(saved_tensors_hooks):
    """
    Keep saved tensors in CPU memory, and bring them back to their device for backward.

    On tensors that are on the CPU anyway it changes nothing.

    Parameters
    ----------
    pin_memory : bool, default False
        Copy to page-locked memory, where an accelerator pins memory.
    device_type : str, default "cuda"
        The device whose page-locked memory is meant.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> with ag.autograd.graph.save_on_cpu():
    ...     y = x.exp()
    >>> y.backward()
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda"):
        def pack(tensor):
            if not (pin_memory and _can_pin()) or tensor.is_cpu or tensor.is_meta:
                return tensor.device, tensor.cpu()
            packed = _empty_like(tensor, device="cpu", pin_memory=True)
            return tensor.device, packed.copy_(tensor)

        def unpack(packed):
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


class _NoHooks(_Decorating, _saved.NoHooksContext):
    """The context of disable_saved_tensors_hooks."""


def disable_saved_tensors_hooks(error_message: str) -> _NoHooks:
    """
    Forbid saved-tensor hooks inside the block: using them raises with `error_message`.

    Parameters
    ----------
    error_message : str

    Returns
    -------
    context manager

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
    ...     try:
    ...         with ag.autograd.graph.save_on_cpu():
    ...             pass
    ...     except RuntimeError as error:
    ...         print(error)
    no hooks here
    """
    return _NoHooks(error_message)


class region_activation_memory_budget:
    """
    Do nothing: in PyTorch it tells the compiler how much to save and how much to compute anew.

    Parameters
    ----------
    budget : float
        From 0, where all is computed anew, to 1.

    Raises
    ------
    TypeError, ValueError
        If it isn't a number from 0 to 1.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.autograd.graph.region_activation_memory_budget(0.5):
    ...     y = ag.ones(1) * 2
    """

    def __init__(self, budget: float) -> None:
        if isinstance(budget, bool) or not isinstance(budget, (int, float)):
            raise TypeError(
                "autograd.graph.region_activation_memory_budget: expects a float, got "
                f"{type(budget).__name__}"
            )
        if not 0 <= budget <= 1:
            raise ValueError(
                f"autograd.graph.region_activation_memory_budget: must be in [0, 1], got {budget}"
            )

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        pass


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """
    Set whether accumulation on another stream than that of the leaf warns; on the CPU there is
    none.

    Parameters
    ----------
    enabled : bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    """
    if not isinstance(enabled, bool):
        raise RuntimeError(f"enabled must be a bool, but got {type(enabled).__name__}")


# --- hooks on several tensors -----------------------------------------------------------------


class _MultiHandle(RemovableHandle):
    """Remove the hooks of all tensors."""

    def __init__(self, handles: Sequence[RemovableHandle]):
        self.handles = tuple(handles)


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Sequence[Tensor | None]], None] | Callable[[Tensor], None],
    *,
    mode: Literal["all", "any"] = "all",
) -> RemovableHandle:
    """
    Call `fn` once per backward, when the gradients of several tensors are there.

    Parameters
    ----------
    tensors : sequence of Tensors
        Leaves or not; they must require grad (with ``mode="any"`` others are left out).
    fn : callable
        With ``mode="all"`` of a list with one gradient per tensor, None for tensors that the
        running backward doesn't reach; with ``mode="any"`` of the first gradient that arrives.
    mode : {"all", "any"}

    Returns
    -------
    RemovableHandle

    Examples
    --------
    >>> import autograd_cy as ag
    >>> a = ag.ones(1, requires_grad=True)
    >>> b = ag.ones(1, requires_grad=True)
    >>> handle = ag.autograd.graph.register_multi_grad_hook([a, b], print)
    >>> (2 * a + 3 * b).sum().backward()
    [tensor([2.]), tensor([3.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    lock = threading.Lock()
    if mode == "any":
        seen: set[int] = set()

        def first(grad):
            task = _engine.current_task_id()
            with lock:
                if task in seen:
                    return
                seen.difference_update([k for k in seen if not _engine._is_running(k)])
                seen.add(task)
            fn(grad)

        return _MultiHandle([t.register_hook(first) for t in tensors if t.requires_grad])

    for i, t in enumerate(tensors):
        if not t.requires_grad:
            raise AssertionError(
                f"Expected gradient function to be set: tensors[{i}] of register_multi_grad_hook "
                "doesn't require grad"
            )
    arrived: dict[int, list] = {}
    missing: dict[int, int] = {}
    nodes = [_gradient_node(t) for t in tensors]

    def one_of(index):
        def hook(grad):
            task = _engine.current_task_id()
            with lock:
                if task not in missing:
                    # What backward calls that failed half-way have left goes first.
                    for k in [k for k in missing if not _engine._is_running(k)]:
                        del arrived[k], missing[k]
                    missing[task] = sum(map(_engine._will_run, nodes))
                    arrived[task] = [None] * len(nodes)
                arrived[task][index] = grad
                missing[task] -= 1
                if missing[task]:
                    return
                grads = arrived.pop(task)
                del missing[task]
            fn(grads)

        return hook

    return _MultiHandle([t.register_hook(one_of(i)) for i, t in enumerate(tensors)])
