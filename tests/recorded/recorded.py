"""Calls and small programs of `calls/`, compared with results that torch gave once.

A file of `calls/` is a Python module. Each expression in it is a call, and each function without
parameters a program, whose value is the result. Functions with parameters and classes help them.
The results stand in the JSON file of the same name: of a tensor dtype, shape, strides where it is
not contiguous, and its elements, or two sums of them if they are many; of an exception its type and
message (ours: torch's has to be of the same type). Calls under ``with differs("why"):``, programs
under ``@differs("why")`` and all calls of a module with ``DIFFERS = "why"`` have another result in
torch, or none.

``python -m tests.recorded.recorded [FILE ...]`` asks torch, writes the results, and prints where
ours differ.
"""

import ast
import functools
import hashlib
import json
import math
import re
import sys
import types
import warnings
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "calls"
FILES = sorted(FOLDER.rglob("*.py"))
ELEMENTS = 16  # A tensor with more elements is recorded by two sums.
KEY = 40  # characters of a call in the JSON file
NUMBER = re.compile(r"(?<![\w.])(-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan))(?![\w.])")


@dataclass(frozen=True)
class Call:
    """An expression or a program of a file, and why torch has another result, if it has."""

    key: str
    source: str
    code: types.CodeType
    differs: str = ""
    line: int = 0


# --- reading a file of calls ------------------------------------------------------------------


def load(path, lib):
    """The names of a file and its calls, with `lib` in the place of autograd_cy."""
    text = path.read_text()
    body = ast.parse(text).body
    return execute(body, lib), find_calls(text, body)


def execute(body, lib):
    """The names that imports, definitions and assignments make."""
    chosen = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)
    nodes = [for_library(node, lib) for node in body if isinstance(node, chosen)]
    names = {"__name__": "calls"}
    exec(compile(ast.Module(nodes, []), "<calls>", "exec"), names)
    return names


def for_library(node, lib):
    """An import of autograd_cy becomes that of another library; other statements stay."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            alias.name = in_library(alias.name, lib)
    elif isinstance(node, ast.ImportFrom):
        node.module = in_library(node.module, lib)
    return node


def in_library(module, lib):
    if module == "tests.recorded.inputs":
        return inputs(lib).__name__
    head, dot, rest = module.partition(".")
    return (lib.__name__ if head == "autograd_cy" else head) + dot + rest


@functools.cache
def inputs(lib):
    """The module `inputs.py` with `lib` as its torch."""
    module = types.ModuleType(f"inputs_of_{lib.__name__}")
    body = ast.parse(Path(__file__).with_name("inputs.py").read_text()).body
    tree = ast.Module([for_library(node, lib) for node in body], [])
    exec(compile(tree, "inputs.py", "exec"), vars(module))
    sys.modules[module.__name__] = module
    return module


def find_calls(text, body):
    """All calls of a file in their order."""
    found, whole, lines = [], "", text.encode().split(b"\n")
    for node in body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "DIFFERS":
            whole = node.value.value
        elif isinstance(node, ast.With):
            reason = reason_of(node.items[0].context_expr)
            found += [expression(lines, inner, reason) for inner in node.body]
        elif isinstance(node, ast.FunctionDef) and not ast.unparse(node.args):
            found.append(program(lines, node, whole))
        elif isinstance(node, ast.Expr) and node is not body[0]:  # that is the docstring
            found.append(expression(lines, node, whole))
    return found


def reason_of(node):
    """The text of `differs(text)`."""
    assert node.func.id == "differs", ast.unparse(node)
    return node.args[0].value


def segment(lines, node):
    """The source of a node; `ast.get_source_segment` splits the whole file each time."""
    part = lines[node.lineno - 1 : node.end_lineno]
    part[-1] = part[-1][: node.end_col_offset]
    part[0] = part[0][node.col_offset :]
    return b"\n".join(part).decode()


def expression(lines, node, reason):
    source = one_line(segment(lines, node.value))
    code = compile(ast.Expression(node.value), source, "eval")
    return Call(key_of(source), source, code, reason, node.lineno)


def one_line(source):
    """An expression without its line breaks, and without the spaces that they left in brackets."""
    return re.sub(r"(?<=[(\[{]) | (?=[)\]}])", "", re.sub(r"\s+", " ", source))


def key_of(source):
    """The name of a call in the JSON file: its text, or the beginning and a digest of it."""
    if len(source) <= KEY:
        return source
    return f"{source[: KEY - 12]} ... {hashlib.sha1(source.encode()).hexdigest()[:7]}"


def program(lines, node, reason):
    if node.decorator_list:
        reason = reason_of(node.decorator_list[0])
    source = segment(lines, node)
    code = compile(f"{node.name}()", node.name, "eval")
    return Call(node.name, source, code, reason, node.lineno)


def results(path):
    """The recorded results of a file, by the keys of its calls."""
    return json.loads(path.with_suffix(".json").read_text())


# --- making a call ----------------------------------------------------------------------------


def result(lib, call, names):
    """The result of a call in a library, as a line of text; random numbers begin anew."""
    lib.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return describe(lib, eval(call.code, dict(names)))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def describe(lib, value):
    if isinstance(value, lib.Tensor):
        value = value.detach()
        if hasattr(value, "resolve_conj"):
            value = value.resolve_conj().resolve_neg()
        head = str(value.dtype).rpartition(".")[2] + str(list(value.shape)).replace(" ", "")
        if not value.is_contiguous():
            head += str(value.stride()).replace(" ", "")
        return " ".join([head, *elements(lib, value)])
    if isinstance(value, (tuple, list)):
        return " | ".join(describe(lib, x) for x in value) or "[]"
    return repr(value).removeprefix(f"{lib.__name__}.").replace("\n", "\\n")  # dtypes by name


def elements(lib, tensor):
    if tensor.is_complex():
        tensor = lib.view_as_real(tensor)
    values = tensor.reshape(-1).tolist()
    if len(values) > ELEMENTS:
        values = [sum(values), sum(x * math.cos(k) for k, x in enumerate(values))]
        return ["~", *(f"{float(x):.8g}" for x in values)]
    return [f"{float(x):.7g}" for x in values]


# --- comparing results ------------------------------------------------------------------------


def alike(a, b):
    """Tell if two results are equal, numbers up to rounding."""
    if error_type(b):
        # Python 3.14 has one text for division of all kinds of numbers.
        return len({x.replace("float division", "division") for x in (a, b)}) == 1
    left, right = NUMBER.split(a), NUMBER.split(b)
    if len(left) != len(right) or left[::2] != right[::2]:
        return False
    tolerance = 1e-2 if "float16" in b else 3e-5 if "32[" in b or "x64[" in b else 1e-7
    for x, y in zip(map(float, left[1::2]), map(float, right[1::2]), strict=True):
        near = math.isfinite(y) and abs(x - y) <= tolerance * (1 + abs(y))
        if not (near or x == y or (x != x and y != y)):
            return False
    return True


def error_type(text):
    """The type of the exception that a result is, None if it is a value."""
    return text.partition(":")[0] if re.match(r"\w*Error: ", text) else None


def agree(ours, theirs):
    """Tell if a result is that of torch; of exceptions the type has to be the same."""
    if error_type(ours) or error_type(theirs):
        return error_type(ours) == error_type(theirs)
    return alike(ours, theirs)


def mistake(call, text):
    """Why a call with such a result tests nothing; None if it does."""
    if re.match(r"(Syntax|Indentation|Tab|Name|UnboundLocal)Error: ", text):
        return "no call at all"
    if re.match(rf"TypeError: ({'|'.join(helpers())})\(\)", text):
        return "a function of inputs.py does not take such arguments"
    if re.match(r"AttributeError: module '(autograd_cy|torch)[\w.]*' has no attribute", text):
        return "no such function"
    if error_type(text) and returns_several(call):
        return "one exception is the result of a whole list; error_name() is for one of them"
    return None


@functools.cache
def helpers():
    """The names of the functions of `inputs.py`."""
    return re.findall(r"^def (\w+)", Path(__file__).with_name("inputs.py").read_text(), re.M)


def returns_several(call):
    """Tell if the value is written as a list of several."""
    last = ast.parse(call.source).body[-1]
    value = last.body[-1].value if isinstance(last, ast.FunctionDef) else last.value
    several = isinstance(value, (ast.List, ast.Tuple)) and len(value.elts) > 1
    return several or isinstance(value, ast.ListComp)


# --- the command ------------------------------------------------------------------------------


def record(path):
    """Write the results of a file: torch's, and ours where torch differs or raises."""
    import torch

    import autograd_cy

    names, calls = load(path, autograd_cy)
    their_names = load(path, torch)[0] if any(not call.differs for call in calls) else {}
    found = {}
    for call in calls:
        ours = found[call.key] = result(autograd_cy, call, names)
        if not call.differs:
            theirs = result(torch, call, their_names)
            if not agree(ours, theirs):
                print(f"{path.name}: {call.source}\n  ours   {ours}\n  torch  {theirs}")
            found[call.key] = ours if error_type(theirs) else theirs
        if reason := mistake(call, ours):
            print(f"{path.name}: {call.source}\n  {reason}: {ours}")
    text = json.dumps(found, indent=0, ensure_ascii=False)
    path.with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    for name in sys.argv[1:] or FILES:
        record(Path(name))
