"""Types of arguments in signatures of records: one table for all who must know about them.

A type of the table may carry ``?``: then None is given, too. ``choice(a, b)`` is one of several
words, ``ints(2)`` a fixed number of ints, and ``int | Tensor`` what one of several types takes.
The docstring of _schema.py says what each type means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class ArgType:
    """
    The facts about one type that the generator needs.

    Attributes
    ----------
    c : str
        Its C type.
    formula : str
        Its letter in formulas (ext/codegen/formula.py).
    converter : str or None
        The function of arguments.pyx that turns a Python value into the C value or refuses it.
    text : str
        How docstrings name it.
    stub : str
        How stubs annotate it.
    tensor : bool
        Whether it is a tensor, or tensors.
    optional : bool
        Whether the C value of None is ``None`` (``False`` for a truth value), made without the
        converter.
    words : tuple of str
        Of a choice: what may be given; of ``ints(n)`` the number; of a union the types.
    """

    c: str
    formula: str
    converter: str | None
    text: str
    stub: str
    tensor: bool = False
    optional: bool = False
    words: tuple[str, ...] = ()


NUMBER = "_Number"
_WHOLE = "Py_ssize_t"
_INTS = "_Int | _Sequence[_Int]"

TYPES: dict[str, ArgType] = {
    "Tensor": ArgType("Tensor", "T", "tensor_arg", "Tensor", "_Tensor", True),
    "operand": ArgType(
        "Tensor", "T", "operand_arg", "Tensor or Number", f"_Tensor | {NUMBER}", True
    ),
    "Scalar": ArgType("Tensor", "T", "number_arg", "Number", NUMBER, True),
    "Tensor[]": ArgType(
        "tuple", "L", "tensors_arg", "sequence of Tensors", "_Sequence[_Tensor]", True
    ),
    "int": ArgType(_WHOLE, "i", "int_arg", "int", "_Int"),
    "float": ArgType("double", "f", "float_arg", "float", "_Float"),
    "bool": ArgType("bint", "b", "bool_arg", "bool", "_Bool"),
    "str": ArgType("str", "s", "str_arg", "str", "_Str"),
    "dim": ArgType(_WHOLE, "i", "dim_arg", "int", "_Int"),
    "dims": ArgType("object", "I", "dims_arg", "int or sequence of int", _INTS),
    "sizes": ArgType("tuple", "I", "sizes_arg", "sequence of int", _INTS),
    "ints": ArgType("tuple", "I", "ints_arg", "sequence of int", "_Sequence[_Int]"),
    "padding": ArgType(
        "object", "O", "padding_arg", "int, sequence of int or str", f"{_INTS} | _Str"
    ),
    # None is a value of its own in these, and of a C type.
    "dtype?": ArgType("int", "d", "dtype_arg", "dtype, optional", "_dtype | None"),
    "format?": ArgType(
        "int", "i", "format_arg", "memory_format, optional", "_memory_format | None"
    ),
    "bool?": ArgType("bint", "b", "bool_arg", "bool, optional", "_Bool | None", optional=True),
    "correction": ArgType("double", "f", "correction_arg", "float", "_Float | None"),
    "order": ArgType(
        "object", "O", "order_arg", "Number or str, optional", f"{NUMBER} | _Str | None"
    ),
    "indices": ArgType(
        "object", "O", "indices_arg", "tuple of Tensors", "_Sequence[_Tensor | None]"
    ),
    "start": ArgType(_WHOLE, "i", "start_arg", "int or Tensor", "_Int | _Tensor"),
    "device?": ArgType(
        "object", "O", "device_arg", "device, optional", "_device | _Str | _Int | None"
    ),
    "Generator?": ArgType(
        "object", "O", "generator_arg", "Generator, optional", "_Generator | None"
    ),
    "object": ArgType("object", "O", None, "object", "_Any"),
}
# With "?" a tensor stays one, and what else has a C type of its own becomes an object.
OPTIONAL = ("operand", "Tensor", "int", "float", "str", "dim", "dims", "sizes")
# What a union may be of; a value is taken by the first that knows it.
UNITED = ("int", "float", "str", "ints", "Tensor")
WORDED = {"choice_arg": "str", "fixed_arg": "tuple", "union_arg": "object"}  # converters of words
CONVERTERS = sorted({t.converter for t in TYPES.values() if t.converter} | {*WORDED})
_CHOICE = re.compile(r"choice\((.+)\)")
_FIXED = re.compile(r"ints\((\d+)\)")


def arg_type(name: str) -> ArgType:
    """The type of a name; KeyError if there is none."""
    if name in TYPES:
        return TYPES[name]
    base = name.removesuffix("?")
    if m := _CHOICE.fullmatch(base):
        words = tuple(word.strip() for word in m[1].split(","))
        kind = ArgType(
            "str", "s", "choice_arg", f"{{{', '.join(map(repr, words))}}}", "_Str", words=words
        )
    elif m := _FIXED.fullmatch(base):
        text = f"int or sequence of {m[1]} int"
        kind = ArgType("tuple", "I", "fixed_arg", text, _INTS, words=(m[1],))
    elif "|" in base:
        kind = union([part.strip() for part in base.split("|")])
    elif base in OPTIONAL and base != name:
        kind = TYPES[base]
    else:
        raise KeyError(name)
    return optional(kind) if base != name else kind


def union(parts: list[str]) -> ArgType:
    """The type of what one of several types takes; KeyError if it can't be one of them."""
    for part in parts:
        if part not in UNITED:
            raise KeyError(part)
    kinds = [TYPES[part] for part in parts]
    text = " or ".join(kind.text for kind in kinds)
    stub = " | ".join(kind.stub for kind in kinds)
    return ArgType("object", "O", "union_arg", text, stub, words=tuple(parts))


def optional(t: ArgType) -> ArgType:
    """Return the type that takes None, too."""
    if t.tensor:
        return replace(t, text=f"{t.text}, optional", stub=f"{t.stub} | None", optional=True)
    return replace(
        t,
        c="object",
        formula="O",
        text=f"{t.text}, optional",
        stub=f"{t.stub} | None",
        optional=True,
    )
