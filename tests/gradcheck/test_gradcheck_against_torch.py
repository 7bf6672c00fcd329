"""The results of gradcheck and gradgradcheck for right and for faulty functions, beside torch.

Each function of FAULTS is checked with each set of OPTIONS in both libraries: result or class of
exception, what the message begins with, and the categories of warnings must be the same.
"""

import re
import warnings

import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")

OPTIONS = {
    "plain": {},
    "quiet": {"raise_exception": False},
    "fast": {"fast_mode": True},
    "defined": {"check_undefined_grad": False},
    "dtypes": {"check_grad_dtypes": True},
    "batched": {"check_batched_grad": True},
    "batched fast": {"check_batched_grad": True, "fast_mode": True},
    "forward": {"check_forward_ad": True},
    "forward fast": {"check_forward_ad": True, "fast_mode": True},
    "forward only": {"check_forward_ad": True, "check_backward_ad": False},
    "forward only, dtypes": {
        "check_forward_ad": True,
        "check_backward_ad": False,
        "check_grad_dtypes": True,
    },
    "forward batched": {"check_forward_ad": True, "check_batched_forward_grad": True},
    "forward only, batched": {
        "check_forward_ad": True,
        "check_backward_ad": False,
        "check_batched_forward_grad": True,
    },
    "forward only, batched, quiet": {
        "check_forward_ad": True,
        "check_backward_ad": False,
        "check_batched_forward_grad": True,
        "raise_exception": False,
    },
    "forward only, defined": {
        "check_forward_ad": True,
        "check_backward_ad": False,
        "check_undefined_grad": False,
    },
    "nothing": {"check_backward_ad": False},
    "batched without backward": {
        "check_backward_ad": False,
        "check_forward_ad": True,
        "check_batched_grad": True,
    },
    "batched without forward": {"check_batched_forward_grad": True},
    "tolerant": {"nondet_tol": 0.5, "atol": 0.6, "rtol": 0.6},
    "large steps": {"eps": 1e-3, "atol": 1e-2},
    "masked": {"masked": True},
}

FAULTS = {}


def fault(function):
    """`function(m)` gives (a function, its inputs) in the terms of the library `m`."""
    FAULTS[function.__name__.strip("_").replace("_", " ")] = function
    return function


def doubles(m, *values, **kwargs):
    return m.tensor(values, dtype=m.float64, requires_grad=True, **kwargs)


def custom(m, backward=lambda m, ctx, g: g * 3, jvp=lambda m, ctx, t: t * 3):
    """Thrice the input, by a Function with these derivatives."""
    methods = {
        "forward": staticmethod(lambda ctx, x: x * 3),
        "backward": staticmethod(lambda ctx, *grads: backward(m, ctx, *grads)),
        "jvp": staticmethod(lambda ctx, *moves: jvp(m, ctx, *moves)),
    }
    return type("Thrice", (m.autograd.Function,), methods).apply


@fault
def right(m):
    return lambda x, y: (x * y, x.sin()), (doubles(m, 1.0, 2.0), doubles(m, 3.0, 4.0))


@fault
def right_custom(m):
    return custom(m), (doubles(m, 1.0, 2.0),)


@fault
def right_complex(m):
    z = m.tensor([1 + 2j, 0.5 - 1j], dtype=m.complex128, requires_grad=True)
    return lambda z: (z * z, z.abs()), (z,)


@fault
def right_with_integers(m):
    return lambda x, n: (x * n, n), (doubles(m, 1.0, 2.0), m.tensor([3, 4]))


@fault
def one_output_without_a_graph(m):
    return lambda x: (x * 2, x.detach() * 3), (doubles(m, 1.0),)


@fault
def wrong_backward(m):
    return custom(m, backward=lambda m, ctx, g: g * 2), (doubles(m, 1.0, 2.0),)


@fault
def wrong_tangent(m):
    return custom(m, jvp=lambda m, ctx, t: t * 2), (doubles(m, 1.0, 2.0),)


@fault
def wrong_complex_backward(m):
    z = m.tensor([1 + 2j], dtype=m.complex128, requires_grad=True)
    return custom(m, backward=lambda m, ctx, g: g * 3j), (z,)


@fault
def wrong_complex_tangent(m):
    z = m.tensor([1 + 2j], dtype=m.complex128, requires_grad=True)
    return custom(m, jvp=lambda m, ctx, t: t * 2), (z,)


@fault
def backward_without_its_gradient(m):
    return custom(m, backward=lambda m, ctx, g: g * 0 + 3), (doubles(m, 1.0, 2.0),)


@fault
def backward_that_varies(m):
    calls = iter(range(10**6))
    return custom(m, backward=lambda m, ctx, g: g * (3 + 1e-7 * next(calls))), (doubles(m, 1.0),)


@fault
def backward_in_single_precision(m):
    return custom(m, backward=lambda m, ctx, g: (g * 3).float()), (doubles(m, 1.0),)


@fault
def tangent_in_single_precision(m):
    return custom(m, jvp=lambda m, ctx, t: (t * 3).float()), (doubles(m, 1.0),)


@fault
def random_backward(m):
    return custom(m, backward=lambda m, ctx, g: g * (3 + 0 * m.rand(()))), (doubles(m, 1.0),)


@fault
def random_tangent(m):
    return custom(m, jvp=lambda m, ctx, t: t * (3 + 0 * m.rand(()))), (doubles(m, 1.0),)


@fault
def backward_that_looks_at_values(m):
    def backward(m, ctx, g):
        return g * 3 if g.sum().item() > 1e9 else 3 * g

    return custom(m, backward=backward), (doubles(m, 1.0),)


@fault
def tangent_that_looks_at_values(m):
    def jvp(m, ctx, t):
        return t * 3 if t.sum().item() > 1e9 else 3 * t

    return custom(m, jvp=jvp), (doubles(m, 1.0),)


@fault
def backward_that_fails(m):
    def backward(m, ctx, g):
        raise ArithmeticError("this backward fails")

    return custom(m, backward=backward), (doubles(m, 1.0),)


@fault
def function_that_fails(m):
    def function(x):
        raise ArithmeticError("this function fails")

    return function, (doubles(m, 1.0),)


@fault
def no_rule_for_tangents(m):
    class Plain(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return g * 3

    return Plain.apply, (doubles(m, 1.0),)


class Undefined:
    """Functions of two inputs whose derivatives see None."""

    @staticmethod
    def make(m, backward, jvp):
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x * 1, y * 1

        methods = {
            "forward": staticmethod(forward),
            "backward": staticmethod(lambda ctx, a, b: backward(a, b)),
            "jvp": staticmethod(lambda ctx, a, b: jvp(a, b)),
        }
        made = type("Pair", (m.autograd.Function,), methods).apply
        return made, (doubles(m, 1.0), doubles(m, 2.0))


@fault
def undefined_handled(m):
    return Undefined.make(m, lambda a, b: (a, b), lambda a, b: (a, b))


@fault
def undefined_taken_for_zeros_and_more(m):
    def backward(a, b):
        return a, b if b is None or a is not None else b * 2

    return Undefined.make(m, backward, lambda a, b: (a, b))


@fault
def undefined_tangent_mistaken(m):
    def jvp(a, b):
        return (a * 0 + 1 if b is None else a) if a is not None else None, b

    return Undefined.make(m, lambda a, b: (a, b), jvp)


def failing_hook(error):
    def hook(g):
        if g is None:
            raise error("there is no gradient")

    def make(m):
        def function(x):
            y = x.clone()
            y.register_hook(hook)
            return y

        return function, (doubles(m, 1.0),)

    return make


FAULTS["hook that fails without a gradient"] = failing_hook(RuntimeError)
FAULTS["hook that breaks without a gradient"] = failing_hook(TypeError)


@fault
def shape_that_depends_on_values(m):
    return lambda x: m.cat([x, x]) if (x >= 1).all() else x, (doubles(m, 1.0),)


@fault
def dtype_that_depends_on_values(m):
    return lambda x: x.float() if (x >= 1).all() else x, (doubles(m, 1.0),)


@fault
def spoiled_tangent(m):
    fw = m.autograd.forward_ad

    def function(x, y):
        if fw._current_level >= 0:
            primal, tangent = fw.unpack_dual(y)
            if tangent is not None:
                y = fw.make_dual(primal, tangent * 1.5)
        return x * y

    return function, (doubles(m, 1.0), doubles(m, 2.0))


@fault
def detached(m):
    return lambda x: x.detach() * 2, (doubles(m, 1.0),)


@fault
def constant(m):
    return lambda x: m.ones(2, dtype=m.float64), (doubles(m, 1.0),)


@fault
def integer_output(m):
    return lambda x: (x * 2).long(), (doubles(m, 1.6),)


@fault
def single_precision(m):
    return lambda x: x * 2, (m.ones(2, requires_grad=True),)


@fault
def nothing_requires_grad(m):
    return lambda x: x * 2, (m.ones(2, dtype=m.float64),)


@fault
def expanded_input(m):
    return lambda x: x * 2, (m.ones(1, dtype=m.float64).expand(3).requires_grad_(),)


@fault
def empty_input(m):
    return lambda x: x * 2, (m.ones(0, 2, dtype=m.float64, requires_grad=True),)


def outcome(check, function, inputs, options):
    """(result or class of exception, its message, categories of warnings)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found, message = check(function, inputs, **options), ""
        except Exception as error:
            found, message = type(error).__name__, str(error)
    kinds = [str(w.message)[:60] for w in caught if w.category is UserWarning]
    return found, message, kinds


def beginning(message):
    """The first sentence, without what names types and numbers."""
    sentence = re.split(r"[.\n]", message.replace("torch.", "").replace("autograd_cy.", ""))[0]
    return re.sub(r"Size\(.*|, got: .*|:? ?Please look at.*|tensor.*", "", sentence).strip(" ,()'")


def agree(ours, theirs):
    found, message, kinds = ours
    wanted, other, their_kinds = theirs
    if "INTERNAL ASSERT" in other or wanted == "IndexError":  # a fault of torch says nothing
        return True
    if found != wanted or kinds != their_kinds:
        return False
    # Messages of Python itself aren't ours to choose.
    plain = message.replace("autograd_cy.", "")
    return wanted in ("TypeError", "AttributeError") or plain.startswith(beginning(other))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", FAULTS)
def test_gradcheck_says_what_torch_says(name):
    wrong = {}
    for option, kwargs in OPTIONS.items():
        ours = outcome(ag.autograd.gradcheck, *FAULTS[name](ag), kwargs)
        theirs = outcome(torch.autograd.gradcheck, *FAULTS[name](torch), kwargs)
        if not agree(ours, theirs):
            wrong[option] = (ours, theirs)
    assert not wrong, "\n".join(f"{k}:\n  {a}\n  {b}" for k, (a, b) in wrong.items())


# --- second derivatives -------------------------------------------------------------------------

SECOND = {
    "plain": {},
    "quiet": {"raise_exception": False},
    "fast": {"fast_mode": True},
    "strided": {"gen_non_contig_grad_outputs": True},
    "dtypes": {"check_grad_dtypes": True},
    "batched": {"check_batched_grad": True},
    "forward too": {"check_fwd_over_rev": True},
    "forward too, fast": {"check_fwd_over_rev": True, "fast_mode": True},
    "forward only": {"check_fwd_over_rev": True, "check_rev_over_rev": False},
    "forward only, defined": {
        "check_fwd_over_rev": True,
        "check_rev_over_rev": False,
        "check_undefined_grad": False,
    },
    "forward only, batched": {
        "check_fwd_over_rev": True,
        "check_rev_over_rev": False,
        "check_undefined_grad": False,
        "check_batched_grad": True,
    },
    "nothing": {"check_rev_over_rev": False},
    "tolerant": {"nondet_tol": 0.5},
    "large steps": {"eps": 1e-3, "atol": 1e-2},
}


def square(m, backward):
    """The square, by a Function whose backward is `backward(m, x, gradient)`."""

    class Square(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return backward(m, x, g)

    return Square.apply, (doubles(m, 1.0, 2.0),)


def complex_product(m):
    z = m.tensor([1 + 2j, 0.5 - 1j], dtype=m.complex128, requires_grad=True)
    return lambda z: z * z.conj() * z, (z,)


TWICE = {
    "right": lambda m: (lambda x, y: (x * y, x.sin()), (doubles(m, 1.0, 2.0), doubles(m, 3.0))),
    "linear": lambda m: (lambda x: x * 2, (doubles(m, 1.0),)),
    "complex": complex_product,
    "right function": lambda m: square(m, lambda m, x, g: 2 * x * g),
    "constant slope": lambda m: square(m, lambda m, x, g: 2 * x.detach() * g),
    "detached gradient": lambda m: square(m, lambda m, x, g: 2 * x * g.detach()),
    "once": lambda m: square(m, lambda m, x, g: (2 * x * g).detach()),
    "nothing requires grad": lambda m: (lambda x: x * 2, (m.ones(2, dtype=m.float64),)),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", TWICE)
def test_gradgradcheck_says_what_torch_says(name):
    wrong = {}
    for option, kwargs in SECOND.items():
        ours = outcome(ag.autograd.gradgradcheck, *TWICE[name](ag), kwargs)
        theirs = outcome(torch.autograd.gradgradcheck, *TWICE[name](torch), kwargs)
        if not agree(ours, theirs):
            wrong[option] = (ours, theirs)
    assert not wrong, "\n".join(f"{k}:\n  {a}\n  {b}" for k, (a, b) in wrong.items())
