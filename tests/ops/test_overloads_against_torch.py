"""Every overload in torch's schemas, called with values made for its types: ours takes it, too.

Arguments come by position, by keyword, and each optional one alone; results have the dtype, shape
and values of torch's. Torch says which calls there are: what it refuses is not asked.
"""

import itertools
import re
import warnings
from collections import defaultdict

import numpy as np
import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.slow

SPACES = {
    "": "", "linalg": "linalg_", "special": "special_", "fft": "fft_", "nn.functional": "",
    "Tensor": "",
}  # fmt: skip
SPARSE = "there are no sparse gradients, which is said at once"
MEANT = "a shape or order of bounds that only fits by chance is refused"
# (names, pattern of the call and the difference): why.
DIFFERENT = [
    ("(add|sub|subtract|rsub)_?", "pos alpha", "a factor comes by its name"),
    ("as_strided_scatter", "", "a window on shared elements has no one value for each"),
    ("(embedding|embedding_bag|gather)", "sparse(_grad)?=", SPARSE),
    ("embedding_bag", "", "beside the result there are torch's own notes for its backward"),
    ("(rnn_relu_cell|rnn_tanh_cell|linear|hardtanh_)", "", MEANT),
    ("(logspace)", "int64", "one step is no exception from whole bounds"),
    ("(normal|randn)", "int64", "the dtype is refused for no elements, too"),
    ("polygamma", "values", "at the poles torch's values are what rounding leaves"),
    ("rrelu_?", "generator", "the default generator draws"),
    ("r?fftfreq", "n must be|layout|pin_memory", "of no elements there are no frequencies"),
    ("elu_", "scale", "selu has them"),
    ("scaled_dot_product_attention", "values", "drawn at random"),
    ("expand", "implicit", "for torch's tracing"),
    ("set_", "stride=", "strides of another number of dimensions"),
    ("to", "prim_other", "a dtype, device or tensor comes first"),
    ("histc", "values", "elements on the edge of a bin"),
]
RANDOM = re.compile(
    r"(bernoulli|rand\w*|normal|multinomial|.*dropout|rrelu|poisson|(new_)?empty\w*|uniform"
    r"|exponential|cauchy|geometric|log_normal|random|resize|binomial)_?"
)
X = [[4.0, 1, 2], [1, 5, 1], [2, 1, 6]]
Y = [[1.0, -2, 3], [0.5, 2, -1], [2, 1, 0.25]]
P = [[0.3, 0.5, 0.7], [0.2, 0.4, 0.6], [0.1, 0.9, 0.8]]


def wide(lib, x):
    return lib.tensor(x, dtype=lib.float64)


class Made:
    """A value of each library, shown by its name."""

    def __init__(self, name, function):
        self.name, self.function = name, function

    def __repr__(self):
        return self.name


TENSORS = [
    Made("p", lambda m: wide(m, P)),
    Made("x", lambda m: wide(m, X)),
    Made("y", lambda m: wide(m, Y)),
    Made("i", lambda m: m.tensor([0, 2])),
    Made("m", lambda m: wide(m, Y) > 0),
    Made("v", lambda m: wide(m, [0.5, 0.25, 0.75])),
    Made("b", lambda m: wide(m, [X, Y])),
    Made("g", lambda m: m.tensor([[0, 1, 2], [1, 0, 1]])),
    Made("s", lambda m: wide(m, 0.5)),
    Made("c", lambda m: m.tensor(Y, dtype=m.complex128)),
    Made("w", lambda m: wide(m, [[X, Y, P]])),
    Made("n", lambda m: m.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]])),
    Made("h", lambda m: wide(m, [[0.5, 0.25, 0.75], [0.1, 0.2, 0.3]])),
]


def plain(*values):
    return [Made(repr(v), lambda m, v=v: v) for v in values]


NAMED = {
    "dtype": [Made(n, lambda m, n=n: getattr(m, n)) for n in ("float32", "float64", "int64")],
    "layout": [Made("strided", lambda m: m.strided)],
    "device": [Made("cpu", lambda m: m.device("cpu"))],
    "pin_memory": plain(False),
    "memory_format": [Made("contiguous", lambda m: m.contiguous_format)],
}
TYPED = {
    "Tensor": TENSORS,
    "List[Tensor]": [
        Made("[x, y]", lambda m: [wide(m, X), wide(m, Y)]),
        Made("[i]", lambda m: [m.tensor([0, 2])]),
    ],
    "List[Optional[Tensor]]": [Made("[i]", lambda m: [m.tensor([0, 2])])],
    "int": plain(1, 2, 0, -1, 3),
    "number": plain(2, 0.5, 1.5),
    "bool": plain(False, True),
    "float": plain(0.5, 1.5, 2.0),
    "List[int]": plain((1,), 0, (0, 1), (2,), 2, (3, 3), (1, 1), (2, 2, 2), (3, 1), ()),
    "List[float]": plain((0.5,), (2.0, 2.0)),
    "str": plain("mean", "sum", "none", "prod", "ij,jk", "reflect", "add", "floor", "linear"),
    "Generator": plain(None),
}
SCHEMAS = defaultdict(list)
for _schema in torch._C._jit_get_all_schemas():
    if _schema.name.startswith("aten::"):
        SCHEMAS[_schema.name[6:]].append(_schema)


def values_of(argument):
    """Return values for an argument, or None if nothing is known of its type."""
    if argument.name in NAMED:
        return NAMED[argument.name]
    text = str(argument.type)
    optional = text.startswith("Optional[")
    found = TYPED.get(text[9:-1] if optional else text)
    return found if found is None or not optional else found + plain(None)


def outcome(lib, function, args, kwargs):
    try:
        return function(
            *[v.function(lib) for v in args], **{k: v.function(lib) for k, v in kwargs.items()}
        )
    except Exception as error:
        return error


def difference(a, b):
    if isinstance(a, Exception):
        return f"{type(a).__name__}: {a}"
    if isinstance(b, (tuple, list)) and not isinstance(b, torch.Size):
        if not isinstance(a, (tuple, list)) or len(a) != len(b):
            return "number of results"
        return next((text for x, y in zip(a, b) if (text := difference(x, y))), None)
    if not isinstance(b, torch.Tensor) or b.device.type == "meta":
        return None
    if tuple(a.shape) != tuple(b.shape):
        return "shape"
    if str(a.dtype).rpartition(".")[2] != str(b.dtype).rpartition(".")[2]:
        return "dtype"
    x, y = (t.detach().resolve_conj().resolve_neg().numpy() for t in (a, b))
    return None if np.allclose(x, y, rtol=1e-5, atol=1e-7, equal_nan=True) else "values"


def accepted(theirs, schema):
    """(positional, named) required arguments that torch takes, up to three times."""
    required = [a for a in schema.arguments if not a.is_out and not a.has_default_value()]
    found = 0
    for values in itertools.islice(itertools.product(*map(values_of, required)), 2500):
        args = [v for a, v in zip(required, values) if not a.kwarg_only]
        named = {a.name: v for a, v in zip(required, values) if a.kwarg_only}
        if not isinstance(outcome(torch, theirs, args, named), Exception):
            yield {a.name: v for a, v in zip(required, values)}, args, named
            found += 1
        if found == 3:
            return


def variants(schema, method, by_name, args, named):
    """Calls of one overload, each with what is special about it."""
    yield "", args, named
    first = 1 if method else 0
    rest = list(by_name.items())[first:]
    yield "keywords", args[:first], {("input" if k == "self" else k): v for k, v in rest}
    positional = list(args)
    for a in schema.arguments:
        if a.is_out or not a.has_default_value():
            continue
        for value in values_of(a):
            yield f"{a.name}=", args, {**named, a.name: value}
        if not a.kwarg_only:
            positional = [*positional, values_of(a)[0]]
            yield f"pos {a.name}", positional, named


def faults(ours, theirs, name, method):
    for schema in SCHEMAS[name]:
        known = [a for a in schema.arguments if not a.is_out]
        if any(values_of(a) is None for a in known) or any(a.name == "names" for a in known):
            continue
        for by_name, args, named in accepted(theirs, schema):
            for label, given, more in variants(schema, method, by_name, args, named):
                wanted = outcome(torch, theirs, given, more)
                if isinstance(wanted, Exception):
                    continue
                text = difference(outcome(ag, ours, given, more), wanted)
                if text and not (text == "values" and RANDOM.fullmatch(name)):
                    yield f"{schema.overload_name} {label} {given} {more}: {text}"


def place(lib, space):
    for word in filter(None, space.split(".")):
        lib = getattr(lib, word)
    return lib


def functions():
    for space, prefix in SPACES.items():
        mine, others = place(ag, space), place(torch, space)
        for name in dir(others):
            if name.startswith("_") or prefix + name not in SCHEMAS or not hasattr(mine, name):
                continue
            if callable(getattr(others, name)) and not isinstance(getattr(others, name), type):
                yield pytest.param(space, prefix + name, id=f"{space}.{name}".strip("."))


@pytest.mark.parametrize(("space", "name"), list(functions()))
def test_overloads(space, name):
    own = name.removeprefix(SPACES[space])
    ours, theirs = getattr(place(ag, space), own), getattr(place(torch, space), own)
    excused = [pattern for names, pattern, _ in DIFFERENT if re.fullmatch(names, own)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(faults(ours, theirs, name, space == "Tensor"))
    found = [x for x in found if not any(re.search(pattern, x) for pattern in excused)]
    assert not found, "\n".join(found)
