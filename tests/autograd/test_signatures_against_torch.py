"""Functions of the autograd namespaces have the parameters of torch, in order and with defaults."""

import inspect

import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")

NAMESPACES = (
    "autograd",
    "autograd.forward_ad",
    "autograd.function",
    "autograd.functional",
    "autograd.grad_mode",
    "autograd.graph",
    "func",
    "nn.init",
    "nn.utils",
    "utils.checkpoint",
)
# Function: what differs, and why.
OTHERS = {
    "hvp": "strategy= is an addition",
    "jacrev": "_preallocate_and_copy is torch's own",
    "kaiming_normal_": "the default of a number is written as a float",
    "kaiming_uniform_": "the default of a number is written as a float",
    "orthogonal_": "the default of a number is written as a float",
}


def namespace(library, name):
    for part in name.split("."):
        library = getattr(library, part)
    return library


def parameters(function):
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [
        (p.name, str(p.kind), repr(p.default).replace("autograd_cy", "torch"))
        for p in found
        if "<" not in repr(p.default) or p.default is p.empty
    ]


@pytest.mark.parametrize("name", NAMESPACES)
def test_signatures_are_those_of_torch(name):
    ours, theirs = namespace(ag, name), namespace(torch, name)
    wrong, seen = [], 0
    for word in dir(theirs):
        wanted = getattr(theirs, word)
        if word.startswith("_") or not inspect.isfunction(wanted) or not hasattr(ours, word):
            continue
        expected, found = parameters(wanted), parameters(getattr(ours, word))
        if word in OTHERS or expected is None or found is None:
            continue
        if any("VAR" in kind for _, kind, _ in expected):
            continue  # behind a wrapper
        seen += 1
        if found != expected:
            wrong.append(f"{name}.{word}: {found}, torch: {expected}")
    assert seen or name in ("autograd.function", "autograd.grad_mode")
    assert not wrong, "\n".join(wrong)


def leaves(library):
    x = library.tensor([1.0, 2.0], requires_grad=True)
    return x, library.ones(2, requires_grad=True)


def test_the_sixth_argument_of_grad_is_only_inputs():
    x, unused = leaves(ag)
    (found,) = ag.autograd.grad((x * x).sum(), [x], [ag.tensor(2.0)], True, False, True, False)
    assert found.tolist() == [4.0, 8.0]
    with pytest.raises(RuntimeError, match="appears to not have been used"):
        ag.autograd.grad((x * x).sum(), unused, None, None, False, True)
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        ag.autograd.grad((x * x).sum(), x, only_inputs=False)


def test_inputs_may_be_a_dict():
    x, unused = leaves(ag)
    found = ag.autograd.grad((x * x).sum(), {"x": x, "u": unused}, allow_unused=True)
    assert list(found) == ["x", "u"] and found["u"] is None
    assert found["x"].tolist() == [2.0, 4.0]
    (x * unused).sum().backward(inputs={"only": x})
    assert x.grad.tolist() == [1.0, 1.0] and unused.grad is None


@pytest.mark.parametrize("wrong", [[None], [[0.0]], {"a": 1}, ["x"]])
def test_what_is_no_tensor_is_no_input(wrong):
    x, _ = leaves(ag)
    with pytest.raises(RuntimeError, match="all inputs have to be Tensors or GradientEdges"):
        ag.autograd.grad((x * x).sum(), wrong)
    with pytest.raises(RuntimeError, match="all inputs have to be Tensors or GradientEdges"):
        (x * x).sum().backward(inputs=wrong)
