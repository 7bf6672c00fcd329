"""Accepted calls, and the classes of errors of others, against torch."""

import warnings

import numpy as np
import pytest
from calls import CLASS_OF, RECORDS, Case, make, method_name, public_function
from grouping import each

import autograd_cy as ag

torch = pytest.importorskip("torch")


class Unknown:
    """Something that is no argument of anything."""


class Index:
    def __index__(self):
        return 1


# Values by name; a function of the module for those that are tensors or dtypes.
PLAIN = {
    "None": None, "True": True, "False": False, "0": 0, "1": 1, "-1": -1, "1.0": 1.0, "0.5": 0.5,
    "nan": float("nan"), "1j": 1j, "text": "text", "bytes": b"mean", "object": Unknown(), "[]": [],
    "()": (), "[0]": [0], "(0,)": (0,), "(0, 1)": (0, 1), "[1.0]": [1.0], "[True]": [True],
    "[None]": [None], "dict": {}, "set": {1}, "int64": np.int64(1), "float64": np.float64(1.0),
    "array": np.ones(2), "range": range(1),
}  # fmt: skip
OF_MODULE = {
    "tensor(1)": lambda m: m.tensor(1),
    "tensor(0.5)": lambda m: m.tensor(0.5),
    "tensor([1, 0])": lambda m: m.tensor([1, 0]),
    "[tensor]": lambda m: [m.ones(2)],
    "dtype": lambda m: m.float32,
    "format": lambda m: m.contiguous_format,
}
VALUES = {**{k: (lambda m, v=v: v) for k, v in PLAIN.items()}, **OF_MODULE}
# Where the two differ, and why: (operator, argument, value), None for all.
PROMOTES = "operands of unequal dtypes are promoted; torch wants equal ones"
EARLIER = "a value of another kind is a TypeError before its elements are looked at"
LENIENT = "what torch's parser misses means the same as its plain form"
NAMES = "a name is a str; torch takes bytes for one"
DIFFERENT = {
    ("heaviside", "values", None): PROMOTES,
    ("norm", "dtype", "dtype"): PROMOTES,
    ("embedding", "sparse", "True"): "there are no sparse gradients, which is said at once",
    ("clamp", None, "tensor([1, 0])"): "shapes are looked at before one bound is a number",
    ("logsumexp", "dim", None): "no dimensions mean all, as in sum",
    ("var", "correction", "1j"): EARLIER,
    ("std", "correction", "1j"): EARLIER,
    ("norm", "p", "1j"): EARLIER,
    ("var_mean", "correction", "1j"): EARLIER,
    ("std_mean", "correction", "1j"): EARLIER,
    ("searchsorted", "side", "bytes"): EARLIER,
    ("scatter_reduce", "reduce", "bytes"): NAMES,
    ("index_reduce", "reduce", "bytes"): NAMES,
    ("qr", "mode", "bytes"): NAMES,
    ("quantile", "interpolation", "bytes"): NAMES,
    ("nanquantile", "interpolation", "bytes"): NAMES,
    ("trapezoid", "dx", None): "a truth value is a number; a complex one is a TypeError",
    ("cumulative_trapezoid", "dx", None): "a truth value is a number; a complex one is a TypeError",
    **{(name, "norm", "bytes"): EARLIER for name in ("fft", "ifft", "rfft", "irfft")},
    ("split", None, "tensor(0.5)"): EARLIER,
    ("histc", None, "1j"): EARLIER,
    ("unflatten", "sizes", None): EARLIER,
    ("repeat_interleave", "repeats", "tensor(0.5)"): EARLIER,
    ("movedim", None, None): "one dimension and a sequence of one mean the same",
    ("split", None, "int64"): LENIENT,
    ("norm", "dim", None): LENIENT,
    ("roll", "dims", "None"): "torch.roll takes None for an empty sequence",
    ("cdist", "compute_mode", None): "something else than text is a TypeError",
    ("addr", None, "True"): "a truth value is a number",
    ("addr", None, "False"): "a truth value is a number",
    ("as_strided_scatter", "src", None): "a source that broadcasts to the window is taken",
}
# Operators whose arguments torch names or orders in another way, or that are random.
OTHER_SIGNATURES = {
    "cross",
    "dropout",
    "nll_loss",
    "cross_entropy",
    "mse_loss",
    "linear",
    "batch_norm",
    # Torch crashes on some wrong arguments.
    "embedding_bag",
    "gru",
    "lstm",
    "rnn_relu",
    "rnn_tanh",
}


def comparable(record):
    if record.name.startswith("_") or not record.tests.samples or record.name in OTHER_SIGNATURES:
        return False
    return hasattr(torch.Tensor, record.name) if record.call.method else hasattr(torch, record.name)


def outcome(function, args, kwargs):
    """ "ok" or the class of the error; torch raises many kinds of RuntimeError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args, **kwargs)
        except Exception as error:
            if isinstance(error, TypeError):
                return "TypeError"
            return "other error"
    return "ok"


def functions(record):
    if record.call.method:
        return getattr(ag.Tensor, method_name(record)), getattr(torch.Tensor, method_name(record))
    theirs = torch
    for word in filter(None, [*record.namespace.split("."), record.name]):
        theirs = getattr(theirs, word)
    return public_function(record), theirs


def dtype_of(record):
    return next(n for n in ("float64", "complex128", "int64") if CLASS_OF[n] in record.call.dtypes)


def as_torch(x):
    if isinstance(x, ag.Tensor):
        return torch.tensor(x.numpy())
    if isinstance(x, (tuple, list)):
        return type(x)(as_torch(y) for y in x)
    return x


def calls(record):
    """(label, our arguments, torch's) with one argument after the other replaced."""
    call = make(Case(record, 0), dtype_of(record))
    args, kwargs = call.arguments(call.tensors())
    for i, a in enumerate(record.args):
        if i == 0 and a.is_tensor:
            continue
        for name, value in VALUES.items():
            ours, theirs = list(args), [as_torch(x) for x in args]
            named, their_named = dict(kwargs), {k: as_torch(v) for k, v in kwargs.items()}
            if i < len(ours):
                ours[i], theirs[i] = value(ag), value(torch)
            else:
                named[a.name], their_named[a.name] = value(ag), value(torch)
            if any((record.name, x, y) in DIFFERENT for x in (a.name, None) for y in (name, None)):
                continue
            yield f"{a.name}={name}", (ours, named), (theirs, their_named)
    theirs = [as_torch(x) for x in args]
    yield "too many", ([*args, *[None] * 9], kwargs), ([*theirs, *[None] * 9], kwargs)
    yield "unknown", (args, {"nothing": 1}), (theirs, {"nothing": 1})


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if comparable(r)])
def test_calls_are_accepted_or_refused_as_in_torch(record):
    ours, theirs = functions(record)
    wrong = []
    for label, (args, kwargs), (their_args, their_kwargs) in calls(record):
        found, wanted = outcome(ours, args, kwargs), outcome(theirs, their_args, their_kwargs)
        if found != wanted:
            wrong.append(f"{label}: {found}, torch: {wanted}")
    assert not wrong, "\n".join(wrong)
