"""The sources of optimizer steps on CUDA devices, translated from the CPU's loops.

`x_begin`, `x_step` and the small functions that they call in ext/kernels/optimizer_loops.pyx use little
of Cython: declarations, casts, assignments, conditions, and a loop over elements. Each line becomes
one of C++. So there is one formula of each method, and a new method needs no second place. What is
around the loops is in ext/cuda/device/steps.cuh.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

from ext.codegen.cuda_sources import CudaSource
from ext.codegen.formula import FormulaError
from ext.codegen.step_kernels import members, steps_of

LOOPS = Path(__file__).parents[1] / "kernels" / "optimizer_loops.pyx"
# Functions of a line that loops call; root and size_of are in steps.cuh, for each type.
SMALL = ("larger", "decayed", "toward", "signed")
CALLS = {name: f"ag_{name}" for name in (*SMALL, "root", "size_of", "fma")}
CALLS |= {"sqrt64": "sqrt", "pow": "pow", "fmax": "ag_most"}
TYPES = {"real_t": "real", "double": "double", "bint": "bool", "Py_ssize_t": "int64_t"}
SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitOr: "|", ast.BitAnd: "&",
    ast.Lt: "<", ast.Gt: ">", ast.Eq: "==", ast.NotEq: "!=", ast.LtE: "<=", ast.GtE: ">=",
    ast.And: "&&", ast.Or: "||",
}  # fmt: skip
# Where elements lie, by dtype.
ARRAYS = {
    "f32": "ag_plain_array<float>",
    "f64": "ag_plain_array<double>",
    "f16": "ag_narrow_array<ag_stored_f16>",
    "bf16": "ag_narrow_array<ag_stored_bf16>",
}
HEAD = re.compile(r"^cdef (?:inline )?(\w+) (\w+)\(([^)]*)\) noexcept nogil:\n", re.M)
CAST = re.compile(r"<real_t>(\w+(?:\.\w+)*|\([^()]*\))")


def expression(text: str, real: bool) -> str:
    """Translate an expression; `real`: fractions have the type of the elements."""
    text = CAST.sub(lambda m: f"real({m[1]})", text)
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise FormulaError(f"a step can't be translated for GPUs: {text!r}") from None
    return _written(tree, real)


def _written(x: ast.expr, real: bool) -> str:
    def one(part: ast.expr) -> str:
        return _written(part, real)

    match x:
        case ast.Constant(value=float()) if real:
            return f"real({x.value!r})"
        case ast.Constant(value=int() | float()):
            return repr(x.value)
        case ast.Name(id="NULL"):
            return "nullptr"
        case ast.Name():
            return x.id
        case ast.Attribute(value=ast.Name()):
            return f"{one(x.value)}.{x.attr}"
        case ast.Subscript(value=ast.Name(), slice=ast.Name()):
            return f"{one(x.value)}[{one(x.slice)}]"
        case ast.Call(func=ast.Name(id="real"), args=[of]):
            return f"real({one(of)})"
        case ast.Call(func=ast.Name(), keywords=[]) if x.func.id in CALLS:
            generic = "<real>" if real and CALLS[x.func.id].startswith("ag_") else ""
            return f"{CALLS[x.func.id]}{generic}({', '.join(map(one, x.args))})"
        case ast.BinOp() if type(x.op) in SIGNS:
            return f"({one(x.left)} {SIGNS[type(x.op)]} {one(x.right)})"
        case ast.Compare(ops=[sign], comparators=[right]) if type(sign) in SIGNS:
            return f"({one(x.left)} {SIGNS[type(sign)]} {one(right)})"
        case ast.BoolOp():
            return f"({f' {SIGNS[type(x.op)]} '.join(map(one, x.values))})"
        case ast.UnaryOp(op=ast.USub()):
            return f"(-{one(x.operand)})"
        case ast.IfExp():
            return f"({one(x.test)} ? {one(x.body)} : {one(x.orelse)})"
    raise FormulaError(f"a step can't be translated for GPUs: {ast.unparse(x)}")


def _line(text: str, real: bool) -> str:
    """Translate one line without its indentation; those that open a block end with a brace."""
    if text == "for i in range(n):":
        return "AG_ROLLED for (int i = (int)threadIdx.x; i < n; i += AG_STEP_THREADS) {"
    if match := re.fullmatch(r"(if|elif|return) (.*?):?", text):
        word, rest = match[1], expression(match[2], real)
        return f"return {rest};" if word == "return" else f"{_IF[word]} ({rest}) {{"
    if text == "else:":
        return "else {"
    if match := re.fullmatch(r"cdef (\w+) (.*)", text):
        names = [_declared(part, real) for part in _split(match[2]) if part != "i"]
        return f"{TYPES[match[1]]} {', '.join(names)};" if names else ""
    if match := re.fullmatch(r"([\w.\[\]]+) ([-+*/]?=) (.*)", text):
        return f"{match[1]} {match[2]} {expression(match[3], real)};"
    raise FormulaError(f"a step can't be translated for GPUs: {text!r}")


_IF = {"if": "if", "elif": "else if"}


def _declared(text: str, real: bool) -> str:
    name, sign, value = text.partition(" = ")
    return f"{name} = {expression(value, real)}" if sign else name


def _split(text: str) -> list[str]:
    """Split at commas that no bracket encloses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def body(text: str, real: bool) -> list[str]:
    """Translate the indented lines of a function."""
    lines, depths = [], [4]
    text = re.sub(r'^ *""".*?"""\n', "", text, flags=re.S)
    for raw in text.splitlines():
        line = raw.partition("    #")[0].strip() if "#" in raw else raw.strip()
        if not line or line.startswith("#"):
            continue
        depth = len(raw) - len(raw.lstrip())
        while depth < depths[-1]:
            depths.pop()
            lines.append(f"{' ' * depths[-1]}}}")
        if depth > depths[-1]:
            depths.append(depth)
        if translated := _line(line, real):
            lines.append(" " * depth + translated)
    lines += [f"{' ' * depth}}}" for depth in reversed(depths[:-1])]
    return lines


def functions(text: str) -> dict[str, tuple[str, list[str], str]]:
    """Functions of the loops: {name: (type, arguments, body)}."""
    result = {}
    heads = list(HEAD.finditer(text))
    for head in heads:
        inside = re.match(r"(?:(?:    .*)?\n)*", text[head.end() :])
        assert inside is not None
        result[head[2]] = (head[1], [" ".join(a.split()) for a in head[3].split(",")], inside[0])
    return result


def small(name: str, kind: str, arguments: list[str], text: str) -> list[str]:
    """Translate a function of numbers."""
    taken = ", ".join(" ".join(TYPES.get(word, word) for word in a.split()) for a in arguments)
    generic = "template <class real> " if kind == "real_t" else ""
    head = f"{generic}AG_R {TYPES[kind]} {CALLS[name]}({taken}) {{"
    return [head, *body(text, kind == "real_t"), "}"]


def loop(r, functions: dict[str, tuple[str, list[str], str]]) -> list[str]:
    """Translate one method: its numbers, its beginning, its step, and where numbers lie."""
    name, numbers = r.kernel.loop.name, r.kernel.loop.numbers
    _, arguments, step = functions[f"{name}_step"]
    arrays = [a.rpartition(" ")[2] for a in arguments[:-2]]
    places = "".join(f"k == {k} ? &c.{number} : " for k, number in enumerate(numbers))
    return [
        f"struct ag_{name} {{",
        f"struct numbers {{ double {', '.join(members(r))}; }};",
        f"static constexpr int arrays = {len(arrays)};",
        f"AG_R double *place(numbers &c, int k) {{ return {places}(double *)nullptr; }}",
        "AG_R void begin(numbers &c) {",
        *body(functions[f"{name}_begin"][2], False),
        "}",
        "template <class A>",
        "AG_R void step(const A *arrays, int n, const numbers &c) {",
        "    typedef typename A::real real;",
        *(f"    const A {array} = arrays[{k}];" for k, array in enumerate(arrays)),
        *body(step, True),
        "}",
        "};",
    ]


def source_text(records: Iterable) -> str:
    """All methods as C++."""
    by_name = functions(LOOPS.read_text(encoding="utf-8"))
    lines = ['#include "steps.cuh"', ""]
    for name in SMALL:
        lines += small(name, *by_name[name])
    for r in records:
        lines += loop(r, by_name)
    return "\n".join(lines) + "\n"


def sources() -> dict[str, CudaSource]:
    """The source of each image: {name of the image: source}."""
    from ext.codegen import table

    records = steps_of(table.load())
    kernels = [
        f"AG_KERNEL_TOGETHER(begin_{r.kernel.loop.name}, ag_begin_args, AG_STEP_THREADS) "
        f"{{ ag_begin<ag_{r.kernel.loop.name}>(a); }}"
        for r in records
    ] + [
        f"AG_KERNEL_TOGETHER({r.kernel.loop.name}_{dtype}, ag_step_args, AG_STEP_THREADS) "
        f"{{ ag_step<ag_{r.kernel.loop.name}, {array}>(a); }}"
        for r in records
        for dtype, array in ARRAYS.items()
    ]
    # Without a limit ptxas keeps to 64 registers, and spills some.
    flags = ("-maxrregcount=128",)
    return {"steps": CudaSource(source_text(records) + "\n".join(kernels) + "\n", flags)}
