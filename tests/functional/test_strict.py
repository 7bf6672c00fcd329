"""Strict mode of the functions of autograd.functional: which error, whatever the strategy."""

import pytest

import autograd_cy as ag

UNCONNECTED = "Output 0 of the user-provided function does not require gradients"
INDEPENDENT = "The output of the user-provided function is independent of input {}"
ROW = "Output 0 of the user-provided function is independent of input {}"
LINEAR = (
    "While computing the hessian, found that the jacobian of the user-provided function with "
    "respect to input {} is independent of the input"
)
UNUSED = "The jacobian of the user-provided function is independent of input {}"
TRICK = "The hessian of the user-provided function is independent of entry {} in the grad_jacobian"


def functions(m):
    """Scalar functions of one vector, by what they do with it."""
    p = m.ones((), dtype=m.float64, requires_grad=True)
    return {
        "constant": lambda x: m.ones((), dtype=m.float64),
        "detached": lambda x: x.detach().sum(),
        "parameter": lambda x: p * 2,
        "linear": lambda x: x.sum() + p,
        "bilinear": lambda x: (x * p).sum(),
        "square": lambda x: (x * x).sum(),
        "cube": lambda x: (x * x * x).sum(),
    }


# What raises in strict mode, for one input; nothing for what isn't here.
ERRORS = {
    "jacobian": {"constant": UNCONNECTED, "detached": UNCONNECTED, "parameter": ROW},
    "vjp": {"constant": UNCONNECTED, "detached": UNCONNECTED, "parameter": INDEPENDENT},
    "jvp": {"constant": UNCONNECTED, "detached": UNCONNECTED, "parameter": INDEPENDENT},
    "hessian": {
        "constant": UNCONNECTED,
        "detached": UNCONNECTED,
        "parameter": LINEAR,
        "linear": LINEAR,
        "bilinear": ROW,
    },
    "vhp": {
        "constant": UNCONNECTED,
        "detached": UNCONNECTED,
        "parameter": INDEPENDENT,
        "linear": LINEAR,
        "bilinear": UNUSED,
    },
    "hvp": {
        "constant": UNCONNECTED,
        "detached": UNCONNECTED,
        "parameter": INDEPENDENT,
        "linear": LINEAR,
        "bilinear": TRICK,
    },
}
# Ways to say which mode is to be used, where strict mode is possible.
AUTO = {"hvp": {"strategy": "auto"}, "hessian": {"outer_jacobian_strategy": "auto"}}
CASES = [(name, f) for name in ERRORS for f in functions(ag)]


def call(m, name, function, **options):
    x = m.tensor([1.0, 2.0], dtype=m.float64)
    given = {"jacobian": (), "hessian": (), "vjp": (m.ones((), dtype=m.float64),)}.get(name, (x,))
    return getattr(m.autograd.functional, name)(
        functions(m)[function], x, *given, strict=True, **options
    )


@pytest.mark.parametrize(
    ("name", "function", "options"),
    [(*case, {}) for case in CASES] + [(*c, AUTO[c[0]]) for c in CASES if c[0] in AUTO],
)
def test_strict_mode_tells_what_does_not_depend_on_the_input(name, function, options):
    text = ERRORS[name].get(function)
    if text is None:
        assert call(ag, name, function, **options) is not None
    else:
        with pytest.raises(RuntimeError, match=text.format(0)):
            call(ag, name, function, **options)


def test_the_hessian_counts_an_unused_input_as_a_constant_gradient():
    x = ag.tensor([1.0, 2.0])
    p = ag.ones((), requires_grad=True)
    for function, number in (
        (lambda a, b: (a * a).sum(), 1),
        (lambda a, b: (b * b).sum(), 0),
        (lambda a, b: p * 2 + (b * b).sum(), 0),
    ):
        for create_graph in (False, True):
            with pytest.raises(RuntimeError, match=LINEAR.format(number)):
                ag.autograd.functional.hessian(
                    function, (x, x), strict=True, create_graph=create_graph
                )


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(("name", "function"), CASES)
def test_strict_mode_says_what_torch_says(name, function, create_graph):
    torch = pytest.importorskip("torch")
    outcomes = []
    for m in (ag, torch):
        try:
            call(m, name, function, create_graph=create_graph)
            outcomes.append(None)
        except RuntimeError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
