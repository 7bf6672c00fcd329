"""
Calls of torch on tensors of uint16, uint32 and uint64, and what torch gives for them.

``python -m tests.tensor.unsigned_calls`` calls an installed torch and writes its results to
``unsigned_in_torch.json``, which test_unsigned_dtypes.py compares with. A result is
``["value", dtype, list]`` or ``["error", class, text]``.
"""

from __future__ import annotations

import json
import operator
import warnings
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("unsigned_in_torch.json")
UNSIGNED = ("uint16", "uint32", "uint64")
DTYPES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 "
    "complex64 complex128"
).split()
NUMBERS = {"True": True, "2": 2, "2.0": 2.0, "1j": 1j}

_BINARY = (
    "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift eq ne lt le gt ge".split()
)
_METHODS = (
    "neg pos abs sum prod mean max min amax amin argmax argmin any all sort argsort unique nonzero "
    "sqrt exp sign square floor ceil round trunc isnan isinf isfinite roll median topk logical_not "
    "bitwise_not count_nonzero var std clone contiguous double float int half bool t diag "
    "signbit sin sigmoid log relu softmax cumsum cumprod repeat tile repeat_interleave "
    "chunk unfold flip triu tril trace bernoulli_ zero_ ravel flatten squeeze unsqueeze"
).split()
_ARGS = {
    "roll": (1,), "topk": (2,), "softmax": (0,), "cumsum": (0,), "cumprod": (0,), "repeat": (2,),
    "tile": (2,), "repeat_interleave": (2,), "chunk": (2,), "unfold": (0, 2, 1), "flip": (0,),
    "unsqueeze": (0,),
}  # fmt: skip
_MATRICES = ("triu", "tril", "trace")
_TWO = (
    "maximum minimum fmax fmin logical_and logical_or logical_xor remainder fmod dot outer equal "
    "allclose isclose floor_divide true_divide bitwise_and atan2 copysign hypot"
).split()


def vector(torch, dtype, values=(1, 2, 3)):
    return torch.tensor(list(values), dtype=dtype)


def _first(result):
    return result[0] if isinstance(result, tuple | list) else result


def _method(name):
    def call(torch, dtype):
        x = vector(torch, dtype)
        x = x.reshape(1, 3) if name in _MATRICES else x
        return _first(getattr(x, name)(*_ARGS.get(name, ())))

    return call


def _calls():
    """The calls by name: functions of the package and a dtype."""
    found = {}
    for name in _BINARY:
        f = getattr(operator, name)
        found[name] = lambda t, d, f=f: f(vector(t, d), vector(t, d, (3, 2, 1)))
        found[f"{name} int"] = lambda t, d, f=f: f(vector(t, d), 2)
        found[f"{name} float"] = lambda t, d, f=f: f(vector(t, d), 2.0)
        found[f"{name} int64"] = lambda t, d, f=f: f(vector(t, d), t.tensor([1, 2, 3]))
        found[f"{name} float32"] = lambda t, d, f=f: f(vector(t, d), t.tensor([1.0, 2.0, 3.0]))
        found[f"{name} number"] = lambda t, d, f=f: f(vector(t, d), t.tensor(3, dtype=d))
    for name in _METHODS:
        found[name] = _method(name)
    for name in _TWO:
        found[name] = lambda t, d, name=name: getattr(t, name)(
            vector(t, d), vector(t, d, (3, 2, 1))
        )
    mask = lambda t: t.tensor([True, False, True])  # noqa: E731
    places = lambda t: t.tensor([0, 2])  # noqa: E731
    found |= {
        "arange": lambda t, d: t.arange(3, dtype=d),
        "linspace": lambda t, d: t.linspace(0, 4, 3, dtype=d),
        "zeros": lambda t, d: t.zeros(2, dtype=d),
        "ones": lambda t, d: t.ones(2, dtype=d),
        "full": lambda t, d: t.full((2,), 7, dtype=d),
        "full -1": lambda t, d: t.full((2,), -1, dtype=d),
        "full -1.5": lambda t, d: t.full((2,), -1.5, dtype=d),
        "full 2**63": lambda t, d: t.full((2,), 2**63, dtype=d),
        "fill 2**63": lambda t, d: t.zeros(2, dtype=d).fill_(2**63),
        "fill -2": lambda t, d: t.zeros(2, dtype=d).fill_(-2),
        "fill 2.7": lambda t, d: t.zeros(2, dtype=d).fill_(2.7),
        "tensor 1.5": lambda t, d: t.tensor([1.5], dtype=d),
        "tensor -1": lambda t, d: t.tensor([-1], dtype=d),
        "tensor 2**64-1": lambda t, d: t.tensor([2**64 - 1], dtype=d),
        "tensor 70000": lambda t, d: t.tensor([70000], dtype=d),
        "tensor bool": lambda t, d: t.tensor([True, False], dtype=d),
        "tensor complex": lambda t, d: t.tensor([1j], dtype=d),
        "int32 wraps": lambda t, d: t.tensor([-1, 70000], dtype=t.int32).to(d),
        "from_numpy": lambda t, d: t.from_numpy(np.array([1, 2], dtype=str(d).partition(".")[2])),
        "index": lambda t, d: vector(t, d)[1],
        "slice": lambda t, d: vector(t, d)[1:],
        "mask": lambda t, d: vector(t, d)[mask(t)],
        "places": lambda t, d: vector(t, d)[places(t)],
        "as index": lambda t, d: t.arange(5)[vector(t, d)],
        "where": lambda t, d: t.where(mask(t), vector(t, d), vector(t, d, (7, 8, 9))),
        "where int": lambda t, d: t.where(mask(t), vector(t, d), 5),
        "where int64": lambda t, d: t.where(mask(t), vector(t, d), t.tensor([1, 2, 3])),
        "cat": lambda t, d: t.cat([vector(t, d), vector(t, d)]),
        "stack": lambda t, d: t.stack([vector(t, d), vector(t, d)]),
        "cat int64": lambda t, d: t.cat([vector(t, d), t.tensor([1])]),
        "cat float32": lambda t, d: t.cat([vector(t, d), t.tensor([1.0])]),
        "cat bool": lambda t, d: t.cat([vector(t, d), mask(t)]),
        "eq 2**63": lambda t, d: vector(t, d) == 2**63,
        "mul 2**63": lambda t, d: vector(t, d) * 2**63,
        "in": lambda t, d: 2 in vector(t, d),
        "item": lambda t, d: t.tensor(3, dtype=d).item(),
        "float()": lambda t, d: float(t.tensor(3, dtype=d)),
        "repr": lambda t, d: repr(vector(t, d, (1, 2**16 - 1))).replace(t.__name__ + ".", ""),
        "iinfo": lambda t, d: [t.iinfo(d).bits, t.iinfo(d).min, t.iinfo(d).max],
        "type": lambda t, d: vector(t, d).type().partition(".")[2],
        "is_signed": lambda t, d: d.is_signed,
        "itemsize": lambda t, d: d.itemsize,
        "to_complex": lambda t, d: d.to_complex(),
        "requires grad": lambda t, d: t.zeros(2, dtype=d, requires_grad=True),
        "view smaller": lambda t, d: vector(t, d).view(t.uint8),
        "view larger": lambda t, d: t.zeros(8, dtype=t.uint8).view(d),
        "copy from float": lambda t, d: t.zeros(2, dtype=d).copy_(t.tensor([1.5, 2.5])),
        "copy to float": lambda t, d: t.zeros(3).copy_(vector(t, d)),
        "sum of itself": lambda t, d: vector(t, d).sum(dtype=d),
        "sum of int64": lambda t, d: vector(t, d).sum(dtype=t.int64),
        "add in place": lambda t, d: vector(t, d).add_(1),
        "mul in place": lambda t, d: vector(t, d).mul_(2),
        "new_full": lambda t, d: vector(t, d).new_full((2,), 3),
        "zeros_like": lambda t, d: t.zeros_like(vector(t, d)),
        "logit": lambda t, d: t.logit(vector(t, d), 0.1),
        "polygamma": lambda t, d: t.polygamma(1, vector(t, d)),
        "embedding": lambda t, d: t.embedding(vector(t, d).reshape(3, 1), places(t)),
        "slice_scatter": lambda t, d: t.slice_scatter(vector(t, d), vector(t, d, (8, 9)), 0, 1),
        "select_scatter": lambda t, d: t.select_scatter(vector(t, d), t.tensor(9, dtype=d), 0, 1),
        "diagonal_scatter": lambda t, d: t.diagonal_scatter(
            vector(t, d, (1, 2, 3, 4)).reshape(2, 2), vector(t, d, (8, 9))
        ),
        "fft": lambda t, d: t.fft.fft(vector(t, d)).real,
        "ifft": lambda t, d: t.fft.ifft(vector(t, d)).real,
        "rfft": lambda t, d: t.fft.rfft(vector(t, d)).real,
        "irfft": lambda t, d: t.fft.irfft(vector(t, d)),
        "randint": lambda t, d: t.randint(0, 1, (3,), dtype=d),
        "rand_like": lambda t, d: t.rand_like(vector(t, d)),
        "default dtype": lambda t, d: t.set_default_dtype(d),
        "clamp": lambda t, d: vector(t, d).clamp(0, 2),
        "masked_fill": lambda t, d: vector(t, d).masked_fill(mask(t), 9),
        "index_put": lambda t, d: vector(t, d).index_put((places(t),), vector(t, d, (5, 6))),
        "index_put add": lambda t, d: vector(t, d).index_put(
            (places(t),), vector(t, d, (5, 6)), accumulate=True
        ),
        "index_add": lambda t, d: vector(t, d).index_add(0, places(t), vector(t, d, (5, 6))),
        "scatter": lambda t, d: vector(t, d).scatter(0, places(t), vector(t, d, (5, 6))),
        "scatter_add": lambda t, d: vector(t, d).scatter_add(0, places(t), vector(t, d, (5, 6))),
        "gather": lambda t, d: vector(t, d).gather(0, places(t)),
        "index_select": lambda t, d: vector(t, d).index_select(0, places(t)),
        "matmul": lambda t, d: vector(t, d) @ vector(t, d),
        "mm": lambda t, d: vector(t, d).reshape(1, 3) @ vector(t, d).reshape(3, 1),
        "searchsorted": lambda t, d: t.searchsorted(vector(t, d), vector(t, d)),
        "isin": lambda t, d: t.isin(vector(t, d), vector(t, d)),
        "bincount": lambda t, d: vector(t, d).bincount(),
        "addcmul": lambda t, d: t.addcmul(vector(t, d), vector(t, d), vector(t, d)),
        "pad": lambda t, d: t.nn.functional.pad(vector(t, d), (1, 1)),
    }
    for name, number in NUMBERS.items():
        found[f"result_type {name}"] = lambda t, d, n=number: _named(t.result_type(vector(t, d), n))
    for other in DTYPES:
        found[f"promote {other}"] = lambda t, d, o=other: _named(t.promote_types(d, dtype_of(t, o)))
        found[f"promoted by {other}"] = lambda t, d, o=other: _named(
            t.promote_types(dtype_of(t, o), d)
        )
        found[f"result beside {other}"] = lambda t, d, o=other: _named(
            t.result_type(vector(t, d), t.tensor(1, dtype=dtype_of(t, o)))
        )
        found[f"result of a number beside {other}"] = lambda t, d, o=other: _named(
            t.result_type(t.tensor(1, dtype=d), t.ones(2, dtype=dtype_of(t, o)))
        )
        found[f"can cast to {other}"] = lambda t, d, o=other: t.can_cast(d, dtype_of(t, o))
        found[f"can cast from {other}"] = lambda t, d, o=other: t.can_cast(dtype_of(t, o), d)
    return found


def dtype_of(torch, name):
    return getattr(torch, name)


def _named(dtype):
    return str(dtype).partition(".")[2]


CALLS = _calls()


def result_of(torch, name, dtype):
    """The result of a call, as it is stored."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = CALLS[name](torch, dtype_of(torch, dtype))
    except Exception as error:
        return ["error", type(error).__name__, str(error).splitlines()[0]]
    if isinstance(result, torch.Tensor):
        return ["value", _named(result.dtype), result.tolist()]
    return ["value", type(result).__name__, result]


def main() -> None:
    import torch

    found = {name: {d: result_of(torch, name, d) for d in UNSIGNED} for name in CALLS}
    rows = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in found.items()]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
