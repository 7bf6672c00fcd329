"""Inference mode: which tensors belong to it, and what may be done with them outside."""

import asyncio
import threading

import pytest

import autograd_cy as torch

inference = torch.inference_mode


def made_inside():
    with inference():
        return torch.ones(2)


def leaf():
    return torch.ones(2, requires_grad=True)


def test_what_is_made_inside_belongs_to_it():
    x, normal = leaf(), torch.ones(2)
    with inference():
        results = [torch.ones(1), x * 2, x.clone(), x.exp().sum(), torch.cat([x, x]), normal + 1]
        views = [normal.view(2, 1), x[:1], x.detach(), x.data]
    assert all(r.is_inference() for r in results)
    assert not any(r.requires_grad for r in results)
    assert not any(v.is_inference() for v in views)
    assert views[0]._is_view()
    t = made_inside()
    assert t.view(2, 1).is_inference()
    assert not t.view(2, 1)._is_view()
    assert t.detach().is_inference()
    assert torch.is_inference(t)
    assert not t.clone().is_inference()
    assert not (t * 2).is_inference()


def test_in_place_outside_is_refused():
    t = made_inside()
    for change in (
        lambda: t.add_(1),
        lambda: t.zero_(),
        lambda: t.__setitem__(0, 3),
        lambda: t.view(2, 1).mul_(2),
        lambda: torch.add(torch.ones(2), 1, out=t),
    ):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
            change()
    assert t.tolist() == [1, 1]
    with inference():
        t.add_(1)
    assert t.tolist() == [2, 2]


def test_no_version_counter_and_no_recording():
    t, x = made_inside(), leaf()
    with pytest.raises(RuntimeError, match="do not track version counter"):
        _ = t._version
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        t * x
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor"):
        t.requires_grad_()
    assert (t + x).requires_grad
    (t.clone() * x).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_views_of_normal_tensors_made_inside():
    x = leaf()
    y, plain = x * 1, torch.ones(2)
    with inference():
        v, w = y.view(2), plain.view(2)
    with pytest.raises(RuntimeError, match="A view was created in inference mode"):
        v.mul_(2)
    w.mul_(2)
    assert plain.tolist() == [2, 2]
    assert plain._version == 1


def test_normal_tensors_may_be_changed_inside():
    x = torch.ones(2)
    with inference():
        x.add_(1)
        x[:1].mul_(3)
    assert x.tolist() == [6, 2]
    assert x._version == 2


def test_modes_within_modes():
    x = leaf()
    with inference():
        assert torch.is_inference_mode_enabled()
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert torch.is_grad_enabled()
            assert not (x * 2).requires_grad
            assert (x * 2).is_inference()
            with torch.no_grad():
                assert not torch.is_grad_enabled()
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
        with inference(False):
            assert torch.is_grad_enabled()
            assert (x * 2).requires_grad
            assert not torch.ones(1).is_inference()
        inside = torch.ones(1, requires_grad=True)
        assert inside.requires_grad
        assert not (inside * 2).requires_grad
    assert torch.is_grad_enabled()
    with torch.no_grad(), inference(False):
        assert torch.is_grad_enabled()


def test_the_mode_belongs_to_a_thread():
    seen = []
    with inference():
        t = threading.Thread(target=lambda: seen.append(torch.is_inference_mode_enabled()))
        t.start()
        t.join()
    assert seen == [False]


def test_decorators():
    @inference()
    def with_parentheses():
        return torch.ones(1).is_inference()

    @inference
    def without():
        return torch.ones(1).is_inference()

    @inference(mode=False)
    def off():
        return torch.ones(1).is_inference()

    with inference():
        assert (with_parentheses(), without(), off()) == (True, True, False)
    assert (with_parentheses(), without(), off()) == (True, True, False)


@pytest.mark.parametrize(
    ("mode", "state"),
    [
        (torch.no_grad, torch.is_grad_enabled),
        (lambda: torch.set_grad_enabled(False), torch.is_grad_enabled),
        (inference, lambda: not torch.is_inference_mode_enabled()),
    ],
    ids=["no_grad", "set_grad_enabled", "inference_mode"],
)
def test_generators_and_coroutines_swap_the_mode_at_each_step(mode, state):
    @mode()
    def numbers():
        got = yield state()
        try:
            yield got, state()
        except ValueError:
            yield "caught", state()
        return state()

    g = numbers()
    assert state()
    assert next(g) is False
    assert state()
    assert g.send(5) == (5, False)
    assert g.throw(ValueError()) == ("caught", False)
    with pytest.raises(StopIteration) as stop:
        next(g)
    assert stop.value.value is False
    assert state()

    @mode()
    async def steps():
        before = state()
        await asyncio.sleep(0)
        return before, state()

    async def main():
        task = asyncio.ensure_future(steps())
        await asyncio.sleep(0)
        between = state()
        return await task, between

    assert asyncio.run(main()) == ((False, False), True)


def test_class_decoration_warns():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @torch.no_grad()
        class Thing:
            def __init__(self):
                self.state = torch.is_grad_enabled()

    assert Thing().state is False


def test_grad_of_a_tensor_that_is_no_leaf_warns():
    y = leaf() * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None
