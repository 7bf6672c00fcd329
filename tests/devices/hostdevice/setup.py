"""A device outside of the package, built against what is installed."""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

from autograd_cy._C import devices

HERE = Path(__file__).resolve().parent
INTEGERS = ("Py_ssize_t", "bint", "int", "int64_t", "uint64_t", "uint32_t", "long long")


def parameters(signature):
    """The types of the parameters that a signature names."""
    return signature.partition("(")[2].removesuffix(")").split(", ")


def is_object(kind):
    return kind in ("Tensor", "tuple", "object", "str", "list")


def stored(i, kind):
    """The place of a kernel's argument between the call and the run: (to write, to read)."""
    if kind in INTEGERS:
        return f"w.n[{i}].i = a{i}", f"<{kind}>w.n[{i}].i"
    if kind in ("double", "float"):
        return f"w.n[{i}].d = a{i}", f"<{kind}>w.n[{i}].d"
    assert kind.endswith("*"), f"an argument of type {kind}"
    return f"w.n[{i}].p = <void*>a{i}", f"<{kind}>w.n[{i}].p"


def shared_by(number, signature):
    """For one signature: its type, what runs a kernel of it, and what queues one."""
    kinds = parameters(signature)
    objects = [i for i, kind in enumerate(kinds) if is_object(kind)]
    place = {i: k for k, i in enumerate(objects)}
    arguments = [
        f"<{kind}>w.operands[{place[i]}]" if i in place else stored(i, kind)[1]
        for i, kind in enumerate(kinds)
    ]
    declared = ", ".join(f"{kind} a{i}" for i, kind in enumerate(kinds))
    answers = any(kind.endswith("*") for kind in kinds)
    lines = [
        f"ctypedef int (*kernel_{number})({', '.join(kinds)}) except -1",
        "",
        "",
        f"cdef int run_{number}(Work w) except -1:",
        f"    return (<kernel_{number}>w.function)({', '.join(arguments)})",
        "",
        "",
        f"cdef int give_{number}(str key, {declared}) except -1:",
        "    cdef int place",
        f"    cdef Work w = prepare(key, run_{number}, "
        f"({''.join(f'a{i}, ' for i in objects)}), &place)",
    ]
    lines += [f"    {stored(i, k)[0]}" for i, k in enumerate(kinds) if i not in place]
    return [*lines, f"    return give(w, place, {answers})", "", ""]


def trampolines(signatures):
    """The text of kernels.pxi: a function for each operator that queues the kernel of the CPU."""
    numbers = {text: n for n, text in enumerate(dict.fromkeys(signatures.values()))}
    lines = ["# Written by setup.py from signatures(): kernels that queue those of the CPU.", ""]
    for signature, number in numbers.items():
        lines += shared_by(number, signature)
    table = []
    for i, (key, signature) in enumerate(signatures.items()):
        kinds = parameters(signature)
        declared = ", ".join(f"{kind} a{k}" for k, kind in enumerate(kinds))
        handed = ", ".join(f"a{k}" for k in range(len(kinds)))
        number = numbers[signature]
        lines += [
            f"cdef int queue_{i}({declared}) except -1:",
            f'    return give_{number}("{key}", {handed})',
            "",
            "",
        ]
        table.append(f'        "{key}": capsule(<void*>queue_{i}, "{key}", b"{signature}"),')
    return "\n".join([*lines, "def trampolines():", "    return {", *table, "    }", ""])


(HERE / "kernels.pxi").write_text(trampolines(devices.signatures()))

setup(
    name="hostdevice",
    py_modules=[],
    ext_modules=cythonize(
        [
            Extension(
                "hostdevice",
                [str(HERE / "hostdevice.pyx")],
                include_dirs=[os.environ["AUTOGRAD_CY_HEADERS"]],  # scalar/random_elements.h
            )
        ],
        language_level=3,
        include_path=[p for p in os.environ.get("AUTOGRAD_CY_PXD", "").split(os.pathsep) if p],
    ),
)
