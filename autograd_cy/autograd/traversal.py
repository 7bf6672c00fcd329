"""Walk over a graph for those who look at it: nodes, names of tensors, what nodes have saved.

Everything is a loop with a list: graphs may be deeper than Python's stack. Running a graph is the
engine's work (ext/engine/engine.pyx), drawing it that of viz.py.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from autograd_cy._C.node import AccumulateGrad, Node
from autograd_cy._C.tensor import Tensor
from autograd_cy.autograd.grad_mode import no_grad

_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
_FRAME = re.compile(r'\s*File "(?P<file>.*)", line (?P<line>\d+), in (?P<where>.*)')


def flatten(tensors: Any) -> list[Any]:
    """The tensors, nodes and edges in nested lists, tuples and dictionaries, in order."""
    items: list[Any] = []
    stack = [tensors]
    while stack:
        value = stack.pop()
        if isinstance(value, Mapping):
            stack.extend(reversed(list(value.values())))
        elif isinstance(value, (list, tuple)) and not hasattr(value, "node"):
            stack.extend(reversed(value))
        else:
            items.append(value)
    return items


def roots_of(outputs: Any) -> list[tuple[Tensor | None, Node | None, int]]:
    """
    Return the roots of a walk: (tensor, its node, output number) of each output.

    Parameters
    ----------
    outputs : Tensor, Node, GradientEdge, or nested sequence or dictionary of them

    Returns
    -------
    list of tuple
        The tensor is None for a node, the node is None for a leaf.

    Raises
    ------
    TypeError
        If something else is among the outputs.
    RuntimeError
        If a tensor has no graph, or there are no outputs.
    """
    roots: list[tuple[Tensor | None, Node | None, int]] = []
    for i, output in enumerate(flatten(outputs)):
        if isinstance(output, Tensor):
            if not output.requires_grad:
                raise RuntimeError(
                    f"element {i} of tensors does not require grad and does not have a grad_fn "
                    f"(shape {tuple(output.shape)}, {output.dtype}), so it has no graph; "
                    "explain_grad says why"
                )
            node = output.grad_fn
            roots.append((output, node, output.output_nr if node is not None else 0))
        elif isinstance(output, Node):
            roots.append((None, output, 0))
        elif isinstance(getattr(output, "node", None), Node):
            roots.append((None, output.node, output.output_nr))
        else:
            raise TypeError(f"expected Tensors or Nodes as outputs, not {type(output).__name__}")
    if not roots:
        raise RuntimeError("there are no outputs to start from")
    return roots


def nodes_below(roots: Iterable[Node]) -> Iterator[Node]:
    """Each node that backward from `roots` can reach, once, depth first."""
    seen: set[Node] = set()
    stack = list(roots)
    stack.reverse()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        stack.extend(n for n, _ in reversed(node.next_functions) if n is not None)


# --- names ----------------------------------------------------------------------------------------


def named_tensors(params: Any) -> list[tuple[str, Tensor]]:
    """
    Pairs of name and tensor from a module, a dictionary, or an iterable of such pairs.

    Raises
    ------
    TypeError
        If `params` is none of these.
    """
    if params is None:
        return []
    if hasattr(params, "named_parameters"):
        params = params.named_parameters()
    pairs = list(params.items() if isinstance(params, Mapping) else params)
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], Tensor)):
            raise TypeError(
                "params must be a module, a dictionary of tensors, or pairs (name, Tensor) as "
                f"named_parameters() gives, not {type(pair).__name__} {pair!r:.60}"
            )
    return [(str(name), tensor) for name, tensor in pairs]


def is_accumulator(node: Node | None) -> TypeGuard[AccumulateGrad]:
    """Return whether a node adds the gradient of a leaf to its ``grad``."""
    return isinstance(node, AccumulateGrad)


# --- what nodes know ------------------------------------------------------------------------------


class Saved(NamedTuple):
    """Something that a node keeps for backward; `problem` says why a tensor can't be read."""

    name: str
    value: Any
    problem: str = ""


def saved_of(node: Node, names: dict[type, list[str]]) -> list[Saved]:
    """
    List the tensors and plain values that a node has saved; `names` is the caller's cache of
    classes.

    Reading runs unpack hooks, if there are any. What was freed or changed since has a problem.
    """
    kind = type(node)
    if kind not in names:
        names[kind] = [name for name in dir(node) if name.startswith("_saved_")]
    saved: list[Saved] = []
    with no_grad():
        for name in names[kind]:
            saved += _read(node, name, name[len("_saved_") :])
        if not names[kind] and hasattr(kind, "saved_tensors"):
            saved += _read(node, "saved_tensors", "")
    return saved


def _read(node: Node, attribute: str, name: str) -> list[Saved]:
    try:
        value = getattr(node, attribute)
    except RuntimeError as error:
        if "second time" in str(error) or "freed" in str(error):
            return [Saved(name, None, "freed")]
        if "inplace operation" in str(error):
            return [Saved(name, None, "modified in place since, backward will fail")]
        return [Saved(name, None, f"{type(error).__name__}: {error}".partition("\n")[0])]
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        return [Saved(f"{name}[{i}]", v) for i, v in enumerate(value) if v is not None]
    return [] if value is None or value == () else [Saved(name, value)]


def source_line(node: Node) -> str:
    """The user's line that made a node, as ``file.py:3 code``, if anomaly mode recorded it."""
    entries = node.metadata.get("traceback_")
    if not entries:
        return ""
    lines = [line for entry in entries for line in str(entry).splitlines()]
    frames = [(m, i) for i, m in enumerate(map(_FRAME.match, lines)) if m]
    own = [(m, i) for m, i in frames if not m["file"].startswith(_PACKAGE)] or frames
    if not own:
        return lines[-1].strip()
    match, i = own[-1]
    code = lines[i + 1].strip() if i + 1 < len(lines) and not _FRAME.match(lines[i + 1]) else ""
    return f"{os.path.basename(match['file'])}:{match['line']} {code}".rstrip()
