"""Writes the operators of the interpreted tier: Python modules instead of Cython ones.

A record says ``tier="interpreted"``; what it means is the same. For each family with such records a
module autograd_cy/_interpreted/<family>.py is written: the formulas as Python functions, an
`Operation` (ext/engine/interpreted.pyx) that knows what is saved for which, and the public functions.
The modules are loaded when one of their names is first used; `index` says which those are.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from ext.codegen.formula import BUILTINS, METADATA_CALLS, FormulaError, parse, uses
from ext.codegen.operators import CLASS_BITS
from ext.codegen.python_forms import docstring, python_name
from ext.codegen.tangents import jvp_formulas
from ext.codegen.vocabulary import arg_type

HEAD = '''"""Operators of the family "{family}"; written from autograd_cy/ops/{family}.py by ext/codegen, do not edit."""

# ruff: noqa
from collections import namedtuple as _namedtuple

import numpy as np

from autograd_cy._C import arguments as _arguments, interpreted as _runtime, {modules}
from autograd_cy._C.batching import _register_operator
from autograd_cy._interpreted import _functions, _host
from autograd_cy.overrides import overridable as _asking
'''
# What converts arguments whose C value says nothing to Python.
IN_PYTHON = {"dtype_arg": "_runtime.dtype_value", "format_arg": "_runtime.format_value"}
DIMS = {"dim": "dim", "dim?": "dims", "dims": "dims", "dims?": "dims"}
MISSING = ("view", "call")


def is_interpreted(record: Any) -> bool:
    return record.tier == "interpreted"


# --- formulas -------------------------------------------------------------------------------------


class Translator(ast.NodeTransformer):
    """
    Turns a formula into a Python expression.

    Parameters
    ----------
    names : dict
        Name in the formula -> Python text.
    metadata : dict
        (name, what) -> text, for what isn't taken from the tensor itself.
    family : Family
        Finds the operators.
    """

    def __init__(self, names, metadata, family, label):
        self.names, self.metadata, self.family, self.label = names, metadata, family, label

    def text(self, tree) -> str:
        return ast.unparse(self.visit(parse(tree) if isinstance(tree, str) else tree))

    def visit_Name(self, node):
        if node.id not in self.names:
            raise FormulaError(f"{self.label}: unknown name {node.id!r}")
        return ast.parse(self.names[node.id], mode="eval").body

    def visit_Attribute(self, node):
        key = (node.value.id, node.attr) if isinstance(node.value, ast.Name) else None
        if key in self.metadata:
            return ast.parse(self.metadata[key], mode="eval").body
        return self.generic_visit(node)

    def visit_Call(self, node):
        f = node.func
        if isinstance(f, ast.Attribute):
            if f.attr in METADATA_CALLS:
                key = (f.value.id, f.attr) if isinstance(f.value, ast.Name) else None
                if key in self.metadata:
                    return ast.parse(self.metadata[key], mode="eval").body
                return ast.Call(ast.Attribute(self.visit(f.value), f.attr), [], [])
            name, args = f.attr, [f.value, *node.args]
        else:
            name, args = f.id, node.args
        args = [self.visit(a) for a in args]
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        if name == "len":
            return ast.Call(ast.Name("len"), args, keywords)
        if name in BUILTINS:
            return ast.Call(ast.Attribute(ast.Name("_functions"), name), args, keywords)
        record = self.family.operator("_conjugate" if name == "conj" else name, len(args), self.label)
        positional = sum(not a.keyword for a in record.args)
        keywords += [ast.keyword(a.name, x) for a, x in zip(record.args[positional:], args[positional:])]
        place = ast.Attribute(ast.Name(self.family.module_of(record)), record.name)
        return ast.Call(place, args[:positional], keywords)


class Family:
    """One module: its records, and the modules it refers to."""

    def __init__(self, name, by_symbol):
        self.name, self.by_symbol, self.modules = name, by_symbol, set()

    def operator(self, symbol, count, label):
        for record in self.by_symbol.get(symbol, ()):
            if count <= len(record.args):
                return record
        raise FormulaError(f"{label}: no operator {symbol!r} takes {count} arguments")

    def module_of(self, record) -> str:
        name = ("interpreted_" if is_interpreted(record) else "ops_") + record.file
        self.modules.add(name)
        return f"_{name}"


# --- one record -----------------------------------------------------------------------------------


@dataclass
class Saved:
    """What a node keeps: slots for tensors, and a tuple of anything else."""

    slots: list
    objects: list
    metadata: list


class InterpretedOperator:
    """The Python text of one record."""

    def __init__(self, record, family):
        self.r, self.family = record, family
        kernel = type(record.kernel).__name__
        if kernel in MISSING:
            raise FormulaError(
                f"{record.key}: a kernel {kernel}(...) is compiled; the interpreted tier takes host, "
                "elementwise and composite kernels")
        if any(a.type == "indices" for a in record.args) or record.alpha:
            raise FormulaError(f"{record.key}: indices and alpha are for compiled records")
        self.kind = kernel
        self.args = {a.name: a for a in record.args}
        self.places = {a.name: i for i, a in enumerate(record.args)}
        self.names = {a.name: a.name for a in record.args}
        self.parameters = ", ".join(self.args)
        self.gradients = record.joint
        self.diff = record.differentiable

    def translate(self, text, names, metadata=None):
        return Translator(names, metadata or {}, self.family, self.r.key).text(text)

    # --- what the node keeps --------------------------------------------------------------------

    def saved(self) -> Saved:
        r, found = self.r, Saved([], [], [])
        outputs = () if r.returns == ("*",) else r.returns
        for formula in self.gradients.values():
            used = uses(parse(formula))
            for name in sorted(used.values):
                if name in outputs or (name in self.args and self.args[name].is_tensor):
                    if name in self.args and self.args[name].type == "Tensor[]":
                        raise FormulaError(f"{r.key}: the formula saves a list; use attrs")
                    add(found.slots, name)
                elif name in self.args or name in r.attrs:
                    add(found.objects, name)
            for name, what in sorted(used.metadata):
                if name == "grad" or name.startswith(("grad_", "given_")) or name in used.values:
                    continue
                if name in outputs:
                    add(found.slots, name)
                else:
                    add(found.metadata, (name, what))
        return found

    def users(self, name):
        """Edges whose gradient needs the saved tensor `name`."""
        edges = []
        for keys, formula in self.gradients.items():
            if name in uses(parse(formula)).values | {n for n, _ in uses(parse(formula)).metadata}:
                edges += [self.edge(key) for key in keys]
        return tuple(edges)

    def edge(self, name) -> int:
        return self.diff.index(name)

    def operation(self) -> tuple[list[str], dict[str, str]]:
        """Lines of functions, and the fields of the Operation."""
        r = self.r
        listed = next((i for i, a in enumerate(r.args) if a.type == "Tensor[]"), -1)
        fields = {
            "key": repr(r.key),
            "name": repr(r.shown),
            "kernel": f"_kernel_{r.key}",
            "tensors": repr(tuple(i for i, a in enumerate(r.args) if a.is_tensor and i != listed)),
            "n_results": repr(0 if r.returns == ("*",) else len(r.returns)),
            "module": "__name__",
            "node": repr(r.node),
        }
        lines = self.kernel()
        if listed >= 0:
            fields["listed"] = repr(listed)
        dims = tuple((i, DIMS[a.type]) for i, a in enumerate(r.args) if a.type in DIMS)
        if dims and r.args[0].is_tensor:
            fields["dims"] = repr(dims)
        if set(r.dtypes) < set(CLASS_BITS):
            fields["claimed"] = hex(sum(CLASS_BITS[letter] for letter in r.dtypes))
            if any(a.type == "operand" for a in r.args) or r.vmap == "elementwise":
                fields["promoted"] = "True"
        if r.widen:
            letters, target = r.widen
            fields["widen"] = repr((sum(CLASS_BITS[letter] for letter in letters), target))
        if r.mutates:
            fields["mutated"] = repr(tuple(self.places[name] for name in r.mutates))
        if getattr(r.vjp, "refuse_tangents", False):
            fields["refuses_tangents"] = "True"
        if r.out:
            fields["out"] = repr("exact" if r.out == "exact" else "cast")
        if self.diff:
            lines += self.derivatives(fields)
        lines += self.batching(fields)
        return lines, fields

    def kernel(self) -> list[str]:
        r, k = self.r, self.r.kernel
        name = f"_kernel_{r.key}"
        if self.kind == "host":
            text = k.target
            if "(" not in text:
                module, _, function = text.partition(".")
                source = f"_host.function({module!r}, {function!r})"
            else:
                source = f"lambda {self.parameters}: {text}"
                for library in ("scipy.special", "scipy.fft", "scipy.linalg"):
                    if library in text:
                        short = "_" + library.replace(".", "_")
                        source = f"_host.expression({library!r}, lambda {short}: lambda {self.parameters}: " \
                                 f"{text.replace(library, short)})"
            rules = k.dtypes if isinstance(k.dtypes, tuple) else (k.dtypes,) * len(r.returns)
            return [f"{name} = _runtime.HostKernel({source}, {rules!r}, {r.shown!r})"]
        if self.kind == "elementwise":
            operands = k.args or tuple(a.name for a in r.args if a.is_tensor)
            return ["", f"def {name}({self.parameters}):",
                    f"    return _runtime.elementwise({k.name!r}, ({', '.join(operands)},), {k.dtypes!r}, "
                    f"{k.skip_first}, {r.shown!r})"]
        raise FormulaError(f"{r.key}: kernel {self.kind}")

    # --- derivatives ----------------------------------------------------------------------------

    def derivatives(self, fields) -> list[str]:
        r, saved = self.r, self.saved()
        outputs = () if r.returns == ("*",) else r.returns
        fields["differentiable"] = repr(tuple(self.places[name] for name in self.diff))
        constant = tuple(outputs.index(name) for name in r.nondiff_outputs)
        if constant:
            fields["constant"] = repr(constant)
        shown = []
        inputs, results = [], []
        for slot, name in enumerate(saved.slots):
            shown.append((name, "operand" if self.is_number(name) else "tensor", slot))
            if name in outputs:
                results.append((slot, outputs.index(name), self.users(name)))
            else:
                own = self.edge(name) if name in self.diff else -1
                inputs.append((slot, self.places[name], own, self.users(name)))
        kept = [*saved.objects, *saved.metadata]
        for i, what in enumerate(kept):
            if isinstance(what, tuple):
                name, what = what
                what = f"{name}_{ {'shape': 'sym_sizes', 'numel': 'sym_numel'}.get(what, what)}"
            shown.append((what, "object", i))
        fields["inputs"], fields["outputs"] = repr(tuple(inputs)), repr(tuple(results))
        fields["saved"] = repr(tuple(shown))
        lines = []
        if kept:
            texts = []
            for what in kept:
                if isinstance(what, tuple):
                    texts.append(metadata_of(*what))
                elif what in r.attrs:
                    texts.append(self.translate(r.attrs[what], self.names))
                else:
                    texts.append(what)
            lines += ["", f"def _keep_{r.key}({self.parameters}):", f"    return ({', '.join(texts)},)"]
            fields["keep"] = f"_keep_{r.key}"
        lines += self.vjp(fields, saved, kept, outputs)
        return lines + self.jvp(fields, outputs)

    def is_number(self, name) -> bool:
        return name in self.r.plain_numbers or (name in self.args and self.args[name].type == "Scalar")

    def vjp(self, fields, saved, kept, outputs) -> list[str]:
        r, lines, rows, zeros = self.r, [], [], set()
        names = {name: f"S[{i}]" for i, name in enumerate(saved.slots)}
        names |= {what: f"K[{i}]" for i, what in enumerate(kept) if isinstance(what, str)}
        metadata = {what: f"K[{i}]" for i, what in enumerate(kept) if isinstance(what, tuple)}
        names["needed"] = "N"
        if r.returns == ("*",):
            names["grads"] = "tuple(G)"
        elif len(outputs) == 1:
            names["grad"] = "G[0]"
        else:
            for i, o in enumerate(outputs):
                names[f"grad_{o}"], names[f"given_{o}"] = f"G[{i}]", f"G[{len(outputs) + i}]"
        for number, (keys, formula) in enumerate(self.gradients.items()):
            used = uses(parse(formula))
            every = used.values | {n for n, _ in used.metadata}
            zeros |= {i for i, o in enumerate(outputs) if f"grad_{o}" in every}
            local = {k: v for k, v in metadata.items() if k[0] not in used.values}
            name = f"_gradient_{number}_{r.key}"
            lines += ["", f"def {name}(G, S, K, N):", f"    return {self.translate(formula, names, local)}"]
            slots = tuple(i for i, n in enumerate(saved.slots) if n in every)
            kind = "joint" if len(keys) > 1 else "list" if self.args[keys[0]].type == "Tensor[]" else "one"
            rows.append(f"({tuple(self.edge(k) for k in keys)!r}, {name}, {slots!r}, {kind!r})")
        fields["gradients"] = f"({', '.join(rows)},)"
        if len(outputs) > 1 and zeros:
            fields["zeros"] = repr(tuple(sorted(zeros)))
        return lines

    def jvp(self, fields, outputs) -> list[str]:
        r, lines = self.r, []
        if r.jvp in ("linear", "each"):
            fields["moves"] = repr(r.jvp)
            return lines
        names = {name: f"A[{i}]" for name, i in self.places.items()}
        names |= {f"{name}_t": f"D[{i}]" for i, name in enumerate(self.diff)}
        names |= {o: f"R[{i}]" for i, o in enumerate(outputs)}
        rows = []
        for output, formulas in jvp_formulas(r, self.diff).items():
            parts = []
            for name, tree in formulas.items():
                function = f"_tangent_{output}_{name}_{r.key}"
                lines += ["", f"def {function}(D, A, R):", f"    return {self.translate(tree, names)}"]
                parts.append(f"({self.diff.index(name)}, {function})")
            rows.append(f"({outputs.index(output)}, ({', '.join(parts)},))")
        fields["tangents"] = f"({', '.join(rows)},)"
        return lines

    # --- vmap -----------------------------------------------------------------------------------

    def batching(self, fields) -> list[str]:
        rule, kind = self.r.vmap, type(self.r.vmap).__name__
        if rule in ("elementwise", "dims"):
            fields["batch_rule"] = repr(rule)
            return []
        if kind == "loop":
            return []
        if kind == "refuse":
            fields["batch_rule"], fields["batch"] = "'refuse'", repr(rule.text)
            return []
        if kind in ("by_hand", "randomly"):
            raise FormulaError(f"{self.r.key}: vmap={kind}(...) is for compiled records")
        tensors = tuple(a.name for a in self.r.args if a.is_tensor)
        table = rule if isinstance(rule, dict) else {",".join(tensors): rule}
        names = {name: f"A[{i}]" for name, i in self.places.items()} | {"B": "B"}
        lines, rows = [], []
        for number, (key, formula) in enumerate(table.items()):
            if type(formula).__name__ == "loop":
                continue
            name = f"_batch_{number}_{self.r.key}"
            lines += ["", f"def {name}(A, B):", f"    return {self.translate(formula, names)}"]
            places = tuple(sorted(self.places[x] for x in key.split(",")))
            rows.append(f"{places!r}: {name}")
        fields["batch_rule"], fields["batch"] = "'formulas'", "{" + ", ".join(rows) + "}"
        return lines

    # --- Python forms ---------------------------------------------------------------------------

    def converted(self, i, form="") -> str:
        """The text that converts argument `i`."""
        r, a = self.r, self.r.args[i]
        name, kind = python_name(a, i), arg_type(a.type)
        if kind.converter is None:
            return name
        convert = IN_PYTHON.get(kind.converter, f"_arguments.{kind.converter}")
        position = 0 if a.keyword else i + 1
        words = f", {kind.words!r}" if kind.words else ""
        shown = r.name if r.namespace == "nn.functional" else r.symbol
        text = f"{convert}({name}, {(r.forward or shown) + form!r}, {name!r}, {position}{words})"
        if kind.optional:
            text = f"None if {name} is None else {text}"
        return text

    def form(self, name) -> list[str]:
        """The public function."""
        r = self.r
        if self.kind == "composite":
            return self.composite_form(name)
        extra = ["out=None"] if r.out else []
        lines = self.head(name, extra, docstring(r, [("out", out_text(r))] if r.out else []))
        lines += [f"    args = ({''.join(f'{self.converted(i)}, ' for i in range(len(r.args)))})"]
        if r.checks:
            lines.append(f"    _host.checks.{r.checks}({r.shown!r}, *args)")
        if r.out:
            lines += ["    if out is not None:", f"        return _runtime.run_out(_operation_{r.key}, args, out)"]
        call = f"_runtime.run(_operation_{r.key}, args)"
        if len(r.returns) > 1 and r.named:
            call = f"{r.symbol}_result(*{call})"
        return [*lines, f"    return {call}"]

    def composite_form(self, name) -> list[str]:
        r, text = self.r, self.r.kernel.formula
        lines = self.head(name, [], docstring(r))
        for i, a in enumerate(r.args):
            lines.append(f"    {python_name(a, i)} = {self.converted(i)}")
        if "(" not in text:
            module, _, function = text.partition(".")
            names = [(python_name(a, i), a.keyword) for i, a in enumerate(r.args)]
            given = ", ".join(f"{n}={n}" if keyword else n for n, keyword in names)
            return [*lines, f"    return _host.composite({module!r}, {function!r})({given})"]
        names = {a.name: python_name(a, i) for i, a in enumerate(r.args)}
        return [*lines, f"    return {self.translate(text, names)}"]

    def head(self, name, extra, text) -> list[str]:
        r, parts = self.r, []
        for i, a in enumerate(r.args):
            if a.keyword and "*" not in parts:
                parts.append("*")
            parts.append(python_name(a, i) + ("" if a.default is None else f"={a.default}"))
        if extra and "*" not in parts:
            parts.append("*")
        return ["", "", f"def {name}({', '.join(parts + extra)}):", '    """',
                *("    " + line if line else "" for line in text), '    """']

    def inplace_form(self, name) -> list[str]:
        r = self.r
        lines = self.head(name, [], [f"In-place form of :func:`{r.name}`; changes and returns the first argument."])
        given = "".join(f"{self.converted(i, '_')}, " for i in range(len(r.args)))
        return [*lines, f"    return _runtime.run_inplace(_operation_{r.key}, ({given}))"]

    def text(self) -> list[str]:
        r = self.r
        if self.kind == "composite":
            return []
        lines, fields = self.operation()
        body = ", ".join(f"{k}={v}" for k, v in fields.items())
        lines += ["", f"_operation_{r.key} = _runtime.Operation({body})"]
        named = len(r.returns) > 1 and r.named
        if named:
            lines += [f"{r.symbol}_result = _namedtuple({r.symbol!r}, {r.returns!r})"]
        lines += ["", f"def _each_{r.key}(*args):", f"    return _runtime.run(_operation_{r.key}, args)", "",
                  f"_register_operator({r.key!r}, _each_{r.key})"]
        return lines


def add(where, what):
    if what not in where:
        where.append(what)


def metadata_of(name, what) -> str:
    return {"shape": f"tuple({name}.shape)", "numel": f"{name}.numel()", "is_complex": f"{name}.is_complex()"}.get(
        what, f"{name}.{what}")


def out_text(r) -> str:
    return "Tensor, optional" if len(r.returns) == 1 else "tuple of Tensors, optional"


# --- modules --------------------------------------------------------------------------------------


def groups_of(records) -> dict[str, list]:
    """The interpreted records of a family by name."""
    groups: dict[str, list] = {}
    for r in records:
        if is_interpreted(r):
            groups.setdefault(r.name, []).append(r)
    return groups


def family_module(name, records, by_symbol) -> str:
    """The Python source of the interpreted records of one family."""
    family = Family(name, by_symbol)
    lines, forms, exported = [], [], []
    for public, group in groups_of(records).items():
        made = [InterpretedOperator(r, family) for r in group]
        for one in made:
            lines += one.text()
        if len(group) == 1:
            forms += made[0].form(public)
        else:
            for one in made:
                forms += one.form(f"form_{one.r.key}")
            forms += overloaded(public, group)
        names = [public]
        if group[0].inplace:
            forms += made[0].inplace_form(f"{public}_")
            names.append(f"{public}_")
        if not public.startswith("_"):
            forms += ["", *(f"{n} = _asking({n})" for n in names)]
        pairs = [(alias + n.removeprefix(public), n) for alias in group[0].aliases for n in names]
        forms += [f"{alias} = {n}" for alias, n in pairs if alias != n]
        names += [alias for alias, n in pairs if alias != n]
        if group[0].function and not public.startswith("_"):
            exported += names
    used = sorted(m for m in family.modules if m.startswith("ops_"))
    others = sorted(m for m in family.modules if m.startswith("interpreted_"))
    modules = ", ".join(f"{m} as _{m}" for m in used) or "tensor as _tensor"
    text = [HEAD.format(family=name, modules=modules)]
    # By way of the package, because these may refer to each other.
    text += [f"_{m} = _host.module({m.removeprefix('interpreted_')!r})" for m in others]
    return "\n".join([*text, *lines, *forms, "", f"__all__ = {exported!r}", ""])


def overloaded(name, group) -> list[str]:
    lines = ["", "", f"def {name}(*args, **kwargs):", '    """',
             *("    " + line if line else "" for line in docstring(group[0]))]
    for r in group[1:]:
        shown = ", ".join(python_name(a, i) + ("" if a.default is None else f"={a.default}") for i, a in enumerate(r.args))
        lines += ["", f"    **{name}({shown})**: {r.doc.splitlines()[0]}"]
    lines.append('    """')
    default = next(r for r in group if r.when is None)
    for r in group:
        if r.when is not None:
            lines += [f"    if {r.when}:", f"        return form_{r.key}(*args, **kwargs)"]
    return [*lines, f"    return form_{default.key}(*args, **kwargs)"]


def index(families) -> str:
    """The module that says where the names of both tiers are, without loading them."""
    functions, methods, spaces = {}, {}, {}
    compiled = [f"ops_{f}" for f, records in families.items() if any(r.tier == "compiled" for r in records)]
    for family, records in families.items():
        for name, group in groups_of(records).items():
            if name.startswith("_"):
                continue
            first = group[0]
            names = [name, *([f"{name}_"] if first.inplace else [])]
            if first.function:
                where = spaces.setdefault(first.namespace, {}) if first.namespace else functions
                where |= {n: (family, n) for n in names}
            aliases = [*first.aliases, *(f"{a}_" for a in first.aliases if first.inplace)]
            outside = {alias: (family, alias) for alias in aliases}
            functions |= outside if first.function else {}
            if first.method:
                methods |= outside | ({} if first.namespace else {n: (family, n) for n in names})
    return "\n".join([
        '"""Modules of the compiled tier, and names of the interpreted one -> (family, name there); written by ext/codegen,',
        'do not edit."""', "",
        "# ruff: noqa", f"COMPILED = {compiled!r}", f"FUNCTIONS = {functions!r}", f"METHODS = {methods!r}",
        f"NAMESPACES = {spaces!r}", ""])

