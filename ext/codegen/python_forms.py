"""Write the Python functions around the operators: argument checks, overloads, docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from ext.codegen.argument_kinds import calls_of, is_plain, kind_of
from ext.codegen.formula import FormulaError
from ext.codegen.kernel_runs import has_shape
from ext.codegen.lines import indent
from ext.codegen.vocabulary import arg_type, text_of_parameter

if TYPE_CHECKING:
    from autograd_cy.ops._schema import Arg

Pairs: TypeAlias = "Sequence[tuple[str, str]]"

# Python operators: slot of Upcalls.binary / .unary, and whether there is an in-place one.
BINARY_SLOTS = {
    "add": "ADD",
    "sub": "SUB",
    "mul": "MUL",
    "div": "DIV",
    "floordiv": "FLOORDIV",
    "mod": "MOD",
    "pow": "POW",
    "matmul": "MATMUL",
    "and": "AND",
    "or": "OR",
    "xor": "XOR",
    "lshift": "LSHIFT",
    "rshift": "RSHIFT",
    "lt": "LT",
    "le": "LE",
    "gt": "GT",
    "ge": "GE",
    "eq": "EQ",
    "ne": "NE",
}
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")  # no `a <= b` changes a
NUL = "\\000"
METHODS = {"div": "truediv"}  # where the special method has another name
UNARY_SLOTS = {"neg": "NEG", "pos": "POS", "invert": "INVERT", "abs": "ABS"}


def python_name(a: Arg, position: int) -> str:
    """Return the name that users give an argument."""
    return "input" if a.name == "self" else a.name


def with_public_names(text: str) -> str:
    """A text of a record with the name that users know of what the table calls `self`."""
    return re.sub(r"\bself\b", "input", text)


def docstring(r: Any, extra: Pairs = (), others: Sequence[Any] = ()) -> list[str]:
    """numpydoc text of a record; `others` are overloads, with parameters of their own."""
    first, *rest = r.presentation.doc.split("\n")
    lines = [first]
    if rest:
        lines += [""] + [x for x in rest if x.strip()]
    lines += ["", "Parameters", "----------", *parameters_text(r, extra, others)]
    outs = {"result": "Tensor", "*": "tuple of Tensors"}
    lines += ["", "Returns", "-------"] if r.returns else []
    if len(r.returns) > 1:
        lines += [f"{o} : Tensor" for o in r.returns]
    elif r.returns:
        lines.append(outs.get(r.returns[0], "Tensor"))
    if r.presentation.raises:
        texts = (x for error, when in r.presentation.raises for x in (error, f"    {when}"))
        lines += ["", "Raises", "------", *texts]
    if notes := gradients_text(r):
        lines += ["", "Notes", "-----", notes]
    lines = [with_public_names(line) for line in lines]
    if r.presentation.example:
        session = r.presentation.example.splitlines()
        lines += ["", "Examples", "--------", ">>> import autograd_cy as ag", *session]
    return lines


def parameters_text(r: Any, extra: Pairs, others: Sequence[Any]) -> list[str]:
    """The parameters of a record, of its overloads and of the Python forms alone."""
    lines, params = [], r.presentation.params
    for i, a in enumerate(r.args):
        kind = arg_type(a.type).text
        if a.default is not None and "optional" not in kind:
            kind += f", default {a.default}"
        lines.append(f"{python_name(a, i)} : {kind}")
        if a.name in params:
            lines.append(f"    {params[a.name]}")
    known = {a.name for a in r.args} | {name for name, _ in extra}
    for other in others:
        for i, a in enumerate(other.args):
            if a.name not in known:
                known.add(a.name)
                text = other.presentation.params.get(a.name, "")
                lines.append(f"{python_name(a, i)} : {arg_type(a.type).text}")
                lines.append(f"    {text}".rstrip())
    for name, kind in extra:
        lines.append(f"{name} : {kind}")
        if text := params.get(name) or text_of_parameter(name, ""):
            lines.append(f"    {text}")
    return lines


def gradients_text(r: Any) -> str:
    """The note on gradients: the formulas, or the reason why there is none."""
    vjp = r.derivatives.vjp
    if isinstance(vjp, dict):
        formulas = (
            f"``{', '.join(names)}``: ``{' '.join(formula.split())}``"
            for names, formula in r.derivatives.joint.items()
        )
        return f"Gradients: {'; '.join(formulas)}."
    return f"Not differentiable: {vjp.reason}." if type(vjp).__name__ == "nondiff" else ""


# --- the text that the binder reads (Note [Forms] in ext/core/forms.pyx) ---------------------------


def options_of(r: Any) -> Pairs:
    """(name, text of the kind and default) of parameters that are no arguments of the record."""
    options = [(a.name, f"{kind_text(r, a, 0)} {a.name}={a.default}") for a, _ in r.call.options]
    return options + ([("alpha", "object alpha=1")] if r.call.alpha else [])


def kind_text(r: Any, a: Arg, position: int, optional: bool = False) -> str:
    """Return the text of an argument's kind, for the binder."""
    kind = arg_type(a.type)
    if kind.converter is None and not r.name.startswith("_"):
        raise FormulaError(f"{r.key}: argument {a.name!r} says nothing about what it takes")
    text = kind_of(kind.converter) + "?" * (kind.optional or optional)
    if kind.words:
        text += ":" + ",".join(kind.words)
    return f"{text}@{position}" if position else text


def row(r: Any, form: str = "", alone: bool = False) -> str:
    """The line of a Python form, or with "_" of an in-place one; `alone` if it is the only one."""
    head = [r.name + form]
    if not alone:
        head.append(f"key={r.key}{form}")
    shown = r.said + form
    if shown != head[0]:
        head.append(f"as={shown}")
    if is_plain(r):
        head.append(f"calls={calls_of(r)}")
    if not form and [a.type for a in r.args[:2]] == ["operand"] * 2:
        head.append("lone" if r.call.two_numbers else "numbers")
    if separate_sizes(r) is not None and not form:
        head.append("spread")
    if r.call.autocast and not form:
        head.append(f"autocast={r.call.autocast}")
    cells = []
    for i, a in enumerate(r.args):
        # In-place forms are methods, whose arguments count from the one after the tensor.
        position = 0 if a.keyword else i + 1 if r.call.function and form != "_" else i
        default = "None" if r.call.alone and i else a.default
        cell = kind_text(r, a, position, bool(r.call.alone and i))
        if form and i == 0:
            cell = f"tensor@{int(r.call.function)}"
        cell += f" {python_name(a, i)}"
        cells.append(cell if default is None else f"{cell}={default.replace('; ', ';')}")
    cells.insert(sum(not a.keyword for a in r.args), "*")
    cells.append("+")
    cells += [text for _, text in options_of(r)]
    if not form and r.call.out:
        cells.append("tensor? out=None")
    elif not form and r.outs:
        cells.append("object out=None")
    while cells[-1] in "*+":
        cells.pop()
    return "; ".join([*(" ".join(head),), *cells])


# --- the C functions behind the forms --------------------------------------------------------------


class Body:
    """The C function that gets the values of a call."""

    def __init__(self, r: Any, form: str, table: Mapping[str, Any]):
        self.r, self.form, self.table = r, form, table
        self.name = f"form_{r.key}{form}"
        options = [name for name, _ in options_of(r)]
        self.places = {name: len(r.args) + k for k, name in enumerate([*options, "out"])}
        self.named = bool(
            r.call.alpha or r.call.checks or r.call.options or r.call.alone
        )  # more than one use
        texts = [self.value(arg_type(a.type).c, i) for i, a in enumerate(r.args)]
        self.texts = texts
        self.names = ", ".join(f"v_{a.name}" for a in r.args) if self.named else ", ".join(texts)

    @staticmethod
    def value(c: str, place: int) -> str:
        """The text of a value of the C type."""
        if c in ("Py_ssize_t", "int", "bint"):
            return f"v[{place}].i" if c == "Py_ssize_t" else f"<{c}>v[{place}].i"
        return f"v[{place}].d" if c == "double" else f"<{c}>v[{place}].o"

    def out(self, key: str, names: str) -> list[str]:
        """Lines that write to ``out=``, if it was given."""
        place = self.places["out"]
        return [
            f"if v[{place}].o != NONE:",
            f"    return c_{key}_out({names}, <Tensor>v[{place}].o)",
        ]

    def lines(self) -> list[str]:
        r, names, form = self.r, self.names, self.form
        lines = []
        if self.named:
            for a, text in zip(r.args, self.texts):
                lines.append(f"cdef {arg_type(a.type).c} v_{a.name} = {text}")
        if r.call.alone:
            lines += self.alone()
        if r.call.checks:
            lines.append(f"check_{r.call.checks}({names})")
        lines += self.options() + self.alpha()
        call = f"c_{r.key}{form}({names})"
        if not form and r.call.out:
            lines += self.out(r.key, names)
        elif not form and r.outs:
            written = f'write_outs(out, {call}, "{r.shown}")'
            if has_shape(r):
                written = f"c_{r.key}_outs({names}, out)"
            lines += [
                "cdef tuple out",
                f"if v[{self.places['out']}].o != NONE:",
                f"    out = outs_arg(<object>v[{self.places['out']}].o, {len(r.returns)}, "
                f'(<Tensor>v[0].o).flags, "{r.shown}")',
                f"    return {r.symbol}_result(*{written})",
            ]
        if not form and len(r.returns) > 1 and r.call.named:
            call = f"{r.symbol}_result(*{call})"
        lines.append(f"return {call}")
        return ["", f"cdef object {self.name}(Value* v):", *indent(lines)]

    def options(self) -> list[str]:
        """Write the calls of options: another record is called with the value as last argument."""
        r, lines = self.r, []
        for a, key in r.call.options:
            c, place = arg_type(a.type).c, self.places[a.name]
            member = {"Py_ssize_t": "i", "bint": "i", "double": "d"}.get(c, "o")
            default = {"None": "NONE", "False": "0"}.get(a.default, a.default)
            names = f"{self.names}, {self.value(c, place)}"
            lines.append(f"if v[{place}].{member} != {default}:")
            if r.call.out and not self.form and self.table[key].call.out:
                lines += indent(self.out(key, names))
            elif r.call.out and not self.form:
                text = f"{r.shown}() takes no out= with {a.name}=; leave one of them out"
                lines += [
                    f"    if v[{self.places['out']}].o != NONE:",
                    f'        raise RuntimeError("{text}")',
                ]
            lines.append(f"    return c_{key}{self.form}({names})")
        return lines

    def alone(self) -> list[str]:
        """Write the call of the record that is meant if only the first argument is given."""
        r = self.r
        others = [(i, a) for i, a in enumerate(r.args) if i]
        nothing = " and ".join(f"v_{a.name} is None" for _, a in others)
        lines = [
            f"if {nothing} and v[{self.places['out']}].o == NONE:",
            f"    return T.{r.call.alone}(v_{r.args[0].name}, True)",
        ]
        for i, a in others:
            shown = python_name(a, i)
            refuse = f'operand_arg(None, "{r.name}", "{shown}", {i + int(r.call.function)})'
            lines += [f"if v_{a.name} is None:", f"    {refuse}"]
        return lines

    def alpha(self) -> list[str]:
        """Write the use of ``alpha=``: a factor of the last tensor, or a record that takes it
        along."""
        r = self.r
        if not r.call.alpha:
            return []
        last = r.tensor_args[-1].name
        # Other ones, 1.0 or True, are looked at: not every dtype goes with them.
        other = "alpha is True" if r.call.alpha is True else "type(alpha) is not int"
        test = f"if v[{self.places['alpha']}].o != <PyObject*>ONE and ({other} or alpha != 1):"
        lines = [f"cdef object alpha = <object>v[{self.places['alpha']}].o"]
        if r.call.alpha is True:
            factor = f'alpha_arg(alpha, "{r.name}", v_self, v_{last}, True)'
            return [
                *lines,
                test,
                *indent(self.apart(last)),
                f"    v_{last} = T.mul(v_{last}, {factor})",
            ]
        key = r.call.alpha.removeprefix("-")
        factor = "alpha" if key == r.call.alpha else "alpha if isinstance(alpha, bool) else -alpha"
        lines += [
            "cdef Tensor factor",
            test,
            f'    factor = alpha_arg({factor}, "{r.name}", v_self, v_{last}, False)',
            "    if factor.dt == DT_BOOL:",
            f"        v_{last} = T.mul(v_{last}, factor)",
            "    else:",
        ]
        names = f"v_self, v_{last}, factor"
        if not self.form:
            lines += indent(self.out(key, names), 8)
        return [*lines, f"        return c_{key}{self.form}({names})"]

    def apart(self, name: str) -> list[str]:
        """Lines that refuse an operand before a product of it is in memory of its own."""
        if not self.r.kernel.places:
            return []
        if self.form:
            return [f'v_{name} = separated(v_self, v_{name}, "{self.r.shown}{self.form}")']
        out = f"v[{self.places['out']}].o"
        return [
            f"if {out} != NONE:",
            f'    v_{name} = separated(<Tensor>{out}, v_{name}, "{self.r.shown}")',
        ]


def separate_sizes(r: Any) -> str | None:
    """The name of a last argument whose ints may be given one by one, or None."""
    a = r.args[-1] if r.args else None
    if (
        a is None
        or a.type not in ("sizes", "dims", "dims?")
        or len(r.args) != 2
        or a.default not in (None, "None")
    ):
        return None
    return python_name(a, 1)


WHEN = (
    (r"len\(args\)", "g.n"),
    (r"len\(kwargs\)", "named_count(g)"),
    (r"('\w+') in kwargs", r"has_named(g, \1)"),
    (r"\bkwargs\b", "named_count(g)"),
    (r"\bargs\[(\d)\]", r"(<object>g.args[\1])"),
)


def choice(name: str, group: Sequence[Any]) -> list[str]:
    """The function that chooses among the signatures of an overloaded name: the first whose `when`
    holds."""
    lines = ["", f"cdef int which_{name}(CallArguments* g) except -1:"]
    for k, r in enumerate(group):
        if r.call.when is not None:
            test = r.call.when
            for pattern, text in WHEN:
                test = re.sub(pattern, text, test)
            lines += [f"    if {test}:", f"        return {k}"]
    default = next(k for k, r in enumerate(group) if r.call.when is None)
    return [*lines, f"    return {default}"]


@dataclass
class Forms:
    """
    The Python forms of a module: lines for the binder, documents, C functions.

    `table` has all records by their keys.
    """

    table: Mapping[str, Any]
    rows: list[str] = field(default_factory=list)
    docs: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def add(self, name: str, group: Sequence[Any], form: str = "") -> None:
        """A form of one or several records."""
        for k, r in enumerate(group):
            self.rows.append("| " * (k > 0) + row(r, form, len(group) == 1))
            if is_plain(r):
                self.bodies.append(f"c_{r.key}{form}")
                if r.call.out and not form:
                    self.rows.append(">")
                    self.bodies.append(f"c_{r.key}_out")
                if not (r.call.options or r.call.alpha):
                    continue
                self.rows.append(":")
            body = Body(r, form, self.table)
            self.bodies.append(body.name)
            self.lines += body.lines()
        if len(group) > 1:
            if not form:
                self.lines += choice(name, group)
            self.rows.append("?")
            self.bodies.append(f"which_{name}")
        # Those of in-place forms are made when somebody asks (in_place_texts.py).
        self.docs.append("" if form else self.document(name, group))

    @staticmethod
    def document(name: str, group: Sequence[Any]) -> str:
        if name.startswith("_"):
            return group[0].presentation.doc.split("\n")[0]
        shown = {
            "alpha": "Number, default 1",
            "out": "tuple of Tensors, optional" if group[0].outs else "Tensor, optional",
        }
        shown |= {
            a.name: f"{arg_type(a.type).text}, default {a.default}"
            for a, _ in group[0].call.options
        }
        if len(group) > 1:
            lines = docstring(group[0], others=group[1:])
            for r in group[1:]:
                parameters = ", ".join(
                    python_name(a, i) + ("" if a.default is None else f"={a.default}")
                    for i, a in enumerate(r.args)
                )
                lines += [
                    "",
                    f"**{name}({parameters})**: {with_public_names(r.presentation.doc.splitlines()[0])}",
                ]
        else:
            r = group[0]
            names = [n for n, _ in options_of(r)] + ["out"] * bool(r.call.out or r.outs)
            lines = docstring(r, [(n, shown[n]) for n in names])
        return "\n".join(lines) + "\n"

    def creation(self) -> list[str]:
        """Lines that make them when the module is loaded."""
        if not self.rows:
            return []
        return [
            f"cdef void* _bodies[{len(self.bodies)}]",
            *(f"_bodies[{i}] = <void*>{name}" for i, name in enumerate(self.bodies)),
            "cdef const char* _rows = (",
            *(f"    b{literal(text)}" for text in self.rows),
            ")",
            "cdef const char* _docs = (",
            *(f"    b{literal(text, NUL)}" for text in self.docs),
            ")",
            "cdef dict FORMS = make_forms(globals(), _rows, _docs, _bodies)",
        ]


_KNOWN = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
_ESCAPED = [
    _KNOWN.get(chr(byte)) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
    for byte in range(256)
]


def literal(text: str, end: str = "\\n") -> str:
    """The text of a C string, as Cython writes it; `end` is an escape sequence."""
    return '"' + "".join(map(_ESCAPED.__getitem__, text.encode())) + end + '"'


def dunder_forms(r: Any) -> tuple[list[str], list[str]]:
    """The functions behind Python operators, and the lines that register them."""
    lines, register = [], []
    if r.call.dunder in BINARY_SLOTS:
        slot = BINARY_SLOTS[r.call.dunder]
        # What takes no numbers leaves them to Python, whose error names both types.
        known = (
            "{0} if isinstance({0}, Tensor) else None"
            if r.args[1].type == "Tensor"
            else "foreign_operand({0})"
        )
        # A number, which isn't its tensor, and a plain tensor cost a comparison of pointers each.
        overrides = "({1} is {0} and type({0}) is not Tensor and overriding(<PyObject*>{0}))"
        check = [f"    check_{r.call.checks}(x, y)"] if r.call.checks else []
        shown = f"Tensor.{r.name}" if r.call.method and r.call.function else r.name
        lines += [
            "",
            f"cdef object dunder_{r.call.dunder}(object a, object b):",
            f"    cdef Tensor x = {known.format('a')}",
            "    cdef Tensor y",
            "    if x is None:",
            f'        return answer(FORMS["{shown}"], B_{slot}, a, b)',
            f"    y = {known.format('b')}",
            f"    if y is None or {overrides.format('a', 'x')} or {overrides.format('b', 'y')}:",
            f'        return answer(FORMS["{shown}"], B_{slot}, a, b)',
            *check,
            f"    return c_{r.key}(x, y)",
        ]
        register.append(f"upcalls.binary[B_{slot}] = dunder_{r.call.dunder}")
        if r.call.inplace and r.call.dunder not in COMPARISONS:
            lines += [
                "",
                f"cdef object dunder_i{r.call.dunder}(object a, object b):",
                "    cdef Tensor x = <Tensor>a",
                "    cdef Tensor y = foreign_operand(b)",
                "    if y is None or overriding(<PyObject*>b):",
                f'        return answer(FORMS["{r.name}_"], B_I{slot}, a, b)',
                *check,
                f"    return c_{r.key}_(x, y)",
            ]
            register.append(f"upcalls.binary[B_I{slot}] = dunder_i{r.call.dunder}")
    elif r.call.dunder in UNARY_SLOTS:
        lines += ["", f"cdef object dunder_{r.call.dunder}(Tensor a):", f"    return c_{r.key}(a)"]
        register.append(f"upcalls.unary[U_{UNARY_SLOTS[r.call.dunder]}] = dunder_{r.call.dunder}")
    return lines, register


def operator_methods(r: Any) -> list[str]:
    """The special methods of Python that a record stands for: forward, reflected, in place."""
    name = METHODS.get(r.call.dunder, r.call.dunder)
    if (
        r.call.dunder in UNARY_SLOTS or r.call.dunder in COMPARISONS
    ):  # the mirror of < is another operator
        return [f"__{name}__"]
    return [f"__{name}__", f"__r{name}__"] + [f"__i{name}__"] * r.call.inplace


def dispatched_operators(families: Mapping[str, Iterable[Any]]) -> str:
    """
    The .pxi that says what function of Tensor classes and modes are shown for an operator of
    Python: by special method, and by slot.

    If a record doesn't say it (`dispatched_as`), that is the record's for the operator, the one in
    place for the operator in place, and the special method itself for the reflected operator.
    """
    methods, reflected, by_slot, used = [], [], [], []
    for r in (r for records in families.values() for r in records if r.call.dunder):
        names = operator_methods(r)
        shown = dict(zip(names, (r.name, names[1] if len(names) > 1 else "", f"{r.name}_")))
        if not r.call.dispatched_as.keys() <= shown.keys():
            raise FormulaError(f"{r.key}: dispatched_as= is about {', '.join(names)}")
        shown |= r.call.dispatched_as
        binary = r.call.dunder in BINARY_SLOTS
        kind = "BINARY" if binary else "UNARY"
        methods += [f'{kind}_DISPATCHED["{m}"] = "{name}"' for m, name in shown.items()]
        slot = f"B_{BINARY_SLOTS[r.call.dunder]}" if binary else f"U_{UNARY_SLOTS[r.call.dunder]}"
        used.append(slot)
        by_slot.append(f'{kind}_SHOWN[{slot}] = "{shown[names[0]]}"')
        if len(names) > 1:
            reflected.append(f'FORWARD["{names[1]}"] = "{names[0]}"')
            by_slot.append(f'REFLECTED_SHOWN[{slot}] = "{shown[names[1]]}"')
        if len(names) > 2:
            used.append(f"B_I{BINARY_SLOTS[r.call.dunder]}")
            by_slot.append(f'BINARY_SHOWN[{used[-1]}] = "{shown[names[2]]}"')
    head = [
        "# Generated by ext/codegen/python_forms.py from the records.",
        f"from autograd_cy._C.tensor cimport {', '.join(['B_COUNT', 'U_COUNT', *used])}",
        "",
        "cdef dict BINARY_DISPATCHED = {}     # special method -> the function that is shown",
        "cdef dict UNARY_DISPATCHED = {}",
        "cdef dict FORWARD = {}          # reflected special method -> the one it mirrors",
        "cdef list BINARY_SHOWN = [None] * B_COUNT",
        "cdef list REFLECTED_SHOWN = [None] * B_COUNT     # where the left operand is no tensor",
        "cdef list UNARY_SHOWN = [None] * U_COUNT",
    ]
    return "\n".join([*head, *methods, *reflected, *by_slot, ""])


def operator_names(families: Mapping[str, Iterable[Any]]) -> str:
    """The .pxi that says what the operators of Python stand for, by their slots."""
    lines, used = [], []
    for r in (r for records in families.values() for r in records):
        if r.call.dunder in UNARY_SLOTS:
            used.append(f"U_{UNARY_SLOTS[r.call.dunder]}")
            lines.append(f'UNARY[{used[-1]}] = "{r.name}"')
        elif r.call.dunder in BINARY_SLOTS:
            slot = BINARY_SLOTS[r.call.dunder]
            for form in ("", "_") if r.call.inplace and r.call.dunder not in COMPARISONS else ("",):
                used.append(f"B_{'I' * bool(form)}{slot}")
                lines.append(f'BINARY[{used[-1]}] = "{r.name}{form}"')
    head = [
        "# Generated by ext/codegen/python_forms.py from the records.",
        f"from autograd_cy._C.tensor cimport {', '.join(['B_COUNT', 'U_COUNT', *used])}",
        "",
        "cdef list BINARY = [None] * B_COUNT",
        "cdef list UNARY = [None] * U_COUNT",
    ]
    return "\n".join([*head, *lines, ""])
