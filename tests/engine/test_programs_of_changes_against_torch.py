"""Random programs of views, changes in place, new geometry: what they leave is as in torch."""

import random
import warnings

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag

torch = pytest.importorskip("torch")

PROGRAMS = 400
STEPS = 9


def dim(rng, x):
    return rng.randrange(-x.dim(), x.dim()) if x.dim() else 0


def part(rng, n):
    start = rng.randrange(0, n + 1)
    return f"{start}:{rng.randrange(start, n + 1)}:{rng.choice((1, 1, 1, 2))}"


def index(rng, x):
    """An index expression of a tensor."""
    kinds = [str(rng.randrange(-n, n)) if n else ":" for n in x.shape]
    items = [
        rng.choice((kind, part(rng, n), ":", "None", "..."))
        for kind, n in zip(kinds, x.shape, strict=True)
    ]
    while items.count("...") > 1:
        items.remove("...")
    return ", ".join(items) or "..."


def listed(rng, x):
    """An index expression with lists or masks."""
    if not x.dim() or not x.shape[0]:
        return "..."
    n = x.shape[0]
    rows = [rng.randrange(-n, n) for _ in range(rng.randrange(1, 4))]
    return rng.choice(
        (
            str(rows),
            f"m.tensor({rows})",
            f"[{', '.join(['True', 'False'][i % 2] for i in range(n))}]",
        )
    )


def sizes(rng, x, most=None):
    """A shape of as many elements, or of at most so many."""
    n = x.numel()
    if most is None:
        pairs = [(a, n // a) for a in range(1, n + 1) if n % a == 0] or [(0, 3)]
        return rng.choice([(-1,), (n,), (1, n), *pairs, *[(a, 1, b) for a, b in pairs]])
    return tuple(rng.randrange(0, 4) for _ in range(rng.randrange(0, 3)))


def fewer(rng, x):
    """A shape that needs no new memory."""
    shape = sizes(rng, x, 1)
    room = x.untyped_storage().nbytes() // x.element_size() - x.storage_offset()
    return shape if np.prod(shape) <= room else (0,)


def window(rng, x):
    """Sizes, strides and offset that mostly stay inside of 12 elements."""
    size = tuple(rng.randrange(1, 4) for _ in range(rng.randrange(1, 3)))
    stride = tuple(rng.choice((1, 2, 3, 1, 0)) for _ in size)
    return f"{size}, {stride}, {rng.choice((None, 0, 1, 2))}"


VIEWS = [
    lambda r, x: "x.t()",
    lambda r, x: f"x.transpose({dim(r, x)}, {dim(r, x)})",
    lambda r, x: f"x[{index(r, x)}]",
    lambda r, x: f"x[{index(r, x)}]",
    lambda r, x: f"x.select({dim(r, x)}, 0)",
    lambda r, x: f"x.narrow({dim(r, x)}, {r.randrange(2)}, {r.randrange(3)})",
    lambda r, x: f"x.diagonal({r.randrange(-1, 2)})",
    lambda r, x: f"x.unsqueeze({dim(r, x)})",
    lambda r, x: r.choice((f"x.squeeze({dim(r, x)})", "x.squeeze()")),
    lambda r, x: f"x.view({sizes(r, x)})",
    lambda r, x: f"x.reshape({sizes(r, x)})",
    lambda r, x: f"x.expand({(2, *x.shape)})",
    lambda r, x: f"x.as_strided({window(r, x)})",
    lambda r, x: f"x.unfold({dim(r, x)}, {r.randrange(1, 3)}, {r.randrange(1, 3)})",
    lambda r, x: f"x.movedim({dim(r, x)}, {dim(r, x)})",
    lambda r, x: f"x.unbind({dim(r, x)})[-1]",
    lambda r, x: f"x.split({r.randrange(1, 3)}, {dim(r, x)})[0]",
    lambda r, x: f"x.chunk(2, {dim(r, x)})[-1]",
    lambda r, x: "x.detach()",
    lambda r, x: "x.view_as(x)",
    lambda r, x: "m.view_as_real(x)",
    lambda r, x: "m.view_as_complex(x)",
    lambda r, x: "x.real",
    lambda r, x: "x.imag",
    lambda r, x: "x.conj()",
    lambda r, x: "x.mT",
]
CHANGES = [
    lambda r, x: "x.mul_(y)",
    lambda r, x: "x.mul_(2)",
    lambda r, x: "x.add_(y)",
    lambda r, x: "x.sub_(y, alpha=2)",
    lambda r, x: "x.copy_(y)",
    lambda r, x: "x.copy_(y.sum())",
    lambda r, x: "x.fill_(0.5)",
    lambda r, x: "x.fill_(y.sum())",
    lambda r, x: "x.zero_()",
    lambda r, x: "x.sin_()",
    lambda r, x: "x.tanh_()",
    lambda r, x: "x.round_()",
    lambda r, x: f"x[{index(r, x)}] = 0.25",
    lambda r, x: f"x[{index(r, x)}] = y",
    lambda r, x: f"x[{index(r, x)}] = y.sum()",
    lambda r, x: f"x[{index(r, x)}].mul_(3)",
    lambda r, x: f"x[{listed(r, x)}] = y.sum()",
    lambda r, x: f"x[{listed(r, x)}] = -1.5",
    lambda r, x: f"x.transpose(0, -1).add_({r.choice(('1', 'y'))})",
    lambda r, x: f"x.as_strided({window(r, x)}).mul_(2)",
    lambda r, x: "x.fill_diagonal_(2.5)",
    lambda r, x: "x.masked_fill_(x.real > 0, 0.75)",
    lambda r, x: "x.addcmul_(y, y)",
]
GEOMETRY = [
    lambda r, x: f"x.transpose_({dim(r, x)}, {dim(r, x)})",
    lambda r, x: "x.t_()",
    lambda r, x: r.choice((f"x.squeeze_({dim(r, x)})", "x.squeeze_()")),
    lambda r, x: f"x.unsqueeze_({dim(r, x)})",
    lambda r, x: f"x.as_strided_({window(r, x)})",
    lambda r, x: f"x.resize_({fewer(r, x)})",
    lambda r, x: f"x.swapaxes_({dim(r, x)}, {dim(r, x)})",
    lambda r, x: "x.set_(y)",
    lambda r, x: f"x.set_(y.untyped_storage(), {r.randrange(2)}, {sizes(r, x, 1)})",
    lambda r, x: "x.data = y",
    lambda r, x: "x.detach_()",
    lambda r, x: "x.requires_grad_()",
    lambda r, x: "x.requires_grad_(False)",
]
NEW = [
    lambda r, x: "x * 2",
    lambda r, x: "x * y",
    lambda r, x: "x.sin()",
    lambda r, x: "x.clone()",
    lambda r, x: f"x[{listed(r, x)}].clone(memory_format=m.contiguous_format)",
    lambda r, x: "x + y.sum()",
]


def outcome(code, lib, x, y, silent):
    """Return the result of a step, or its error."""
    names = {"m": lib, "x": x, "y": y}
    try:
        with lib.no_grad() if silent else lib.enable_grad():
            if " = " in code:
                exec(code, names)
                return x
            return eval(code, names)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return error


def numbers(t):
    return np.array(t.detach().resolve_conj().resolve_neg().tolist())


def steps(t):
    return [s for n, s in zip(t.shape, t.stride(), strict=True) if n > 1 and t.numel()]


def looks(t):
    """All that is known of a tensor but its values."""
    return (
        tuple(t.shape), steps(t), t.storage_offset(), t._version, t.requires_grad,
        tried(lambda: t.is_leaf), t._base is None, t.is_conj(), t.is_neg(),
    )  # fmt: skip


def tried(f):
    try:
        return f()
    except RuntimeError:
        return "error"


def history(t):
    """The name of its node, in the words of both libraries; that of a view may be made anew."""
    name = tried(lambda: t.grad_fn and t.grad_fn.name())
    if name is None or name == "error" or t._base is not None:
        return name and name == "error"
    return (
        "a value"
        if "Copy" in name or "Fill" in name
        else name.rstrip("0123456789").replace("Alias", "T")
    )


def gradients(lib, result, leaves):
    try:
        return lib.autograd.grad(result.real.sum(), leaves, retain_graph=True, allow_unused=True)
    except RuntimeError:
        return None


def begin(seed, moving):
    """Random numbers, and pairs of tensors: a leaf, what needs no gradient, a result."""
    rng = random.Random(seed)
    complexes = rng.random() < 0.3
    dtype = "complex128" if complexes else "float64"
    values = np.arange(1, 13).reshape(rng.choice(((3, 4), (2, 3, 2), (12,), (6, 2)))) / 8
    if complexes:
        values = values + 0.5j * values[::-1]
    made = []
    for lib in (ag, torch):
        a, b = (lib.tensor(v.tolist(), dtype=getattr(lib, dtype)) for v in (values, values / 2))
        a.requires_grad_()
        if moving:
            # Tangents that lie like their primal, and ones that don't.
            tangent = lib.tensor((values + 3).T.tolist(), dtype=a.dtype).permute(
                tuple(range(a.dim()))[::-1]
            )
            ad = lib.autograd.forward_ad
            made.append((a, b, ad.make_dual(a, tangent), ad.make_dual(b, tangent.clone()) * 1))
        else:
            made.append((a, b, a * 1))
    return rng, list(zip(*made, strict=True))


def run(seed, moving=False):
    """A program in both libraries, compared after each step; `moving`: in forward mode."""
    rng, known = begin(seed, moving)
    leaves = known[0]
    said = []
    for _ in range(STEPS):
        step(rng, known, said, moving)
        if said[-1] is None:
            return
        for one, two in known:
            assert looks(one) == looks(two), (said, looks(one), looks(two))
            assert moving or history(one) == history(two), (said, history(one), history(two))
            np.testing.assert_allclose(numbers(one), numbers(two), 1e-12, 1e-12, err_msg=str(said))
    for one, two in known:
        if moving:
            ours, theirs = (tangent_of(lib, t) for lib, t in ((ag, one), (torch, two)))
            if not isinstance(theirs, str):
                assert not isinstance(ours, str), said
                same(ours, theirs, said)
        elif two.requires_grad and two.dim() < 5:
            ours, theirs = gradients(ag, one, leaves[0]), gradients(torch, two, leaves[1])
            if theirs is not None:  # else geometry was changed in no_grad mode
                assert ours is not None, said
                same(ours[0], theirs[0], said)


def tangent_of(lib, t):
    return tried(lambda: lib.autograd.forward_ad.unpack_dual(t)[1])


def same(ours, theirs, said):
    assert (ours is None) == (theirs is None), (said, ours, theirs)
    if theirs is not None:
        np.testing.assert_allclose(numbers(ours), numbers(theirs), 1e-10, 1e-10, err_msg=str(said))


def step(rng, known, said, moving):
    """One step of a program; what it did goes to `said`, None if there is nothing to compare."""
    kind = rng.choice((VIEWS, VIEWS, CHANGES, CHANGES, GEOMETRY, NEW))
    ours, theirs = rng.choice(known[-5:])
    other = rng.choice(known)
    code, silent = rng.choice(kind)(rng, theirs), rng.random() < 0.12
    said.append(f"{code}{' # no_grad' if silent else ''}")
    related = theirs._base is not None or any(t._base is theirs for _, t in known)
    if related and any(word in code for word in ("set_(", "detach_", "data =", "_(False)")):
        return  # views of what leaves the graph: refused by us
    if moving and "as_strided" in code and ("_(" in code or related):
        return  # a tangent has no memory beside what its primal shows
    if other[1].untyped_storage().data_ptr() == theirs.untyped_storage().data_ptr():
        # What is read while it is written: whole, or a copy.
        other = (ours, theirs) if not moving else (ours.detach().clone(), theirs.detach().clone())
    left = outcome(code, ag, ours, other[0], silent)
    right = outcome(code, torch, theirs, other[1], silent)
    if any(
        word in str(x) for x in (left, right) for word in ("single memory", "AD ", "forward grad")
    ):
        said.append(None)  # torch doesn't find all overlaps; tangents of other memory
        return
    assert isinstance(left, Exception) == isinstance(right, Exception), (said, left, right)
    if isinstance(right, Exception):
        assert isinstance(left, type(right)), (said, left, right)
    elif left is not ours:
        known.append((left, right))
    if {history(t) for t, _ in known} & {"set_", "DataBackward"}:
        said.append(None)  # nodes of our own


def run_all(seeds, moving):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            run(seed, moving)


@each("seeds", [pytest.param(range(k, k + 20), id=f"{k}") for k in range(0, PROGRAMS, 20)])
def test_programs_of_changes(seeds):
    run_all(seeds, False)


@each("seeds", [pytest.param(range(k, k + 20), id=f"{k}") for k in range(0, PROGRAMS // 2, 20)])
def test_programs_of_changes_in_forward_mode(seeds):
    with ag.autograd.forward_ad.dual_level(), torch.autograd.forward_ad.dual_level():
        run_all(seeds, True)
