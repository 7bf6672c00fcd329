"""Each Function of section `_functions`: its gradients against differences in double precision."""

import pytest

import autograd_cy.legacy as torch
from autograd_cy.legacy.autograd import Variable, _functions, gradcheck
from autograd_cy.legacy.autograd._functions import *  # noqa: F403
from autograd_cy.legacy.autograd._functions import (
    Addbmm,
    Addcdiv,
    Addcmul,
    Addmm,
    Addmv,
    Addr,
    Baddbmm,
    InplaceFunction,
)


class Away:
    """Numbers of a size that are no closer to 0 than 0.3, and no two alike."""

    def __init__(self, *size, positive=False, unit=False):
        self.size, self.positive, self.unit = size, positive, unit

    def make(self):
        count = 1
        for n in self.size:
            count *= n
        made = torch.DoubleTensor([0.3 + ((i * 7) % count) / count for i in range(count)])
        if not (self.positive or self.unit):
            made.mul_(torch.DoubleTensor([(-1) ** (i // 2) for i in range(count)]))
        if self.unit:
            made.mul_(0.6)
        return made.view(*self.size)


def some(*size):
    return Away(*size)


def positive(*size):
    return Away(*size, positive=True)


def unit(*size):
    return Away(*size, unit=True)


def long(*values):
    return torch.LongTensor(list(values))


def byte(*values):
    return torch.ByteTensor(list(values))


S = 4
DIMS = ((), (0,), (1,), (-1,))
# (Function, arguments of the constructor, inputs); tensors among these need no gradient.
CASES = [
    ("Add", (), (some(S, S), some(S, S))),
    ("Add", (), (some(S, S), some(S * S))),
    ("Sub", (), (some(S, S), some(2, S, 2))),
    ("Mul", (), (some(S, S), some(S * S))),
    ("Div", (), (some(S, S), some(S * S))),
    ("Pow", (), (positive(S, S), some(S * S))),
    ("AddConstant", (3.14,), (some(S, S),)),
    ("SubConstant", (3.14,), (some(S, S),)),
    ("SubConstant", (3.14, True), (some(S, S),)),
    ("MulConstant", (3.14,), (some(S, S),)),
    ("DivConstant", (3.14,), (some(S, S),)),
    ("DivConstant", (3.14, True), (some(S, S),)),
    ("DivConstant", (0.0, True), (some(S, S),)),
    ("PowConstant", (3,), (some(S, S),)),
    ("PowConstant", (-1.5,), (positive(S, S),)),
    ("PowConstant", (0,), (some(S, S),)),
    ("PowConstant", (3.14, True), (some(S, S),)),
    ("Negate", (), (some(S, S),)),
    *[(name, (), (some(S, S),)) for name in "Exp Tanh Sigmoid Sinh Cosh Abs Sin Cos Atan".split()],
    *[(name, (), (some(S, S),)) for name in "Reciprocal Floor Ceil Round Sign Trunc".split()],
    *[(name, (), (positive(S, S),)) for name in "Log Log1p Sqrt Rsqrt".split()],
    *[(name, (), (unit(S, S),)) for name in "Tan Asin Acos Frac".split()],
    ("Clamp", (-0.62, 0.71), (some(S, S),)),
    ("Clamp", (None, 0.71), (some(S, S),)),
    ("Clamp", (-0.62, None), (some(S, S),)),
    ("Fmod", (0.47,), (some(S, S),)),
    ("Remainder", (0.47,), (some(S, S),)),
    ("Lerp", (0.3,), (some(S, S), some(S * S))),
    ("Cmax", (), (some(S, S), unit(S * S))),
    ("Cmin", (), (some(S, S), unit(S * S))),
    ("CmaxConstant", (0.51,), (some(S, S),)),
    ("CminConstant", (0.51,), (some(S, S),)),
    ("Addcmul", (), (some(S, S), some(S, S), some(S * S))),
    ("Addcmul", (0.6,), (some(S, S), some(S, S), some(S, S))),
    ("Addcdiv", (), (some(S, S), some(S, S), some(S, S))),
    ("Addcdiv", (0.6,), (some(S, S), some(S * S), some(2, 2, S))),
    *[("Addmm", c, (some(2, 4), some(2, 3), some(3, 4))) for c in ((), (0.1, 1), (0.1, 4))],
    *[("Addbmm", c, (some(2, 4), some(5, 2, 3), some(5, 3, 4))) for c in ((), (0.4, 1), (0.5, 2))],
    *[("Baddbmm", c, (some(5, 2, 4), some(5, 2, 3), some(5, 3, 4))) for c in ((), (0.5, 2))],
    *[("Addmv", c, (some(2), some(2, 3), some(3))) for c in ((), (0.1, 1), (0.1, 4))],
    *[("Addr", c, (some(2, 3), some(2), some(3))) for c in ((), (0.1, 1), (0.5, 4))],
    ("Mm", (), (some(2, 3), some(3, 4))),
    ("Bmm", (), (some(5, 2, 3), some(5, 3, 4))),
    ("Mv", (), (some(2, 3), some(3))),
    ("Ger", (), (some(2), some(3))),
    ("Dot", (), (some(6), some(6))),
    *[
        (name, d, (some(3, 4, 2),))
        for name in "Sum Mean Prod".split()
        for d in ((), (0,), (1,), (-1,))
    ],
    *[(name, d, (some(3, 4, 2),)) for name in "Max Min".split() for d in DIMS],
    *[(name, d, (some(3, 4, 2),)) for name in "Mode Median".split() for d in ((), (1,))],
    *[("Kthvalue", d, (some(3, 4),)) for d in ((2,), (2, 0))],
    *[
        (name, d, (some(3, 4, 2),))
        for name in "Var Std".split()
        for d in ((), (1,), (None, False), (2, False))
    ],
    *[
        ("Norm", (p, *d), (some(3, 4),))
        for p in (1, 1.5, 2, 3, 0, float("inf"), float("-inf"))
        for d in ((), (0,), (1,))
    ],
    ("Diag", (), (some(3, 4),)),
    ("Diag", (1,), (some(3, 4),)),
    ("Diag", (-1,), (some(4),)),
    ("Tril", (), (some(3, 4),)),
    ("Tril", (1,), (some(3, 4),)),
    ("Triu", (-1,), (some(3, 4),)),
    ("Index", ((1, 2),), (some(3, 4),)),
    ("Index", (slice(0, 3),), (some(4, 2),)),
    ("Index", ((slice(0, 3), 1),), (some(4, 2),)),
    ("Index", (long(0, 2, 0),), (some(4, 2),)),
    ("SetItem", (1, 3.0), (some(4, 2),)),
    ("SetItem", ((slice(1, 3), 1),), (some(4, 2), some(2))),
    ("SetItem", (1,), (some(4, 6), some(2, 3))),
    ("NoGrad", (), (some(3),)),
    ("Transpose", (0, 2), (some(2, 3, 4),)),
    ("Permute", ((2, 0, 1),), (some(2, 3, 4),)),
    ("View", (S, -1), (some(2, 3, 4),)),
    ("Expand", ((3, 2, 5),), (some(2, 1),)),
    ("Expand", ((3, 4),), (some(3, 1),)),
    ("Type", (torch.DoubleTensor,), (some(3),)),
    ("IndexAdd", (0,), (some(4, 2), long(0, 3, 0), some(3, 2))),
    ("IndexCopy", (0,), (some(4, 2), long(0, 3), some(2, 2))),
    ("IndexFill", (1, 2.0), (some(4, 2), long(1))),
    ("IndexSelect", (0,), (some(4, 2), long(0, 3, 0))),
    ("Gather", (1,), (some(2, 3), torch.LongTensor([[0, 0], [2, 1]]))),
    ("Gather", (0,), (some(2, 3), torch.LongTensor([[1, 0]]))),
    ("Scatter", (1,), (some(2, 3), torch.LongTensor([[0, 1], [2, 1]]), some(2, 2))),
    ("Scatter", (0,), (some(4, 3), torch.LongTensor([[3, 1]]), some(2, 3))),
    ("MaskedCopy", (), (some(2, 3), torch.ByteTensor([[0, 1, 1], [1, 0, 0]]), some(2, 2))),
    ("MaskedFill", (2.0,), (some(2, 3), torch.ByteTensor([[0, 1, 1], [1, 0, 0]]))),
    ("MaskedSelect", (), (some(2, 3), torch.ByteTensor([[0, 1, 1], [1, 0, 0]]))),
    ("MaskedSelect", (), (some(2, 3), byte(0, 1, 1, 1, 0, 0))),
    ("Concat", (0,), (some(1, 2), some(3, 2), some(2, 2))),
    ("Concat", (-1,), (some(2, 2), some(2, 3))),
    ("Resize", (S, -1 + 3, 2), (some(2, 2, 4),)),
    ("Clone", (), (some(3),)),
    ("Squeeze", (), (some(3, 1, 2, 1),)),
    ("Squeeze", (1,), (some(3, 1, 2, 1),)),
    ("Unsqueeze", (1,), (some(3, 2),)),
    ("Chunk", (2,), (some(5, 2),)),
    ("Chunk", (3, 1), (some(2, 3),)),
    ("Repeat", ((2, 3),), (some(2, 2),)),
    ("Repeat", ((2, 3, 2),), (some(3, 2),)),
    *[("Sort", a, (some(3, 4),)) for a in ((), (0,), (1, True), (1, False, False))],
    *[
        ("Topk", a, (some(3, 4),))
        for a in ((2,), (2, 0), (2, 1, False), (2, 1, True, False, False))
    ],
]
# Which have no derivative, or a drawn one that test_stochastic.py has; a GPU is absent.
WITHOUT = set("Eq Ne Gt Ge Lt Le CudaTransfer Multinomial Bernoulli Normal".split())
WITHOUT |= set("Function InplaceFunction StochasticFunction".split())

ZERO = set("Floor Ceil Round Sign Trunc".split())
IN_PLACE = set(
    "Add Sub AddConstant SubConstant MulConstant DivConstant Negate Exp Tanh Sigmoid Rsqrt Addcmul "
    "Addcdiv Addmm Addbmm Baddbmm Addmv Addr SetItem IndexAdd IndexCopy IndexFill Scatter "
    "MaskedCopy MaskedFill".split()
)


def made(x):
    if isinstance(x, Away):
        return Variable(x.make(), requires_grad=True)
    return Variable(x)


def called(name, arguments, variables, **inplace):
    return getattr(_functions, name)(*arguments, **inplace)(*variables)


def label(case):
    name, arguments, inputs = case
    return f"{name}{arguments}-{[getattr(x, 'size', 0) for x in inputs]}"


def test_every_function_has_a_case():
    assert {name for name, _, _ in CASES} | WITHOUT == set(_functions.__all__)


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{c[0]}" for i, c in enumerate(CASES)])
def test_gradients_agree_with_differences(case):
    name, arguments, inputs = case

    def compute(*variables):
        # In place it would be on a leaf; a copy of it isn't one.
        first = variables[0].clone() if name == "SetItem" else variables[0]
        return called(name, arguments, (first, *variables[1:]))

    assert gradcheck(compute, tuple(made(x) for x in inputs))


SEVERAL = [c for c in CASES if sum(isinstance(x, Away) for x in c[2]) > 1 and c[0] != "SetItem"]


def gradients(case, wanted):
    """Return the gradients of the inputs, of which those at the places `wanted` require grad."""
    name, arguments, inputs = case
    leaves = [made(x) for x in inputs]
    for place, v in enumerate(leaves):
        v.requires_grad = place in wanted
    out = called(name, arguments, leaves)
    out.backward(torch.DoubleTensor(out.size()).copy_(torch.range(1, out.numel())))
    return [v.grad for v in leaves]


@pytest.mark.parametrize("case", SEVERAL, ids=[f"{i}-{c[0]}" for i, c in enumerate(SEVERAL)])
def test_an_input_may_be_the_only_one_that_needs_a_gradient(case):
    places = [i for i, x in enumerate(case[2]) if isinstance(x, Away)]
    together = gradients(case, places)
    for place in places:
        alone = gradients(case, [place])
        assert [i for i, grad in enumerate(alone) if grad is not None] == [place]
        assert alone[place].data.equal(together[place].data)


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if c[0] in IN_PLACE - {"SetItem"}],
    ids=lambda case: case[0],
)
def test_in_place_forms_give_the_same_and_the_same_gradients(case):
    name, arguments, inputs = case
    results = []
    for inplace in (False, True):
        leaves = tuple(made(x) for x in inputs)
        first = leaves[0].clone()
        out = called(name, arguments, (first, *leaves[1:]), inplace=inplace)
        assert (out is first) is inplace
        weight = torch.DoubleTensor(out.size()).copy_(torch.range(1, out.numel()))
        out.backward(weight)
        results.append([out.data, *(v.grad.data for v in leaves if v.requires_grad)])
    for plain, changed in zip(*results, strict=True):
        assert plain.equal(changed)


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{c[0]}" for i, c in enumerate(CASES)])
def test_volatile_inputs_record_nothing_and_results_have_a_dimension(case):
    name, arguments, inputs = case
    variables = [made(x) for x in inputs]
    variables[0] = Variable(variables[0].data, volatile=True)
    out = called(name, arguments, variables)
    for v in out if isinstance(out, tuple) else (out,):
        assert v.volatile and not v.requires_grad and v.creator is None
        assert v.dim() >= 1
        assert type(v.data).__module__ == "autograd_cy.legacy"


@pytest.mark.parametrize("name", sorted(set(_functions.__all__) - {"Function"}))
def test_the_ones_with_an_in_place_form_derive_from_inplace_function(name):
    cls = getattr(_functions, name)
    assert issubclass(cls, InplaceFunction) is (name in IN_PLACE or name == "InplaceFunction")


@pytest.mark.parametrize("name", "Eq Ne Gt Ge Lt Le".split())
def test_comparisons_give_bytes_that_need_no_gradient(name):
    a = Variable(torch.DoubleTensor([1, 2, 3]), requires_grad=True)
    b = Variable(torch.DoubleTensor([3, 2, 1]), requires_grad=True)
    expected = [int(eval(f"x {SIGNS[name]} y")) for x, y in ((1, 3), (2, 2), (3, 1))]
    for out in (called(name, (), (a, b)), called(name, (2,), (a,))):
        assert isinstance(out.data, torch.ByteTensor) and not out.requires_grad
    assert called(name, (), (a, b)).data.tolist() == expected
    twos = [int(eval(f"x {SIGNS[name]} 2")) for x in (1, 2, 3)]
    assert called(name, (2,), (a,)).data.tolist() == twos


SIGNS = {"Eq": "==", "Ne": "!=", "Gt": ">", "Ge": ">=", "Lt": "<", "Le": "<="}


def test_no_gpu_is_an_error():
    with pytest.raises(RuntimeError, match="GPU"):
        called("CudaTransfer", (), (made(some(2)),))


@pytest.mark.parametrize("function", [Addmm, Addbmm, Baddbmm, Addmv, Addr])
def test_alpha_is_of_the_added_term_and_beta_of_the_product(function):
    (case,) = [c for c in CASES if c[0] == function.__name__ and not c[1]]
    variables = [made(x) for x in case[2]]
    assert function(1, 0)(*variables).data.equal(variables[0].data)
    product = function(0, 1)(*variables).data
    assert function(0, 3)(*variables).data.sub(product * 3).abs().max() < 1e-12
    assert function()(*variables).data.sub(variables[0].data + product).abs().max() < 1e-12


def test_scales_are_of_the_added_product():
    a, b, c = (made(some(2, 2)) for _ in range(3))
    assert Addcmul(0)(a, b, c).data.equal(a.data)
    assert Addcdiv(2)(a, b, c).data.sub(a.data + 2 * (b.data / c.data)).abs().max() < 1e-12
