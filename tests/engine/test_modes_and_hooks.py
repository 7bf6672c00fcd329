"""Grad modes, tensor hooks, retained gradients."""

import asyncio

import pytest

import autograd_cy as torch


def test_no_grad_records_nothing():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        y = x * 2
    assert not y.requires_grad and y.grad_fn is None
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("decorate", [torch.no_grad, torch.no_grad()])
def test_no_grad_decorates_with_and_without_parentheses(decorate):
    @decorate
    def double(x):
        """Doc."""
        return x * 2

    assert double.__name__ == "double" and double.__doc__ == "Doc."
    assert not double(torch.ones(1, requires_grad=True)).requires_grad


def test_no_grad_comes_back_after_an_exception():
    with pytest.raises(ValueError):
        with torch.no_grad():
            raise ValueError
    assert torch.is_grad_enabled()


def test_enable_grad_inside_no_grad():
    x = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        with torch.enable_grad():
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad


def test_set_grad_enabled_acts_at_once_and_as_context():
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled() == before


def test_set_grad_enabled_as_decorator_stays_off_outside():
    @torch.set_grad_enabled(False)
    def f():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled()
    assert f() is False
    assert torch.is_grad_enabled()


def test_generator_swaps_the_mode_at_each_yield():
    @torch.no_grad()
    def numbers():
        assert not torch.is_grad_enabled()
        got = yield 1
        assert got == "sent" and not torch.is_grad_enabled()
        yield 2

    g = numbers()
    assert next(g) == 1
    assert torch.is_grad_enabled()
    assert g.send("sent") == 2
    assert torch.is_grad_enabled()


def test_coroutine_runs_in_its_mode():
    @torch.no_grad()
    async def f():
        await asyncio.sleep(0)
        return torch.is_grad_enabled()

    assert asyncio.run(f()) is False
    assert torch.is_grad_enabled()


def test_inference_tensor_can_t_be_saved_or_changed_outside():
    with torch.inference_mode():
        t = torch.ones(2)
        t.add_(1)
    assert t.is_inference()
    with pytest.raises(
        RuntimeError, match="Inplace update to inference tensor outside InferenceMode"
    ):
        t.add_(1)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        torch.ones(2, requires_grad=True) * t
    with pytest.raises(RuntimeError, match="do not track version counter"):
        t._version


def test_hook_replaces_the_gradient():
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g * 10)
    (x * 3).sum().backward()
    assert x.grad.tolist() == [30.0, 30.0]


def test_hooks_run_in_order_and_see_each_other_s_result():
    x = torch.ones(1, requires_grad=True)
    y = x * 1
    seen = []
    y.register_hook(lambda g: (seen.append(g.item()), g + 1)[1])
    y.register_hook(lambda g: seen.append(g.item()))
    y.sum().backward()
    assert seen == [1.0, 2.0]
    assert x.grad.item() == 2.0


def test_removed_hook_is_not_called():
    x = torch.ones(1, requires_grad=True)
    handle = x.register_hook(lambda g: g * 100)
    handle.remove()
    handle.remove()
    x.sum().backward()
    assert x.grad.item() == 1.0


def test_hook_with_wrong_result_is_refused():
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g.sum())
    with pytest.raises(RuntimeError, match="has changed the size of value"):
        x.sum().backward()
    y = torch.ones(2, requires_grad=True)
    y.register_hook(lambda g: "text")
    with pytest.raises(TypeError, match="expected Variable, but hook returned 'str'"):
        y.sum().backward()


def test_hook_needs_a_tensor_that_requires_grad():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(1).register_hook(lambda g: g)


def test_retain_grad_keeps_the_gradient_of_a_non_leaf():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    assert y.retains_grad
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3.0, 3.0]


def test_post_accumulate_hook_sees_the_accumulated_gradient():
    x = torch.ones(1, requires_grad=True)
    seen = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    x.sum().backward()
    (x * 2).sum().backward()
    assert seen == [1.0, 3.0]


def test_requires_grad_only_for_float_and_complex():
    with pytest.raises(
        RuntimeError, match="floating point and complex dtype can require gradients"
    ):
        torch.ones(2, dtype=torch.int64).requires_grad_()
    with pytest.raises(RuntimeError, match="Only Tensors of floating point"):
        torch.ones(2, dtype=torch.int64, requires_grad=True)


def test_requires_grad_of_a_non_leaf_can_t_be_switched_off():
    y = torch.ones(1, requires_grad=True) * 2
    with pytest.raises(
        RuntimeError, match="you can only change requires_grad flags of leaf variables"
    ):
        y.requires_grad = False
