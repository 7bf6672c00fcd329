"""Graphs as pictures and tables: what backward will do, and what memory it holds until then.

:func:`to_dot` writes Graphviz's text without any dependency, :func:`render` makes a picture of it
with Graphviz's program, :func:`summary` counts.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograd_cy._C.node import Node, _name_of
from autograd_cy._C.tensor import Tensor
from autograd_cy.autograd.traversal import (
    Saved,
    is_accumulator,
    named_tensors,
    nodes_below,
    roots_of,
    saved_of,
    source_line,
)

__all__ = ["render", "summary", "to_dot"]

LEAF = "lightblue"
NODE = "lightgrey"
OUTPUT = "darkolivegreen1"
LONGEST_VALUE = 40
PICTURES = ("svg", "png", "pdf", "ps", "jpg")


def to_dot(
    outputs: Any,
    *,
    params: Any = None,
    saved: bool = True,
    source: bool = True,
    direction: str = "TB",
) -> str:
    """
    Return the graph of `outputs` as text in Graphviz's DOT language.

    Arrows go the way of the data: from leaves (blue) through recorded operations (grey) to outputs
    (green). Each box has shapes and dtypes; a leaf's box is its ``AccumulateGrad`` node.

    Parameters
    ----------
    outputs : Tensor, Node, or nested sequence or dictionary of them
        Where the graph ends.
    params : Module, dict or iterable of (str, Tensor), optional
        Names of tensors, such as ``module.named_parameters()``. Leaves, outputs and tensors in
        between may be named.
    saved : bool, default True
        Show what each node keeps for backward, with sizes in bytes. Reading runs unpack hooks.
    source : bool, default True
        Show the line that made a node, where anomaly mode recorded it.
    direction : {"TB", "LR", "BT", "RL"}, default "TB"
        From top to bottom, from left to right, and so on.

    Returns
    -------
    str

    Raises
    ------
    RuntimeError
        If an output has no graph.
    TypeError
        If `outputs` or `params` hold something else.
    ValueError
        If the direction is none of these.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> w = ag.ones(3, requires_grad=True)
    >>> print(ag.viz.to_dot((w * 2).sum(), params={"w": w}, saved=False))
    digraph autograd {
      rankdir="TB";
      node [shape=box, style=filled, fontname="monospace", fontsize=10, height=0.2];
      n0 [label="SumBackward0\\n() float32", fillcolor="lightgrey"];
      n1 [label="MulBackward0\\n(3,) float32", fillcolor="lightgrey"];
      n2 [label="w\\n(3,) float32\\nAccumulateGrad", fillcolor="lightblue"];
      n1 -> n0;
      n2 -> n1;
      o0 [label="output 0\\n() float32", fillcolor="darkolivegreen1"];
      n0 -> o0;
    }
    """
    if direction not in ("TB", "LR", "BT", "RL"):
        raise ValueError(f"direction must be 'TB', 'LR', 'BT' or 'RL', not {direction!r}")
    names = _Names(named_tensors(params))
    roots = roots_of(outputs)
    nodes = list(nodes_below(node for _, node, _ in roots if node is not None))
    number = {node: i for i, node in enumerate(nodes)}
    kinds: dict[type, list[str]] = {}
    lines = [
        "digraph autograd {",
        f'  rankdir="{direction}";',
        '  node [shape=box, style=filled, fontname="monospace", fontsize=10, height=0.2];',
    ]
    for node, i in number.items():
        if is_accumulator(node):
            label, color = [*_tensor_label(node.variable, names), "AccumulateGrad"], LEAF
        else:
            label, color = _node_label(node, names, kinds if saved else None), NODE
        if source:
            label.append(source_line(node))
        lines.append(f"  n{i} [{_attributes(label, color)}];")
    for node, i in number.items():
        for below, nr in node.next_functions:
            if below is not None:
                lines.append(f"  n{number[below]} -> n{i}{_number(below, nr)};")
    lines += _outputs(roots, number, names)
    return "\n".join([*lines, "}"])


def _outputs(roots: list, number: dict[Node, int], names: _Names) -> Iterable[str]:
    leaves = {id(node.variable): i for node, i in number.items() if is_accumulator(node)}
    for k, (tensor, node, nr) in enumerate(roots):
        if tensor is None:
            continue
        title = names.of_tensor(tensor) or f"output {k}"
        label = [title, _geometry(tensor.shape, tensor.dtype)]
        yield f"  o{k} [{_attributes(label, OUTPUT)}];"
        if node is not None:
            yield f"  n{number[node]} -> o{k}{_number(node, nr)};"
        elif id(tensor) in leaves:
            yield f"  n{leaves[id(tensor)]} -> o{k};"


class _Names:
    """Names of leaves by identity, of other tensors by the node that made them."""

    def __init__(self, pairs: list[tuple[str, Tensor]]) -> None:
        self._pairs = pairs  # keeps the tensors, and with them their identities
        self._by_id = {id(tensor): name for name, tensor in pairs}
        self._by_output: dict[tuple[Node, int], str] = {}
        for name, tensor in pairs:
            if tensor.grad_fn is not None:
                self._by_output[tensor.grad_fn, tensor.output_nr] = name

    def of_tensor(self, tensor: Tensor) -> str:
        return self._by_id.get(id(tensor), "")

    def of_output(self, node: Node, nr: int) -> str:
        return self._by_output.get((node, nr), "")


def _tensor_label(tensor: Tensor, names: _Names) -> list[str]:
    return [names.of_tensor(tensor) or "leaf", _geometry(tensor.shape, tensor.dtype)]


def _node_label(node: Node, names: _Names, kinds: dict[type, list[str]] | None) -> list[str]:
    label = [_name_of(node)]
    for nr, output in enumerate(node._input_metadata):
        if output is not None:
            name = names.of_output(node, nr)
            label.append(f"{name} {_geometry(output.shape, output.dtype)}".strip())
    if kinds is not None:
        label += [_saved_label(entry) for entry in saved_of(node, kinds)]
    return label


def _saved_label(entry: Saved) -> str:
    title = f"saved {entry.name}".rstrip()
    if entry.problem:
        return f"{title}: {entry.problem}"
    if isinstance(entry.value, Tensor):
        t = entry.value
        return f"{title}: {_geometry(t.shape, t.dtype)}, {_bytes(t.nbytes)}"
    text = repr(entry.value)
    if len(text) > LONGEST_VALUE:
        text = text[: LONGEST_VALUE - 3] + "..."
    return f"{title} = {text}"


def _geometry(shape: Any, dtype: Any) -> str:
    return f"{tuple(shape)} {repr(dtype).rpartition('.')[2]}"


def _bytes(count: float) -> str:
    power = 0
    while count >= 1024 and power < 3:
        count, power = count / 1024, power + 1
    return f"{count:.1f} {'KMG'[power - 1]}iB" if power else f"{count} B"


def _number(node: Node, nr: int) -> str:
    """Return an edge's label: which output, where there are several."""
    return f' [label="{nr}"]' if len(node._input_metadata) > 1 or nr else ""


def _attributes(lines: list[str], color: str) -> str:
    return f'label="{_quoted([line for line in lines if line])}", fillcolor="{color}"'


def _quoted(lines: list[str]) -> str:
    """Lines as the inside of a DOT string, in which `&name;` would be a character too."""
    escaped = (
        line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines
    )
    return "\\n".join(" ".join(line.splitlines()) for line in escaped)


# --- pictures -------------------------------------------------------------------------------------


def render(outputs: Any, path: str | Path, *, format: str | None = None, **options: Any) -> Path:
    """
    Write the graph of `outputs` as a picture.

    Parameters
    ----------
    outputs : Tensor, Node, or nested sequence or dictionary of them
    path : str or Path
        File to write.
    format : str, optional
        ``"svg"``, ``"png"``, ``"pdf"``, ``"ps"``, ``"jpg"``, or ``"dot"`` for the text itself,
        which needs no Graphviz. Default: the suffix of `path`.
    **options
        Those of :func:`to_dot`.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        If the format is none of these.
    ImportError
        If Graphviz isn't there.
    RuntimeError
        If an output has no graph, or Graphviz fails.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> ag.viz.render(x.exp().sum(), "graph.dot").name
    'graph.dot'
    """
    path = Path(path)
    kind = (format or path.suffix.lstrip(".")).lower()
    if kind not in (*PICTURES, "dot", "gv"):
        raise ValueError(
            f"render: format {kind!r} is none of {', '.join(PICTURES)} and dot; "
            "give one, or a path that ends with one"
        )
    text = to_dot(outputs, **options)
    if kind in ("dot", "gv"):
        path.write_text(text + "\n", encoding="utf-8")
        return path
    path.write_bytes(_picture(text, kind))
    return path


def _picture(text: str, kind: str) -> bytes:
    program = shutil.which("dot")
    if program is None:
        return _picture_by_package(text, kind)
    run = subprocess.run(
        [program, f"-T{kind}"], input=text.encode(), capture_output=True, check=False
    )
    if run.returncode:
        raise RuntimeError(f"render: dot failed: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout


def _picture_by_package(text: str, kind: str) -> bytes:
    # The Python package may know the program where the search path doesn't.
    try:
        import graphviz  # type: ignore[import-not-found]

        return graphviz.Source(text).pipe(format=kind)
    except (ImportError, FileNotFoundError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and type(error).__name__ != "ExecutableNotFound":
            raise
        raise ImportError(
            "render: Graphviz isn't there. Install its program `dot` (conda install graphviz, "
            'apt install graphviz) and, for notebooks, pip install "autograd_cy[graphviz]". '
            "to_dot(), and render() to a .dot file, need neither."
        ) from None


# --- counts ---------------------------------------------------------------------------------------


def summary(outputs: Any) -> str:
    """
    Count the nodes of each kind of a graph, and the memory they save for backward.

    Parameters
    ----------
    outputs : Tensor, Node, or nested sequence or dictionary of them

    Returns
    -------
    str
        A table: operators by saved bytes, most first, then by number. A row counts each memory
        block once, however many nodes of that operator saved it, and so does the total, which is
        why it may be less than the sum of the rows.

    Raises
    ------
    RuntimeError
        If an output has no graph.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> w = ag.ones(100, requires_grad=True)
    >>> print(ag.viz.summary((w * w).sum()))
    operator         nodes  saved tensors  saved bytes
    MulBackward0         1              2          400
    SumBackward0         1              0            0
    AccumulateGrad       1              0            0
    total                3              2          400
    of which leaves                                400
    """
    roots = roots_of(outputs)
    rows: dict[str, _Row] = {}
    total, leaves = _Row(), set()
    kinds: dict[type, list[str]] = {}
    blocks: dict[int, int] = {}
    for node in nodes_below(n for _, n, _ in roots if n is not None):
        row = rows.setdefault(_name_of(node), _Row())
        row.nodes += 1
        if is_accumulator(node):
            leaves.add(_block(node.variable, blocks))
            continue
        for entry in saved_of(node, kinds):
            if isinstance(entry.value, Tensor):
                row.tensors += 1
                row.blocks.add(_block(entry.value, blocks))
    for row in rows.values():
        total.nodes += row.nodes
        total.tensors += row.tensors
        total.blocks |= row.blocks
    table = [("operator", "nodes", "saved tensors", "saved bytes")]
    ordered = sorted(rows.items(), key=lambda item: (-item[1].bytes(blocks), -item[1].nodes))
    for name, row in [*ordered, ("total", total)]:
        table.append((name, str(row.nodes), str(row.tensors), f"{row.bytes(blocks):,}"))
    of_leaves = sum(blocks[address] for address in leaves & total.blocks)
    table.append(("of which leaves", "", "", f"{of_leaves:,}"))
    widths = [max(len(row[i]) for row in table) for i in range(4)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in (1, 2, 3))])
        for row in table
    )


class _Row:
    """Counts of one operator."""

    def __init__(self) -> None:
        self.nodes = 0
        self.tensors = 0
        self.blocks: set[int] = set()

    def bytes(self, sizes: dict[int, int]) -> int:
        return sum(sizes[address] for address in self.blocks)


def _block(tensor: Tensor, sizes: dict[int, int]) -> int:
    """Address of a tensor's memory block, whose size is noted."""
    storage = tensor.untyped_storage()
    sizes[storage.data_ptr()] = storage.nbytes()
    return storage.data_ptr()
