"""Every operator whose result shares memory with its argument: writes through it and before it.

Which operators these are is found by calling them: records of views, and composites that give one.
What is written through the view is seen in the base, and what is written into the base in the view,
by values and by derivatives of every transformation. Expected is what the same function gives that
shares no memory: the base multiplied by a mask, the view taken of what was written.
"""

import numpy as np
import pytest
from calls import CLASS_OF, EVALUATOR, Case, cases, few, make, tensor, to_array
from grouping import each

import autograd_cy as ag
from autograd_cy.autograd.functional import jacobian
from autograd_cy.func import hessian, jacfwd, jacrev, jvp, vjp, vmap
from autograd_cy.ops import _schema as schema

SIZE = 2


def dtype_of(record):
    return "float64" if "f" in record.call.dtypes else "complex128"


def sharing(param):
    """Tell whether the result of a sample is one view of its argument."""
    case = param.values[0]
    record = case.record
    if not isinstance(record.kernel, (schema.view, schema.composite)) or len(record.returns) > 1:
        return False
    if CLASS_OF[dtype_of(record)] not in record.call.dtypes or record.derivatives.multi_view:
        return False
    call = make(case, dtype_of(record))
    if not call.leaves or call.moving[:1] != [0] or call.leaves[0].place is not None:
        return False
    x = call.tensors()[0] * 1
    if not x.numel():
        return False
    result = called(call, x)
    return isinstance(result, ag.Tensor) and result._base is x and result.numel() > 0


def called(call, x):
    return call([x, *call.tensors()[1:]])


def in_parts(x):
    return ag.view_as_real(x.resolve_conj()) if x.is_complex() else x


def whole(parts, like):
    return ag.complex(parts[..., 0], parts[..., 1]) if like.is_complex() else parts


def number(x, weights):
    """A real number that depends on all of x."""
    return (in_parts(x).sin() * weights).sum()


def functions(call):
    """(what, function with a write, the same function without shared memory)."""
    x = call.tensors()[0]
    rng = np.random.default_rng(0)
    base_weights = tensor(rng.standard_normal(tuple(in_parts(x * 1).shape)))
    view_weights = tensor(rng.standard_normal(tuple(in_parts(called(call, x * 1)).shape)))
    ones = whole(ag.ones_like(in_parts(x * 1)), x)
    overlaps = False
    try:
        called(call, ones).mul_(2)
    except RuntimeError:
        overlaps = True  # as of expand: nobody writes to it
    mask = in_parts(ones)

    def start(x):
        return x.sin()

    def through(x):
        y = start(x)
        called(call, y).mul_(2)
        return number(y, base_weights)

    def through_apart(x):
        y = start(x)
        return number(whole(in_parts(y) * mask, y), base_weights)

    def before(x):
        y = start(x)
        v = called(call, y)
        y.mul_(x)
        return number(v, view_weights)

    def before_apart(x):
        return number(
            called(call, (start(x) * x).clone(memory_format=ag.contiguous_format)), view_weights
        )

    if not overlaps:
        yield "written through", through, through_apart
    yield "written before it is read", before, before_apart


def directional(f, u):
    return lambda x: jvp(f, (x,), (u,))[1]


def pulled(f):
    return lambda x: vjp(f, x)[1](ag.ones(()))[0]


def transformed(f, is_complex):
    """(name, function of the argument and one direction) of each transformation."""

    def apart(transformation):
        return lambda x, u: transformation(x)

    def two(x):
        return ag.stack([x, 0.5 * x])

    yield "values", apart(f)
    yield "grad", apart(pulled(f))
    yield "jvp", lambda x, u: directional(f, u)(x)
    yield "vmap", apart(lambda x: vmap(f)(two(x)))
    yield "vmap(grad)", apart(lambda x: vmap(pulled(f))(two(x)))
    yield "grad(vmap)", apart(lambda x: vjp(vmap(f), two(x))[1](ag.ones(2))[0])
    yield "vmap(jvp) of directions", lambda x, u: vmap(lambda u: directional(f, u)(x))(two(u))
    yield "vmap(jvp)", lambda x, u: vmap(lambda x, u: directional(f, u)(x))(two(x), two(u))
    yield "vmap(vmap(grad))", apart(lambda x: vmap(vmap(pulled(f)))(two(two(x))))
    yield "vmap(vmap(jvp))", lambda x, u: vmap(vmap(lambda x: directional(f, u)(x)))(two(two(x)))
    yield "jvp(grad)", lambda x, u: directional(pulled(f), u)(x)
    yield "grad(jvp)", lambda x, u: pulled(directional(f, u))(x)
    yield "jvp(jvp)", lambda x, u: directional(directional(f, u), u)(x)
    yield "vmap(jvp(grad))", lambda x, u: vmap(directional(pulled(f), u))(two(x))
    yield (
        "vmap(jvp(vmap(jvp)))",
        lambda x, u: vmap(
            lambda v: directional(lambda x: vmap(lambda w: directional(f, w)(x))(two(u)), v)(x)
        )(two(u)),
    )
    if not is_complex:
        yield "jacfwd", apart(jacfwd(f))
        yield "jacrev", apart(jacrev(f))
        yield "hessian", apart(hessian(f))
        yield "jacfwd(jacfwd)", apart(jacfwd(jacfwd(f)))
        yield (
            "functional.jacobian",
            apart(lambda x: jacobian(f, x, vectorize=True, strategy="forward-mode")),
        )


SHARING = [p for p in cases() if sharing(p)]


@each("case", few(SHARING, 1))
def test_writes_are_seen_through_views_in_every_transformation(case):
    if case.record.name.startswith("as_strided"):
        pytest.skip("what it sees of an example depends on where the batch lies in memory")
    call = make(case, dtype_of(case.record))
    x = call.tensors()[0]
    rng = np.random.default_rng(1)
    u = tensor(rng.standard_normal(tuple(x.shape)).astype(to_array(x).dtype))
    wrong = []
    for what, shared, apart in functions(call):
        forms = transformed(shared, x.is_complex()), transformed(apart, x.is_complex())
        for (name, with_memory), (_, without) in zip(*forms):
            found, wanted = to_array(with_memory(x, u)), to_array(without(x, u))
            if found.shape != wanted.shape or not np.allclose(found, wanted, 1e-9, 1e-9):
                wrong.append(f"{what}: {name}")
    assert not wrong, wrong


def test_views_are_found_among_the_records():
    names = {p.values[0].record.name for p in SHARING}
    views = {r.values[0].record.name for r in cases(lambda r: isinstance(r.kernel, schema.view)
             and not r.derivatives.multi_view and not r.name.startswith("_"))}  # fmt: skip
    assert views <= names, views - names
    assert {"reshape", "flatten", "ravel", "reshape_as", "view_as", "unflatten", "movedim"} <= names
    assert EVALUATOR.form(Case(SHARING[0].values[0].record, 0).record)
