"""Messages show no name that only the package knows, and begin with that of what was called.

An operator that is made of others fails where a step does; what the caller wrote is what it says.
"""

import functools
import inspect
import re
import warnings
import zlib

import numpy as np
import pytest
from calls import RECORDS, Case, make, tensor
from refused import FILE, chosen, function_of
from varied import dtype_of

import autograd_cy as ag
from autograd_cy._tensors.public import names_errors
from autograd_cy.ops import _schema as schema

# Names of operators that are steps of others, and of functions in generated modules.
PRIVATE = re.compile(r"(?<![\w.'\"])(_[a-z]\w*|form_\w+|c_[a-z]+_?\(|\w+_plain|NULL)(?![\w.'\"])")
PUBLIC = {
    name
    for r in RECORDS
    if not r.name.startswith("_")
    for name in (r.name, r.symbol, r.presentation.shown_as, *r.call.aliases)
}
KEYS = {r.key for r in RECORDS} - PUBLIC
INTERNAL = (SystemError, UnboundLocalError, NameError, KeyError)
DTYPES = ("bool", "uint8", "int64", "float16", "float32", "complex64")


def kinds():
    """Arguments of all kinds, among them tensors of odd shapes and dtypes."""
    return (
        *(None, True, "a", object(), 1.5, -1, 3, [], [1], (1, 2), {}, 1j, float("nan"), 2**70),
        *(slice(None), ag.float32, np.ones(2), [ag.ones(2)], ag.ones(()), ag.ones(2, 2)),
        *(ag.ones(2, 2, dtype=getattr(ag, name)) for name in DTYPES),
        *(ag.ones(0, 2), ag.ones(1, 2, 2, 2, 2), ag.ones(3, requires_grad=True)),
    )


def some(*key):
    """A fifth of the kinds, another one for each key."""
    return kinds()[zlib.crc32(repr(key).encode()) % 5 :: 5]


def shown(message):
    """Names in a message that nobody outside of the package knows."""
    head = re.match(r"([A-Za-z_]\w*)(\(\))?:", message)
    wrong = PRIVATE.findall(message)
    return [*wrong, head[1]] if head and head[1] in KEYS else wrong


# mm: ..., mm(): ..., torch.mm() ...
LEADING = re.compile(r"(?:torch\.)?([a-z_][\w.]*)(?:\(\))?(?::|(?<=\)) )")
# Functions whose messages begin with another name, as in torch.
AS_TORCH = {
    "affine_grid": {"affine_grid_generator"},
    "gaussian_nll_loss": {"ones_like"},
    "grid_sample": {"grid_sampler"},
    "gumbel_softmax": {"empty_like"},
    "max_unpool1d": {"max_unpool"},
    "max_unpool2d": {"max_unpool"},
    "max_unpool3d": {"max_unpool"},
    "trapz": {"trapezoid"},
}


def plain(name):
    """A name without its module and without what marks a form of it."""
    return name.rpartition(".")[2].rstrip("_").removesuffix("_with_indices")


def names_of(record):
    """All that a message may call an operator."""
    names = {record.name, record.symbol, record.shown, record.said, *record.call.aliases}
    inside = plain(record.name.rpartition("functional_")[2])
    return {plain(n) for n in names - {None}} | {inside} | AS_TORCH.get(inside, set())


def misnamed(message, names):
    """The name at the beginning of a message, if it is that of another function."""
    head = LEADING.match(message)
    if head is None or plain(head[1]) in names:
        return None
    return head[1] if hasattr(ag, plain(head[1])) or plain(head[1]) in OPERATORS else None


OPERATORS = {plain(name) for name in PUBLIC - {None}} | {"pool"}


def ask(wrong, call, function, *args, names=None, **kwargs):
    """Call it, and add what its error shows to `wrong`."""
    try:
        function(*args, **kwargs)
    except INTERNAL as error:
        wrong.append(f"{call}: {error!r}")
    except Exception as error:
        if shown(str(error)) or (names and misnamed(str(error), names)):
            wrong.append(f"{call}: {error!r:.200}")


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_words_of_refused_calls():
    names = {r.key: names_of(r) for r in chosen()}
    lines = FILE.read_text().splitlines()
    wrong = []
    for line in lines:
        key, _, error = line.partition(": ")
        message = error.partition(": ")[2]
        if shown(message) or misnamed(message, names[key]):
            wrong.append(line)
    assert len(lines) > 800 and not wrong


def test_operators_with_arguments_of_other_kinds_and_dtypes():
    wrong = []
    for record in chosen():
        function, names = function_of(record), names_of(record)
        call = make(Case(record, 0), dtype_of(record))

        def fresh(dtype=None, place=None, call=call):
            tensors = [tensor(a) for a in call.arrays]
            if dtype is not None:
                tensors = [
                    t.to(getattr(ag, dtype)) if place in (None, i) else t
                    for i, t in enumerate(tensors)
                ]
            return call.arguments(tensors)

        for dtype in DTYPES[zlib.crc32(record.key.encode()) % 2 :: 2]:
            for place in (None, *range(len(call.arrays))):
                args, kwargs = fresh(dtype, place)
                ask(wrong, f"{record.key} of {dtype}", function, *args, names=names, **kwargs)
            if record.call.out:
                args, kwargs = fresh()
                out = ag.empty(0, dtype=getattr(ag, dtype))
                kwargs["out"] = out
                ask(wrong, f"{record.key} out={dtype}", function, *args, names=names, **kwargs)
        args, kwargs = fresh()
        for i in range(len(args) + 1):
            for value in some(record.key, i):
                given = (*args[:i], value, *args[i + 1 :])
                label = f"{record.key} argument {i} {value!r}"
                ask(wrong, label, function, *given, names=names, **kwargs)
        for key in kwargs:
            for value in kinds():
                kwargs[key], before = value, kwargs[key]
                label = f"{record.key} {key}={value!r}"
                ask(wrong, label, function, *args, names=names, **kwargs)
                kwargs[key] = before
    assert not wrong


def test_functions_of_networks():
    wrong = []
    names = [n for n in dir(ag.nn.functional) if not n.startswith("_")]
    for name in names:
        function = getattr(ag.nn.functional, name)
        if not callable(function) or isinstance(function, type):
            continue
        known = {plain(name), *AS_TORCH.get(name, ())}
        for value in kinds():
            for rest in ((3,), (ag.ones(2, 2), value)):
                ask(wrong, f"{name} {value!r} {rest!r}", function, value, *rest, names=known)
    assert not wrong


def test_operators_of_python_name_what_they_stand_for():
    m, wrong = ag.ones(2, 3), []
    for name, call in {
        "matmul": lambda: m @ m,
        "sub": lambda: m - ag.ones(2),
        "pow": lambda: m ** ag.ones(2),
        "lt": lambda: m < ag.ones(2),
        "floor_divide": lambda: m // ag.ones(2),
        "neg": lambda: -(m > 0),
        "add": lambda: ag.ones(2).__iadd__(m),
    }.items():
        with pytest.raises((RuntimeError, TypeError)) as caught:
            call()
        if not str(caught.value).startswith((f"{name}:", f"{name}_:", "Negation")):
            wrong.append(f"{name}: {caught.value}")
    assert not wrong


def test_errors_of_programs_stay_as_they_are():
    def pack(t):
        raise RuntimeError("mm: no room for what is saved")

    x = ag.ones(2, 2, requires_grad=True)
    for call in (lambda: ag.matmul(x, x), lambda: x @ x, lambda: ag.nn.functional.normalize(x)):
        with ag.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            with pytest.raises(RuntimeError, match=r"^mm: no room"):
                call()
    # A hook in C leaves no trace of its own.
    hook = functools.partial(np.matmul, np.ones((2, 5)))
    with ag.autograd.graph.saved_tensors_hooks(hook, lambda t: t):
        for call in (lambda: x * x, lambda: ag.mul(x, x)):
            with pytest.raises(ValueError, match=r"^matmul: Input operand 1 has a mismatch"):
                call()
    with pytest.raises(
        ag.linalg.LinAlgError, match=r"^linalg\.inv: The diagonal element 1 is zero"
    ):
        ag.linalg.inv(ag.zeros(2, 2))


def test_programs_may_have_any_name_or_none():
    for name in ("program", None, 5, {}):
        namespace = {"ag": ag, "__name__": name}
        if name == {}:
            del namespace["__name__"]
        with pytest.raises(RuntimeError, match=r"^matmul: mat1"):
            exec("ag.matmul(ag.ones(2, 3), ag.ones(2, 3))", namespace)


def test_modules():
    wrong, made = [], 0
    for name in sorted(dir(ag.nn)):
        kind = getattr(ag.nn, name)
        if not inspect.isclass(kind) or not issubclass(kind, ag.nn.Module):
            continue
        for args in ((), (2, 2), (2, 2, 1)):
            try:
                module = kind(*args)
            except Exception as error:
                if shown(str(error)):
                    wrong.append(f"{name}{args}: {error!r}")
                continue
            made += 1
            for value in some(name, args):
                ask(wrong, f"{name}{args} of {value!r}", module, value)
                ask(wrong, f"{name}{args} of two {value!r}", module, value, ag.ones(2, 2))
    assert made > 100 and not wrong


def test_errors_of_memory_name_what_needs_it():
    x, wrong = ag.ones(3).expand(2**45, 3), []
    calls = {
        "add": lambda: x + 1.0,
        "mul": lambda: ag.ones(3) * x,
        "clone": lambda: x.clone(),
        "contiguous": lambda: x.contiguous(),
        "repeat": lambda: ag.ones(3).repeat(2**45),
        "cat": lambda: ag.cat([x, x]),
        "put": lambda: ag.put(x, ag.tensor([0]), ag.ones(1)),
        "linalg.inv": lambda: ag.linalg.inv(ag.eye(2).expand(2**45, 2, 2)),
        "normalize": lambda: ag.nn.functional.normalize(x),
    }
    for record in chosen():
        alone = isinstance(record.kernel, schema.elementwise) and len(record.tensor_args) == 1
        if alone and len(record.args) == 1 and "f" in record.call.dtypes:
            name = record.shown.removeprefix("nn.functional.")
            calls[name] = functools.partial(function_of(record), x)
    for name, call in calls.items():
        with pytest.raises(MemoryError) as caught:
            call()
        if not str(caught.value).startswith(f"{name}: "):
            wrong.append(f"{name}: {caught.value}")
    assert len(calls) > 40 and not wrong


class Called:
    """A callable without code, whose parameters are those of its call."""

    __name__ = "called"

    def __call__(self, other, input):
        return None


def test_errors_in_what_stands_for_any_callable():
    """A partial and a type have no code; a type has no signature either."""

    part = functools.partial(lambda x: x)
    part.__name__ = "part"
    own = r"add\(\): argument 'other' \(position 2\) must be"
    called = r"called\(\): argument 'other' \(position 1\) must be"
    for owner, message in ((Called(), called), (part, own), (type, own)):
        with pytest.raises(TypeError, match=f"^{message}"):
            names_errors(owner)(ag.add)(ag.ones(1), "a")
