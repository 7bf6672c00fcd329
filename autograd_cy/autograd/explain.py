"""Why a tensor has no gradient, or what the one it has is, in words: :func:`explain_grad`."""

from __future__ import annotations

import math
import sys
import textwrap
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

from autograd_cy._C.creation import ones as _ones
from autograd_cy._C.node import Node, _gradient_node, _name_of
from autograd_cy._C.tensor import Tensor, _grad_of, _is_grad_enabled
from autograd_cy.autograd.traversal import (
    flatten,
    is_accumulator,
    nodes_below,
    saved_of,
)

__all__ = ["explain_grad"]

MOST_LISTED = 5
WIDTH = 88
_NO_HISTORY = (
    "Operations are recorded only if grad mode is on and one of their inputs requires grad, so it "
    "was made directly (requires_grad=False is the default), under no_grad(), by detach(), .data "
    "or an in-place detach_(), from NumPy, or of tensors that don't require grad."
)


def explain_grad(tensor: Tensor, output: Any = None) -> str:
    """
    Say in words why ``tensor.grad`` is None, or what it is.

    Parameters
    ----------
    tensor : Tensor
        Whose ``grad`` is in question.
    output : Tensor, or nested sequence or dictionary of Tensors, optional
        What backward is (or was) called on, such as the loss. With it the text says whether its
        graph reaches the tensor, by which way, and where the way ends if it doesn't. Reading what
        the graph has saved runs unpack hooks, if there are any.

    Returns
    -------
    str
        One or more lines. The first says the main thing.

    Raises
    ------
    TypeError
        If `tensor` or `output` is something else.

    Notes
    -----
    Tensors don't remember everything that was done to them. Where several causes look the same
    afterwards, the text names all of them.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(3, requires_grad=True)
    >>> y = x * 2
    >>> print(ag.explain_grad(y))
    grad is None: the tensor (shape (3,), float32) isn't a leaf, it was computed by
    MulBackward0.
    Only leaves keep their gradient. Call retain_grad() on it before backward(), or use
    autograd.grad(output, tensor).
    It was made directly of a leaf (shape (3,), float32), which gets the gradient. If this
    tensor was meant to be the leaf, make it with no history and call requires_grad_() on it
    at the end.
    >>> print(ag.explain_grad(x.detach(), y.sum()).splitlines()[0])
    grad is None: the tensor (shape (3,), float32) doesn't require grad.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"explain_grad: expected a Tensor, not {type(tensor).__name__}")
    outputs = [] if output is None else flatten(output)
    for other in outputs:
        if not isinstance(other, Tensor):
            raise TypeError(f"explain_grad: output must be a Tensor, not {type(other).__name__}")
    grad = _grad_of(tensor)
    lines = list(_absent(tensor) if grad is None else _present(tensor, grad))
    for i, other in enumerate(outputs):
        name = "output" if len(outputs) == 1 else f"output {i}"
        lines += _reach(tensor, other, name)
    return "\n".join(textwrap.fill(line, WIDTH, break_on_hyphens=False) for line in lines)


def _described(tensor: Tensor) -> str:
    return f"shape {tuple(tensor.shape)}, {repr(tensor.dtype).rpartition('.')[2]}"


# --- a gradient is there --------------------------------------------------------------------------


def _present(tensor: Tensor, grad: Tensor) -> Iterator[str]:
    sizes = grad.detach().abs().double()
    norm = math.sqrt(float((sizes * sizes).sum()))
    yield f"grad is a tensor of {_described(grad)}, its norm is {norm:.6g}."
    if not bool(sizes.isfinite().all()):
        yield "It has infinite or NaN elements; detect_anomaly() finds where they come from."
    elif norm == 0.0 and grad.numel():
        yield (
            "All its elements are zero: the outputs don't change with the tensor here, or it was "
            "zeroed in place (zero_grad(set_to_none=False)) and backward hasn't run since."
        )
    if grad.is_inference():
        yield "It was made in inference mode."
    elif grad._version:
        yield (
            f"It has been changed in place {_times(grad._version)} since it was made: by further "
            "backward calls, which add to it, or by zero_(), clipping and the like."
        )
    else:
        yield "It comes from one backward, or was assigned; nothing has been added in place."
    if grad.requires_grad:
        yield "It has a graph of its own (create_graph=True)."
    if not tensor.requires_grad:
        yield "The tensor doesn't require grad now, so backward won't add to it."
    elif not tensor.is_leaf:
        how = "because of retain_grad()" if tensor.retains_grad else "which was assigned"
        yield f"The tensor isn't a leaf (it was computed by {_maker(tensor)}); it has a grad {how}."


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def _maker(tensor: Tensor) -> str:
    """The node of a tensor that isn't a leaf."""
    node = tensor.grad_fn
    assert node is not None
    several = len(node._input_metadata) > 1
    return f"{_name_of(node)}, output {tensor.output_nr}" if several else _name_of(node)


# --- none is there --------------------------------------------------------------------------------


def _absent(tensor: Tensor) -> Iterator[str]:
    if not tensor.requires_grad:
        yield from _not_required(tensor)
    elif not tensor.is_leaf:
        yield from _not_a_leaf(tensor)
    elif tensor._base is not None:
        base = tensor._base
        yield (
            f"grad is None: the tensor ({_described(tensor)}) is a view of another "
            f"({_described(base)}), made under no_grad()."
        )
        yield "What is computed of it doesn't lead to the other. Make the view with grad mode on."
    else:
        yield from _unused_leaf(tensor)
    if not _is_grad_enabled():
        yield "Grad mode is off in this thread now: nothing is recorded."


def _not_required(tensor: Tensor) -> Iterator[str]:
    start = f"grad is None: the tensor ({_described(tensor)}) doesn't require grad"
    if not (tensor.is_floating_point() or tensor.is_complex()):
        yield f"{start}, and can't."
        yield "Only floating and complex dtypes have gradients; convert it to one, such as float32."
        return
    if tensor.is_inference():
        yield f"{start}: it was made in inference mode."
        yield "Such tensors are never recorded. Make it outside, or clone() it outside."
        return
    yield f"{start}."
    if tensor._base is not None:
        yield f"It is a view of a tensor ({_described(tensor._base)}) that doesn't require grad."
        yield "Call requires_grad_() on that one, before anything is computed of it."
        return
    yield _NO_HISTORY
    yield "If it is to be a leaf, call requires_grad_() on it before it is used."


def _not_a_leaf(tensor: Tensor) -> Iterator[str]:
    yield (
        f"grad is None: the tensor ({_described(tensor)}) isn't a leaf, it was computed by "
        f"{_maker(tensor)}."
    )
    if tensor.retains_grad:
        yield (
            "retain_grad() was called on it: backward() from what is computed of it hasn't run "
            "yet, or the grad was set to None since."
        )
        return
    yield (
        "Only leaves keep their gradient. Call retain_grad() on it before backward(), or use "
        "autograd.grad(output, tensor)."
    )
    base = tensor._base
    if base is not None:
        if base.is_leaf:
            yield f"It is a view of a leaf ({_described(base)}), whose grad covers this part."
        else:
            yield f"It is a view of a tensor ({_described(base)}) that isn't a leaf either."
        return
    node = tensor.grad_fn
    assert node is not None
    for below, _ in node.next_functions:
        if is_accumulator(below):
            yield (
                f"It was made directly of a leaf ({_described(below.variable)}), which gets the "
                "gradient. If this tensor was meant to be the leaf, make it with no history and "
                "call requires_grad_() on it at the end."
            )
            return


def _unused_leaf(tensor: Tensor) -> Iterator[str]:
    uses = _live_uses(tensor)
    yield (
        f"grad is None: the tensor ({_described(tensor)}) is a leaf that requires grad, and no "
        "gradient has been added since it was made or its grad was set to None."
    )
    if uses:
        still = "operation still exists that" if uses == 1 else "operations still exist that"
        yield (
            f"{uses} recorded {still} took it as input. Either backward() hasn't "
            "run from what is computed of them, or it ran with inputs=[...] that left this tensor "
            "out (autograd.grad never fills grad), or the grad was set to None afterwards: "
            "zero_grad() does that, set_to_none=True is its default."
        )
    else:
        yield (
            "No recorded operation that took it as input exists now. Either it was never used with "
            "grad mode on (or before it required grad, or only as .data, detach() or a copy), or "
            "the results are gone; or backward() has run and the grad was set to None afterwards: "
            "zero_grad() does that, set_to_none=True is its default."
        )


def _live_uses(tensor: Tensor) -> int:
    """Count the edges of living nodes that lead to a leaf's accumulator."""
    return _references(tensor) - _references(_ones(1, requires_grad=True))


def _references(leaf: Tensor) -> int:
    # A fresh leaf has the same references from here, so that the difference is what others hold.
    return sys.getrefcount(_gradient_node(leaf))


# --- from an output -------------------------------------------------------------------------------


def _reach(tensor: Tensor, output: Tensor, name: str) -> Iterator[str]:
    """Lines on whether backward from `output` reaches `tensor`."""
    if output is tensor:
        yield f"The {name} is the tensor itself."
        return
    if not output.requires_grad:
        _, *why = _not_required(output)
        yield f"The {name} ({_described(output)}) doesn't require grad, so it has no graph."
        yield from why
        return
    if output.grad_fn is None:
        yield f"The {name} ({_described(output)}) is a leaf: its graph is that leaf alone."
        return
    nodes, parent = _search(output.grad_fn)
    target = _node_of(tensor, nodes)
    if target is not None:
        yield from _way(target, parent, name)
        yield from _state(tensor, target, parent, name)
    else:
        yield f"Backward from {name} doesn't reach the tensor."
        yield from _cut(tensor, output, nodes, name)


def _search(root: Node) -> tuple[list[Node], dict[Node, Node | None]]:
    """The nodes below a root, nearest first, and for each the one that it was reached from."""
    parent: dict[Node, Node | None] = {root: None}
    queue, order = deque([root]), []
    while queue:
        node = queue.popleft()
        order.append(node)
        for below, _ in node.next_functions:
            if below is not None and below not in parent:
                parent[below] = node
                queue.append(below)
    return order, parent


def _node_of(tensor: Tensor, nodes: list[Node]) -> Node | None:
    """The node among `nodes` at which the gradient of `tensor` arrives."""
    fn = tensor.grad_fn if tensor.requires_grad else None
    for node in nodes:
        if node is fn or (is_accumulator(node) and node.variable is tensor):
            return node
    return None


def _path(node: Node, parent: dict[Node, Node | None]) -> list[Node]:
    """From the root to a node."""
    path: list[Node] = []
    step: Node | None = node
    while step is not None:
        path.append(step)
        step = parent[step]
    path.reverse()
    return path


def _way(target: Node, parent: dict[Node, Node | None], name: str) -> Iterator[str]:
    names = [_name_of(node) for node in _path(target, parent)]
    if len(names) > 2 * MOST_LISTED:
        left_out = len(names) - 2 * MOST_LISTED
        names = [*names[:MOST_LISTED], f"({left_out} more)", *names[-MOST_LISTED:]]
    yield f"Backward from {name} reaches the tensor; the shortest way is {' -> '.join(names)}."


def _state(tensor: Tensor, target: Node, parent: dict, name: str) -> Iterator[str]:
    """Return whether backward has run along the way, as far as what was saved there tells."""
    kinds: dict[type, list[str]] = {}
    problems = {s.problem for n in _path(target, parent) for s in saved_of(n, kinds) if s.problem}
    for problem in sorted(problems - {"freed"}):
        yield f"Something that was saved on the way: {problem}."
    if "freed" not in problems:
        if tensor.is_leaf and tensor.grad is None:
            yield (
                f"What was saved on the way is there still: backward() hasn't run from {name}, "
                "has run with retain_graph=True, or nothing needed to be saved."
            )
        return
    yield f"Backward has run through this graph: what was saved on the way from {name} is freed."
    if tensor.is_leaf and tensor.grad is None:
        yield (
            "So its grad was set to None since (zero_grad(), set_to_none=True), backward() was "
            "called with inputs=[...] that left it out, or autograd.grad() returned the gradient "
            "without filling grad."
        )


def _cut(tensor: Tensor, output: Tensor, nodes: list[Node], name: str) -> Iterator[str]:
    """Describe the places where the paths from an output to a tensor end."""
    uses = list(_unrecorded_uses(tensor, nodes))
    for node, same in uses[:MOST_LISTED]:
        if not same:
            yield (
                f"{_name_of(node)} took a tensor that shares memory with it: an alias by detach(), "
                ".data, a view or a conversion, which leads elsewhere."
            )
        elif tensor.requires_grad:
            yield (
                f"{_name_of(node)} took it as input without recording that: it didn't require grad "
                "then (requires_grad was set after use), or it has been given another history."
            )
        else:
            yield f"{_name_of(node)} took it as input, without recording that."
    if tensor.grad_fn is not None:
        own = set(nodes_below([tensor.grad_fn]))
        if output.grad_fn in own:
            yield f"It is the other way round: the tensor was computed of {name}."
        elif not uses and any(node in own and not is_accumulator(node) for node in nodes):
            yield (
                f"Both have a part of their history in common: {name} was computed of what the "
                "tensor is made of, or of its value before an in-place operation changed it."
            )
        elif not uses and any(node in own for node in nodes):
            yield "Both were computed of the same leaf, side by side."
    yield _reached_leaves(nodes, name)
    yield from _open_ends(nodes)


def _unrecorded_uses(tensor: Tensor, nodes: list[Node]) -> Iterator[tuple[Node, bool]]:
    """Nodes that saved the tensor (True) or an alias of its memory (False)."""
    block = tensor.untyped_storage().data_ptr() if tensor.numel() else None
    kinds: dict[type, list[str]] = {}
    for node in nodes:
        if is_accumulator(node):
            leaf = node.variable
            if leaf.untyped_storage().data_ptr() == block:
                yield node, False
            continue
        values = [s.value for s in saved_of(node, kinds) if isinstance(s.value, Tensor)]
        if any(value is tensor for value in values):
            yield node, True
        elif any(v.untyped_storage().data_ptr() == block for v in values):
            yield node, False


def _reached_leaves(nodes: list[Node], name: str) -> str:
    leaves = [node.variable for node in nodes if is_accumulator(node)]
    shown = ", ".join(f"({_described(leaf)})" for leaf in leaves[:MOST_LISTED])
    if not leaves:
        return f"The graph of {name} reaches no leaves at all."
    if len(leaves) > MOST_LISTED:
        shown += f" and {len(leaves) - MOST_LISTED} more"
    return f"The leaves that {name} reaches: {shown}."


def _open_ends(nodes: list[Node]) -> Iterator[str]:
    """Operations with inputs that were outside of the graph."""
    ends = Counter(
        f"input {i} of {_name_of(node)}"
        for node in nodes
        for i, (below, _) in enumerate(node.next_functions)
        if below is None
    )
    if ends:
        shown = ", ".join(
            text + (f" ({count} times)" if count > 1 else "")
            for text, count in ends.most_common(MOST_LISTED)
        )
        more = f" and {len(ends) - MOST_LISTED} more" if len(ends) > MOST_LISTED else ""
        yield (
            "Inputs without a history, where a way may have been cut (numbers are such inputs "
            f"too): {shown}{more}."
        )
