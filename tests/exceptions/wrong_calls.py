"""Wrong calls of every operator, made from the samples of its record.

One argument after the other is replaced by each value of a list: of another type, dtype, shape or
device, beyond the range, none at all. `calls` gives them for one library, the package or PyTorch.
What PyTorch raises is in torch_exceptions.txt (`python -m tests.exceptions.record_torch`).
"""

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
for folder in (HERE.parent, HERE.parent / "ops"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from calls import CLASS_OF, RECORDS, Case, make, method_name  # noqa: E402

FILE = HERE / "torch_exceptions.txt"


class Unknown:
    """Something that is no argument of anything."""

    def __repr__(self):
        return "Unknown()"


# --- values -----------------------------------------------------------------------------------
# Functions of the library, which give a fresh value; those of tensors get the tensor, too.

ANY = {
    "None": lambda m: None,
    "True": lambda m: True,
    "False": lambda m: False,
    "0": lambda m: 0,
    "1": lambda m: 1,
    "-1": lambda m: -1,
    "9": lambda m: 9,
    "-9": lambda m: -9,
    "100": lambda m: 100,
    "2**70": lambda m: 2**70,
    "0.5": lambda m: 0.5,
    "-1.5": lambda m: -1.5,
    "nan": lambda m: float("nan"),
    "inf": lambda m: float("inf"),
    "1j": lambda m: 1j,
    "text": lambda m: "text",
    "bytes": lambda m: b"mean",
    "object": lambda m: Unknown(),
    "[]": lambda m: [],
    "()": lambda m: (),
    "[0]": lambda m: [0],
    "(0,1)": lambda m: (0, 1),
    "(0,0)": lambda m: (0, 0),
    "(9,)": lambda m: (9,),
    "(0,-9)": lambda m: (0, -9),
    "(1,1,1,1,1)": lambda m: (1, 1, 1, 1, 1),
    "[0.5]": lambda m: [0.5],
    "[True]": lambda m: [True],
    "[None]": lambda m: [None],
    "['a']": lambda m: ["a"],
    "(2**70,)": lambda m: (2**70,),
    "{}": lambda m: {},
    "{1}": lambda m: {1},
    "np.int64": lambda m: np.int64(1),
    "np.float64": lambda m: np.float64(1.0),
    "np.bool_": lambda m: np.bool_(True),
    "np.ones": lambda m: np.ones(2),
    "range": lambda m: range(1),
    "tensor(1)": lambda m: m.tensor(1),
    "tensor(0.5)": lambda m: m.tensor(0.5),
    "tensor(True)": lambda m: m.tensor(True),
    "tensor([1,0])": lambda m: m.tensor([1, 0]),
    "tensor([.5,1])": lambda m: m.tensor([0.5, 1.5]),
    "[tensor]": lambda m: [m.ones(2)],
    "=float32": lambda m: m.float32,
    "=int64": lambda m: m.int64,
    "=complex64": lambda m: m.complex64,
    "=float": lambda m: float,
    "format": lambda m: m.contiguous_format,
    "meta": lambda m: "meta",
}
DTYPES = ("bool", "uint8", "int16", "int32", "int64")
DTYPES += ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def spread(m, x, shape):
    """Elements of a tensor, again from the start, in another shape."""
    n = int(np.prod(shape))
    flat = x.detach().reshape(-1)
    if not flat.numel():
        return m.zeros(shape, dtype=x.dtype)
    return flat[m.arange(n) % flat.numel()].reshape(shape)


def resized(change):
    """The tensor in the shape that `change` makes of its own; None where there is no such."""

    def made(m, x):
        shape = change(tuple(x.shape))
        return None if shape is None else spread(m, x, shape)

    return made


def at(s, i, size):
    """A shape with another size of a dimension."""
    if not s:
        return None
    i %= len(s)
    return (*s[:i], size(s[i]), *s[i + 1 :])


OF_TENSOR = {
    **{name: lambda m, x, d=name: x.to(getattr(m, d)) for name in DTYPES},
    "0-d": resized(lambda s: ()),
    "lead": resized(lambda s: (1, *s)),
    "lead2": resized(lambda s: (2, *s)),
    "last": resized(lambda s: (*s, 1)),
    "drop": resized(lambda s: s[1:] if s else None),
    "5-d": resized(lambda s: (1, 1, 1, 1, 1)),
    "first+1": resized(lambda s: at(s, 0, lambda n: n + 1)),
    "last+1": resized(lambda s: at(s, -1, lambda n: n + 1)),
    "first=0": resized(lambda s: at(s, 0, lambda n: 0)),
    "last=0": resized(lambda s: at(s, -1, lambda n: 0)),
    "[7]": resized(lambda s: (7,)),
    "[0]d": resized(lambda s: (0,)),
    "on meta": lambda m, x: x.to("meta"),
    "full 100": lambda m, x: m.full_like(x, 100) if x.dtype != m.bool else None,
    "full -100": lambda m, x: m.full_like(x, -100) if x.dtype not in (m.bool, m.uint8) else None,
    "leaf": lambda m, x: (
        x.clone().requires_grad_() if x.is_floating_point() or x.is_complex() else None
    ),
}
# For out=: what the result should be written into, made of the right result.
OF_OUT = {
    **{k: v for k, v in ANY.items() if k in (
        "None", "1", "text", "object", "[]", "()", "np.ones", "tensor(1)", "[tensor]", "=float32")},
    **OF_TENSOR,
    "expanded": lambda m, x: (
        x.reshape(-1)[:1].expand(x.numel()).reshape(x.shape) if x.numel() > 1 else None
    ),
    "pair": lambda m, x: (x, x.clone()),
    "one": lambda m, x: (x,),
}  # fmt: skip
OUT_OF_MODULE = {k for k in OF_OUT if k in ANY}
WHOLE = ("too many", "unknown", "none at all", "one less", "one by both")


# --- calls ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """The calls of a form with one argument replaced: one for each of `values`."""

    record: object
    form: str
    number: int
    argument: str
    values: tuple

    @property
    def key(self):
        return f"{self.record.key} {self.form} {self.number} {self.argument}"


def dtype_of(record):
    return next(n for n in ("float64", "complex128", "int64") if CLASS_OF[n] in record.call.dtypes)


def place(lib, path):
    for word in filter(None, path.split(".")):
        lib = getattr(lib, word)
    return lib


def function(lib, record, form):
    """The callable of a form in a library, or None."""
    functional = record.namespace == "nn.functional"
    try:
        if form == "function":
            return getattr(place(lib, record.namespace), record.name)
        if form == "functional":
            return None if functional else getattr(lib.nn.functional, record.name)
        if form in ("method", "in-place"):
            if functional and not hasattr(lib.Tensor, record.name):
                return None
            return getattr(lib.Tensor, method_name(record) + "_" * (form == "in-place"))
        return getattr(place(lib, record.namespace), record.name)  # out
    except AttributeError:
        return None


FORMS = ("function", "functional", "method", "in-place", "out")


def forms_of(record):
    """The public forms that a record says it has."""
    call = record.call
    if call.function:
        yield "function"
    if record.call.functional or "nn.functional" in call.also:
        yield "functional"
    if call.method and record.args and record.args[0].is_tensor:
        yield "method"
    if call.inplace:
        yield "in-place"
    if call.function:
        yield "out"


def samples_of(record):
    """Numbers of the samples that together give the most arguments: [(number, arguments)]."""
    names = [a.name for a in record.args]
    known = set()
    for number, sample in enumerate(record.tests.samples):
        given = [*names[: len(sample.args)], *sample.kwargs]
        new = [n for n in given if n not in known]
        if number == 0:
            new = names  # those that it doesn't give come by name
            known.update(n for n in given)
        if new:
            known.update(new if number else ())
            yield number, new


def public_records():
    return [r for r in RECORDS if r.public and r.tests.samples]


def lines(record):
    """The lines of a record, in their order."""
    for form in forms_of(record):
        for number, names in samples_of(record):
            if form == "out":
                if number == 0:
                    yield Line(record, form, number, "out", tuple(OF_OUT))
                continue
            for a in record.args:
                if a.name in names:
                    values = tuple(ANY) + (tuple(OF_TENSOR) if a.is_tensor else ())
                    if form in ("method", "in-place") and a is record.args[0]:
                        values = tuple(OF_TENSOR)
                    yield Line(record, form, number, a.name, values)
            if number == 0:
                yield Line(record, form, number, "*", WHOLE)


def tensor_of(lib, array):
    array = np.array(array)
    if array.dtype.name == "bfloat16":
        return lib.from_numpy(array.astype("float32")).to(lib.bfloat16)
    t = lib.from_numpy(array)
    return t.clone()


def translated(lib, x):
    """An argument of a sample as one of the library."""
    if isinstance(x, (tuple, list)):
        return type(x)(translated(lib, y) for y in x)
    kind = type(x).__module__.partition(".")[0]
    if kind in ("autograd_cy", "torch") and type(x).__name__ in ("dtype", "memory_format"):
        return getattr(lib, str(x).rpartition(".")[2])
    if kind == "autograd_cy" and type(x).__name__ == "device":
        return lib.device(str(x))
    return x


def arguments(lib, record, number):
    """(args, kwargs) of a sample, fresh."""
    call = make(Case(record, number), dtype_of(record))
    args, kwargs = call.arguments([tensor_of(lib, leaf.array) for leaf in call.leaves])
    return [translated(lib, x) for x in args], {k: translated(lib, v) for k, v in kwargs.items()}


NO_CALL = object()


def replaced(lib, old, value):
    """An argument replaced by a value of a list; NO_CALL where there is none."""
    if value in ANY:
        return ANY[value](lib)
    if isinstance(old, lib.Tensor):
        new = OF_TENSOR[value](lib, old)
        return NO_CALL if new is None else new
    if isinstance(old, (tuple, list)) and old and isinstance(old[0], lib.Tensor):
        new = OF_TENSOR[value](lib, old[0])
        return NO_CALL if new is None else type(old)([new, *old[1:]])
    return NO_CALL


def wrong(lib, line, value):
    """(args, kwargs) of one call; None where there is no such."""
    record = line.record
    args, kwargs = arguments(lib, record, line.number)
    names = [a.name for a in record.args]
    if line.argument == "*":
        if value == "too many":
            return [*args, *[None] * 9], kwargs
        if value == "unknown":
            return args, {**kwargs, "nothing": 1}
        if value == "none at all":
            return [], {}
        if value == "one less":
            required = sum(a.default is None and not a.keyword for a in record.args)
            return args[: required - 1], {}
        if line.form in ("method", "in-place"):
            return (args, {**kwargs, names[1]: args[1]}) if len(args) > 1 else None
        first = "input" if names[0] == "self" else names[0]
        return args, {**kwargs, first: args[0]} if args else None
    if line.form == "out":
        right = function(lib, record, "out")(*args, **kwargs)
        several = isinstance(right, tuple)
        parts = list(right) if several else [right]
        if value in OUT_OF_MODULE:
            new = OF_OUT[value](lib)
            new = (new, *parts[1:]) if several and value == "None" else new
        else:
            if not all(isinstance(x, lib.Tensor) for x in parts):
                return None
            new = OF_OUT[value](lib, parts[0])
            if new is None:
                return None
            if several and not isinstance(new, tuple):
                new = (new, *parts[1:])
        return args, {**kwargs, "out": new}
    i = names.index(line.argument)
    if i < len(args):
        new = replaced(lib, args[i], value)
        args[i] = new
    else:
        old = kwargs.get(line.argument)
        new = replaced(lib, old, value)
        kwargs[line.argument] = new
    return None if new is NO_CALL else (args, kwargs)


LETTERS = {
    "TypeError": "T",
    "RuntimeError": "R",
    "IndexError": "I",
    "ValueError": "V",
    "NotImplementedError": "N",
    "AttributeError": "A",
    "LinAlgError": "L",
    "KeyError": "K",
    "OverflowError": "O",
    "AssertionError": "S",
    "ZeroDivisionError": "Z",
    "MemoryError": "M",
    "OutOfMemoryError": "M",
    "UnboundLocalError": "U",
    "UnicodeDecodeError": "D",
}
NAMES_OF = {letter: name for name, letter in reversed(LETTERS.items())}
ACCEPTED, NO_SUCH_CALL, CRASHED = ".", "-", "!"
NAMES_OF |= {ACCEPTED: "no error", NO_SUCH_CALL: "no such call", CRASHED: "the process ends"}


def letter(error):
    """The letter of an exception: that of the first class that other code knows."""
    for kind in type(error).__mro__:
        name = kind.__name__.lstrip("_")
        if name in LETTERS:
            return LETTERS[name]
    raise error


def outcome(lib, line, value, seen=None):
    """
    Make one call, and return the letter of what became of it.

    `seen` is called with the function, the arguments, and the error, if there was one.
    """
    f = function(lib, line.record, line.form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = wrong(lib, line, value)
        if call is None:
            return NO_SUCH_CALL
        args, kwargs = call
        before = [copied(x) for x in tensors(args, kwargs)] if seen else None
        try:
            f(*args, **kwargs)
        except Exception as error:
            if seen:
                seen(line, value, args, kwargs, before, error)
            return letter(error)
    return ACCEPTED


def tensors(args, kwargs):
    """The tensors among the arguments."""
    for x in [*args, *kwargs.values()]:
        if type(x).__name__ in ("Tensor", "Parameter"):
            yield x
        elif isinstance(x, (tuple, list)):
            yield from tensors(x, {})


def copied(t):
    """Properties that must stay as they are: shape, strides, dtype, version and elements."""
    data = b"" if t.is_meta else bytes(np.ascontiguousarray(elements(t)))
    return tuple(t.shape), t.stride(), str(t.dtype), t._version, data


def elements(t):
    t = t.detach().resolve_conj().resolve_neg()
    if str(t.dtype).endswith("bfloat16"):
        t = t.float()
    return t.numpy()


def accepted(lib, record, form, number):
    """Return whether a library has a form and takes the sample by it."""
    f = function(lib, record, form)
    if f is None:
        return False
    args, kwargs = arguments(lib, record, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = f(*args, **kwargs)
            if form == "out":
                several = isinstance(result, tuple)
                out = tuple(lib.empty_like(x) for x in result) if several else None
                f(*args, **kwargs, out=out or lib.empty_like(result))
        except Exception:
            return False
    return True


# --- the file ---------------------------------------------------------------------------------

HEADER = """\
# What PyTorch {version} raises for wrong calls (record_torch.py writes it).
# A line: operator, forms, number of the sample, argument, and a letter for each value of that list
# by which the argument was replaced, in order.
"""


def written(version, found):
    """The text of the file: {key of a line: (name of the list, letters)} put together by forms."""
    text = [HEADER.format(version=version)]
    text += [f"# {k} {v}\n" for k, v in sorted(NAMES_OF.items())]
    text += [f"@{name} {'|'.join(values)}\n" for name, values in LISTS.items()]
    together = {}
    for key, (name, letters) in found.items():
        operator, form, number, argument = key.split(" ")
        together.setdefault((operator, number, argument, name, letters), []).append(form)
    rows = [
        f"{operator} {','.join(sorted(forms))} {number} {argument} @{name} {letters}\n"
        for (operator, number, argument, name, letters), forms in together.items()
    ]
    return "".join(text + sorted(rows))


LISTS = {
    "any": tuple(ANY),
    "tensor": (*ANY, *OF_TENSOR),
    "self": tuple(OF_TENSOR),
    "out": tuple(OF_OUT),
    "call": WHOLE,
}
NAME_OF_LIST = {values: name for name, values in LISTS.items()}


def read():
    """{(key of a line): {value: letter}} of the file."""
    lists, found = {}, {}
    for row in FILE.read_text().splitlines():
        if row.startswith("@"):
            name, _, values = row[1:].partition(" ")
            lists[name] = values.split("|")
        elif not row.startswith("#"):
            operator, forms, number, argument, name, letters = row.split(" ")
            for form in forms.split(","):
                values = dict(zip(lists[name[1:]], letters, strict=True))
                found[f"{operator} {form} {number} {argument}"] = values
    return found
