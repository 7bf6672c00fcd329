"""Writes the Python functions around the operators: argument checks, overloads, docstrings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ext.codegen.formula import FormulaError, c_default
from ext.codegen.kernel_runs import has_shape
from ext.codegen.vocabulary import arg_type, text_of

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
UNARY_SLOTS = {"neg": "NEG", "pos": "POS", "invert": "INVERT", "abs": "ABS"}
# Converters with an inline form for the usual values (see arguments.pxd).
QUICK = {f"{kind}_arg": f"quick_{kind}" for kind in ("tensor", "bool", "int", "dim", "dtype")}


def python_name(a: Arg, position: int) -> str:
    """What users call an argument."""
    return "input" if a.name == "self" else a.name


def docstring(r: Any, extra: Pairs = (), others: Sequence[Any] = ()) -> list[str]:
    """numpydoc text of a record; `others` are overloads, with parameters of their own."""
    lines = [r.doc.split("\n")[0]]
    rest = r.doc.split("\n")[1:]
    if rest:
        lines += [""] + [x for x in rest if x.strip()]
    lines += ["", "Parameters", "----------"]
    for i, a in enumerate(r.args):
        kind = arg_type(a.type).text
        if a.default is not None and "optional" not in kind:
            kind += f", default {a.default}"
        lines.append(f"{python_name(a, i)} : {kind}")
        if a.name in r.params:
            lines.append(f"    {r.params[a.name]}")
    shown = {a.name for a in r.args} | {name for name, _ in extra}
    for other in others:
        for i, a in enumerate(other.args):
            if a.name not in shown:
                shown.add(a.name)
                lines += [
                    f"{python_name(a, i)} : {arg_type(a.type).text}",
                    f"    {other.params.get(a.name, '')}".rstrip(),
                ]
    for name, kind in extra:
        lines.append(f"{name} : {kind}")
        text = r.params.get(name) or text_of(name, "")
        if text:
            lines.append(f"    {text}")
    outs = {"result": "Tensor", "*": "tuple of Tensors"}
    lines += ["", "Returns", "-------"]
    if len(r.returns) > 1:
        lines += [f"{o} : Tensor" for o in r.returns]
    else:
        lines.append(outs.get(r.returns[0], "Tensor"))
    if r.raises:
        lines += [
            "",
            "Raises",
            "------",
            *(x for error, when in r.raises for x in (error, f"    {when}")),
        ]
    if isinstance(r.vjp, dict):
        lines += [
            "",
            "Notes",
            "-----",
            "Gradients: "
            + "; ".join(
                f"``{', '.join(k)}``: ``{' '.join(v.split())}``" for k, v in r.joint.items()
            )
            + ".",
        ]
    elif type(r.vjp).__name__ == "nondiff":
        lines += ["", "Notes", "-----", f"Not differentiable: {r.vjp.reason}."]
    if r.example:
        lines += [
            "",
            "Examples",
            "--------",
            ">>> import autograd_cy as ag",
            *r.example.splitlines(),
        ]
    return [x.replace("\\", "\\\\").replace('"""', "'''") for x in lines]


def option_defaults(r: Any) -> list[tuple[str, str]]:
    """(name, default) of the options of a record."""
    return [(a.name, a.default) for a, _ in r.options]


def option_lines(r: Any, form: str, names: str) -> list[str]:
    """What the options of a record do: another record is called with the value as last argument."""
    lines = []
    for a, key in r.options:
        default = {"0": "ZERO"}.get(a.default, a.default)
        call = f"c_{key}{form}({names}, {converted(r, a, a.name, 0, form)}"
        lines.append(f"    if {a.name} is not {default}:")
        if r.out and not form:
            out = f'quick_tensor(out, "{r.name}", "out", 0)'
            lines += [
                "        if out is not None:",
                f"            return {call.replace(f'c_{key}(', f'c_{key}_out(', 1)}, {out})",
            ]
        lines.append(f"        return {call})")
    return lines


def converted(r: Any, a: Arg, value: str, position: int, form: str = "") -> str:
    """The expression that makes a C value of argument `a` out of the Python object `value`."""
    kind = arg_type(a.type)
    convert = kind.converter
    if convert is None:
        if not r.name.startswith("_"):
            raise FormulaError(f"{r.key}: argument {a.name!r} says nothing about what it takes")
        return value
    convert = QUICK.get(convert, convert)
    words = f", {kind.words!r}" if kind.words else ""
    text = f'{convert}({value}, "{r.shown_as or r.name}{form}", "{value}", {position}{words})'
    if not kind.optional:
        return text
    nothing = "False" if a.type == "bool?" else "None"
    return f"({nothing} if {value} is None else {text})"


def conversion(r: Any, i: int, form: str = "", first_is_tensor: bool = False) -> str:
    """The expression that makes the C value of argument `i`, of which a local name has the Python one."""
    value = python_name(r.args[i], i)
    if first_is_tensor and i == 0:
        return (
            f'quick_tensor({value}, "{r.shown_as or r.name}{form}", "{value}", {int(r.function)})'
        )
    # In-place forms are methods, whose arguments count from the one after the tensor.
    position = 0 if r.args[i].keyword else i + 1 if r.function and form != "_" else i
    return converted(r, r.args[i], value, position, form)


def _parameters(r: Any, extra: Pairs = ()) -> tuple[list[str], list[str], int]:
    """(names, texts of defaults, number of positional ones) of a Python form."""
    names = [python_name(a, i) for i, a in enumerate(r.args)]
    defaults = [a.default for a in r.args if a.default is not None]
    if r.alone:
        defaults = ["None"] * (len(r.args) - 1)
    positional = sum(not a.keyword for a in r.args)
    return names + [n for n, _ in extra], defaults + [d for _, d in extra], positional


def _head(r: Any, def_name: str, extra: Pairs, bound: bool, star: str | None = None) -> list[str]:
    """
    The first lines of a Python form; after them its parameters are local names.

    With `bound`, it is a C function that gets what an overloaded function was called with.
    """
    names, defaults, positional = _parameters(r, extra)
    if not bound:
        first = len(names) - len(defaults)
        parts = []
        for i, name in enumerate(names):
            if i == positional and star is None:
                parts.append("*")
            if name == star:
                parts += [f"*{name}_", f"{name}=None"]
            else:
                parts.append(name if i < first else f"{name}={defaults[i - first]}")
        return ["", f"def {def_name}({', '.join(parts)}):"]
    c_name = def_name.replace("form_", "bound_", 1)
    shown = r.name + ("_" if def_name.endswith("_") else "")
    known = "".join(f'"{n}", ' for n in names)
    args = "args" if star is None else "args if len(args) <= 2 else (args[0], args[1:])"
    required = len(names) - len(defaults)
    lines = [
        "",
        f"def {def_name}(*args, **kwargs):",
        f"    return {c_name}(args, kwargs)",
        "",
        f"cdef object {c_name}(tuple args, dict kwargs):",
        *(f"    cdef object {n}" for n in names[:required]),
        *(f"    cdef object {n} = {d}" for n, d in zip(names[required:], defaults)),
        "    cdef Py_ssize_t n_args = len(args)",
        "    cdef tuple given",
        f"    if kwargs or not {required} <= n_args <= {positional}:",
        f'        given = bind("{shown}", ({known}), ({"".join(d + ", " for d in defaults)}), '
        f"{positional}, {args}, kwargs)",
        *(f"        {n} = given[{i}]" for i, n in enumerate(names)),
        "    else:                       # the usual call: no tuple is made",
        *(f"        {n} = args[{i}]" for i, n in enumerate(names[:required])),
    ]
    for i, n in enumerate(names[required:positional], required):
        lines += [f"        if n_args > {i}:", f"            {n} = args[{i}]"]
    return lines


def separate_sizes(r: Any) -> str | None:
    """The name of a last argument whose ints may be given one by one, or None."""
    a = r.args[-1] if r.args else None
    if a is None or a.type != "sizes" or len(r.args) != 2 or a.default:
        return None
    return python_name(a, 1)


def function_form(r: Any, def_name: str, bound: bool = False) -> list[str]:
    """The Python form of one record (an overload gets a private name)."""
    extra = [
        *option_defaults(r),
        *([("alpha", "1")] if r.alpha else []),
        *([("out", "None")] if r.out or r.outs else []),
    ]
    shown = {
        "alpha": "Number, default 1",
        "out": "tuple of Tensors, optional" if r.outs else "Tensor, optional",
    }
    shown |= {a.name: f"{arg_type(a.type).text}, default {a.default}" for a, _ in r.options}
    star = separate_sizes(r)
    lines = _head(r, def_name, extra, bound, star)
    if not bound:
        lines.append('    """')
        lines += ["    " + x if x else "" for x in docstring(r, [(n, shown[n]) for n, _ in extra])]
        lines.append('    """')
    if r.alone:
        lines += alone_lines(r)
    for i, a in enumerate(r.args):
        name = python_name(a, i)
        value = conversion(r, i)
        if name == star and not bound:
            value = f'given_sizes({name}_, {name}, "{r.name}", "{name}")'
        lines.append(f"    cdef {arg_type(a.type).c} v_{a.name} = {value}")
    names = ", ".join(f"v_{a.name}" for a in r.args)
    if [a.type for a in r.args[:2]] == ["operand"] * 2:
        first, second = (a.name for a in r.args[:2])
        lone = (
            f"v_{first} = number_alone(v_{first})"
            if r.method
            else f'tensor_arg({second}, "{r.name}", "{second}", 2)'
        )
        lines += [
            f"    if v_{first}.flags & v_{second}.flags & F_WRAPPED and not isinstance({python_name(r.args[0], 0)}, Tensor):",
            f"        {lone}",
        ]
    if r.checks:
        lines.append(f"    check_{r.checks}({names})")
    lines += option_lines(r, "", names)
    lines += alpha_lines(r, "")
    if r.out:
        lines += [
            "    if out is not None:",
            f'        return c_{r.key}_out({names}, quick_tensor(out, "{r.name}", "out", 0))',
        ]
    call = f"c_{r.key}({names})"
    if r.outs:
        written = f'write_outs(out, {call}, "{r.name}")'
        if has_shape(r):
            written = f"c_{r.key}_outs({names}, out)"
        lines += [
            "    if out is not None:",
            f'        out = outs_arg(out, {len(r.returns)}, v_{r.args[0].name}.flags, "{r.name}")',
            f"        return {r.name}_result(*{written})",
        ]
    if len(r.returns) > 1 and r.named:
        call = f"{r.name}_result(*{call})"
    lines.append(f"    return {call}")
    return lines


def alone_lines(r: Any) -> list[str]:
    """What a record does that means another one if only its first argument is given."""
    _, *others = (python_name(a, i) for i, a in enumerate(r.args))
    return [
        f"    if {' is None and '.join(reversed(others))} is None and out is None:",
        f"        return T.{r.alone}({conversion(r, 0)}, True)",
    ]


def inplace_form(r: Any, def_name: str, bound: bool = False) -> list[str]:
    """The Python form of the in-place form of one record."""
    lines = _head(r, def_name, option_defaults(r) + ([("alpha", "1")] if r.alpha else []), bound)
    if not bound:
        lines.append(
            f'    """In-place form of :func:`{r.name}`; changes and returns the first argument."""'
        )
    for i, a in enumerate(r.args):
        value = conversion(r, i, "_", True)
        lines.append(f"    cdef {arg_type(a.type).c} v_{a.name} = {value}")
    names = ", ".join(f"v_{a.name}" for a in r.args)
    if r.checks:
        lines.append(f"    check_{r.checks}({names})")
    lines += option_lines(r, "_", names)
    lines += alpha_lines(r, "_")
    lines.append(f"    return c_{r.key}_({names})")
    return lines


def alpha_lines(r: Any, form: str) -> list[str]:
    """What ``alpha=`` does: a factor of the last tensor, or a record that takes it along."""
    if not r.alpha:
        return []
    last = r.tensor_args[-1].name
    if r.alpha is True:
        factor = f'alpha_arg(alpha, "{r.name}", v_self, v_{last})'
        return [
            "    if alpha is not ONE and (alpha is True or alpha != 1):",
            f"        v_{last} = T.mul(v_{last}, {factor})",
        ]
    key = r.alpha.removeprefix("-")
    factor = "alpha" if key == r.alpha else "alpha if isinstance(alpha, bool) else -alpha"
    lines = [
        "    cdef Tensor factor",
        "    if alpha is not ONE and (alpha is True or alpha != 1):",
        f'        factor = alpha_arg({factor}, "{r.name}", v_self, v_{last})',
        "        if factor.dt == DT_BOOL:",
        f"            v_{last} = T.mul(v_{last}, factor)",
    ]
    if form == "":
        given = f'quick_tensor(out, "{r.name}", "out", 0)'
        lines += [
            "        elif out is not None:",
            f"            return c_{key}_out(v_self, v_{last}, factor, {given})",
        ]
    return [*lines, "        else:", f"            return c_{key}{form}(v_self, v_{last}, factor)"]


def dunder_forms(r: Any) -> tuple[list[str], list[str]]:
    """The functions behind Python operators, and the lines that register them."""
    lines, register = [], []
    if r.dunder in BINARY_SLOTS:
        slot = BINARY_SLOTS[r.dunder]
        # What takes no numbers leaves them to Python, whose error names both types.
        known = (
            "{0} if isinstance({0}, Tensor) else None"
            if r.args[1].type == "Tensor"
            else "foreign_operand({0})"
        )
        check = [f"    check_{r.checks}(x, y)"] if r.checks else []
        lines += [
            "",
            f"cdef object dunder_{r.dunder}(object a, object b):",
            f"    cdef Tensor x = {known.format('a')}",
            "    cdef Tensor y",
            "    if x is None:",
            f"        return answer({r.name}, a, b)",
            f"    y = {known.format('b')}",
            "    if y is None:",
            f"        return answer({r.name}, a, b)",
            *check,
            f"    return c_{r.key}(x, y)",
        ]
        register.append(f"upcalls.binary[B_{slot}] = dunder_{r.dunder}")
        if r.inplace and r.dunder not in COMPARISONS:
            lines += [
                "",
                f"cdef object dunder_i{r.dunder}(object a, object b):",
                "    cdef Tensor x = <Tensor>a",
                "    cdef Tensor y = foreign_operand(b)",
                "    if y is None or overriding(<PyObject*>b):",
                f"        return answer({r.name}_, a, b)",
                *check,
                f"    return c_{r.key}_(x, y)",
            ]
            register.append(f"upcalls.binary[B_I{slot}] = dunder_i{r.dunder}")
    elif r.dunder in UNARY_SLOTS:
        lines += ["", f"cdef object dunder_{r.dunder}(Tensor a):", f"    return c_{r.key}(a)"]
        register.append(f"upcalls.unary[U_{UNARY_SLOTS[r.dunder]}] = dunder_{r.dunder}")
    return lines, register


def inplace_overload_form(name: str, group: Sequence[Any]) -> list[str]:
    """The in-place form over several records."""
    lines = [
        "",
        f"def {name}_(*args, **kwargs):",
        f'    """In-place form of :func:`{name}`; changes and returns the first argument."""',
    ]
    for r in group:
        if r.when is not None:
            lines += [f"    if {r.when}:", f"        return bound_{r.key}_(args, kwargs)"]
    default = next(r for r in group if r.when is None)
    return [*lines, f"    return bound_{default.key}_(args, kwargs)"]


def overload_form(name: str, group: Sequence[Any]) -> list[str]:
    """One Python function over several records; the first whose `when` holds is called."""
    lines = ["", f"def {name}(*args, **kwargs):", '    """']
    lines += ["    " + x if x else "" for x in docstring(group[0], others=group[1:])]
    for r in group[1:]:
        shown = ", ".join(
            python_name(a, i) + ("" if a.default is None else f"={a.default}")
            for i, a in enumerate(r.args)
        )
        lines += ["", f"    **{name}({shown})**: {r.doc.splitlines()[0]}"]
    lines.append('    """')
    default = next(r for r in group if r.when is None)
    if all(a.default is not None for a in default.args[1:]) and default.args[0].type == "Tensor":
        # The usual call has nothing but the tensor: no dictionaries, no second function.
        rest = "".join(", " + c_default(a) for a in default.args[1:])
        lines += [
            "    if not kwargs and len(args) == 1 and isinstance(args[0], Tensor):",
            f"        return c_{default.key}(<Tensor>args[0]{rest})",
        ]
    if len(default.args) == 2 and default.args[1].type == "sizes" and not default.args[1].default:
        # Sizes as separate numbers, the usual call too.
        lines += [
            "    if not kwargs and len(args) > 1 and type(args[1]) is int and isinstance(args[0], "
            "Tensor):",
            f"        return c_{default.key}(<Tensor>args[0], sizes_arg(args[1:], "
            f'"{name}", "{default.args[1].name}", {int(default.function) + 1}))',
        ]
    for r in group:
        if r.when is None:
            continue
        lines += [f"    if {r.when}:", f"        return bound_{r.key}(args, kwargs)"]
    lines.append(f"    return bound_{default.key}(args, kwargs)")
    return lines
