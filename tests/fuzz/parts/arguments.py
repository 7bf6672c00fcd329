"""Public functions and methods with arguments of odd kinds, and right calls with one thing wrong.

An error of the documented kinds, or a result; tensors that were given are as before, and no message
shows a private name. Unknown, misspelt, doubled and superfluous arguments are a TypeError.
"""

import re
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from .. import operators
from ..case import PRELUDE, REFUSALS, Result, Wrong, chance, choice
from ..values import to_array

# Sources of arguments; tensors are named, so that they can be looked at afterwards.
TENSORS = {
    "x": "torch.arange(6.0).view(2, 3)",
    "v": "torch.arange(3.0)",
    "s": "torch.tensor(1.5)",
    "i": "torch.tensor([0, 1])",
    "b": "torch.tensor([True, False, True])",
    "z": "torch.tensor([1 + 2j, 3.0])",
    "h": "torch.ones(2, 3, dtype=torch.float16)",
    "e": "torch.zeros(0, 3)",
    "g": "torch.ones(2, 3, requires_grad=True)",
}
OTHERS = (
    "None", "True", "False", "0", "1", "-1", "2", "-7", "2**31", "2**63", "-2**64", "1.5", "nan",
    "inf", "1j", "'mean'", "'no'", "b'x'", "()", "(0, 1)", "[0, 1]", "(1, -1)", "[[0, 1], [1, 0]]",
    "{}", "{'a': 1}", "slice(None)", "...", "object()", "len", "torch.float32", "torch.int64",
    "torch.device('cpu')", "torch.strided", "torch.preserve_format", "np.ones(3)", "np.float32(2)",
    "range(3)", "[x, x]", "(x, v)", "[None]", "''", "torch.Size([2])", "lambda *a: None",
)  # fmt: skip
KEYWORDS = (
    "dim", "keepdim", "out", "dtype", "alpha", "other", "size", "value", "p", "reduction",
    "unbiased", "correction", "descending", "stable", "largest", "rounding_mode", "decimals",
    "requires_grad", "generator", "memory_format", "weight", "index", "src", "axis", "nosuch",
)  # fmt: skip
MODULES = (
    "nn.functional", "nn.init", "autograd", "autograd.functional", "autograd.forward_ad", "func",
    "autograd.graph", "linalg", "special", "testing", "overrides", "autograd.grad_mode",
)  # fmt: skip
# They wait, end the process, change the state of the process, or take files.
LEFT_OUT = re.compile(
    r"^_|^(save|load|set_|seed|manual_seed|add_safe_globals|register_|get_default|empty_cache|"
    r"reset_peak|memory_summary|compile|multiprocessing|share_memory_|apply_|map_|set_rng)"
)
PRIVATE = re.compile(r"\b(form_\w+|_[a-z]\w*(\(\)|:)|\w+_plain|NULL|c_[a-z]+\()")
INTERNAL = (SystemError, AttributeError, AssertionError, UnboundLocalError, NameError, KeyError)


@dataclass(frozen=True)
class Arguments:
    """A call as text."""

    title: str
    call: str
    tensors: tuple = tuple(TENSORS.items())  # names and sources
    slip: str = ""  # what must be refused

    def source(self):
        tensors = "".join(f"{name} = {text}\n" for name, text in self.tensors)
        return f"{PRELUDE}{tensors}result = {self.call}\nprint(result)\n"


_names = {}


def _public(lib):
    """Names of functions and of methods."""
    if not _names:
        functions = [f"torch.{n}" for n in sorted(dir(lib)) if _is_callable(lib, n)]
        for path in MODULES:
            owner = attrgetter(path)(lib)
            found = [n for n in sorted(dir(owner)) if _is_callable(owner, n) and n.islower()]
            functions += [f"torch.{path}.{n}" for n in found]
        methods = [n for n in sorted(dir(lib.Tensor)) if _is_callable(lib.Tensor, n)]
        _names.update(functions=functions, methods=methods)
    return _names


def _is_callable(owner, name):
    value = getattr(owner, name, None)
    return callable(value) and not isinstance(value, type) and not LEFT_OUT.match(name)


def make(rng):
    import autograd_cy as lib

    if chance(rng, 0.3):
        return with_slip(rng)

    def argument():
        return choice(rng, tuple(TENSORS)) if chance(rng, 0.45) else choice(rng, OTHERS)

    words = [argument() for _ in range(int(rng.integers(0, 5)))]
    for name in rng.permutation(KEYWORDS)[: int(rng.integers(0, 3)) if chance(rng, 0.5) else 0]:
        words.append(f"{name}={argument()}")
    if chance(rng, 0.5):
        name = choice(rng, _public(lib)["functions"])
        return Arguments(name, f"{name}({', '.join(words)})")
    name = choice(rng, _public(lib)["methods"])
    return Arguments(f"Tensor.{name}", f"{choice(rng, tuple(TENSORS))}.{name}({', '.join(words)})")


SLIPS = ("unknown keyword", "misspelt keyword", "doubled argument", "superfluous", "another kind")


def with_slip(rng):
    """A call that is right but for one argument."""
    operation = operators.random_operation(rng, plain=True)
    record, inputs = operation.record, operation.inputs
    tensors = tuple((f"x{i}", x.source()) for i, x in enumerate(inputs))
    args, kwargs = operation.arguments([operators.Name(name) for name, _ in tensors])
    words = [operators.python(x) for x in args]
    named = [f"{k}={operators.python(v)}" for k, v in kwargs.items()]
    others = [a.name for a in record.args[1 : len(words)]]
    slip = choice(rng, SLIPS)
    if slip == "doubled argument" and others:
        place = int(rng.integers(len(others)))
        named.append(f"{others[place]}={words[place + 1]}")
    elif slip == "misspelt keyword" and kwargs:
        place = int(rng.integers(len(named)))
        name, _, value = named[place].partition("=")
        named[place] = f"{name}_x={value}"
    elif slip == "superfluous":
        words += ["object()"] * 12
    elif slip == "another kind":
        place = int(rng.integers(len(words)))
        words[place] = choice(rng, OTHERS)
    else:
        slip = "unknown keyword"
        named.append("nosuch=1")
    if operation.form == "function" or not record.call.method:
        head = "torch.nn.functional." if record.name in operators.NN_ONLY else "torch."
        call = f"{head}{record.name}({', '.join(words + named)})"
    else:
        call = f"({words[0]}).{record.name}({', '.join(words[1:] + named)})"
    return Arguments(
        record.name, call, (*tensors, ("x", TENSORS["x"]), ("v", TENSORS["v"])),
        "" if slip == "another kind" else slip,
    )  # fmt: skip


def run(case, lib):
    names = {"torch": lib, "np": np, "nan": float("nan"), "inf": float("inf")}
    names.update(nanj=complex(0, names["nan"]), infj=complex(0, names["inf"]))
    for name, text in case.tensors:
        names[name] = eval(text, names)
    before = {name: to_array(names[name]) for name, _ in case.tensors}
    changes = case.title.endswith("_") or "out=" in case.call or "resize" in case.title
    changes = changes or "nn.init" in case.title
    try:
        eval(case.call, names)
        if case.slip:
            raise Wrong(f"accepted: {case.slip}")
    except INTERNAL as error:
        if isinstance(error, AttributeError) and "has no attribute" not in str(error):
            raise Wrong(f"{type(error).__name__}: {error}") from None
        if not isinstance(error, (AttributeError, KeyError)):
            raise Wrong(f"{type(error).__name__}: {error}") from None
        return Result("refused", str(error))
    except (*REFUSALS, OverflowError, MemoryError, BufferError, UserWarning) as error:
        if PRIVATE.search(str(error)):
            raise Wrong(f"a private name in: {type(error).__name__}: {error}") from None
        if case.slip and not isinstance(error, TypeError):
            raise Wrong(f"{case.slip}: {type(error).__name__}: {error}") from None
        _check_same(names, before, "a refused call")
        return Result("refused", f"{type(error).__name__}: {error}")
    if not changes:
        _check_same(names, before, "a call")
    return Result()


def _check_same(names, before, what):
    for name, array in before.items():
        t = names[name]
        now = to_array(t)
        if now.shape != array.shape or not np.array_equal(
            now, array, equal_nan=now.dtype.kind in "fc"
        ):
            raise Wrong(f"{what} changed {name}")
