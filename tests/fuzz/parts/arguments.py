"""Public functions and methods with arguments of odd kinds.

An error of the documented kinds, or a result; tensors that were given are as before, and no message
shows a private name.
"""

import re
from dataclasses import dataclass

import numpy as np

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
# They wait, end the process, change the state of the process, or take files.
LEFT_OUT = re.compile(
    r"^_|^(save|load|set_|seed|manual_seed|add_safe_globals|register_|get_default|empty_cache|"
    r"reset_peak|memory_summary|compile|multiprocessing|share_memory_|apply_|map_|set_rng)"
)
PRIVATE = re.compile(r"\b(form_\w+|_[a-z]\w*\(\)|\w+_plain|NULL|c_[a-z]+\()")
INTERNAL = (SystemError, AttributeError, AssertionError, UnboundLocalError, NameError, KeyError)


@dataclass(frozen=True)
class Arguments:
    """A call as text."""

    title: str
    call: str

    def source(self):
        tensors = "".join(f"{name} = {text}\n" for name, text in TENSORS.items())
        return f"{PRELUDE}{tensors}result = {self.call}\nprint(result)\n"


_names = {}


def _public(lib):
    """Names of functions and of methods."""
    if not _names:
        functions = [f"torch.{n}" for n in sorted(dir(lib)) if _is_callable(lib, n)]
        functions += [
            f"torch.nn.functional.{n}"
            for n in sorted(dir(lib.nn.functional))
            if _is_callable(lib.nn.functional, n) and n.islower()
        ]
        methods = [n for n in sorted(dir(lib.Tensor)) if _is_callable(lib.Tensor, n)]
        _names.update(functions=functions, methods=methods)
    return _names


def _is_callable(owner, name):
    value = getattr(owner, name, None)
    return callable(value) and not isinstance(value, type) and not LEFT_OUT.match(name)


def make(rng):
    import autograd_cy as lib

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


def run(case, lib):
    names = {"torch": lib, "np": np, "nan": float("nan"), "inf": float("inf")}
    for name, text in TENSORS.items():
        names[name] = eval(text, names)
    before = {name: to_array(names[name]) for name in TENSORS}
    changes = case.title.endswith("_") or "out=" in case.call or "resize" in case.title
    try:
        eval(case.call, names)
    except INTERNAL as error:
        if isinstance(error, AttributeError) and "has no attribute" not in str(error):
            raise Wrong(f"{type(error).__name__}: {error}") from None
        if not isinstance(error, (AttributeError, KeyError)):
            raise Wrong(f"{type(error).__name__}: {error}") from None
        return Result("refused", str(error))
    except (*REFUSALS, OverflowError, MemoryError, BufferError, UserWarning) as error:
        if PRIVATE.search(str(error)):
            raise Wrong(f"a private name in: {type(error).__name__}: {error}") from None
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
