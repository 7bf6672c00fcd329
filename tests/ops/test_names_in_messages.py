"""No message of a public function or module shows a name that only the package knows."""

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

# Names of operators that are steps of others, and of functions in generated modules.
PRIVATE = re.compile(r"(?<![\w.'\"])(_[a-z]\w*|form_\w+|c_[a-z]+_?\(|\w+_plain|NULL)(?![\w.'\"])")
PUBLIC = {
    name
    for r in RECORDS
    if not r.name.startswith("_")
    for name in (r.name, r.symbol, r.shown_as, *r.aliases)
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


def ask(wrong, call, function, *args, **kwargs):
    """Call it, and add what its error shows to `wrong`."""
    try:
        function(*args, **kwargs)
    except INTERNAL as error:
        wrong.append(f"{call}: {error!r}")
    except Exception as error:
        if shown(str(error)):
            wrong.append(f"{call}: {error!r:.200}")


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_words_of_refused_calls():
    lines = FILE.read_text().splitlines()
    wrong = [x for x in lines if shown(x.partition(": ")[2].partition(": ")[2])]
    assert len(lines) > 800 and not wrong


def test_operators_with_arguments_of_other_kinds_and_dtypes():
    wrong = []
    for record in chosen():
        function = function_of(record)
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
                ask(wrong, f"{record.key} of {dtype}", function, *args, **kwargs)
            if record.out:
                args, kwargs = fresh()
                out = ag.empty(0, dtype=getattr(ag, dtype))
                ask(wrong, f"{record.key} out={dtype}", function, *args, **kwargs, out=out)
        args, kwargs = fresh()
        for i in range(len(args) + 1):
            for value in some(record.key, i):
                given = (*args[:i], value, *args[i + 1 :])
                ask(wrong, f"{record.key} argument {i} {value!r}", function, *given, **kwargs)
        for key in kwargs:
            for value in kinds():
                ask(
                    wrong, f"{record.key} {key}={value!r}", function, *args, **kwargs | {key: value}
                )
    assert not wrong


def test_functions_of_networks():
    wrong = []
    names = [n for n in dir(ag.nn.functional) if not n.startswith("_")]
    for name in names:
        function = getattr(ag.nn.functional, name)
        if not callable(function) or isinstance(function, type):
            continue
        for value in kinds():
            for rest in ((3,), (ag.ones(2, 2), value)):
                ask(wrong, f"{name} {value!r} {rest!r}", function, value, *rest)
    assert not wrong


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
