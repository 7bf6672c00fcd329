"""One operator of the interpreted tier as Python text: its kernel, its formulas, its `Operation`.

The functions around it, and the modules that all this goes into, are written by interpreted.py.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

from ext.codegen.formula import BUILTINS, METADATA_CALLS, FormulaError, fitting, parse
from ext.codegen.kernel_runs import has_shape, is_sized, kernel_args, rule_of, signature
from ext.codegen.node_text import shown_rows
from ext.codegen.plan import Plan, dtype_check_of, is_gradient, widened_bits
from ext.codegen.tangents import jvp_formulas
from ext.codegen.vmap_rules import names_in_key

DIMS = {"dim": "dim", "dim?": "dims", "dims": "dims", "dims?": "dims"}
# What turns Python values into the codes that C functions take.
CODES = {"dtype?": "_given.dtype_code", "format?": "_given.format_code_of"}
BEHIND = {
    what: f"_given.{what}_behind" for what in ("shape", "ndim", "dtype", "numel", "is_complex")
}
HAND = Path(__file__).resolve().parents[2] / "autograd_cy" / "_interpreted"


def is_interpreted(record: Any) -> bool:
    return record.tier == "interpreted"


@cache
def functions_by_hand(name: str) -> frozenset[str]:
    """The functions of a module of _interpreted that is written by hand."""
    path = HAND / f"{name}.py"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return frozenset(re.findall(r"^def (\w+)\(", text, re.M))


# --- formulas -------------------------------------------------------------------------------------


class Translator(ast.NodeTransformer):
    """
    Turn a formula into a Python expression.

    Parameters
    ----------
    names : dict
        Name in the formula -> Python text.
    metadata : dict
        (name, what) -> text, for what isn't taken from the tensor itself.
    family : Family
        Finds the operators.
    """

    def __init__(self, names: dict, metadata: dict, family: Family, label: str):
        self.names, self.metadata, self.family, self.label = names, metadata, family, label

    def text(self, tree: str | ast.expr) -> str:
        return ast.unparse(self.visit(parse(tree) if isinstance(tree, str) else tree))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            raise FormulaError(f"{self.label}: unknown name {node.id!r}")
        return ast.parse(self.names[node.id], mode="eval").body

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        key = (node.value.id, node.attr) if isinstance(node.value, ast.Name) else None
        if key in self.metadata:
            return ast.parse(self.metadata[key], mode="eval").body
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        f = node.func
        if isinstance(f, ast.Attribute):
            if f.attr in METADATA_CALLS:
                key = (f.value.id, f.attr) if isinstance(f.value, ast.Name) else None
                if key in self.metadata:
                    return ast.parse(self.metadata[key], mode="eval").body
                return ast.Call(ast.Attribute(self.visit(f.value), f.attr), [], [])
            name, written = f.attr, [f.value, *node.args]
        elif isinstance(f, ast.Name):
            name, written = f.id, node.args
        else:
            raise FormulaError(f"{self.label}: call of {ast.unparse(f)!r}")
        args = [self.visit(a) for a in written]
        keywords = {k.arg: self.visit(k.value) for k in node.keywords}
        if name == "len":
            return ast.Call(ast.Name("len"), args, [])
        if name in BUILTINS:
            return ast.Call(ast.Attribute(ast.Name("_functions"), name), args, [])
        return self.call("_conjugate" if name == "conj" else name, args, keywords)

    def call(self, name: str, args: list[ast.expr], named: dict) -> ast.expr:
        """The call of an operator, with already translated arguments."""
        record = self.family.operator(name, len(args), self.label)
        args = [converted(a.type, x) for a, x in zip(record.args, args)]
        keywords = [ast.keyword(k, converted(record.arg(k).type, x)) for k, x in named.items()]
        positional = sum(not a.keyword for a in record.args)
        keywords += [
            ast.keyword(a.name, x) for a, x in zip(record.args[positional:], args[positional:])
        ]
        place = ast.Attribute(ast.Name(self.family.module_of(record)), record.name)
        return ast.Call(place, args[:positional], keywords)


def converted(kind: str, value: ast.expr) -> ast.expr:
    """An argument of a formula's call as a Python form takes it: C functions take codes, and
    numbers for tensors."""
    wrap = {"format?": "_given.format_of", "Tensor": "_wrapped"}.get(kind)
    try:
        number = ast.literal_eval(value)
    except ValueError:
        return value
    if wrap is None or not isinstance(number, (int, float)):
        return value
    return ast.parse(f"{wrap}({number!r})", mode="eval").body


class Family:
    """One module: its records, and the modules it refers to."""

    def __init__(self, name: str, by_symbol: dict):
        self.name, self.by_symbol = name, by_symbol
        self.modules: set[str] = set()

    def operator(self, symbol: str, count: int, label: str) -> Any:
        for record in fitting(self.by_symbol.get(symbol, ()), count):
            if count <= len(record.args):
                return record
        raise FormulaError(f"{label}: no operator {symbol!r} takes {count} arguments")

    def module_of(self, record: Any) -> str:
        name = ("interpreted_" if is_interpreted(record) else "ops_") + record.file
        self.modules.add(name)
        return f"_{name}"


# --- one record -----------------------------------------------------------------------------------


class Operation:
    """The Python text of one record: functions, and the fields of its Operation."""

    def __init__(self, record: Any, family: Family):
        self.r, self.family = record, family
        self.kind = type(record.kernel).__name__
        for what, said in (
            ("a list of indices", any(a.type == "indices" for a in record.args)),
            ("alpha=", record.call.alpha),
            ("dunder=", record.call.dunder),
            ("out='truth' of no shape rule", record.call.out == "truth" and not has_shape(record)),
            (
                "out='joined' of no shape rule",
                record.call.out == "joined" and not has_shape(record),
            ),
            ("sized=", is_sized(record)),
            ("refuse_tangents=", getattr(record.derivatives.vjp, "refuse_tangents", False)),
            (
                "a real result of a fixed dtype",
                self.kind == "elementwise"
                and record.kernel.dtypes == "real"
                and (record.call.inplace or record.call.out == "exact"),
            ),
        ):
            if said and (self.kind != "composite" or what == "dunder="):
                raise FormulaError(f"{record.key}: {what} is for compiled records")
        self.args = {a.name: a for a in record.args}
        self.places = {a.name: i for i, a in enumerate(record.args)}
        self.names = {a.name: a.name for a in record.args}
        self.parameters = ", ".join(self.args)
        self.diff = record.derivatives.differentiable
        self.plan = Plan(record)

    def translate(self, text: str | ast.expr, names: dict, metadata: dict | None = None) -> str:
        return Translator(names, metadata or {}, self.family, self.r.key).text(text)

    # --- kernels --------------------------------------------------------------------------------

    def kernel(self) -> list[str]:
        """The line that makes the kernel."""
        r, k = self.r, self.r.kernel
        name = f"_kernel_{r.key}"
        if self.kind == "host":
            rules = k.dtypes if isinstance(k.dtypes, tuple) else (k.dtypes,) * len(r.returns)
            return [f"{name} = _kernels.HostKernel({self.host_function()}, {rules!r}, {r.shown!r})"]
        if self.kind == "elementwise":
            operands = k.args or tuple(a.name for a in r.args if a.is_tensor)
            places = tuple(self.places[operand] for operand in operands)
            return [
                f"{name} = _kernels.ElementwiseKernel({k.name!r}, {places!r}, {' '.join(k.rules)!r}, "
                f"{k.skip_first}, {r.shown!r})"
            ]
        if has_shape(r):
            return [f"{name} = {self.shaped()}"]
        return [f"{name} = {self.compiled(k.target, k.args, getattr(k, 'into', False))}"]

    def shaped(self) -> str:
        """A kernel that fills results; it and its shape rule take codes for dtypes."""
        r, k = self.r, self.r.kernel
        module, function, rule_args = rule_of(r)
        coded = {a.name: f"{CODES[a.type]}({a.name})" for a in r.args if a.type in CODES}

        def arguments(texts: list[str]) -> str:
            joined = "".join(
                re.sub(r"\b[a-z]\w*\b", lambda m: coded.get(m[0], m[0]), text) + ", "
                for text in texts
            )
            return f"lambda {self.parameters}: ({joined})"

        rule = (
            f"_host.rule({f'{module}.{function}'!r}, {arguments([rule_args] if rule_args else [])})"
        )
        over = None if k.over is None else self.places[k.over]
        return (
            f"_kernels.ShapedKernel({r.key!r}, {signature(r)!r}, {rule}, _host.kernel({k.target!r}), "
            f"{arguments(kernel_args(r))}, {len(r.returns)}, {over}, {k.places})"
        )

    def host_function(self) -> str:
        text = self.r.kernel.target
        if "(" not in text:
            module, _, function = text.partition(".")
            return f"_host.function({module!r}, {function!r})"
        for library in ("scipy.special", "scipy.linalg"):
            if library in text:
                short = "_" + library.replace(".", "_")
                return (
                    f"_host.expression({library!r}, lambda {short}: lambda {self.parameters}: "
                    f"{text.replace(library, short)})"
                )
        return f"lambda {self.parameters}: {text}"

    def compiled(
        self, target: str, names: tuple[str, ...] | None = None, into: bool = False
    ) -> str:
        """The text of a C function of the arguments in `names`, or all, and of ``out`` if
        `into`."""
        names = tuple(self.args) if names is None else names
        passed = [
            f"{CODES[self.args[n].type]}({n})"
            if n in self.args and self.args[n].type in CODES
            else n
            for n in names
        ]
        if into:
            passed.append("None")  # results go into fresh memory
        if passed == [*self.args]:
            return f"_host.compiled({target!r})"
        return f"_host.compiled({target!r}, lambda {self.parameters}: ({', '.join(passed)},))"

    @property
    def composite_takes_out(self) -> bool:
        """True if the Python function of a composite may write to ``out`` by itself."""
        k = self.r.kernel
        if self.kind != "composite" or not k.into:
            return False
        module, _, function = k.formula.partition(".")
        return function in functions_by_hand(f"_{module}_composites")

    def composite(self) -> list[str]:
        """The function of converted arguments behind a composite."""
        r, text = self.r, self.r.kernel.formula
        name = f"_composite_{r.key}"
        if "(" in text:
            return [
                "",
                f"def {name}({self.parameters}):",
                f"    return {self.translate(text, self.names)}",
            ]
        module, _, function = text.partition(".")
        if function not in functions_by_hand(f"_{module}_composites"):
            return [
                f"{name} = {self.compiled(f'{module}_composites.{function}', None, r.kernel.into)}"
            ]
        passed = ", ".join(f"{a.name}={a.name}" if a.keyword else a.name for a in r.args)
        parameters = self.parameters
        if r.kernel.into:
            parameters, passed = f"{parameters}, out=None", f"{passed}, out=out"
        return [
            "",
            f"def {name}({parameters}):",
            f"    return _host.composite({module!r}, {function!r})({passed})",
        ]

    def check(self) -> list[str]:
        """The line that makes the function behind `checks`."""
        name = self.r.call.checks
        if name is None:
            return []
        if name in functions_by_hand("_checks"):
            return [
                "",
                f"def _check_{self.r.key}(*args):",
                f"    _host.checks.{name}({self.r.shown!r}, *args)",
            ]
        return [f"_check_{self.r.key} = {self.compiled(f'rules_common.check_{name}')}"]

    # --- the operation --------------------------------------------------------------------------

    def dims(self) -> tuple[tuple[int, str], ...]:
        """Places of numbers of dimensions, which count from those of the first argument."""
        if not self.r.args or not self.r.args[0].is_tensor:
            return ()
        also = {} if self.kind == "composite" else {"dims": "dims"}
        kinds = ((i, DIMS.get(a.type) or also.get(a.name)) for i, a in enumerate(self.r.args))
        return tuple((i, kind) for i, kind in kinds if kind)

    def operation(self) -> tuple[list[str], dict[str, str]]:
        """Lines of functions, and the fields of the Operation."""
        r, k = self.r, self.r.kernel
        listed = next((i for i, a in enumerate(r.args) if a.type == "Tensor[]"), -1)
        fields = {
            "key": repr(r.key),
            "name": repr(r.shown),
            "event": repr(r.event_name),
            "kernel": f"_kernel_{r.key}",
            **(
                {"flops": f"lambda {', '.join(self.args)}: {r.presentation.flops}"}
                if r.presentation.flops
                else {}
            ),
            "tensors": repr(tuple(i for i, a in enumerate(r.args) if a.is_tensor and i != listed)),
            "n_results": repr(0 if r.returns == ("*",) else len(r.returns)),
            "module": "__name__",
            "node": repr(r.derivatives.node),
        }
        lines = self.kernel()
        if listed >= 0:
            fields["listed"] = repr(listed)
        if self.dims():
            fields["dims"] = repr(self.dims())
        wanted = dtype_check_of(r)
        if wanted is not None:
            places = tuple(self.places[name] for name in wanted.names)
            by_dtype = (
                next((i for i, a in enumerate(r.args) if a.type == "dtype?"), -1)
                if wanted.by_dtype
                else -1
            )
            fields["dtype_check"] = repr(
                (wanted.bits, places, wanted.promoted, by_dtype, r.call.refusal)
            )
        if r.call.widen:
            fields["widen"] = repr((widened_bits(r), r.call.widen[1]))
        if r.call.mutates:
            fields["mutated"] = repr(tuple(self.places[name] for name, _ in r.call.changes))
        if self.kind in ("view", "elementwise") or getattr(k, "lazy", False):
            fields["resolves"] = "False"
        if self.kind in ("view", "elementwise") or getattr(k, "anywhere", False):
            fields["anywhere"] = "True"
        if self.kind == "view":
            fields["view"] = "'several'" if r.derivatives.multi_view else "'one'"
        if r.call.out or r.outs:
            fields["out"] = repr(
                "exact" if r.outs else r.call.out if isinstance(r.call.out, str) else "cast"
            )
            dtype = next((i for i, a in enumerate(r.args) if a.type == "dtype?"), -1)
            if r.call.wide_out and dtype >= 0 and "i" in r.call.dtypes:
                fields["out_dtype"] = repr(dtype)
            elif r.call.wide_out:
                fields["wide"] = "True"
        if self.kind == "elementwise" and k.dtypes == "bool":
            fields["truth"] = "True"
        if self.diff:
            lines += self.derivatives(fields)
        lines += self.batching(fields)
        return lines, fields

    # --- derivatives ----------------------------------------------------------------------------

    def derivatives(self, fields: dict[str, str]) -> list[str]:
        r, plan = self.r, self.plan
        outputs = plan.outputs
        fields["differentiable"] = repr(tuple(self.places[name] for name in self.diff))
        constant = tuple(outputs.index(name) for name in r.derivatives.nondiff_outputs)
        if constant:
            fields["constant"] = repr(constant)
        if r.derivatives.variants:
            tests = (
                f"({name!r}, lambda {self.parameters}: {self.translate(test, self.names)})"
                for name, test in r.derivatives.variants.items()
            )
            fields["variants"] = f"({', '.join(tests)},)"
        numbers = self.number_edges()
        if numbers:
            fields["numbers"] = repr(numbers)
        inputs, results = [], []
        for slot, name in enumerate(plan.slots):
            users = tuple(plan.edges[key] for key in plan.users(name))
            if name in outputs:
                results.append((slot, outputs.index(name), users))
            else:
                inputs.append((slot, self.places[name], plan.edges.get(name, -1), users))
        fields["inputs"], fields["outputs"] = repr(tuple(inputs)), repr(tuple(results))
        fields["saved"] = "(" + "".join(row + ", " for row in self.shown()) + ")"
        saved = [*plan.plain, *plan.metadata]
        lines = []
        if saved:
            texts = ", ".join(self.text_of_saved(what) for what in saved)
            lines += ["", f"def _keep_{r.key}({self.parameters}):", f"    return ({texts},)"]
            fields["keep"] = f"_keep_{r.key}"
        lines += self.vjp(fields, saved)
        return lines + self.jvp(fields)

    def number_edges(self) -> tuple[int, ...]:
        """Edges that are left out for plain numbers, as far as they are the first or last."""
        edges = []
        for name in reversed(self.diff):
            if name not in self.r.derivatives.plain_numbers or self.plan.edges[name] == 0:
                break
            edges.append(self.plan.edges[name])
        return tuple(edges + [0] * (self.diff[0] in self.r.derivatives.plain_numbers))

    def shown(self) -> list[str]:
        """Rows of names, kinds and places of the ``_saved_*`` attributes, as Python text."""
        plan, saved = self.plan, {}
        for slot, name in enumerate(plan.slots):
            saved[name] = ("operand" if self.is_number(name) else "tensor"), slot
        for i, what in enumerate([*plan.plain, *plan.metadata]):
            kind = "object"
            if isinstance(what, tuple):
                word = {"shape": "sym_sizes", "numel": "sym_numel"}.get(what[1], what[1])
                what = f"{what[0]}_{word}"
            elif what in self.args and self.args[what].type in ("dims", "dims?", "correction"):
                kind = "dims" if self.args[what].type != "correction" else "whole"
            saved[what] = kind, i
        for name in plan.shapes_behind():
            saved[f"{name}_sym_sizes"] = "edge", plan.edges[name]

        rows = shown_rows(
            self.r, saved, plan.edges, lambda name, value: f"lambda n: {value}", "_runtime.saved_of"
        )
        return [f"({name!r}, {kind!r}, {where})" for name, (kind, where) in rows.items()]

    def text_of_saved(self, what: str | tuple[str, str]) -> str:
        if isinstance(what, tuple):
            return metadata_of(*what)
        return (
            self.translate(self.r.derivatives.attrs[what], self.names)
            if what in self.r.derivatives.attrs
            else what
        )

    def is_number(self, name: str) -> bool:
        return name in self.r.derivatives.plain_numbers or (
            name in self.args and self.args[name].type == "Scalar"
        )

    def vjp(self, fields: dict[str, str], saved: list) -> list[str]:
        r, plan = self.r, self.plan
        lines, rows, zeros = [], [], set()
        outputs = plan.outputs
        names = {name: f"S[{i}]" for i, name in enumerate(plan.slots)}
        names |= {what: f"K[{i}]" for i, what in enumerate(saved) if isinstance(what, str)}
        metadata = {what: f"K[{i}]" for i, what in enumerate(saved) if isinstance(what, tuple)}
        names["needed"] = "N"
        if r.returns == ("*",):
            names["grads"] = "tuple(G)"
        elif len(outputs) == 1:
            names["grad"] = "G[0]"
        else:
            for i, o in enumerate(outputs):
                names[f"grad_{o}"], names[f"given_{o}"] = f"G[{i}]", f"G[{len(outputs) + i}]"
        for number, (keys, tree) in enumerate(plan.formulas.items()):
            used = plan.uses[keys]
            zeros |= {
                i
                for i, o in enumerate(outputs)
                if f"grad_{o}" in used.values or any(n == f"grad_{o}" for n, _ in used.metadata)
            }
            local = {k: v for k, v in metadata.items() if k[0] not in used.values}
            local |= {
                (n, what): f"{BEHIND[what]}(E, {plan.edges[n]})"
                for n, what in used.metadata
                if (n,) == keys and n not in used.values and not is_gradient(n)
            }
            name = f"_gradient_{number}_{r.key}"
            lines += [
                "",
                f"def {name}(G, S, K, N, E):",
                f"    return {self.translate(tree, names, local)}",
            ]
            slots = tuple(i for i, n in enumerate(plan.slots) if plan.needs(keys, n))
            kind = (
                "joint"
                if len(keys) > 1
                else "list"
                if self.args[keys[0]].type == "Tensor[]"
                else "one"
            )
            rows.append(f"({tuple(plan.edges[k] for k in keys)!r}, {name}, {slots!r}, {kind!r})")
        fields["gradients"] = f"({', '.join(rows)},)"
        if plan.staying:
            fields["stays"] = repr(plan.staying)
        if len(outputs) > 1 and zeros:
            fields["zeros"] = repr(tuple(sorted(zeros)))
        return lines

    def jvp(self, fields: dict[str, str]) -> list[str]:
        r, lines = self.r, []
        outputs = self.plan.outputs
        if r.derivatives.jvp in ("linear", "each"):
            fields["jvp"] = repr(r.derivatives.jvp)
            return lines
        names = {name: f"A[{i}]" for name, i in self.places.items()}
        names |= {f"{name}_t": f"D[{i}]" for i, name in enumerate(self.diff)}
        names |= {o: f"R[{i}]" for i, o in enumerate(outputs)}
        rows = []
        for output, formulas in jvp_formulas(r, self.diff).items():
            parts = []
            for name, tree in formulas.items():
                function = f"_tangent_{output}_{name}_{r.key}"
                lines += [
                    "",
                    f"def {function}(D, A, R):",
                    f"    return {self.translate(tree, names)}",
                ]
                parts.append(f"({self.diff.index(name)}, {function})")
            rows.append(f"({outputs.index(output)}, ({', '.join(parts)},))")
        fields["tangents"] = f"({', '.join(rows)},)"
        return lines

    # --- vmap -----------------------------------------------------------------------------------

    def batching(self, fields: dict[str, str]) -> list[str]:
        r, rule, kind = self.r, self.r.batching.vmap, type(self.r.batching.vmap).__name__
        tensors = tuple(a.name for a in r.args if a.is_tensor)
        if rule in ("elementwise", "dims"):
            fields["batch_rule"] = repr(rule)
            if getattr(r.kernel, "skip_first", False):
                fields["unpromoted"] = repr((self.places[tensors[0]],))
            return []
        if kind == "loop":
            return []
        if kind == "refuse":
            fields["batch_rule"], fields["batch"] = "'refuse'", repr(rule.text)
            return []
        if kind == "by_hand":
            fields["batch_rule"], fields["batch"] = "'function'", self.compiled(rule.target)
            return []
        if kind == "randomly":
            fields["batch_rule"], fields["batch"] = "'random'", repr(rule.draws)
            return []
        table = rule if isinstance(rule, dict) else {tuple(tensors): rule}
        names = {name: f"A[{i}]" for name, i in self.places.items()} | {"B": "B"}
        lines, rows = [], []
        for number, (key, formula) in enumerate(table.items()):
            places = tuple(sorted(self.places[x] for x in names_in_key(key)))
            if type(formula).__name__ == "loop":
                rows.append(f"{places!r}: None")
                continue
            name = f"_batch_{number}_{r.key}"
            lines += ["", f"def {name}(A, B):", f"    return {self.translate(formula, names)}"]
            rows.append(f"{places!r}: {name}")
        fields["batch_rule"], fields["batch"] = "'formulas'", "{" + ", ".join(rows) + "}"
        return lines

    # --- all together ---------------------------------------------------------------------------

    def text(self) -> list[str]:
        """Everything that the Python forms call."""
        r = self.r
        named = [f"{r.symbol}_result = _named_results({r.symbol!r}, {r.returns!r})"] * (
            len(r.returns) > 1 and r.call.named
        )
        if self.kind == "composite":
            names = f"{r.event_name!r} + chr(10) + {r.event_name + '_'!r}"
            # Below 0 with one added for the form in place, too: there are no events.
            number = "-2" if r.silent else f"_recorder._events({names})"
            return [*self.composite(), *self.check(), *named, f"_event_{r.key} = {number}"]
        lines, fields = self.operation()
        body = ", ".join(f"{k}={v}" for k, v in fields.items())
        return [
            *lines,
            *self.check(),
            "",
            f"_operation_{r.key} = _runtime.Operation({body})",
            *named,
            "",
            f"def _each_{r.key}(*args):",
            f"    return _runtime.run_operation(_operation_{r.key}, args)",
            "",
            f"_register_operator({r.key!r}, _each_{r.key})",
        ]


def metadata_of(name: str, what: str) -> str:
    return {
        "shape": f"tuple({name}.shape)",
        "numel": f"{name}.numel()",
        "is_complex": f"{name}.is_complex()",
    }.get(what, f"{name}.{what}")
