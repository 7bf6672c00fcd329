"""Random programs of views, in-place operations, hooks, modes and custom Functions.

A program is a list of steps on a growing list of float64 tensors. NumPy runs the same steps on
arrays, whose views share memory in the same way, and differences of its result check the gradient;
`func.grad` and `func.jvp` of the program must agree with backward.
"""

from dataclasses import dataclass

import numpy as np

from ..case import PRELUDE, Result, Wrong, choice

STEP = 1e-6
SHAPES = ((3,), (2, 3), (3, 2), (2, 2, 2), (1,), (4, 1))
# name -> expression of t, read by NumPy (np) and by the library (np is the library then)
SMOOTH = {
    "sin": "np.sin(t)", "tanh": "np.tanh(t)", "exp": "np.exp(t * 0.3)", "square": "t * t",
    "scaled": "t * 1.3", "shifted": "t + 0.7", "negative": "-t", "quotient": "t / (2 + t * t)",
}  # fmt: skip
VIEWS = {
    "first": "t[0:1]", "rest": "t[1:]", "step": "t[::2]", "all": "t[...]", "new": "t[None]",
    "turned": "t.T if t.ndim == 2 else t[...]", "last": "t[..., -1:]", "row": "t[0:1][0:1]",
}  # fmt: skip
# (on the library's tensor, on the array)
INPLACE = {
    "mul_": ("t.mul_(0.9)", "np.multiply(t, 0.9, out=t)"),
    "add_": ("t.add_(0.5)", "np.add(t, 0.5, out=t)"),
    "sin_": ("t.sin_()", "np.sin(t, out=t)"),
    "neg_": ("t.neg_()", "np.negative(t, out=t)"),
    "square_": ("t.square_()", "np.square(t, out=t)"),
    "zero_": ("t.zero_()", "t.fill(0.0)"),
    "fill part": ("t[0:1].fill_(2.0)", "t[0:1].fill(2.0)"),
    "item": ("t.__setitem__(slice(0, 1), 0.25)", "t.__setitem__(slice(0, 1), 0.25)"),
    "tanh_": ("t.tanh_()", "np.tanh(t, out=t)"),
}
KINDS = ("smooth", "smooth", "view", "view", "inplace", "inplace", "pair", "pair_", "function",
         "hook", "constant", "detached", "retain", "saved")  # fmt: skip


@dataclass(frozen=True)
class Program:
    """Steps are (kind, detail, number of the tensor, number of another)."""

    shape: tuple
    steps: tuple
    seed: int

    title = property(lambda self: "a program")

    def source(self):
        return f"{PRELUDE}# {self!r}\n# run by tests/fuzz/parts/programs.py\n"


def make(rng):
    steps = []
    for count in range(1, int(rng.integers(3, 14))):
        kind = choice(rng, KINDS)
        details = {"smooth": SMOOTH, "view": VIEWS, "inplace": INPLACE}.get(kind, {"": ""})
        one, other = (int(rng.integers(max(0, count - 5), count)) for _ in range(2))
        steps.append((kind, choice(rng, tuple(details)), one, other))
    return Program(choice(rng, SHAPES), tuple(steps), int(rng.integers(2**32)))


def by_numpy(case, x, constants=None):
    """(value, the constants on the way): steps without a gradient repeat those that are given."""
    arrays, found = [x * 1.0], []

    def constant(value):
        found.append(np.array(value))
        # A copy: later steps may write into it.
        return np.array(found[-1] if constants is None else constants[len(found) - 1])

    for kind, detail, one, other in case.steps:
        t, u = arrays[one], arrays[other]
        if kind == "smooth":
            t = eval(SMOOTH[detail], {"np": np, "t": t})
        elif kind == "view":
            t = eval(VIEWS[detail], {"np": np, "t": t})
        elif kind == "inplace":
            eval(INPLACE[detail][1], {"np": np, "t": t})
        elif kind == "pair":
            t = t * u if t.shape == u.shape else t * u.sum()
        elif kind == "pair_":
            np.multiply(t, np.array(u if u.shape == t.shape else u.sum()), out=t)
        elif kind == "function":
            t = t**3
        elif kind == "saved":
            t = t * 1.0
        elif kind in ("constant", "detached"):
            t = constant(np.sin(t) if kind == "constant" else t * 1.0)
        arrays.append(t)
    return sum(float(np.sin(t).sum()) for t in arrays), found


def by_library(case, lib, x, with_hooks=True):
    """The value as a tensor, and what the hooks have seen."""
    seen = []

    class Cube(lib.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(t):
            return t**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            (t,) = ctx.saved_tensors
            return grad * 3 * t**2

        @staticmethod
        def jvp(ctx, tangent):
            (t,) = ctx.saved_tensors
            return tangent * 3 * t**2

    tensors = [x * 1.0]
    for kind, detail, one, other in case.steps:
        t, u = tensors[one], tensors[other]
        if kind == "smooth":
            t = eval(SMOOTH[detail], {"np": lib, "t": t})
        elif kind == "view":
            t = eval(VIEWS[detail], {"np": lib, "t": t})
        elif kind == "inplace":
            eval(INPLACE[detail][0], {"t": t})
        elif kind == "pair":
            t = t * u if t.shape == u.shape else t * u.sum()
        elif kind == "pair_":
            t.mul_(u.clone() if u.shape == t.shape else u.sum())
        elif kind == "function":
            t = Cube.apply(t)
        elif kind == "constant":
            with lib.no_grad():
                t = lib.sin(t)
        elif kind == "detached":
            t = t.detach() * 1.0
        elif kind == "hook" and with_hooks and t.requires_grad:
            t.register_hook(lambda g, shape=t.shape: seen.append((g.shape, shape)))
        elif kind == "retain" and with_hooks and t.requires_grad:
            t.retain_grad()
        elif kind == "saved":
            with lib.autograd.graph.saved_tensors_hooks(lambda s: s * 1.0, lambda s: s):
                t = t * lib.ones_like(t)
        tensors.append(t)
    return sum(t.sin().sum() for t in tensors), seen


def run(case, lib):
    rng = np.random.default_rng(case.seed)
    x, direction = rng.uniform(-1, 1, case.shape), rng.standard_normal(case.shape)
    with np.errstate(all="ignore"):
        value, constants = by_numpy(case, x)
        slope, rough = (
            (by_numpy(case, x + step * direction, constants)[0]
             - by_numpy(case, x - step * direction, constants)[0]) / (2 * step)
            for step in (STEP, 4 * STEP)
        )  # fmt: skip
    # What the longer step is off by is more than the error of the shorter one.
    blur = abs(slope - rough)
    if not np.isfinite(slope + rough) or abs(value) > 1e6 or abs(slope) > 1e3:
        return Result("refused", "too steep for differences")
    leaf = lib.from_numpy(x.copy()).requires_grad_()
    refused = None
    try:
        out, seen = by_library(case, lib, leaf)
        _near("value", out.item(), value, abs(value))
        out.backward()
        gradient = leaf.grad
    except RuntimeError as error:
        # A tensor that backward needs has been overwritten, or a view may not be.
        if not any(w in str(error) for w in ("inplace operation", "inplace", "in-place")):
            raise
        refused = str(error)
    if leaf.tolist() != x.tolist() or leaf._version != 0:
        raise Wrong("the program changed its leaf")
    if refused is None:
        size = np.abs(gradient.numpy()).sum()
        exact = float((gradient.numpy() * direction).sum())
        _near("backward", exact, slope, bound=1e-5 * (1 + size) + blur)
        if any(tuple(g) != tuple(t) for g, t in seen):
            raise Wrong(f"a hook saw the shapes {seen}")
        _check_transforms(case, lib, x, direction, exact, 1e-8 * (1 + size), refused)
    else:
        # Differences are all there is: as far off as the third derivative is large.
        _check_transforms(case, lib, x, direction, slope, 1e-3 * (1 + abs(slope)) + blur, refused)
    _check_batch(case, lib, x, refused)
    return Result() if refused is None else Result("refused", refused)


def _check_transforms(case, lib, x, direction, slope, bound, refused):
    def program(t):
        return by_library(case, lib, t, with_hooks=False)[0]

    d = lib.from_numpy(direction)
    try:
        if not any(kind in ("constant", "detached") for kind, *_ in case.steps):
            # no_grad and detach stop gradients, not tangents.
            _, found = lib.func.jvp(program, (lib.from_numpy(x.copy()),), (d,))
            _near("jvp", found.item(), slope, bound=bound)
        gradient = lib.func.grad(program)(lib.from_numpy(x.copy()))
        _near("func.grad", (gradient * d).sum().item(), slope, bound=bound)
    except RuntimeError as error:
        if "inplace" not in str(error) and "in-place" not in str(error):
            raise
        # func.grad records what backward does, and may refuse the same programs only.
        if refused is None:
            raise Wrong(f"backward ran, a transform is refused: {error}") from None


def _check_batch(case, lib, x, refused):
    """The program and its gradient for two examples at once and one after the other."""

    def program(t):
        return by_library(case, lib, t, with_hooks=False)[0]

    examples = [lib.from_numpy(x.copy()), lib.from_numpy(x * 0.5)]
    for what, function in (("vmap", program), ("vmap of func.grad", lib.func.grad(program))):
        if what != "vmap" and refused is not None:
            return
        try:
            found = lib.vmap(function)(lib.stack(examples))
        except RuntimeError as error:
            # A tensor for all examples can't take what differs between them.
            if not any(w in str(error) for w in ("vmap", "inplace", "in-place")):
                raise
            return
        for got, example in zip(found, examples):
            wanted = function(example)
            size = wanted.abs().sum().item()
            _near(what, (got - wanted).abs().sum().item(), 0.0, bound=1e-9 * (1 + size))


def _near(what, found, wanted, size=0.0, bound=None):
    bound = 1e-5 * (1 + size) if bound is None else bound
    if not abs(found - wanted) <= bound:
        raise Wrong(f"{what} gives {found:.15g}, expected {wanted:.15g} (within {bound:.2g})")
