"""Small programs at the corners of autograd: what they give, leave behind or raise, as in torch."""

import warnings

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag

torch = pytest.importorskip("torch")

# Statements, and an expression; those whose error is part of the answer stand in `tried`.
LEAVES = "a = m.ones(2, 3, requires_grad=True); b = m.full((2, 3), 2.0, requires_grad=True); "
RESHAPED = (
    "t_() transpose_(0,1) unsqueeze_(0) as_strided_((2,),(1,)) resize_(6) resize_(2) "
    "resize_(3,2) swapaxes_(0,1) unsqueeze_(-1)"
).split()
SHAPES = ("(3,)", "(1, 3)", "(1, 1, 3)", "()", "(1,)")
DTYPES = ("float32", "float64", "int32", "float16", "complex64")
PROGRAMS = [
    # other shapes in place where nothing is recorded
    *(
        f"{LEAVES}y = a * b; {mode}(lambda: {x}.{change})() | "
        f"tried(lambda: {x}.mul(2).sum().backward()), tried(lambda: {x}.sum().backward()), a.grad"
        for x in "by"
        for change in RESHAPED
        for mode in ("m.no_grad()", "m.inference_mode()")
        if "resize" not in change or "inference" in mode
    ),
    # views made in no_grad mode
    *(
        f"{LEAVES}w = m.no_grad()(lambda: {view})() | w.requires_grad, w.is_leaf, "
        "tried(lambda: w.sum().backward()), tried(lambda: w.backward(m.ones_like(w))), a.grad"
        for view in ("a[0]", "a[0][0]", "(a * 1)[0]", "a.view(-1)", "a.detach()", "a.unbind()[0]")
    ),
    # copies
    *(
        f"x = {x} | tried(lambda: x.copy_(m.ones({shape}))), x"
        for x in ("m.zeros(3)", "m.zeros(())", "m.zeros(1)", "m.zeros(2, 3)[0]", "m.zeros(2, 3)")
        for shape in SHAPES
    ),
    *(f"x = m.zeros(2, 3); x[0] = m.ones({shape}) | x" for shape in ("(3,)", "(1, 1, 3)", "(1,)")),
    # set_
    "c = m.ones(3); a = m.ones(2, requires_grad=True); c.set_(a) | c.requires_grad, "
    "tried(lambda: m.autograd.grad(c.sum(), a, allow_unused=True)), tried(c.sum().backward)",
    # marks of leaves
    f"{LEAVES}F = function(lambda ctx, x: (ctx.mark_dirty(x), x.add_(1))[1]) | "
    "tried(lambda: F.apply(a)), a._version, a",
    # zeros for what was not reached
    *(
        f"{LEAVES}x = {x}; g = m.autograd.grad(b.sum(), x, allow_unused=True, "
        "materialize_grads=True)[0] | g, g.stride(), g.dtype == x.dtype"
        for x in ("a.t()", "a", "a[:, :2]", "a.double()", "(a * 1j)", "a.expand(2, 2, 3)")
    ),
    # gradients that are assigned
    *(
        f"x = m.ones(2, 3, requires_grad=True); x.grad = {g} | x.grad"
        for g in ("m.ones(3)", "m.ones(2, 3).double()", "m.ones(3).double()", "3", "x", "None")
    ),
    # hooks on what has no gradient
    *(
        f"{LEAVES}h = m.autograd.graph.register_multi_grad_hook([a, m.ones(2)], print, "
        f"mode='{mode}') | 1"
        for mode in ("all", "any")
    ),
    # dtypes of operands
    *(
        f"m.lerp(m.ones(2, dtype=m.{x}), m.ones({shape}, dtype=m.{y}), 0.5)"
        for x in DTYPES
        for y in DTYPES
        for shape in ("2", "()")
    ),
    *(
        f"m.{f}(m.ones(3, dtype=m.{dtype}))"
        for f in ("var", "std", "var_mean", "std_mean")
        for dtype in ("int64", "bool", "float16")
    ),
    *(
        f"m.addmm(m.ones(2, 2), m.ones({x}), m.ones({y}))"
        for x in ("3", "2, 3", "2, 3, 1")
        for y in ("3", "3, 2", "1, 3, 2")
    ),
    # differences
    *(
        f"m.diff(m.arange(6.0).view(2, 3), {n}, {dim}, {before}, {after})"
        for n in (0, 1, 2, -1)
        for dim in (-1, 0)
        for before in ("None", "m.ones(2, 1)", "m.ones(1, 1)", "m.ones(2)")
        for after in ("None", "m.zeros(2, 2)")
    ),
    # cosines of what is stretched
    *(
        f"m.nn.functional.cosine_embedding_loss(m.arange(1.0, {n}), m.arange(4.0), m.tensor({t}))"
        for n in (2, 5)
        for t in (1, -1)
    ),
    # names of nodes
    *(
        f"x = m.ones(2, 3, requires_grad=True); g = m.autograd.grad((x.{f}(-1) * x).sum(), x, "
        "create_graph=True)[0] | names(g.grad_fn)"
        for f in ("softmax", "log_softmax")
    ),
    *(f"x = {x} | names((x @ {y}).grad_fn)" for x, y in (
        ("m.ones(2, 3, 4, requires_grad=True)", "m.ones(4)"),
        ("m.ones(2, 3, 4, requires_grad=True)", "m.ones(4, 5)"),
        ("m.ones(2, 3, 4, requires_grad=True)", "m.ones(2, 4, 5)"),
    )),
]  # fmt: skip


def names(node, depth=3):
    """Names of a node and of those that it leads to."""
    if node is None or depth == 0:
        return None
    return type(node).__name__, [names(n, depth - 1) for n, _ in node.next_functions]


def seen(x, library):
    """A result as numbers and words."""
    if isinstance(x, (tuple, list)):
        return [seen(y, library) for y in x]
    if isinstance(x, library.Tensor):
        x = x.detach()
        return str(x.dtype).rpartition(".")[2], list(x.shape), np.array(x.tolist())
    return x


def outcome(library, program):
    def tried(call):
        try:
            return seen(call(), library)
        except Exception as error:
            return type(error).__name__

    def function(forward):
        methods = {"forward": staticmethod(forward), "backward": staticmethod(lambda ctx, g: g)}
        return type("Made", (library.autograd.Function,), methods)

    scope = {"m": library, "tried": tried, "function": function, "names": names}
    statements, _, value = program.rpartition(" | ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(statements, scope)
            return seen(eval(value, scope), library)
        except Exception as error:
            return type(error).__name__


def same(ours, theirs):
    if isinstance(ours, (list, tuple)) and isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        return ours.shape == theirs.shape and np.allclose(ours, theirs, 1e-3, equal_nan=True)
    return type(ours) is type(theirs) and ours == theirs


@each("program", PROGRAMS)
def test_answers_are_those_of_torch(program):
    ours, theirs = outcome(ag, program), outcome(torch, program)
    assert same(ours, theirs), f"{ours}, torch: {theirs}"
