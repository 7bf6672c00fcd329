"""The overridden methods that an operation calls, of subclasses whose public methods are logging
ones.

Programs override a method because they know what calls it. `CASES` has operations by class;
`called` runs one on a subclass and says which of its methods ran. The answers of torch are in
``overridden_methods.txt``: ``python -m tests.overridden_methods torch`` writes them.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import sys
import warnings
from pathlib import Path

ANSWERS = Path(__file__).with_suffix(".txt")
# Special methods that programs override, beside public ones.
SPECIAL = frozenset(
    "__len__ __iter__ __getitem__ __setitem__ __delitem__ __contains__ __add__ __iadd__ __mul__ "
    "__rmul__ __imul__ __or__ __ior__ __ror__ __reversed__ __call__ __setstate__ "
    "__getitems__".split()
)
PRIVATE = frozenset("_apply _load_from_state_dict _save_to_state_dict _reset_parameters".split())


class Logged:
    """A class whose methods note their names while `log` is a set."""

    def __init__(self, cls, names):
        self.log = None
        body = {}
        for name in names:
            inherited = getattr(cls, name, None)
            if inherited is not None:
                body[name] = self._logging(name, inherited)
        self.cls = type(cls.__name__, (cls,), body)

    def _logging(self, name, inherited):
        def method(*args, **kwargs):
            if self.log is not None:
                self.log.add(name)
            return inherited(*args, **kwargs)

        return method


# Methods that torch calls for itself, and that have no counterpart here.
ABSENT = frozenset({"check_worker_number_rationality"})


def names_of(cls):
    """The methods of a class that are overridden: functions, no class or static methods."""
    found = []
    for name in dir(cls):
        for base in cls.__mro__:
            if name in vars(base):
                break
        public = not name.startswith("_") or name in SPECIAL | PRIVATE
        value = vars(base)[name]
        plain = callable(value) and not isinstance(value, (type, staticmethod, classmethod))
        if public and plain and name not in ABSENT:
            found.append(name)
    return found


def iterated(t, object):
    for _ in object:  # list() would ask for the length
        pass


# --- operations -----------------------------------------------------------------------------------

MODULE = {
    "m.x = Module()": lambda t, m: setattr(m, "x", t.nn.ReLU()),
    "m.x = Parameter()": lambda t, m: setattr(m, "x", t.nn.Parameter(t.ones(1))),
    "m.x = Buffer()": lambda t, m: setattr(m, "x", t.nn.Buffer(t.ones(1))),
    "m.x = 3": lambda t, m: setattr(m, "x", 3),
    "register_module": lambda t, m: m.register_module("x", t.nn.ReLU()),
    "add_module": lambda t, m: m.add_module("x", t.nn.ReLU()),
    "register_parameter": lambda t, m: m.register_parameter("x", None),
    "register_buffer": lambda t, m: m.register_buffer("x", None),
    "to": lambda t, m: m.to(t.float64),
    "type": lambda t, m: m.type(t.float64),
    **{
        name: lambda t, m, name=name: getattr(m, name)()
        for name in "float double half bfloat16 cpu share_memory train eval requires_grad_ "
        "zero_grad state_dict".split()
    },
    "to_empty": lambda t, m: m.to_empty(device="cpu"),
    "apply": lambda t, m: m.apply(lambda part: None),
    "load_state_dict": lambda t, m: m.load_state_dict({}, strict=False),
    **{
        name: lambda t, m, name=name: list(getattr(m, name)())
        for name in "parameters named_parameters buffers named_buffers children named_children "
        "modules named_modules".split()
    },
    "get_submodule": lambda t, m: m.get_submodule("x"),
    "get_parameter": lambda t, m: m.get_parameter("x"),
    "get_buffer": lambda t, m: m.get_buffer("x"),
    "set_submodule": lambda t, m: m.set_submodule("x", t.nn.ReLU()),
    "repr": lambda t, m: repr(m),
    "dir": lambda t, m: dir(m),
    "copy": lambda t, m: copy.copy(m),
    "deepcopy": lambda t, m: copy.deepcopy(m),
    "register_forward_pre_hook": lambda t, m: m.register_forward_pre_hook(len),
    "register_forward_hook": lambda t, m: m.register_forward_hook(len),
    "register_full_backward_hook": lambda t, m: m.register_full_backward_hook(len),
}
LIST = {
    "append": lambda t, m: m.append(t.nn.ReLU()),
    "extend": lambda t, m: m.extend([t.nn.ReLU(), t.nn.ReLU()]),
    "insert": lambda t, m: m.insert(1, t.nn.ReLU()),
    "pop": lambda t, m: m.pop(0),
    "pop of a slice": lambda t, m: m.pop(slice(0, 2)),
    "+=": lambda t, m: m.__iadd__(t.nn.Sequential(t.nn.ReLU())),
    "+": lambda t, m: m + t.nn.Sequential(t.nn.ReLU()),
    "m[0]": lambda t, m: m[0],
    "m[-1]": lambda t, m: m[-1],
    "m[0:2]": lambda t, m: m[0:2],
    "m[0] = x": lambda t, m: m.__setitem__(0, t.nn.ReLU()),
    "del m[0]": lambda t, m: m.__delitem__(0),
    "del m[0:2]": lambda t, m: m.__delitem__(slice(0, 2)),
    "iter": iterated,
    "len": lambda t, m: len(m),
    "reversed": lambda t, m: list(reversed(m)),
    "in": lambda t, m: 3 in m,
}
DICT = {
    "update": lambda t, m: m.update({"c": t.nn.ReLU()}),
    "update with pairs": lambda t, m: m.update([("c", t.nn.ReLU())]),
    "update with the same": lambda t, m: m.update(m),
    "pop": lambda t, m: m.pop("a"),
    "clear": lambda t, m: m.clear(),
    "keys": lambda t, m: list(m.keys()),
    "items": lambda t, m: list(m.items()),
    "values": lambda t, m: list(m.values()),
    "m['a']": lambda t, m: m["a"],
    "m['c'] = x": lambda t, m: m.__setitem__("c", t.nn.ReLU()),
    "del m['a']": lambda t, m: m.__delitem__("a"),
    "iter": iterated,
    "len": lambda t, m: len(m),
    "in": lambda t, m: "a" in m,
}
PARAMETERS = {
    "append": lambda t, m: m.append(t.ones(1)),
    "extend": lambda t, m: m.extend([t.ones(1), t.ones(2)]),
    "extend with the same": lambda t, m: m.extend(m),
    "+=": lambda t, m: m.__iadd__([t.ones(1)]),
    "m[0]": lambda t, m: m[0],
    "m[0:2]": lambda t, m: m[0:2],
    "m[0] = x": lambda t, m: m.__setitem__(0, t.ones(1)),
    "iter": iterated,
    "len": lambda t, m: len(m),
}
PARAMETER_DICT = {
    **{name: f for name, f in DICT.items() if not name.startswith(("update", "m['c']"))},
    "update": lambda t, m: m.update({"c": t.ones(1)}),
    "m['c'] = x": lambda t, m: m.__setitem__("c", t.ones(1)),
    "popitem": lambda t, m: m.popitem(),
    "copy()": lambda t, m: m.copy(),
    "setdefault": lambda t, m: m.setdefault("c", t.ones(1)),
    "setdefault of what is there": lambda t, m: m.setdefault("a", t.ones(1)),
    "get": lambda t, m: m.get("a"),
    "get of what isn't there": lambda t, m: m.get("c"),
    "fromkeys": lambda t, m: m.fromkeys("ab", t.ones(1)),
    "|": lambda t, m: m | m,
    "|=": lambda t, m: m.__ior__({"c": t.ones(1)}),
    "dict |": lambda t, m: {"c": t.ones(1)} | m,
    "reversed": lambda t, m: list(reversed(m)),
}


def call(*shapes):
    return {"call": lambda t, m: m(*(t.ones(shape) for shape in shapes))}


def relu(t, count=3):
    return [t.nn.ReLU() for _ in range(count)]


# name of a case: (path of the class, make an object, operations)
CASES = {
    "Module": ("nn.Module", lambda t, c: c(), MODULE),
    "Linear": ("nn.Linear", lambda t, c: c(2, 2), {**MODULE, **call((1, 2))}),
    "Conv2d": ("nn.Conv2d", lambda t, c: c(1, 1, 1), {**MODULE, **call((1, 1, 2, 2))}),
    "BatchNorm1d": ("nn.BatchNorm1d", lambda t, c: c(2), {**MODULE, **call((3, 2))}),
    "LayerNorm": ("nn.LayerNorm", lambda t, c: c(2), {**MODULE, **call((3, 2))}),
    "Embedding": ("nn.Embedding", lambda t, c: c(3, 2), MODULE),
    "LSTM": ("nn.LSTM", lambda t, c: c(2, 2), {**MODULE, **call((3, 1, 2))}),
    "GRU": ("nn.GRU", lambda t, c: c(2, 2), {**MODULE, **call((3, 1, 2))}),
    "RNN": ("nn.RNN", lambda t, c: c(2, 2), {**MODULE, **call((3, 1, 2))}),
    "LSTMCell": ("nn.LSTMCell", lambda t, c: c(2, 2), {**MODULE, **call((3, 2))}),
    "MultiheadAttention": (
        "nn.MultiheadAttention",
        lambda t, c: c(2, 1),
        {**MODULE, **call((3, 1, 2), (3, 1, 2), (3, 1, 2))},
    ),
    "TransformerEncoderLayer": (
        "nn.TransformerEncoderLayer",
        lambda t, c: c(2, 1, 2),
        {**MODULE, **call((3, 1, 2))},
    ),
    "Sequential": ("nn.Sequential", lambda t, c: c(*relu(t)), {**MODULE, **LIST, **call(2)}),
    "Sequential of nothing": ("nn.Sequential", lambda t, c: c(), LIST),
    "ModuleList": ("nn.ModuleList", lambda t, c: c(relu(t)), {**MODULE, **LIST}),
    "ModuleList of nothing": ("nn.ModuleList", lambda t, c: c(), LIST),
    "ModuleDict": (
        "nn.ModuleDict",
        lambda t, c: c({"a": t.nn.ReLU(), "b": t.nn.ReLU()}),
        {**MODULE, **DICT},
    ),
    "ModuleDict of nothing": ("nn.ModuleDict", lambda t, c: c(), {}),
    "ParameterList": (
        "nn.ParameterList",
        lambda t, c: c([t.ones(1), t.ones(2)]),
        {**MODULE, **PARAMETERS},
    ),
    "ParameterList of nothing": ("nn.ParameterList", lambda t, c: c(), {}),
    "ParameterDict": (
        "nn.ParameterDict",
        lambda t, c: c({"a": t.ones(1), "b": t.ones(1)}),
        {**MODULE, **PARAMETER_DICT},
    ),
    "ParameterDict of nothing": ("nn.ParameterDict", lambda t, c: c(), {}),
}

# --- optimizers, schedules, data ------------------------------------------------------------------


def weight(t):
    made = t.nn.Parameter(t.ones(2))
    made.grad = t.ones(2)
    return made


OPTIMIZER = {
    "step": lambda t, o: o.step(),
    "step of a closure": lambda t, o: o.step(lambda: t.ones(())),
    "zero_grad": lambda t, o: o.zero_grad(),
    "state_dict": lambda t, o: o.state_dict(),
    "load_state_dict": lambda t, o: o.load_state_dict(o.state_dict()),
    "add_param_group": lambda t, o: o.add_param_group({"params": [weight(t)]}),
    "repr": lambda t, o: repr(o),
    "deepcopy": lambda t, o: copy.deepcopy(o),
}
SCHEDULE = {
    "step": lambda t, s: s.step(),
    "get_last_lr": lambda t, s: s.get_last_lr(),
    "state_dict": lambda t, s: s.state_dict(),
    "load_state_dict": lambda t, s: s.load_state_dict(s.state_dict()),
    "get_lr": lambda t, s: s.get_lr(),
}
for _name in "SGD Adam AdamW RMSprop Adagrad Rprop".split():
    CASES[_name] = (f"optim.{_name}", lambda t, c: c([weight(t)], lr=0.1), OPTIMIZER)
for _name, _args in {
    "StepLR": (2,),
    "MultiStepLR": ([2],),
    "ConstantLR": (),
    "LinearLR": (),
    "ExponentialLR": (0.5,),
    "CosineAnnealingLR": (3,),
    "PolynomialLR": (),
    "LambdaLR": (lambda n: 0.5,),
    "MultiplicativeLR": (lambda n: 0.5,),
}.items():
    CASES[_name] = (
        f"optim.lr_scheduler.{_name}",
        lambda t, c, args=_args: c(t.optim.SGD([weight(t)], lr=0.1), *args),
        SCHEDULE,
    )
SEQUENCE = {
    "len": lambda t, d: len(d),
    "iter": iterated,
    "d[0]": lambda t, d: d[0],
    "+": lambda t, d: d + d,
    "loader": lambda t, d: list(t.utils.data.DataLoader(d, batch_size=2)),
}
CASES |= {
    "TensorDataset": ("utils.data.TensorDataset", lambda t, c: c(t.ones(3)), SEQUENCE),
    "ConcatDataset": (
        "utils.data.ConcatDataset",
        lambda t, c: c([[1.0, 2.0], [3.0]]),
        SEQUENCE,
    ),
    "Subset": ("utils.data.Subset", lambda t, c: c([1.0, 2.0, 3.0], [0, 2]), SEQUENCE),
    "SequentialSampler": ("utils.data.SequentialSampler", lambda t, c: c([1, 2]), SEQUENCE),
    "RandomSampler": ("utils.data.RandomSampler", lambda t, c: c([1, 2]), SEQUENCE),
    "BatchSampler": (
        "utils.data.BatchSampler",
        lambda t, c: c(t.utils.data.SequentialSampler([1, 2, 3]), 2, False),
        SEQUENCE,
    ),
    "DataLoader": (
        "utils.data.DataLoader",
        lambda t, c: c([1.0, 2.0, 3.0], batch_size=2),
        SEQUENCE,
    ),
}


def path(t, dotted):
    *folders, name = dotted.split(".")
    return getattr(importlib.import_module(".".join([t.__name__, *folders])), name)


def called(t, case, operation, names):
    """The overridden methods that ran, sorted; "make" stands for the constructor."""
    dotted, make, operations = CASES[case]
    logged = Logged(path(t, dotted), names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if operation == "make":
            logged.log = set()
            make(t, logged.cls)
        else:
            made = make(t, logged.cls)
            logged.log = set()
            with contextlib.suppress(Exception):  # a refusal has its calls, too
                operations[operation](t, made)
    found, logged.log = sorted(logged.log), None
    return found


def answers():
    """Return what torch calls: {case: (names that are overridden, {operation: names that ran})}."""
    found = {}
    for line in ANSWERS.read_text().splitlines():
        kind, _, rest = line.partition("\t")
        if kind == "class":
            case, _, names = rest.partition("\t")
            found[case] = (names.split(), {})
        else:
            found[case][1][kind] = rest.split()
    return found


def write(t):
    lines = []
    for case, (dotted, _, operations) in CASES.items():
        names = names_of(path(t, dotted))
        lines.append(f"class\t{case}\t{' '.join(names)}")
        for operation in ("make", *operations):
            lines.append(f"{operation}\t{' '.join(called(t, case, operation, names))}".rstrip())
    ANSWERS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write(importlib.import_module(sys.argv[1]))
