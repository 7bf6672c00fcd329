"""Random programs of views and writes under nested transformations, against exact derivatives.

A program is a function of one tensor: views of all kinds, written through and read after their base
changed, and what is computed from them. It is transformed by up to three derivatives and two vmaps
in any order (nests.py). NumPy runs the same steps on jets, arrays that carry their derivatives
(jets.py), with NumPy's views and NumPy's writes; so nothing of the graph, of tangents or of
batching rules takes part in what is expected.
"""

import math
from dataclasses import dataclass

import numpy as np

from .. import jets, nests
from ..aliasing import (
    GEOMETRY,
    LEAD,
    NEW,
    OPS,
    PAIRS,
    VIEWS,
    WITH_OTHER,
    WRITES,
    fresh,
    reshape,
)  # fmt: skip
from ..case import PRELUDE, Result, Wrong, chance, choice

SHAPES = ((2,), (3,), (4,), (2, 2), (1, 3), (2, 1, 2), (), (6,), (2, 3))
KINDS = ("view",) * 8 + ("write",) * 4 + ("write other",) * 3 + ("op",) * 3 + (
    "pair", "new", "item", "number", "geometry")  # fmt: skip
# Operators whose gradients use their argument or result: what is written there later is refused.
SAVING = {"sin", "tanh", "exp", "square", "cube", "product", "mul_", "square_", "addcmul_"}
LARGE = 1e5
LARGE_ANGLE = 1e6
CHANGED = "modified by an inplace operation"


@dataclass(frozen=True)
class Step:
    """One line, and what NumPy needs to do the same. `other` is the number of a second tensor."""

    code: str
    kind: str
    name: str
    one: int
    other: int | None = None
    args: tuple = ()


@dataclass(frozen=True)
class Program:
    """`shown`: (number of a tensor of the result, whether it is complex)."""

    shape: tuple
    steps: tuple
    shown: tuple
    is_number: bool
    shares: bool  # whether it writes what may differ between examples into what they share
    nest: nests.Nest
    seed: int

    @property
    def title(self):
        return self.nest.title

    def function(self):
        parts = [
            f"{f'(t{i}.real + 0.5 * t{i}.imag)' if two else f't{i}'}.sin().reshape(-1)"
            for i, two in self.shown
        ]
        end = f"torch.cat([{', '.join(parts)}])" + ".sum()" * self.is_number
        lines = ["t0 = x.clone(memory_format=torch.contiguous_format)"]
        lines += [step.code for step in self.steps]
        return "".join(["def f(x):\n", *[f"    {x}\n" for x in lines], f"    return {end}\n"])

    def source(self):
        return f"{PRELUDE}{self.function()}{self.nest.source(values_of(self))}print(found)\n"


def values_of(case):
    """The argument, and the directions and weights of the nest, by name."""
    rng = np.random.default_rng(case.seed)
    shapes = case.nest.shapes
    return {name: rng.uniform(-1, 1, shape) for name, shape in shapes.items()}


# --- making one -------------------------------------------------------------------------------


class Writer:
    """Make steps, and know what NumPy sees of the tensors so far."""

    def __init__(self, rng, shape):
        self.rng = rng
        x = np.zeros((1, 1, *shape))
        x[0] = rng.uniform(-1, 1, shape)
        self.seen = [fresh(x)]
        self.steps, self.saved = [], set()
        self.bases, self.constant = 1, set()
        self.shares = False

    def one(self, keep=lambda x: True):
        """The number of a tensor, more often a late one, or None."""
        found = [i for i, x in enumerate(self.seen) if keep(x)]
        if found and chance(self.rng, 0.6):
            found = found[-4:]
        return choice(self.rng, found) if found else None

    def add(self, step):
        """Run a step by NumPy; a tensor that it makes gets the next number."""
        made = perform(step, self.seen)
        if made is None:
            return
        source = self.seen[step.one]
        self.seen.append(made)
        if step.kind in ("op", "pair", "new") or not np.shares_memory(made.array, source.array):
            made.base, self.bases = self.bases, self.bases + 1
            parents = [source] if step.other is None else [source, self.seen[step.other]]
            if step.name == "zeros" or all(x.base in self.constant for x in parents):
                self.constant.add(made.base)
        else:
            made.base = source.base
        if step.name in SAVING and step.kind in ("op", "pair"):
            self.saved |= {source.base, made.base}
            if step.other is not None:
                self.saved.add(self.seen[step.other].base)

    def step(self, kind):
        """One line of a kind, or None where nothing fits."""
        code, name, one, other, args = getattr(self, f"make_{kind.split()[0]}")(kind) or [None] * 5
        if code is None:
            return
        step = Step(code, kind, name, one, other, tuple(args))
        self.steps.append(step)
        self.add(step)

    def make_view(self, kind):
        name = choice(self.rng, tuple(VIEWS))
        one = self.one()
        x = self.seen[one]
        args = VIEWS[name].make(self.rng, x, self.seen)
        if args is None or args is False or args == 0:
            return None
        if name.endswith("_as"):
            other = args[0]
            code = VIEWS[name].code(f"t{one}", f"t{other}")
            if name == "view_as" and not np.may_share_memory(
                x.array, reshape(x, self.seen[other].shape).array
            ):
                return None
            return f"t{len(self.seen)} = {code}", name, one, other, ()
        return f"t{len(self.seen)} = {VIEWS[name].code(f't{one}', *args)}", name, one, None, args

    def make_op(self, kind):
        name = choice(self.rng, tuple(OPS))
        one = self.one()
        args = OPS[name].make(self.rng, self.seen[one], self.seen)
        if args is None:
            return None
        return f"t{len(self.seen)} = {OPS[name].code(f't{one}', *args)}", name, one, None, args

    def make_new(self, kind):
        name, one = choice(self.rng, tuple(NEW)), self.one()
        return f"t{len(self.seen)} = {NEW[name].code(f't{one}')}", name, one, None, ()

    def make_pair(self, kind):
        one = self.one()
        other = self.one(lambda y: y.shape == self.seen[one].shape)
        name = choice(self.rng, tuple(PAIRS))
        code = PAIRS[name][0](f"t{one}", f"t{other}")
        return f"t{len(self.seen)} = {code}", name, one, other, ()

    def written(self, other=None):
        """The number of a tensor to write to, or None; notes what that means for the program."""
        one = self.one(lambda x: not x.frozen)
        if one is None:
            return None
        base = self.seen[one].base
        if base in self.saved and chance(self.rng, 0.9):
            return None
        return one

    def note_write(self, one, other):
        base = self.seen[one].base
        if other is not None and self.seen[other].base not in self.constant:
            self.shares = self.shares or base in self.constant
            self.constant.discard(base)

    def make_write(self, kind):
        return self.make_with_other() if kind == "write other" else self.make_write_alone()

    def make_write_alone(self):
        one, name = self.written(), choice(self.rng, tuple(WRITES))
        if one is None:
            return None
        return WRITES[name][0].format(t=f"t{one}"), name, one, None, ()

    def make_with_other(self):
        one = self.written()
        if one is None:
            return None
        t = self.seen[one]
        other = self.one(lambda y: y.shape == t.shape)
        name = choice(self.rng, tuple(WITH_OTHER))
        u = self.seen[other]
        if name in ("lerp_", "addcmul_") and u.is_complex != t.is_complex:
            return None
        self.note_write(one, other)
        if name in SAVING:
            self.saved.add(u.base)
        return WITH_OTHER[name][0].format(t=f"t{one}", u=operand(t, u, other)), name, one, other, ()

    def make_item(self, kind):
        """A number of another tensor at some places."""
        one = self.written()
        if one is None or not self.seen[one].ndim or 0 in self.seen[one].shape:
            return None
        t, other = self.seen[one], self.one()
        n = t.shape[0]
        at = choice(
            self.rng, (int(self.rng.integers(n)), [int(self.rng.integers(n))], slice(1, None))
        )
        self.note_write(one, other)
        shown = "1:" if isinstance(at, slice) else repr(at)
        number = f"{operand(t, self.seen[other], other)}.sum()"
        # A list is an index of tensors, and such writes ask for one dtype.
        code = f"t{one}[{shown}] = {number}" + f".to(t{one}.dtype)" * isinstance(at, list)
        return code, "item", one, other, (at,)

    def make_number(self, kind):
        """One number of another tensor everywhere."""
        one = self.written()
        if one is None:
            return None
        other = self.one()
        self.note_write(one, other)
        number = f"{operand(self.seen[one], self.seen[other], other)}.sum()"
        name = choice(self.rng, ("fill_", "mul_"))
        return f"t{one}.{name}({number})", name, one, other, ()

    def make_geometry(self, kind):
        name, one = choice(self.rng, tuple(GEOMETRY)), self.one(lambda x: not x.frozen)
        args = None if one is None else GEOMETRY[name].make(self.rng, self.seen[one], self.seen)
        # The argument's copy keeps its shape, and tensors that others are views of keep theirs.
        if args is None or one == 0:
            return None
        return GEOMETRY[name].code(f"t{one}", *args), name, one, None, tuple(args)


def operand(t, u, number):
    """The code of what is written: never the memory that is written to, nor complex into real."""
    code = f"t{number}" if u.base != t.base else f"t{number}.clone()"
    return f"{code}.real" if u.is_complex and not t.is_complex else code


def perform(step, seen):
    """Do a step by NumPy; the tensor that it makes, or None."""
    x = seen[step.one]
    y = None if step.other is None else seen[step.other]
    kind, name = step.kind, step.name
    if kind == "view":
        if name.endswith("_as"):
            return reshape(x, y.shape)
        return VIEWS[name].numpy(x, *step.args)
    if kind in ("op", "new"):
        return (OPS if kind == "op" else NEW)[name].numpy(x, *step.args)
    if kind == "pair":
        return fresh(PAIRS[name][1](x.value, y.value), False)
    if kind == "geometry":
        x.array = GEOMETRY[name].numpy(x, *step.args).array
        return None
    if kind == "write":
        x.write(WRITES[name][1](x.value))
        return None
    u = y.value if x.is_complex else y.value.real
    if kind == "write other":
        x.write(WITH_OTHER[name][1](x.value, u.copy()))
        return None
    number = u.reshape(*u.shape[:LEAD], -1).sum(-1)
    if kind == "item":
        (at,) = step.args
        target = x.array[(slice(None), slice(None), at)]
        x.write(number.reshape(*number.shape, *[1] * (target.ndim - LEAD)), (at,))
        return None
    number = np.broadcast_to(number.reshape(*number.shape, *[1] * x.ndim), x.array.shape)
    x.write(number if name == "fill_" else jets.times(x.value, number))
    return None


def by_numpy(case, x):
    """The function on a jet."""
    seen = [fresh(np.array(x))]
    for step in case.steps:
        made = perform(step, seen)
        if made is not None:
            seen.append(made)
    parts = []
    for i, _ in case.shown:
        v = seen[i].value
        v = v.real + 0.5 * v.imag if v.dtype.kind == "c" else v
        if np.abs(v).max(initial=0) > LARGE_ANGLE:
            v = v * np.nan  # of its sine the last bit of the angle is too large a part to compare
        parts.append(jets.through(jets.sine, v).reshape(*v.shape[:LEAD], -1))
    made = np.concatenate(parts, -1)
    return made.sum(-1) if case.is_number else made


def make(rng):
    shape = choice(rng, SHAPES)
    writer = Writer(rng, shape)
    for _ in range(int(rng.integers(3, 16))):
        writer.step(choice(rng, KINDS))
    is_number = chance(rng, 0.5)
    sizes = [math.prod(x.shape) for x in writer.seen]
    shown, count = [], 0
    for i in reversed(range(len(sizes))):
        if sizes[i] and (is_number or count + sizes[i] <= 8):
            shown.append((i, writer.seen[i].is_complex))
            count += sizes[i]
    if not shown:
        shown, count, is_number = [(0, False)], sizes[0], True
    nest = nests.make(rng, shape, () if is_number else (count,))
    return Program(
        shape, tuple(writer.steps), tuple(shown), is_number, writer.shares, nest,
        int(rng.integers(2**32)),
    )  # fmt: skip


# --- running one ------------------------------------------------------------------------------


def run(case, lib):
    values = values_of(case)
    with np.errstate(all="ignore"):
        wanted = case.nest.by_numpy(lambda x: by_numpy(case, x), values)
    if not np.isfinite(wanted).all() or np.abs(wanted).max(initial=0) > LARGE:
        return Result("refused", "too large to compare")
    tensors = {k: lib.from_numpy(v.copy()) for k, v in values.items()}
    space = {"torch": lib, "func": lib.func, **tensors}
    exec(case.function(), space)
    try:
        exec(case.nest.code(), space)
    except RuntimeError as error:
        return refusal(case, lib, space, error)
    found = space["found"].detach().resolve_conj().numpy()
    if found.shape != wanted.shape:
        raise Wrong(f"shape {found.shape}, expected {wanted.shape}")
    bound = 1e-8 * (1 + np.abs(wanted).max(initial=0))
    if not np.abs(found - wanted).max(initial=0) <= bound:
        raise Wrong(f"{found.tolist()}, expected {wanted.tolist()}")
    for name, v in tensors.items():
        if not np.array_equal(v.detach().numpy(), values[name]):
            raise Wrong(f"the program changed {name}")
    return Result()


def refusal(case, lib, space, error):
    """Tell if a program may be refused: it overwrites what backward needs, or examples meet."""
    text = str(error)
    changed = CHANGED in text and case.nest.has_reverse
    if changed and (case.nest.order > 1 or refused_by_backward(case, lib, space)):
        return Result("refused", CHANGED)
    if text.startswith("vmap: ") and "inplace" in text and case.nest.has_vmap and case.shares:
        return Result("refused", "an example written into what all share")
    raise Wrong(f"refused: {text[:200]}")


def refused_by_backward(case, lib, space):
    x = lib.zeros(case.shape, dtype=lib.float64).requires_grad_()
    try:
        space["f"](x).sum().backward()
    except RuntimeError as error:
        return CHANGED in str(error)
    return False
