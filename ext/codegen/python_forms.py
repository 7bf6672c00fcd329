"""Writes the Python functions around the operators: argument checks, overloads, docstrings."""

from __future__ import annotations

from ext.codegen.operators import C_TYPES

# Python operators: slot of LateBound.binary / .unary, and whether there is an in-place one.
BINARY_SLOTS = {
    "add": "ADD", "sub": "SUB", "mul": "MUL", "div": "DIV", "floordiv": "FLOORDIV", "mod": "MOD",
    "pow": "POW", "matmul": "MATMUL", "and": "AND", "or": "OR", "xor": "XOR", "lshift": "LSHIFT",
    "rshift": "RSHIFT", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE", "eq": "EQ", "ne": "NE",
}
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")  # no `a <= b` changes a
UNARY_SLOTS = {"neg": "NEG", "pos": "POS", "invert": "INVERT", "abs": "ABS"}
_CONVERT = {
    "Tensor": "tensor_arg({0}, \"{1}\", \"{2}\")",
    "operand": "as_operand({0}, \"{1}\", \"{2}\")",
    "operand?": "None if {0} is None else as_operand({0}, \"{1}\", \"{2}\")",
    "Tensor?": "None if {0} is None else tensor_arg({0}, \"{1}\", \"{2}\")",
    "Tensor[]": "tensors_arg({0}, \"{1}\", \"{2}\")",
    "Scalar": "number_arg({0}, \"{1}\", \"{2}\")",
    "int": "int_arg({0}, \"{1}\", \"{2}\")",
    "dim": "int_arg({0}, \"{1}\", \"{2}\")",
    "int?": "None if {0} is None else int_arg({0}, \"{1}\", \"{2}\")",
    "dim?": "None if {0} is None else int_arg({0}, \"{1}\", \"{2}\")",
    "sizes": "sizes_arg({0}, \"{1}\", \"{2}\")",
    "ints": "sizes_arg({0}, \"{1}\", \"{2}\")",
    "dims": "dims_arg({0}, \"{1}\", \"{2}\")",
    "dims?": "None if {0} is None else dims_arg({0}, \"{1}\", \"{2}\")",
    "dtype?": "-1 if {0} is None else dt_code({0})",
    "format?": "-1 if {0} is None else format_code({0})",
    "float": "float_arg({0}, \"{1}\", \"{2}\")",
    "str": "str_arg({0}, \"{1}\", \"{2}\")",
}
_NUMPYDOC = {
    "Tensor": "Tensor", "operand": "Tensor or Number", "operand?": "Tensor or Number, optional",
    "Tensor?": "Tensor, optional", "Tensor[]": "sequence of Tensors", "Scalar": "Number", "int": "int",
    "dim": "int", "int?": "int, optional", "dim?": "int, optional", "sizes": "sequence of int",
    "ints": "sequence of int", "dims": "int or sequence of int",
    "dims?": "int or sequence of int, optional", "dtype?": "dtype, optional",
    "format?": "memory_format, optional", "float": "float", "float?": "float, optional", "bool": "bool",
    "str": "str", "str?": "str, optional", "object": "object", "indices": "tuple",
}


def python_name(a, position):
    return "input" if position == 0 and a.name == "self" else a.name


def docstring(r, extra=()):
    """numpydoc text of a record."""
    lines = [r.doc.split("\n")[0]]
    rest = r.doc.split("\n")[1:]
    if rest:
        lines += [""] + [x for x in rest if x.strip()]
    lines += ["", "Parameters", "----------"]
    for i, a in enumerate(r.args):
        kind = _NUMPYDOC[a.type]
        if a.default is not None and "optional" not in kind:
            kind += f", default {a.default}"
        lines.append(f"{python_name(a, i)} : {kind}")
    for name, kind in extra:
        lines.append(f"{name} : {kind}")
    outs = {"result": "Tensor", "*": "tuple of Tensors"}
    lines += ["", "Returns", "-------"]
    if len(r.returns) > 1:
        lines += [f"{o} : Tensor" for o in r.returns]
    else:
        lines.append(outs.get(r.returns[0], "Tensor"))
    if isinstance(r.vjp, dict):
        lines += ["", "Notes", "-----", "Gradients: " + "; ".join(
            f"``{k}``: ``{' '.join(v.split())}``" for k, v in r.vjp.items()) + "."]
    elif type(r.vjp).__name__ == "nondiff":
        lines += ["", "Notes", "-----", f"Not differentiable: {r.vjp.reason}."]
    if r.example:
        lines += ["", "Examples", "--------", ">>> import autograd_cy as ag", *r.example.splitlines()]
    return [x.replace("\\", "\\\\").replace('"""', "'''") for x in lines]


def _conversions(r, indent="    "):
    lines = []
    for i, a in enumerate(r.args):
        py = python_name(a, i)
        convert = _CONVERT.get(a.type)
        text = convert.format(py, r.name, py) if convert else py
        lines.append(f"{indent}cdef {C_TYPES[a.type]} v_{a.name} = {text}")
    return lines


def function_form(r, def_name):
    """The `def` of one record (an overload gets a private name)."""
    parts, star = [], False
    last_sizes = r.args and r.args[-1].type == "sizes" and len(r.args) == 2 and not r.args[-1].default
    for i, a in enumerate(r.args):
        name = python_name(a, i)
        if last_sizes and i == len(r.args) - 1:
            parts.append("*" + name)
            star = True
            continue
        if a.keyword and not star:
            parts.append("*")
            star = True
        parts.append(name if a.default is None else f"{name}={a.default}")
    extra = []
    if r.alpha:
        if not star:
            parts.append("*")
            star = True
        parts.append("alpha=1")
        extra.append(("alpha", "Number, default 1"))
    if r.out:
        if not star:
            parts.append("*")
            star = True
        parts.append("out=None")
        extra.append(("out", "Tensor, optional"))
    lines = ["", f"def {def_name}({', '.join(parts)}):", '    """']
    lines += ["    " + x if x else "" for x in docstring(r, extra)]
    lines.append('    """')
    if last_sizes:
        size = python_name(r.args[-1], len(r.args) - 1)
        lines.append(f"    {size} = unpack_sizes({size})")
    lines += _conversions(r)
    names = ", ".join(f"v_{a.name}" for a in r.args)
    if r.checks:
        lines.append(f"    check_{r.checks}({names})")
    lines += alpha_lines(r, "")
    if r.out:
        target = (f"c_{r.key}_out({names}, tensor_arg(out, \"{r.name}\", \"out\"))"
                  if type(r.kernel).__name__ != "composite" else
                  f"T.copy_(tensor_arg(out, \"{r.name}\", \"out\"), c_{r.key}({names}))")
        lines += ["    if out is not None:", f"        return {target}"]
    call = f"c_{r.key}({names})"
    if len(r.returns) > 1:
        call = f"{r.name}_result(*{call})"
    lines.append(f"    return {call}")
    return lines


def inplace_form(r, def_name):
    """The `def` of the in-place form of one record."""
    parts, star = [], False
    for i, a in enumerate(r.args):
        name = python_name(a, i)
        if a.keyword and not star:
            parts.append("*")
            star = True
        parts.append(name if a.default is None else f"{name}={a.default}")
    if r.alpha:
        parts += (["alpha=1"] if star else ["*", "alpha=1"])
    lines = ["", f"def {def_name}({', '.join(parts)}):",
             f'    """In-place form of :func:`{r.name}`; changes and returns the first argument."""']
    lines += _conversions(r)
    names = ", ".join(f"v_{a.name}" for a in r.args)
    if r.checks:
        lines.append(f"    check_{r.checks}({names})")
    lines += alpha_lines(r, "_")
    lines.append(f"    return c_{r.key}_({names})")
    return lines


def alpha_lines(r, form):
    """What add and sub do with ``alpha=``: one pass over the operands by _add_scaled."""
    if not r.alpha:
        return []
    if r.name not in ("add", "sub"):
        scaled = r.tensor_args[-1].name
        factor = f"alpha_arg(alpha, \"{r.name}\", v_self, v_{scaled})"
        return ["    if alpha is not ONE and alpha != 1:",
                f"        v_{scaled} = T.mul(v_{scaled}, {factor})"]
    sign = "-" if r.name == "sub" else ""
    lines = ["    cdef Tensor factor",
             "    if alpha is not ONE and alpha != 1:",
             f"        factor = alpha_arg({sign}alpha, \"{r.name}\", v_self, v_other)",
             "        if factor.dt == DT_BOOL:",
             "            v_other = T.mul(v_other, factor)"]
    if form == "":
        lines += ["        elif out is not None:",
                  "            return c__add_scaled_out(v_self, v_other, factor, tensor_arg(out, "
                  f"\"{r.name}\", \"out\"))"]
    return [*lines, "        else:", f"            return c__add_scaled{form}(v_self, v_other, factor)"]


def dunder_forms(r):
    """The functions behind Python operators, and the lines that register them."""
    lines, register = [], []
    if r.dunder in BINARY_SLOTS:
        slot = BINARY_SLOTS[r.dunder]
        check = [f"    check_{r.checks}(x, y)"] if r.checks else []
        lines += ["", f"cdef object dunder_{r.dunder}(object a, object b):",
                  "    cdef Tensor x = foreign_operand(a)", "    cdef Tensor y",
                  "    if x is None:", "        return NotImplemented",
                  "    y = foreign_operand(b)", "    if y is None:", "        return NotImplemented",
                  *check, f"    return c_{r.key}(x, y)"]
        register.append(f"late.binary[B_{slot}] = dunder_{r.dunder}")
        if r.inplace and r.dunder not in COMPARISONS:
            lines += ["", f"cdef object dunder_i{r.dunder}(object a, object b):",
                      "    cdef Tensor x = <Tensor>a", "    cdef Tensor y = foreign_operand(b)",
                      "    if y is None:", "        return NotImplemented",
                      *check, f"    return c_{r.key}_(x, y)"]
            register.append(f"late.binary[B_I{slot}] = dunder_i{r.dunder}")
    elif r.dunder in UNARY_SLOTS:
        lines += ["", f"cdef object dunder_{r.dunder}(Tensor a):", f"    return c_{r.key}(a)"]
        register.append(f"late.unary[U_{UNARY_SLOTS[r.dunder]}] = dunder_{r.dunder}")
    return lines, register


def inplace_overload_form(name, group):
    """The in-place form over several records."""
    lines = ["", f"def {name}_(*args, **kwargs):",
             f'    """In-place form of :func:`{name}`; changes and returns the first argument."""']
    for r in group:
        if r.when is not None:
            lines += [f"    if {r.when}:", f"        return form_{r.key}_(*args, **kwargs)"]
    default = next(r for r in group if r.when is None)
    return [*lines, f"    return form_{default.key}_(*args, **kwargs)"]


def overload_form(name, group):
    """One Python function over several records; the first whose `when` holds is called."""
    lines = ["", f"def {name}(*args, **kwargs):", '    """']
    lines += ["    " + x if x else "" for x in docstring(group[0])]
    for r in group[1:]:
        shown = ", ".join(python_name(a, i) + ("" if a.default is None else f"={a.default}")
                          for i, a in enumerate(r.args))
        lines += ["", f"    **{name}({shown})**: {r.doc.splitlines()[0]}"]
    lines.append('    """')
    default = next(r for r in group if r.when is None)
    if all(a.default is not None for a in default.args[1:]) and default.args[0].type == "Tensor":
        # The usual call has nothing but the tensor: no dictionaries, no second function.
        from ext.codegen.formula import c_default

        rest = "".join(", " + c_default(a) for a in default.args[1:])
        lines += ["    if not kwargs and len(args) == 1 and isinstance(args[0], Tensor):",
                  f"        return c_{default.key}(<Tensor>args[0]{rest})"]
    if len(default.args) == 2 and default.args[1].type == "sizes" and not default.args[1].default:
        # Sizes as separate numbers, the usual call too.
        lines += ["    if not kwargs and len(args) > 1 and type(args[1]) is int and isinstance(args[0], "
                  "Tensor):",
                  f"        return c_{default.key}(<Tensor>args[0], sizes_arg(args[1:], "
                  f"\"{name}\", \"{default.args[1].name}\"))"]
    for r in group:
        if r.when is None:
            continue
        lines += [f"    if {r.when}:", f"        return form_{r.key}(*args, **kwargs)"]
    lines.append(f"    return form_{default.key}(*args, **kwargs)")
    return lines
