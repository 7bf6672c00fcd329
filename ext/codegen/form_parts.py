"""The parts of the forms of an operator: one class for each, with the lines of Cython that it is.

A part that an operator doesn't need has no lines. The forms in operator_forms.py put them in order.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from ext.codegen.formula import FormulaError, parse
from ext.codegen.kernel_runs import checked_shape, has_shape, is_sized
from ext.codegen.lines import indent
from ext.codegen.plan import dtype_check_of, widened_bits
from ext.codegen.vmap_rules import Random, Refused, rule_of
from ext.codegen.vocabulary import arg_type

if TYPE_CHECKING:
    from ext.codegen.node_text import NodeText
    from ext.codegen.operator_base import Operator

RULES = {
    "same": "P_SAME",
    "bool": "P_BOOL",
    "float": "P_FLOAT",
    "real": "P_REAL",
    "complex": "P_COMPLEX",
}
# The function that describes an argument to the recorder, by its C type.
PUT = {
    "Tensor": "put_tensor",
    "Py_ssize_t": "put_int",
    "int": "put_int",
    "double": "put_float",
    "bint": "put_bool",
}
# The function that refuses an operand which shares memory with the result, by its type.
SEPARATE = {"Tensor": "separated", "operand": "separated", "indices": "all_separated"}
# One of millions of results, now and then.
HEED_SIGNALS = ["    if i & 0x3fff == 0x3fff:", "        PyErr_CheckSignals()"]


class Part:
    """Some lines of a form of an operator."""

    def __init__(self, op: Operator, node: NodeText | None):
        self.op, self.r, self.node = op, op.r, node

    def lines(self) -> list[str]:
        raise NotImplementedError


# --- events: see ext/core/recorder.pyx ------------------------------------------------------------


class Event(Part):
    """The event of a call: it begins first, and ends however the function is left."""

    @property
    def silent(self) -> bool:
        """True if there are no events of it."""
        return self.r.silent

    def number(self, form: str) -> str:
        """The number of the event's name."""
        entry, events = (self.op.key, self.r.event_name + form), self.op.events
        if entry not in events:
            events.append(entry)
        return f"E + {events.index(entry)}"

    def begin(self, form: str = "") -> list[str]:
        """The first lines of a form."""
        if self.silent:
            return []
        arguments = f"{self.number(form)}{', ' if self.op.names else ''}{self.op.names}"
        return [
            "cdef Scope seen = NULL",
            "if g_modes & G_PROFILE:",
            f"    seen = seen_{self.op.key}({arguments})",
        ]

    def end(self, call: str) -> list[str]:
        """Lines that end the event before the function returns."""
        return [] if self.silent else ["if seen != NULL:", f"    {call}", "    seen = NULL"]

    def lines(self) -> list[str]:
        """`seen_<key>`: an event begins, with its arguments described. Out of the plain path."""
        if self.silent:
            return []
        params = f", {self.op.params}" if self.op.params else ""
        puts = [f"{PUT.get(arg_type(a.type).c, 'put_object')}({a.name})" for a in self.r.args]
        for i, a in enumerate(self.r.args):
            if a.type == "dtype?":
                puts[i] = f"put_dtype({a.name})"
        return [
            "",
            f"cdef Event* seen_{self.op.key}(int event{params}) noexcept:",
            "    cdef Event* seen = begin_event(event, S_OPERATOR)",
            "    if seen != NULL and details & D_ARGUMENTS:",
            *(f"        {line}" for line in puts),
            "        put_end(seen)",
            *["        seen.bytes_moved = 0"] * (self.op.kind == "view"),
            "    return seen",
        ]


# --- checks ---------------------------------------------------------------------------------------


class CheckDtype(Part):
    """Refuse the dtypes that the record doesn't take; some are converted before."""

    def lines(self) -> list[str]:
        return [*self.conversion(), *self.check()]

    def conversion(self) -> list[str]:
        if not self.r.call.widen:
            return []
        target = self.r.call.widen[1]
        code = {"int64": "DT_I64", "float": "g_default_dtype"}[target]
        return [
            f"if 1 << self.dt & {hex(widened_bits(self.r))}:",
            f"    self = T._to_dtype(self, {code})",
        ]

    def check(self, inplace: bool = False) -> list[str]:
        """The lines that only refuse; `inplace`: the first argument takes the result."""
        wanted = dtype_check_of(self.r)
        if wanted is None:
            return []
        names = wanted.names
        how = f'{hex(wanted.bits)}, "{self.op.shown}", {self.words()}'
        if wanted.promoted and len(names) > 2:
            return [f"check_dtype(common_dtype(({', '.join(names)})), {how})"]
        if wanted.promoted and len(names) == 2:
            truth = self.op.kind == "elementwise" and self.r.kernel.dtypes == "bool"
            kind = 2 if inplace and not truth else 1
            kind = kind if self.op.kind == "elementwise" else 0
            return [f"check_promoted_dtype({', '.join(names)}, {how}, {kind})"]
        # An argument that is computed in another dtype may be of any.
        dtype = "{0}.dt if dtype < 0 else dtype" if wanted.by_dtype else "{0}.dt"
        lines = [f"check_dtype({dtype.format(name)}, {how})" for name in names]
        if not self.rule_first:
            return lines
        codes = " | ".join(f"1 << ({dtype.format(name)})" for name in names)
        plain = f"if not ({self.op.flags()}) & F_BATCHED:"
        rule = [plain, f"    objections_{self.op.key}({self.op.names})"]
        return [f"if ({codes}) & ~{hex(wanted.bits)}:", *indent([*rule, *lines])]

    @property
    def rule_first(self) -> bool:
        """True if the shape rule speaks before the dtype, as in torch."""
        if set("bihfc") <= set(self.r.call.dtypes):
            return False  # all but the unsigned integers, which few operators compute in
        if isinstance(self.r.call.refusal, str):
            return False  # words that torch has for all dtypes come first
        return has_shape(self.r) and not (is_sized(self.r) or self.r.kernel.draws)

    def function(self) -> list[str]:
        """`objections_<key>`: what the shape rule refuses, called where the dtype is refused; and the
        table of words."""
        wanted = dtype_check_of(self.r)
        if wanted is None:
            return []
        words = self.r.call.refusal
        # Once for the module: a call must not make it anew.
        table = ["", f"cdef object {self.words()} = {words!r}"] * isinstance(words, dict)
        if wanted.promoted or not self.rule_first:
            return table
        declared = [f"cdef Result[{len(self.r.returns)}] results"] * bool(self.r.returns)
        rule = checked_shape(self.r, self.op.shown, self.op.imports)
        head = f"cdef int objections_{self.op.key}({self.op.params}) except -1:"
        return [*table, "", head, *indent([*declared, *rule, "return 0"])]

    def words(self) -> str:
        """Return the words of a refusal, or the name of the table of those for each dtype."""
        words = self.r.call.refusal
        return f"refusal_{self.op.key}" if isinstance(words, dict) else repr(words)


class CheckDevice(Part):
    """Refuse tensors of other devices where only the CPU has an implementation."""

    def lines(self) -> list[str]:
        if self.op.kind != "call" or has_shape(self.r) or self.r.kernel.anywhere:
            return []
        return ["if flags & F_DEVICE:", f'    refuse_device({self.op.every}, "{self.op.shown}")']


class CheckTangent(Part):
    """Refuse tangents where zero would be taken for the derivative."""

    def lines(self) -> list[str]:
        if not getattr(self.r.derivatives.vjp, "refuse_tangents", False):
            return []
        return [
            "if flags & (F_DUAL | F_VIEW) and g_modes & G_FORWARD:",
            f'    refuse_tangent({self.op.every}, "{self.op.shown}")',
        ]


# --- the computation ------------------------------------------------------------------------------


class KernelCall:
    """The call of the kernel, or of the function that checks shapes and calls it."""

    def __init__(self, op: Operator):
        self.op, self.r = op, op.r

    def expression(self, out: str = "None", resolving: bool = False, inplace: bool = False) -> str:
        if has_shape(self.r):
            return self.run(out, resolving, inplace)
        if self.op.kind == "elementwise":
            return self.elementwise(out)
        module, _, function = self.r.kernel.target.partition(".")
        self.op.imports.setdefault(module, set()).add(function)
        names = self.r.kernel.args
        names = [a.name for a in self.r.args] if names is None else names
        if resolving:
            names = [self.op.resolved(name) for name in names]
        if self.writes_out:
            names = [*names, out]
        return f"{module}_{function}({', '.join(names)})"

    def run(self, out: str, resolving: bool, inplace: bool) -> str:
        names = [self.op.resolved(a.name) if resolving else a.name for a in self.r.args]
        flags = "flags" if out == "None" or self.op.multi else f"flags | {out}.flags"
        return f"run_{self.op.key}({', '.join([*names, flags, out, str(inplace)])})"

    def elementwise(self, out: str) -> str:
        kernel = self.r.kernel
        operands = kernel.args or tuple(a.name for a in self.r.args if a.is_tensor)
        rule = " | ".join(RULES[word] for word in kernel.rules)
        rule += " | P_SKIP_FIRST" if kernel.skip_first else ""
        few = len(operands) <= 3
        driver = f"ew{len(operands)}" if few else "ewn"
        listed = ", ".join(operands) if few else f"({', '.join(operands)})"
        number = f"K_{kernel.name.upper()}"
        return f'{driver}({number}, {listed}, {rule}, {out}, "{self.op.shown}")'

    @property
    def writes_out(self) -> bool:
        """True if the function of a `call` without a shape rule takes ``out``."""
        return self.op.kind == "call" and self.r.kernel.into

    def result_dtype(self) -> str | None:
        """The code of the dtype that an elementwise kernel gives; None if only its result says."""
        kernel = self.r.kernel
        known = ("same", "real", "bool", "complex")
        if self.op.kind != "elementwise" or kernel.dtypes not in known:
            return None
        if kernel.dtypes == "bool":
            return "DT_BOOL"
        names = [a.name for a in self.r.args if a.type in ("Tensor", "operand")]
        names = names[int(kernel.skip_first) :]
        code = f"{names[0]}.dt" if len(names) == 1 else f"common_dtype(({', '.join(names)}))"
        wrap = {"real": "dt_real", "complex": "dt_to_complex"}.get(kernel.dtypes)
        return f"{wrap}({code})" if wrap else code

    def check_memory(self, target: str, form: str = "") -> list[str]:
        """Lines that refuse operands in the memory of which the kernel writes some places only."""
        if not self.r.kernel.places:
            return []
        return [
            f'{a.name} = {SEPARATE[a.type]}({target}, {a.name}, "{self.op.shown}{form}")'
            for a in self.r.args
            if a.name != self.r.kernel.over and a.type in SEPARATE
        ]


class Compute(Part):
    """Compute the result, of batched tensors by the vmap rule."""

    def lines(self) -> list[str]:
        kernel, batching = KernelCall(self.op), rule_of(self.op)
        resolves = self.op.resolves
        batch = [f"result = {batching.call}"]
        if isinstance(batching, Random):
            return [
                "if flags & F_BATCHED or vmap_level():",
                *indent(batch),
                "else:",
                f"    result = {kernel.expression(resolving=resolves)}",
            ]
        if resolves:
            batch = [
                "if flags & F_BATCHED:",
                *indent(batch),
                "else:",
                f"    result = {kernel.expression(resolving=True)}",
            ]
        return [
            f"if flags & {'F_LAYERED' if resolves else 'F_BATCHED'}:",
            *indent(batch),
            "else:",
            f"    result = {kernel.expression()}",
        ]


class BeginChange(Part):
    """Check the arguments that the kernel changes, before it does."""

    def lines(self) -> list[str]:
        if not self.r.call.mutates:
            return []
        lines, batching = [], rule_of(self.op)
        if isinstance(batching, Refused):
            lines = ["if flags & F_BATCHED:", f"    {batching.call}"]
        batched = f"{self.op.every} if flags & F_BATCHED else ()"
        return [
            *lines,
            f"cdef tuple changed = {self.op.changed}",
            f'before_change(changed, {batched}, flags, "{self.op.shown}")',
        ]


class EndChange(Part):
    """Raise the versions of the arguments that the kernel has changed."""

    def lines(self) -> list[str]:
        if not self.r.call.mutates:
            return []
        return [f'after_change(changed, "{self.r.derivatives.node}")']


class Composite(Part):
    """The computation of an operator that is made of others: a function or a formula."""

    @property
    def formula(self) -> str:
        return self.r.kernel.formula

    @property
    def by_function(self) -> bool:
        return "(" not in self.formula

    def function(self) -> str:
        """The function that a composite is, by its name in the generated module."""
        family, _, function = self.formula.partition(".")
        if family != self.r.file:
            raise FormulaError(
                f"{self.op.key}: a composite of the family {self.r.file} is in "
                f"{self.r.file}_composites, not of {family!r}"
            )
        self.op.imports.setdefault(f"{family}_composites", set()).add(function)
        return f"{family}_composites_{function}"

    def lines(self) -> list[str]:
        """The result is returned as it is."""
        if self.by_function:
            none = ", None" if self.r.kernel.into else ""
            return [f"return {self.function()}({self.op.names}{none})"]
        return [f"return {self.emit(parse(self.formula))[0]}"]

    def emit(self, tree: ast.expr) -> tuple[str, str]:
        return self.op.emitter(self.op.arg_names(), self.op.plain_metadata).emit(tree)

    def last_step(self, form: str, tree: ast.expr | None = None) -> str | None:
        """The formula with its last step in another form; None if it has none."""
        tree = parse(self.formula) if tree is None else tree
        if isinstance(tree, ast.IfExp):
            first, second = self.last_step(form, tree.body), self.last_step(form, tree.orelse)
            if first is None or second is None:
                return None
            return f"({first} if {self.emit(tree.test)[0]} else {second})"
        text, kind = self.emit(tree)
        call = re.fullmatch(r"T\.(\w+)\((.*)\)", text, re.S) if kind == "T" else None
        if call is None:
            return None
        record = next(r for rs in self.op.records.values() for r in rs if r.key == call[1])
        if form == "out":
            out, same = self.r.call.out, getattr(record.kernel, "dtypes", None) == "same"
            fits = record.call.out == out or (out == "exact" and same)
            fits = fits and record.call.wide_out == self.r.call.wide_out
            return f"T.{call[1]}_out({call[2]}, out)" if fits else None
        fits = record.call.inplace and re.match(r"self\b(?=,|$)", call[2])
        return f"T.{call[1]}_({call[2]})" if fits else None

    def in_place(self) -> list[str]:
        """Lines that let the function write to `self`, where nothing is recorded."""
        if not self.r.kernel.into:
            return []
        return [
            "if not (flags & (F_LAYERED | F_DUAL) or (flags & F_VIEW and g_modes & G_FORWARD)",
            "        or (flags & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD))):",
            f'    check_inplace(self, "{self.op.shown}_", False)',
            f"    if {self.function()}({self.op.names}, self) is self:",
            "        return self",
        ]


# --- the result -----------------------------------------------------------------------------------


class View(Part):
    """Make the results views of the first argument."""

    def lines(self) -> list[str]:
        if self.op.kind != "view":
            return []
        base = self.r.args[0].name
        multi = self.r.derivatives.multi_view
        creation = "CREATED_MULTI_OUTPUT" if multi else "CREATED_DEFAULT"
        if self.op.many:
            return [
                "for i in range(len(result)):",
                *HEED_SIGNALS,
                f"    set_view(<Tensor>result[i], {base}, {creation})",
            ]
        return [
            f"if result.base == NULL and result is not {base}:",
            f"    set_view(result, {base}, {creation})",
        ]


class History(Part):
    """Record the call: the node becomes the history of the results."""

    def lines(self) -> list[str]:
        if self.node is None:
            return []
        lines = self.node_of_results()
        if not self.node.slots:
            lines += ["if seen != NULL:", "    note_node(seen, n)"]
        return [f"if flags & F_GRAD_PATH and {self.test()}:", *indent(lines)]

    def test(self) -> str:
        """The test for a call that is recorded."""
        text = f"not (tls_modes() & M_NO_GRAD) and ({self.op.recording()})"
        if not self.op.multi and not self.op.many:
            text += " and dt_differentiable(result.dt)"
        if self.op.kind == "view":  # nothing is tracked for its views
            text += f" and not ({self.r.args[0].name}.flags & F_INFERENCE)"
        return text

    def node_of_results(self) -> list[str]:
        key, names = self.op.key, self.op.names
        if self.op.many:
            return [
                f"n = node_{key}({names}, False, len(result))",
                "for i in range(len(result)):",
                *HEED_SIGNALS,
                "    set_history(<Tensor>result[i], n, <int>i)",
            ]
        lines = [f"n = node_{key}({names}, False)"]
        if not self.op.multi:
            return [*lines, "set_history(result, n, 0)"]
        for i, output in enumerate(self.r.returns):
            if output not in self.r.derivatives.nondiff_outputs:
                lines.append(f"set_history(<Tensor>result[{i}], n, {i})")
        return lines


class Tangent(Part):
    """Give the results their tangents."""

    def lines(self) -> list[str]:
        if self.node is None:
            return []
        return [
            "if flags & (F_DUAL | F_VIEW) and g_modes & G_FORWARD:",
            f"    tangent_{self.op.key}(result, {self.op.names})",
        ]


class SaveResults(Part):
    """Save the results that gradients use, with their tangents, computed from recorded results."""

    def lines(self) -> list[str]:
        if self.node is None or self.op.many:
            return []
        save = self.node.save_results(self.result)
        return ["if n is not None:", *indent(save)] if save else []

    def result(self, output: str) -> str:
        """The text of one result."""
        return f"<Tensor>result[{self.r.returns.index(output)}]" if self.op.multi else "result"
