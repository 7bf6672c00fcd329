"""The node of an operator: its class, what it saves, and the function that makes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from ext.codegen.formula import FormulaError, Uses, parse
from ext.codegen.lines import Function, indent
from ext.codegen.operator_base import METADATA, Names, Operator
from ext.codegen.plan import Plan
from ext.codegen.vocabulary import arg_type

SCALARS = ("Py_ssize_t", "bint", "double", "int")  # C types of arguments kept in the node itself


class NodeText:
    """Plans what the node keeps, and writes the node class and its constructor."""

    def __init__(self, op: Operator):
        self.op, self.r = op, op.r
        self.plan_saving()

    def plan_saving(self) -> None:
        """Plan the saved values: tensors, numbers and other objects that gradients use, and the
        input of each edge."""
        r = self.r
        self.plan = Plan(r)
        self.uses: dict[tuple[str, ...], Uses] = self.plan.uses
        self.args = {a.name: a for a in r.args}
        self.outputs, self.slots = self.plan.outputs, self.plan.slots
        self.meta_objects, self.edge = self.plan.metadata, self.plan.edges
        plain = [n for n in self.plan.plain if self.is_scalar(n)]
        self.scalars = plain[:4]
        self.objects = [n for n in self.plan.plain if not self.is_scalar(n)] + plain[4:]
        self.plan_dimensions()
        # Index tensors are saved after the other tensors; the plain objects say where each is.
        self.indices = [
            n for n in self.objects if n in self.args and self.args[n].type == "indices"
        ]
        if len(self.indices) > 1:
            raise FormulaError(f"{self.op.key}: one list of indices")
        self.n_edges = f"{len(self.op.diff)}"
        if self.differentiable_list:
            assert self.op.list_arg is not None
            self.n_edges = f"{len(self.op.diff) - 1} + len({self.op.list_arg.name})"

    def plan_dimensions(self) -> None:
        """Plan the numbers that `shows` reads from tensors that are perhaps not saved.

        Strides of a matrix whose gradient isn't asked for are not shown, as in torch; its sizes,
        which no edge knows then, take their place.
        """
        first = len(self.scalars)
        self.dimensions: dict[str, tuple[str, str]] = {}
        self.numbers: list[str] = []
        for text in self.r.derivatives.shows.values():
            if m := STRIDES.fullmatch(text):
                name, edge = m[1], self.edge[m[1]]
                where = f"({edge}, {first + len(self.numbers)})"
                self.dimensions[text] = "edge_strides", where
                self.dimensions[f"{name}.shape"] = "edge_or_numbers", where
                self.numbers += [
                    f"{name}.strides[{d}] if edge_defined(n, {edge}) else {name}.sizes[{d}]"
                    for d in (0, 1)
                ]
            elif m := SIZE.fullmatch(text):
                self.dimensions[text] = "int", f"{first + len(self.numbers)}"
                self.numbers.append(f"{m[1]}.sizes[{m[2]}]")
        if first + len(self.numbers) > 4:
            raise FormulaError(f"{self.op.key}: a node holds four numbers")

    def is_scalar(self, name: str) -> bool:
        """Return whether a kept value goes into the node itself."""
        return name in self.args and arg_type(self.args[name].type).c in SCALARS

    @property
    def tuple_items(self) -> list[str]:
        """Expressions of the node's args tuple, at recording."""
        r = self.r
        items = [
            f"save_indices(n, {len(self.slots)}, {n})"
            if n in self.indices
            else r.derivatives.attrs.get(n, n)
            for n in self.objects
        ]
        for name, what in self.meta_objects:
            items.append(METADATA[what].format(name))
        return items

    def node_class(self) -> list[str]:
        """Write the backward of nodes; their classes are rows of text (Note [Kinds of nodes])."""
        r = self.r
        rows = self.rows_of_saved()
        rows = shown_rows(r, rows | self.dimensions, self.edge, lambda _, value: value)
        rows = {name: row for name, row in rows.items() if name not in self.dimensions}
        saved = "".join(f"; {name} {kind} {where}" for name, (kind, where) in rows.items())
        self.kind_number = len(self.op.kinds)
        self.op.kinds += [
            (f"{name}{saved}", f"apply_{self.op.key}")
            for name in (r.derivatives.node, *r.derivatives.variants)
        ]
        return ["", *self.apply()]

    def rows_of_saved(self) -> dict[str, tuple[str, str | int]]:
        """Map the name of each saved value to its kind and place."""
        rows: dict[str, tuple[str, str | int]] = {}
        args = {a.name: a for a in self.r.args}
        for i, name in enumerate(self.slots):
            kind = "tensor"
            if name in self.r.derivatives.plain_numbers or (
                name in args and args[name].type == "Scalar"
            ):
                kind = "operand"
            rows[name] = kind, i
        kinds = {"Py_ssize_t": "int", "bint": "bool", "double": "float", "int": "int"}
        for i, name in enumerate(self.scalars):
            kind = args[name].type
            rows[name] = ("number" if kind == "correction" else kinds[arg_type(kind).c]), i
        for i, name in enumerate(self.objects):
            kind = "dims" if name in args and args[name].type in ("dims", "dims?") else "object"
            rows[name] = ("indices" if name in self.indices else kind), i
        for i, (name, what) in enumerate(self.meta_objects):
            shown = {"shape": "sym_sizes", "numel": "sym_numel"}.get(what, what)
            rows[f"{name}_{shown}"] = "object", len(self.objects) + i
        for name, edge in self.edge.items():
            uses = {what for used in self.uses.values() for n, what in used.metadata if n == name}
            if (
                "shape" in uses
                and (name, "shape") not in self.meta_objects
                and self.r.arg(name).type != "Tensor[]"
            ):
                rows[f"{name}_sym_sizes"] = "edge", edge
        return rows

    def apply(self) -> list[str]:
        """The method that makes gradients of inputs from those of outputs."""
        f = Function(
            f"cdef int apply_{self.op.key}(Node self, PyObject** gin, PyObject** gout) except -1:"
        )
        gradients = self.incoming(f)
        if self.objects or self.meta_objects:
            f.declare("tuple", "saved_values", "get_args(self)")
        for name in self.slots:
            shared = sum(self.plan.needs(keys, name) for keys in self.plan.formulas) > 1
            f.declare("Tensor", f"s_{name}", "None" if shared else None)
        for name in self.indices:
            place = f"<tuple>saved_values[{self.objects.index(name)}]"
            f.declare("tuple", name, f"saved_indices(self, {place})")
        names = gradients | self.names_of_saved()
        for keys in self.plan.formulas:
            self.gradient(f, keys, gradients, names)
        for edge, inputs in self.plan.staying:
            f.add(f"keep_graph(self, gout, {edge}, {inputs})")
        f.add("return 0")
        return f.lines[1:]

    def incoming(self, f: Function) -> Names:
        """Declare the gradients of outputs; nothing is to be done if there are none."""
        outs = self.r.returns
        if self.op.many:
            f.declare("tuple", "grads", "materialise(self, gin)")
            f.block("if grads is None:", ["return 0"])
            return {"grads": ("grads", "L")}
        if not self.op.multi:
            f.block("if gin[0] == NULL:", ["return 0"])
            f.declare("Tensor", "grad", "<Tensor>gin[0]")
            return {"grad": ("grad", "T")}
        names: Names = {}
        differentiable = [o for o in outs if o not in self.r.derivatives.nondiff_outputs]
        used = set().union(*(u.values for u in self.uses.values()))
        f.block(
            "if " + " and ".join(f"gin[{outs.index(o)}] == NULL" for o in differentiable) + ":",
            ["return 0"],
        )
        for o in differentiable:
            i = outs.index(o)
            for name, missing in ((f"grad_{o}", f"zeros_for(self, {i})"), (f"given_{o}", "None")):
                names[name] = (name, "T")
                if name in used:
                    f.declare(
                        "Tensor", name, f"<Tensor>gin[{i}] if gin[{i}] != NULL else {missing}"
                    )
        return names

    def names_of_saved(self) -> Names:
        """Return the saved values by the names that formulas use."""
        names: Names = {name: (f"s_{name}", "T") for name in self.slots}
        for i, name in enumerate(self.scalars):
            kind = arg_type(self.args[name].type)
            text = f"self.attrs[{i}].{'d' if kind.formula == 'f' else 'i'}"
            names[name] = (text if kind.formula == "f" else f"<{kind.c}>{text}", kind.formula)
        for i, name in enumerate(self.objects):
            letter, c_type = "I", "object"
            if name in self.args:
                kind = arg_type(self.args[name].type)
                letter, c_type = kind.formula, kind.c
            names[name] = (
                f"(<{c_type}>saved_values[{i}])" if c_type != "object" else f"saved_values[{i}]",
                letter,
            )
            if name in self.indices:
                names[name] = (name, letter)
        return names

    def gradient(self, f: Function, keys: tuple[str, ...], gradients: Names, names: Names) -> None:
        """Compute the gradients that one formula gives, if one of them is needed."""
        emitter = self.op.emitter(
            names, lambda name, what: self.saved_metadata(keys, gradients, name, what)
        )
        inner = self.unpacking(keys)
        key, tree = keys[0], self.plan.formulas[keys]
        if len(keys) > 1:
            self.joint_gradient(f, keys, inner, gradients, names)
            return
        if self.args[key].type != "Tensor[]":
            value = f"gout[{self.edge[key]}] = give({emitter.tensor(tree)})"
            first = self.twin_of(key)
            if first is None:
                inner.append(value)
            else:
                # Of x * x both gradients are the same product; a hook may change one of them. What was
                # saved is asked, not what was unpacked: whether a hook gives out one tensor twice must
                # not change what a backward computes, and saves in its turn.
                twin = f"gout[{self.edge[first]}]"
                one, other = (f"self.saved[{self.slots.index(n)}].obj" for n in (first, key))
                inner += [
                    f"if {twin} != NULL and {one} == {other} and self.extra is None:",
                    f"    gout[{self.edge[key]}] = give(<Tensor>{twin})",
                    "else:",
                    f"    {value}",
                ]
            f.block(f"if needs(self, {self.edge[key]}):", inner)
            return
        text, kind = emitter.emit(tree)
        if kind != "L":
            raise FormulaError(f"{self.op.key}: the gradient of a list is a tuple")
        inner.append(f"give_all(self, gout, {self.edge[key]}, {text})")
        f.block("if any_needed(self):", inner)

    def unpacking(self, keys: tuple[str, ...]) -> list[str]:
        """Lines that read the saved tensors of a formula; each is unpacked once in a backward.

        A hook may give out what it keeps a single time, so a later formula takes what an earlier
        one, whose gradient is perhaps not needed, has unpacked.
        """
        lines, before = [], list(self.plan.formulas)
        before = before[: before.index(keys)]
        for slot, name in enumerate(self.slots):
            if not self.plan.needs(keys, name):
                continue
            read = f"s_{name} = unpack(self, {slot})"
            if any(self.plan.needs(earlier, name) for earlier in before):
                lines += [f"if s_{name} is None:", f"    {read}"]
            else:
                lines.append(read)
        return lines

    def twin_of(self, key: str) -> str | None:
        """The input before `key` whose gradient has the same formula, with the two exchanged."""
        names = [keys[0] for keys in self.plan.formulas if len(keys) == 1]
        if len(names) != 2 or len(self.plan.formulas) != 2 or key != names[1]:
            return None
        first = names[0]
        if not {first, key} <= set(self.slots):
            return None
        exchanged = {first: key, key: first}
        tree = deepcopy(self.plan.formulas[first,])
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = exchanged.get(node.id, node.id)
        # The names that the two formulas unpack must be the two inputs, each by one of them.
        used = {n for n in self.slots if self.plan.needs((first,), n)}
        if used != {key} or ast.dump(tree) != ast.dump(self.plan.formulas[key,]):
            return None
        return first

    def joint_gradient(
        self,
        f: Function,
        keys: tuple[str, ...],
        inner: list[str],
        gradients: Names,
        names: Names,
    ) -> None:
        """Compute several gradients by one formula, a tuple; None is no gradient."""
        if any(self.args[key].type == "Tensor[]" for key in keys):
            raise FormulaError(f"{self.op.key}: the gradient of a list has a formula of its own")
        wanted = [f"needs(self, {self.edge[key]})" for key in keys]
        names = names | {"needed": ("(" + ", ".join(wanted) + ")", "I")}
        names |= {f"needed_{i}": (text, "b") for i, text in enumerate(wanted)}
        emitter = self.op.emitter(
            names, lambda name, what: self.saved_metadata(keys, gradients, name, what)
        )
        text, kind = emitter.emit(Wanted().visit(deepcopy(self.plan.formulas[keys])))
        if kind != "L":
            raise FormulaError(f"{self.op.key}: the gradients of {', '.join(keys)} are a tuple")
        f.declare("tuple", "together")
        inner.append(f"together = {text}")
        for i, (key, test) in enumerate(zip(keys, wanted)):
            inner += [
                f"if {test}:",
                f"    gout[{self.edge[key]}] = give(<Tensor>together[{i}])",
            ]
        f.block(f"if {' or '.join(wanted)}:", inner)

    def saved_metadata(self, keys: tuple[str, ...], gradients: Names, name: str, what: str) -> str:
        """The text of metadata in a gradient: of gradients, of the edge, or what is kept."""
        if name in gradients or name.startswith("grad"):
            return self.op.plain_metadata(gradients[name][0], what)
        key = keys[0]
        if (name,) == keys and self.args[key].type != "Tensor[]":
            edge = self.edge[key]
            if what == "is_complex":
                return f"dt_is_complex(edge_dtype(self, {edge}))"
            return f"edge_{what}(self, {edge})"
        if name in self.slots and (
            name in self.uses[keys].values or (name, what) not in self.meta_objects
        ):
            return self.op.plain_metadata(f"s_{name}", what)
        i = len(self.objects) + self.meta_objects.index((name, what))
        return f"saved_values[{i}]" if what == "shape" else f"(<Py_ssize_t>saved_values[{i}])"

    def node_function(self) -> list[str]:
        """`node_<key>`: it makes the node, with edges and all that is saved before the result."""
        count = ", Py_ssize_t n_results" if self.op.many else ""
        lines = ["    cdef Py_ssize_t k"] if self.differentiable_list else []
        for name in self.op.diff:
            lines += indent(self.edge_to(name))
        lines += self.without_numbers()
        for i, name in enumerate(self.slots):
            if name not in self.r.returns:
                lines += indent(self.save_argument(i, name))
        for i, name in enumerate(self.scalars):
            field = "d" if arg_type(self.r.arg(name).type).c == "double" else "i"
            lines.append(f"    n.attrs[{i}].{field} = {name}")
        for i, text in enumerate(self.numbers, len(self.scalars)):
            lines.append(f"    n.attrs[{i}].i = {text}")
        if items := self.tuple_items:
            lines.append(f"    set_args(n, ({', '.join(map(self.recorded, items))},))")
        head = f"cdef Node node_{self.op.key}({self.op.params}, bint inplace{count}):"
        return ["", head, *self.new_node(), *lines, "    return n"]

    @property
    def differentiable_list(self) -> bool:
        """True if a list of tensors has gradients."""
        return self.op.list_arg is not None and self.op.list_arg.name in self.op.diff

    def edge_to(self, name: str) -> list[str]:
        """Lines that make the edge of a differentiable argument."""
        edge, kind = self.edge[name], self.r.arg(name).type
        if kind == "Tensor[]":
            each = f"set_edge(n, {edge} + k, <Tensor>{name}[k])"
            return [f"for k in range(len({name})):", f"    {each}"]
        if kind in ("operand?", "Tensor?"):
            return [f"if {name} is not None:", f"    set_edge(n, {edge}, {name})"]
        return [f"set_edge(n, {edge}, {name})"]

    def save_argument(self, slot: int, name: str) -> list[str]:
        """Lines that save an argument if a gradient that uses it may be needed."""
        kind, edge = self.r.arg(name).type, self.edge.get(name, -1)
        test = " or ".join(f"edge_defined(n, {self.edge[k]})" for k in self.plan.users(name))
        save = [f"save_input(n, {slot}, {name}, {edge})"]
        if name == "self" and self.r.call.inplace:
            old = f"save_old_value(n, {slot}, clone_plain(self), {edge})"
            save = ["if inplace:", f"    {old}", "else:", f"    {save[0]}"]
        if kind == "Scalar":  # seen, whoever uses it
            return save
        if kind in ("operand?", "Tensor?"):
            test = f"({test}) and {name} is not None"
        return [f"if {test}:", *indent(save)]

    def recorded(self, item: str) -> str:
        """The text of an item of the node's tuple, which may be a formula of `attrs`."""
        if item not in self.r.derivatives.attrs.values():
            return item
        return self.op.emitter(self.op.arg_names(), self.op.plain_metadata).emit(parse(item))[0]

    def without_numbers(self) -> list[str]:
        """Lines that leave out the edges of plain numbers, as far as they are the first or last."""
        lines = []
        for name in reversed(self.op.diff):
            if name not in self.r.derivatives.plain_numbers or self.edge[name] == 0:
                break
            is_plain = (
                f"({name} is None or is_number({name}))"
                if self.r.arg(name).type == "operand?"
                else f"is_number({name})"
            )
            lines += [
                f"    if n.n_edges == {self.edge[name] + 1} and {is_plain}:",
                f"        n.n_edges = {self.edge[name]}",
            ]
        if self.op.diff[0] in self.r.derivatives.plain_numbers:
            lines += [f"    if is_number({self.op.diff[0]}):", "        n.flags |= N_NUMBER_FIRST"]
        return lines

    def new_node(self) -> list[str]:
        """Lines that make `n`, of the kind by whose name torch knows it."""
        counts = f"{self.n_edges}, {self.n_slots()}, {self.n_outputs()}"
        lines = [f"    cdef NodeKind* kind = &_kinds[{self.kind_number}]"]
        emitter = self.op.emitter(self.op.arg_names(), self.op.plain_metadata)
        word = "if"
        for i, test in enumerate(self.r.derivatives.variants.values(), 1):
            lines += [
                f"    {word} {emitter.emit(parse(test))[0]}:",
                f"        kind = &_kinds[{self.kind_number + i}]",
            ]
            word = "elif"
        return [*lines, f"    cdef Node n = new_node(kind, {counts})"]

    def n_slots(self) -> str:
        """The number of tensors that the node saves."""
        return " + ".join([str(len(self.slots)), *(f"n_tensors({name})" for name in self.indices)])

    def n_outputs(self) -> str:
        return "n_results" if self.op.many else str(len(self.r.returns))

    def save_results(self, result_of: Callable[[str], str]) -> list[str]:
        lines = []
        for i, name in enumerate(self.slots):
            if name in self.r.returns:
                test = " or ".join(
                    f"edge_defined(n, {self.edge[k]})" for k in self.plan.users(name)
                )
                nr = self.r.returns.index(name)
                save = f"save_output(n, {i}, {result_of(name)}, {nr})"
                if (
                    name in self.r.derivatives.nondiff_outputs
                ):  # has no history, also when it is unpacked
                    save = f"save_input(n, {i}, {result_of(name)}, -1)"
                lines += [f"if {test}:", f"    {save}"]
        return lines


class Wanted(ast.NodeTransformer):
    """``needed[i]`` as one test instead of an element of a tuple."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        of_needed = isinstance(node.value, ast.Name) and node.value.id == "needed"
        if of_needed and isinstance(node.slice, ast.Constant):
            return ast.Name(f"needed_{node.slice.value!r}")
        return self.generic_visit(node)


def shown_rows(
    r: Any,
    saved: dict[str, tuple[str, str | int]],
    edges: dict[str, int],
    function: Callable[[str, str], str],
    read: str = "saved_value",
) -> dict[str, tuple[str, str | int]]:
    """The ``_saved_*`` attributes of a record's nodes: those that are kept, changed by `shows`."""
    rows = dict(saved)
    for name, text in r.derivatives.shows.items():
        tree = parse(text)
        if text in saved:
            rows.pop(text, None)
            rows[name] = saved[text]
        elif isinstance(tree, ast.Constant) or text == "()":
            rows[name] = "constant", text
        elif (m := BEHIND_EDGE.fullmatch(text)) and m[1] in edges:
            rows[name] = BEHIND_EDGE_KINDS[m[2]], edges[m[1]]
            if m[2] == "shape" and saved.get(m[1], "?")[0] == "tensor":
                rows[name] = "edge_or_saved", f"({edges[m[1]]}, {saved[m[1]][1]})"
        elif (m := SIZE_BEHIND_EDGE.fullmatch(text)) and m[1] in edges:
            rows[name] = "edge_size", f"({edges[m[1]]}, {m[2]})"
        else:
            rows[name] = "function", function(name, ValuesOfNode(saved, r.key, read).text(tree))
    return rows


STRIDES = re.compile(r"(\w+)\.stride\(\)")
SIZE = re.compile(r"(\w+)\.size\((\d+)\)")
BEHIND_EDGE = re.compile(r"(\w+)\.(shape|ndim|numel\(\))")
SIZE_BEHIND_EDGE = re.compile(r"(\w+)\.shape\[(\d+)\]")
BEHIND_EDGE_KINDS = {"shape": "edge", "ndim": "edge_ndim", "numel()": "edge_numel"}


class ValuesOfNode(ast.NodeTransformer):
    """Turn an expression over what a node keeps into Python over the node `n`."""

    def __init__(self, saved: dict[str, tuple[str, str | int]], label: str, read: str):
        self.saved, self.label, self.read = saved, label, read

    def text(self, tree: ast.expr) -> str:
        return ast.unparse(self.visit(tree))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in ("int", "len", "sum"):
            return node
        if node.id not in self.saved:
            raise FormulaError(f"{self.label}: shows= uses {node.id!r}, which is not saved")
        kind, where = self.saved[node.id]
        return ast.parse(f"{self.read}(n, {kind!r}, {where})", mode="eval").body
