"""Functions of nested arguments, awaited functions in modes, and names that are deprecated."""

import pytest

import autograd_cy as torch
from autograd_cy import autograd
from autograd_cy.autograd import Function, NestedIOFunction


class Scale(NestedIOFunction):
    """A dictionary of a changed input, a product and a mask."""

    def forward_extended(self, pair, options):
        x, y = pair
        self.options = options
        self.save_for_backward({"x": x.clone(), "y": [y, None]})
        with torch.no_grad():
            y.add_(1)
        self.mark_dirty([y])
        mask = x > 1
        self.mark_non_differentiable({"mask": mask})
        return {"changed": y, "product": (x * options["by"], mask)}

    def backward_extended(self, grads):
        assert self.saved_tensors[0]["y"][1] is None
        x = self.saved_tensors[0]["x"]
        product, mask = grads["product"]
        assert x.tolist() == [1.0, 2.0]
        assert mask is None or not mask.any()
        return (product * self.options["by"], grads["changed"]), {"by": None}


def test_a_nested_function_changes_and_excludes_tensors():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    start = torch.tensor([3.0, 4.0], requires_grad=True)
    y = start * 1
    out = Scale()((x, y), {"by": 5.0})
    product, mask = out["product"]
    assert out["changed"] is y and y.tolist() == [4.0, 5.0] and y._version >= 1
    assert not mask.requires_grad and product.tolist() == [5.0, 10.0]
    (product.sum() + 3 * y.sum()).backward()
    assert x.grad.tolist() == [5.0, 5.0] and start.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("missing", ["forward_extended", "backward_extended"])
def test_a_nested_function_without_a_method_says_so(missing):
    methods = {
        "forward_extended": lambda self, x: (x * 2,),
        "backward_extended": lambda self, grads: (grads[0] * 2,),
    }
    del methods[missing]
    kind = type("Partial", (NestedIOFunction,), methods)
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(NotImplementedError, match=missing):
        kind()(x)[0].sum().backward()


def test_only_one_of_backward_and_vjp():
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

        @staticmethod
        def vjp(ctx, grad):
            return grad * 3

    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        Both.apply(torch.ones(1, requires_grad=True)).backward()


def test_deprecated_names_warn_and_work():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            with pytest.warns(FutureWarning, match="mark_shared_storage"):
                ctx.mark_shared_storage((x, x))
            return x * x

        @staticmethod
        def backward(ctx, grad):
            with pytest.warns(DeprecationWarning, match="saved_variables"):
                (x,) = ctx.saved_variables
            return grad * 2 * x

    x = torch.tensor([3.0], requires_grad=True)
    Square.apply(x).backward()
    assert x.grad.tolist() == [6.0]
    x.grad = None
    weight = torch.tensor([2.0])
    with pytest.warns(FutureWarning, match="`grad_variables` is deprecated"):
        autograd.backward([x * 5], grad_variables=[weight])
    assert x.grad.tolist() == [10.0]
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="both passed"):
        autograd.backward([x * 5], [weight], grad_variables=[weight])


def test_only_tensors_are_kept_for_forward_mode():
    class Keeps(Function):
        @staticmethod
        def forward(x, kept):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(inputs[0], None, inputs[1])

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, None

    x = torch.ones(1, requires_grad=True)
    assert Keeps.apply(x, torch.ones(1)).tolist() == [2.0]
    with pytest.raises(AssertionError, match=r"save_for_forward.*\(argument 2 is int\)"):
        Keeps.apply(x, 1)


# --- modes around functions that are awaited ----------------------------------------------------


class Step:
    """Something to wait for."""

    def __await__(self):
        return (yield "waiting")


def noting(seen):
    @torch.no_grad()
    async def work():
        try:
            seen.append(torch.is_grad_enabled())
            got = await Step()
            seen.append((got, torch.is_grad_enabled()))
            try:
                await Step()
            except KeyError:
                seen.append(("caught", torch.is_grad_enabled()))
            return torch.is_grad_enabled()
        finally:
            seen.append(("end", torch.is_grad_enabled()))

    return work()


def test_an_awaited_function_keeps_its_mode_between_steps():
    seen = []
    steps = noting(seen).__await__()
    assert next(steps) == "waiting" and torch.is_grad_enabled()
    assert steps.send(7) == "waiting" and torch.is_grad_enabled()
    with pytest.raises(StopIteration) as stop:
        steps.throw(KeyError("later"))
    assert stop.value.value is False and torch.is_grad_enabled()
    assert seen == [False, (7, False), ("caught", False), ("end", False)]


def test_an_awaited_function_that_is_given_up():
    seen = []
    steps = noting(seen).__await__()
    next(steps)
    steps.close()
    assert seen == [False, ("end", False)] and torch.is_grad_enabled()


def test_an_exception_passes_through_an_awaited_function():
    seen = []
    steps = noting(seen).__await__()
    next(steps)
    with pytest.raises(ValueError, match="other"):
        steps.throw(ValueError("other"))
    assert torch.is_grad_enabled() and seen[-1] == ("end", False)


def test_modes_can_be_copied():
    for mode, asks, inside in (
        (torch.inference_mode(), torch.is_inference_mode_enabled, True),
        (torch.inference_mode(False), torch.is_inference_mode_enabled, False),
        (torch.set_grad_enabled(True), torch.is_grad_enabled, True),
        (autograd.set_multithreading_enabled(False), lambda: None, None),
    ):
        twin = mode.clone()
        assert type(twin) is type(mode) and twin is not mode
        with twin:
            assert asks() is inside
    torch.set_grad_enabled(True)
    autograd.set_multithreading_enabled(True)
