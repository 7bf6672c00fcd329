"""Every option of every module of torch.nn, one at a time: made, shown, run and trained as there.

Options and their defaults are those of torch's signatures; each gets values other than its default.
"""

import inspect
import re
import warnings

import numpy as np
import pytest
from grouping import each
from module_samples import MODULES

import autograd_cy

torch = pytest.importorskip("torch")


# Values of options by name, else by the kind of their default.
VALUES = {
    "reduction": ["none", "sum", "nonsense"], "mode": ["sum", "max"], "padding_mode": [
        "reflect", "replicate", "circular", "nonsense"],
    "dim": [0, 1, -2], "approximate": ["tanh", "nonsense"], "nonlinearity": ["relu", "nonsense"],
    "padding": [1, "same", "valid"], "stride": [1, 2, 3, 0], "kernel_size": [2], "dilation": [2, 0],
    "groups": [2, 4, 3, 0], "output_padding": [1], "ceil_mode": [True], "divisor_override": [3],
    "weight": [], "pos_weight": [], "max_norm": [1.0], "padding_idx": [0, 2, -1, 5, -6],
    "device": [], "dtype": [], "sparse": [],
    "eps": [0.1, 0.001], "layer_norm_eps": [0.1],
    "p": [1, 3.0, 0.5], "num_layers": [2], "dropout": [],
    "proj_size": [2, 3], "kdim": [], "vdim": [], "activation": ["gelu", "nonsense"],
    "ignore_index": [0, 2], "label_smoothing": [0.2, 2.0], "size_average": [True, False],
    "reduce": [True, False], "log_input": [False], "scale_factor": [2], "start_dim": [0, 2],
    "end_dim": [0, 1], "num_parameters": [6], "init": [0.5], "momentum": [None, 0.3], "_weight": [],
    "inplace": [True], "margin": [0.3, -0.5], "beta": [0.5, 2.0, 0.0], "delta": [0.5, 0.0],
    "return_indices": [True], "count_include_pad": [False], "norm_type": [1.0], "scale": [2.0],
    "k": [2], "min_value": [], "max_value": [], "min_val": [-0.5, 2.0], "max_val": [0.5],
}  # fmt: skip
# (class, option): values beside these.
MORE = {
    ("Softmax", "dim"): [1], ("CosineSimilarity", "dim"): [0], ("Upsample", "mode"): [
        "bilinear", "bicubic", "area", "nearest-exact", "linear", "nonsense"],
    ("Upsample", "align_corners"): [True], ("MultiheadAttention", "kdim"): [6, 4],
    ("MultiheadAttention", "vdim"): [6], ("Fold", "padding"): [1, 0], ("Fold", "stride"): [1, 2],
}  # fmt: skip
NAMES = sorted(name for name in MODULES if hasattr(autograd_cy.nn, name))


def other_values(name, parameter):
    """Values other than the default of an option."""
    if (name, parameter.name) in MORE:
        return MORE[name, parameter.name]
    if parameter.name in VALUES:
        return VALUES[parameter.name]
    default = parameter.default
    if isinstance(default, bool):
        return [not default]
    if isinstance(default, int | float):
        return [default + 1, default * 0.5, -1.0]
    return []


def options(name):
    """Keyword arguments to make a module with."""
    yield {}
    for parameter in inspect.signature(getattr(torch.nn, name)).parameters.values():
        if parameter.default is not inspect.Parameter.empty:
            for value in other_values(name, parameter):
                yield {parameter.name: value}


def plain(value):
    if isinstance(value, torch.device | torch.dtype):
        return False
    if isinstance(value, tuple | list):
        return all(map(plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def members(module):
    """Return the members that a user reads: attributes, text, names and shapes of the state."""
    found = {k: v for k, v in vars(module).items() if not k.startswith("_") and plain(v)}
    state = {k: tuple(v.shape) for k, v in module.state_dict().items()}
    return found, repr(module), list(state.items()), [n for n, _ in module.named_children()]


def attempt(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return error


def of_library(library, x, trained):
    """An array as tensor, also in lists."""
    if isinstance(x, tuple):
        return tuple(of_library(library, y, trained) for y in x)
    t = library.from_numpy(x.copy())
    return t.requires_grad_() if trained and x.dtype.kind == "f" else t


def flat(x):
    """Tensors of nested results in order."""
    if isinstance(x, tuple | list):
        return [t for y in x for t in flat(y)]
    return [] if x is None else [x]


def arrays_of(call, rng):
    return tuple(arrays_of(x, rng) if isinstance(x, tuple) else x.array(rng) for x in call)


def run(library, module, arrays):
    """All numbers that a training step with these arguments shows."""
    args = of_library(library, arrays, True)
    outputs = flat(module(*args))
    trained = [t for t in outputs if t.requires_grad]
    total = sum((t * t).sum() + t.sum() for t in trained)
    module.zero_grad()
    if trained:
        total.backward()
    shown = [*outputs, *(t.grad for t in flat(args)), *(p.grad for p in module.parameters())]
    return [None if t is None else t.detach().numpy() for t in [*shown, *module.buffers()]]


def difference(a, b):
    if len(a) != len(b):
        return f"{len(a)} arrays, torch {len(b)}"
    for place, (x, y) in enumerate(zip(a, b)):
        if (x is None) != (y is None):
            return f"array {place}: {x is None}, torch {y is None}"
        if x is not None and x.shape != y.shape:
            return f"array {place}: shape {x.shape}, torch {y.shape}"
        if x is not None and not np.allclose(x, y, 1e-6, 1e-8, equal_nan=True):
            return f"array {place}: {x.ravel()[:3]}, torch {y.ravel()[:3]}"
    return None


def faults(name, chosen):
    """List the differences of a module with these options from torch's."""
    required, calls = MODULES[name]
    theirs = attempt(getattr(torch.nn, name), *required, **chosen)
    ours = attempt(getattr(autograd_cy.nn, name), *required, **chosen)
    refused = [isinstance(m, Exception) for m in (ours, theirs)]
    if any(refused):
        if not all(refused) or not isinstance(ours, type(theirs)):
            yield f"made: {ours!r}, torch {theirs!r}"
        return
    for a, b in zip(members(ours), members(theirs)):
        if a != b:
            yield f"{a}, torch {b}"
    ours, theirs = ours.double(), theirs.double()
    ours.load_state_dict({k: autograd_cy.from_numpy(v.numpy().copy())
                          for k, v in theirs.state_dict().items()})  # fmt: skip
    for training in (True, False):
        ours.train(training)
        theirs.train(training)
        for number, call in enumerate(calls):
            arrays = arrays_of(call, np.random.default_rng(number))
            a = attempt(run, autograd_cy, ours, arrays)
            b = attempt(run, torch, theirs, arrays)
            label = f"call {number}{'' if training else ' in evaluation'}"
            if isinstance(a, Exception) or isinstance(b, Exception):
                if not (isinstance(b, Exception) and isinstance(a, type(b))):
                    yield f"{label}: {a!r:.200}, torch {b!r:.200}"
            elif text := difference(a, b):
                yield f"{label}: {text}"


# (class, options as text, part of the fault): why it differs.
DIFFERENT = [
    ("ConvTranspose.d", "padding='(same|valid)'", "", "torch takes a text for its letters"),
    ("CosineSimilarity", "eps=0.1", "", "torch's gradient of a norm below eps is not that of it"),
    ("CrossEntropyLoss", "ignore_index=", "call 2", "probabilities have no index to ignore"),
    ("EmbeddingBag", "scale_grad_by_freq=True", "array 2",
     "torch divides by how often another index occurs"),
    ("MultiheadAttention", "kdim=4", "", "the product names both shapes; torch asserts"),
    ("TransformerEncoderLayer", "", "activation_relu_or_gelu", "of torch's own fast path"),
]  # fmt: skip


def is_known(name, said, fault):
    return any(
        re.fullmatch(names, name) and re.match(options, said) and text in fault
        for names, options, text, _ in DIFFERENT
    )


@each("name", [pytest.param(name, id=name) for name in NAMES])
def test_options_are_those_of_torch(name):
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for chosen in options(name):
            said = ", ".join(f"{k}={v!r}" for k, v in chosen.items())
            found += [
                f"{name}({said}): {fault}"
                for fault in faults(name, chosen)
                if not is_known(name, said, fault)
            ]
    assert not found, "\n".join(found)
