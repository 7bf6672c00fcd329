"""Intended differences from torch, each with its reason.

Ours is held to a reference of its own; where torch is installed, it must still differ, so that a
line goes when torch mends it.
"""

from dataclasses import dataclass
from typing import Any

import pytest

import autograd_cy

INF = float("inf")


@dataclass(frozen=True)
class Kept:
    """A program of one library, what it gives here, and why that is right."""

    program: Any
    wanted: Any
    reason: str


def turned_in_place(name):
    """Gradient of a complex tensor through its parts, turned and scaled in place."""

    def program(torch):
        z = torch.ones((2, 3), dtype=torch.complex128, requires_grad=True)
        parts = torch.view_as_real(z * 1)
        getattr(parts, name)(*((0, 1) if name != "t_" else ()))
        factors = torch.arange(1.0, 13.0, dtype=torch.float64).view(parts.shape)
        parts.mul_(factors)
        parts.sum().backward()
        return z.grad.tolist()

    return program


def scattered(torch):
    x, src = torch.arange(6.0, requires_grad=True), torch.ones(2, requires_grad=True)
    torch.as_strided_scatter(x, src, (2,), (2,), 1).sum().backward()
    return x.grad.tolist()


def inverse_in_place(name, at):
    def program(torch):
        x = torch.tensor([at], dtype=torch.float64, requires_grad=True)
        y = x * 1
        getattr(y, name + "_")()
        y.sum().backward()
        return pytest.approx(x.grad.item(), rel=1e-14)

    return program


def order_of_equals(sort):
    return lambda torch: sort(torch, torch.zeros(20)).tolist()


def gelu_at_infinity(approximate):
    def program(torch):
        x = torch.tensor([-INF, INF], requires_grad=True)
        y = torch.nn.functional.gelu(x, approximate=approximate)
        y.sum().backward()
        return y.tolist(), x.grad.tolist()

    return program


def enlarged_in_place(torch):
    x = torch.ones(2)
    try:
        return list(x.addbmm_(torch.ones(2, 3, 4), torch.ones(2, 4, 2)).shape)
    except RuntimeError:
        return "refused"


def kept_by_second_derivative(power):
    """Count the tensors that the first derivative saves for the second one."""

    def program(torch):
        x, packed = torch.tensor([1.5, 2.5], requires_grad=True), []
        y = power(x)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
            torch.autograd.grad(y.sum(), x, create_graph=True)
        return len(packed)

    return program


def variance_over_no_dimensions(name):
    def program(torch):
        x = torch.tensor([1.0, 2.0, 6.0], dtype=torch.float64, requires_grad=True)
        result = getattr(torch, name)(x, dim=())
        result = result[0] if isinstance(result, tuple) else result
        (grad,) = torch.autograd.grad(result, x)
        return pytest.approx(grad.tolist(), rel=1e-14)

    return program


def slot_that_does_not_count(torch):
    x = torch.tensor([2.0])
    src = torch.tensor([2.0, 1.0], requires_grad=True)
    index = torch.tensor([0, 0])
    torch.scatter_reduce(x, 0, index, src, "amax", include_self=False).sum().backward()
    return src.grad.tolist()


def second_derivative_of_norm_at_zero(torch):
    x = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(torch.norm(x), x, create_graph=True)
    return torch.autograd.grad(grad.sum(), x)[0].tolist()


def norm_of_huge_order(torch):
    return torch.norm(torch.tensor([0.5, 2.0]), 1e300).item()


TURNED = [[1 + 2j, 5 + 6j, 9 + 10j], [3 + 4j, 7 + 8j, 11 + 12j]]
STABLE = list(range(20))
KEPT = {
    "view_as_real, transpose_": Kept(
        turned_in_place("transpose_"), TURNED, "the gradient is turned back like the tensor"
    ),
    "view_as_real, swapaxes_": Kept(
        turned_in_place("swapaxes_"), TURNED, "the gradient is turned back like the tensor"
    ),
    "as_strided_scatter": Kept(
        scattered, [1, 0, 1, 0, 1, 1], "replaced elements have no part in the result, the others do"
    ),
    "acosh_": Kept(inverse_in_place("acosh", 1.5), 1.25**-0.5, "out of place it has a derivative"),
    "asinh_": Kept(inverse_in_place("asinh", 0.5), 1.25**-0.5, "out of place it has a derivative"),
    "atanh_": Kept(inverse_in_place("atanh", 0.5), 1 / 0.75, "out of place it has a derivative"),
    "sort": Kept(order_of_equals(lambda torch, x: x.sort()[1]), STABLE, "all sorting is stable"),
    "argsort": Kept(order_of_equals(lambda torch, x: x.argsort()), STABLE, "all sorting is stable"),
    "topk": Kept(order_of_equals(lambda torch, x: x.topk(20)[1]), STABLE, "all sorting is stable"),
    "gelu": Kept(
        gelu_at_infinity("none"), ([0, INF], [0, 1]), "limits, not zero times infinity"
    ),
    "gelu, tanh": Kept(
        gelu_at_infinity("tanh"), ([0, INF], [0, 1]), "limits, not zero times infinity"
    ),
    "addbmm_": Kept(enlarged_in_place, "refused", "in place nothing changes its shape"),
    "var over dim=()": Kept(
        variance_over_no_dimensions("var"), [-2.0, -1.0, 3.0], "all elements are three, not one"
    ),
    "std_mean over dim=()": Kept(
        variance_over_no_dimensions("std_mean"),
        [-2.0 / 28**0.5, -1.0 / 28**0.5, 3.0 / 28**0.5],
        "all elements are three, not one",
    ),
    "scatter_reduce without self": Kept(
        slot_that_does_not_count, [1, 0], "an element that doesn't count takes no share"
    ),
    "second derivative of norm": Kept(
        second_derivative_of_norm_at_zero, [0, 0], "the gradient is 0 there, as a constant"
    ),
    "norm of huge order": Kept(norm_of_huge_order, 2.0, "the largest element, without overflow"),
    "second derivative of x ** 1": Kept(
        kept_by_second_derivative(lambda x: x**1), 0, "it is the gradient itself"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_ours_is_as_wanted(name):
    assert KEPT[name].program(autograd_cy) == KEPT[name].wanted


@pytest.mark.parametrize("name", KEPT)
def test_torch_still_differs(name):
    torch = pytest.importorskip("torch")
    try:
        theirs = KEPT[name].program(torch)
    except RuntimeError as error:
        theirs = error
    assert theirs != KEPT[name].wanted, f"no longer a difference: {KEPT[name].reason}"
