"""Nested transformations of a function: made at random, as code, and as NumPy does it on jets.

A level is (name, code of the next function, what NumPy does). Names of directions and weights are
`u1`, `u2`, ...; `x` is the argument.
"""

import math
from dataclasses import dataclass

import numpy as np

from . import jets
from .case import chance, choice

# How each derivative is asked for, by {g}, {x}, {u}; where "last" none is taken outside of it.
FORMS = {
    "jvp": (
        ("func.jvp({g}, (x,), ({u},))[1]", "forward"),
        ("func.jvp({g}, (x,), ({u},))[1]", "forward"),
        ("func.linearize({g}, x)[1]({u})", "reverse"),
        ("dual(torch, {g}, x, {u})", "forward last"),
        ("torch.autograd.functional.jvp({g}, x, {u})[1]", "reverse last"),
    ),
    "vjp": (
        ("func.vjp({g}, x)[1]({u})[0]", "reverse"),
        ("func.vjp({g}, x)[1]({u})[0]", "reverse"),
        ("pulled(torch, {g}, x, {u})", "reverse last"),
        ("torch.autograd.functional.vjp({g}, x, {u})[1]", "reverse last"),
    ),
    "grad": (
        ("func.grad({g})(x)", "reverse"),
        ("func.grad({g})(x)", "reverse"),
        ("func.grad_and_value({g})(x)[0]", "reverse"),
        ("pulled(torch, {g}, x, None)", "reverse last"),
        ("torch.autograd.functional.vjp({g}, x)[1]", "reverse last"),
    ),
    "jacobian": (
        ("func.jacrev({g})(x)", "reverse"),
        ("func.jacrev({g}, chunk_size=2)(x)", "reverse"),
        ("func.jacfwd({g})(x)", "forward"),
        ("func.jacfwd({g})(x)", "forward"),
        ("func.jacfwd({g})(x)", "forward"),
        ("rows(torch, {g}, x)", "reverse last"),
        ("torch.autograd.functional.jacobian({g}, x)", "reverse last"),
        ("torch.autograd.functional.jacobian({g}, x, vectorize=True)", "reverse last"),
        ("torch.autograd.functional.jacobian({g}, x, vectorize=True, strategy='forward-mode')",
         "forward last"),
    ),
    "hessian": (
        ("func.hessian({g})(x)", "reverse"),
        ("func.jacfwd(func.jacfwd({g}))(x)", "forward"),
        ("func.jacrev(func.jacfwd({g}))(x)", "reverse"),
        ("torch.autograd.functional.hessian({g}, x)", "reverse last"),
        ("torch.autograd.functional.hessian({g}, x, vectorize=True)", "reverse last"),
        ("torch.autograd.functional.hessian({g}, x, vectorize=True, "
         "outer_jacobian_strategy='forward-mode')", "reverse last"),
    ),
}  # fmt: skip
HELPERS = """\
def dual(torch, f, x, u):
    with torch.autograd.forward_ad.dual_level() as level:
        y = f(torch.autograd.forward_ad.make_dual(x, u))
        found = torch.autograd.forward_ad.unpack_dual(y).tangent
        return torch.zeros_like(y) if found is None else found

def pulled(torch, f, x, u):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    if not y.requires_grad:
        return torch.zeros_like(x)
    found, = torch.autograd.grad(y, leaf, u, allow_unused=True)
    return torch.zeros_like(x) if found is None else found

def rows(torch, f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    seeds = torch.eye(y.numel(), dtype=x.dtype).reshape((-1, *y.shape))
    if not y.requires_grad:
        return torch.zeros((*y.shape, *x.shape), dtype=x.dtype)
    found, = torch.autograd.grad(y, leaf, seeds, is_grads_batched=True, allow_unused=True)
    return torch.zeros((*y.shape, *x.shape), dtype=x.dtype) if found is None \
        else found.reshape((*y.shape, *x.shape))

"""
MOST = 100  # programs at once, in NumPy
LEVELS = (0, 1, 1, 1, 2, 2, 2, 2, 3, 3)
VMAPS = (0, 0, 1, 1, 1, 2)


@dataclass(frozen=True)
class Level:
    kind: str
    form: str
    mode: str
    u: str | None = None
    dims: tuple = ()


@dataclass(frozen=True)
class Nest:
    """Levels from the innermost one on; `shapes` are those of the values that it uses."""

    levels: tuple
    shapes: dict

    order = property(lambda self: sum(ORDER[x.kind] for x in self.levels))
    has_reverse = property(lambda self: any("reverse" in x.mode for x in self.levels))
    has_vmap = property(lambda self: any(x.kind in ("vmap", "shared") for x in self.levels))

    @property
    def title(self):
        return (
            " of ".join(
                x.form.format(g="f", u="u").replace("torch.autograd.", "")
                for x in self.levels[::-1]
            )
            or "f"
        )

    def code(self):
        lines, g = [HELPERS], "f"
        for i, level in enumerate(self.levels):
            lines.append(f"g{i} = lambda x, g={g}: {level.form.format(g='g', u=level.u)}\n")
            g = f"g{i}"
        return f"{''.join(lines)}found = {g}(x)\n"

    def source(self, values):
        made = "".join(
            f"{k} = torch.tensor({v.tolist()!r}, dtype=torch.float64).reshape({v.shape})\n"
            for k, v in values.items()
        )
        return f"from autograd_cy import func\n{made}{self.code()}"

    def by_numpy(self, f, values):
        for level in self.levels:
            f = NUMPY[level.kind](f, level, values)
        x = np.asarray(values["x"])
        return f(x[None, None])[0, 0]


ORDER = {"shared": 0, "jvp": 1, "vjp": 1, "grad": 1, "jacobian": 1, "hessian": 2, "vmap": 0}
NUMPY = {
    "jvp": lambda f, level, values: jets.jvp(f, values[level.u]),
    "vjp": lambda f, level, values: jets.vjp(f, values[level.u]),
    "grad": lambda f, level, values: jets.jacobian(f),
    "jacobian": lambda f, level, values: jets.jacobian(f),
    "hessian": lambda f, level, values: jets.jacobian(jets.jacobian(f)),
    "vmap": lambda f, level, values: jets.vmap(f, *level.dims),
    "shared": lambda f, level, values: jets.scaled(f, values[level.u]),
}


def make(rng, shape, result):
    """Transformations of a function from `shape` to `result`."""
    derivatives, vmaps = choice(rng, LEVELS), choice(rng, VMAPS)
    levels, shapes, programs, ended, own_leaf = [], {}, 1, False, False
    while derivatives or vmaps:
        if vmaps and chance(rng, vmaps / (derivatives + vmaps)):
            vmaps -= 1
            if chance(rng, 0.25) and not own_leaf:
                # All examples share the argument.
                u, form = f"u{len(levels)}", "func.vmap(lambda c: {g}(x) * c)({u})"
                shapes[u] = (2,)
                levels.append(Level("shared", form, "", u))
                result = (2, *result)
                continue
            count = choice(rng, (1, 2, 2, 3))
            dims = int(rng.integers(len(shape) + 1)), int(rng.integers(len(result) + 1))
            if programs * count > MOST:
                continue
            programs *= count
            levels.append(batched(rng, *dims))
            shape = (*shape[: dims[0]], count, *shape[dims[0] :])
            result = (*result[: dims[1]], count, *result[dims[1] :])
            continue
        derivatives -= 1
        if ended:
            continue
        kinds = ["jvp", "vjp", "jacobian"]
        if result == ():
            kinds = ["jvp", "grad", "grad", "jacobian", *["hessian"] * (derivatives > 0)]
        kind = choice(rng, kinds)
        derivatives -= kind == "hessian"
        size = 1 if kind == "jvp" else math.prod(shape) ** ORDER[kind]
        if programs * size > MOST:
            kind, size = "jvp", 1
        programs *= size
        forms = [x for x in FORMS[kind] if "last" not in x[1] or not derivatives]
        form, mode = choice(rng, forms)
        ended = ended or "last" in mode
        own_leaf = own_leaf or form.startswith(("pulled", "rows"))
        u = None
        if kind in ("jvp", "vjp"):
            u = f"u{len(levels)}"
            shapes[u] = shape if kind == "jvp" else result
        levels.append(Level(kind, form, mode, u))
        result = {"jvp": result, "vjp": shape, "grad": shape, "jacobian": (*result, *shape),
                  "hessian": (*shape, *shape)}[kind]  # fmt: skip
    return Nest(tuple(levels), {"x": shape, **shapes})


def batched(rng, in_dim, out_dim):
    options = [f", in_dims={in_dim}" if in_dim else "", f", out_dims={out_dim}" if out_dim else ""]
    if chance(rng, 0.15):
        options.append(", chunk_size=1")
    return Level("vmap", f"func.vmap({{g}}{''.join(options)})(x)", "", None, (in_dim, out_dim))
