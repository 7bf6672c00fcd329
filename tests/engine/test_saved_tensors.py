"""Saved tensors: what is kept, hooks, handles, allowed mutation."""

import contextlib
import gc
import weakref

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy.autograd.graph import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def same(t):
    return t


# --- what is kept -----------------------------------------------------------------------------


def test_only_what_is_needed_is_saved():
    x, c = leaf(1.0), torch.ones(1).double()
    node = (x * c).grad_fn
    assert node._saved_other is c
    assert node._saved_self is None
    assert (x + c).grad_fn.__dir__().count("_saved_self") == 0
    assert (x * 3.0).grad_fn._saved_self is None
    exp = x.exp()
    assert torch.equal(exp.grad_fn._saved_result, exp)
    assert exp.grad_fn._saved_result.grad_fn is exp.grad_fn


@pytest.mark.parametrize("number", [2.5, 3])
@pytest.mark.parametrize("name", ["mul", "div", "rsub", "pow", "remainder"])
def test_a_saved_number_takes_no_memory_of_a_tensor(name, number):
    x = leaf(1.0, 2.0)
    take = getattr(torch, name)
    take(x, number)  # what the first call makes for all
    before = torch.memory_summary()["live_blocks"]
    kept = [take(x, number) for _ in range(20)]
    assert torch.memory_summary()["live_blocks"] == before + len(kept)
    assert kept[0].requires_grad


def test_saved_values_are_freed_as_backward_passes():
    class Probe(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            alive.append(ref() is not None)
            return g

    alive = []
    x = leaf(1.0, 2.0)
    middle = Probe.apply(x)
    kept = torch.ones(2).double()
    ref = weakref.ref(kept)
    y = (middle * kept).sum()
    del kept
    y.backward()
    assert alive == [False]
    kept = torch.ones(2).double()
    ref = weakref.ref(kept)
    y = (Probe.apply(x) * kept).sum()
    del kept
    y.backward(retain_graph=True)
    assert alive == [False, True]


# --- hooks ------------------------------------------------------------------------------------


def test_hooks_pack_and_unpack_everything_that_is_saved():
    log = []

    def pack(t):
        assert not torch.is_grad_enabled()
        log.append(("pack", t.requires_grad))
        return t.detach().numpy().copy()

    def unpack(a):
        log.append(("unpack", a.shape))
        return torch.from_numpy(a)

    x = leaf(0.5, 1.0)
    with saved_tensors_hooks(pack, unpack):
        y = (x * x).exp()
    y.sum().backward()
    kinds = [k for k, _ in log]
    assert kinds.count("pack") == 3
    assert kinds.count("unpack") == 3
    v = np.array([0.5, 1.0])
    np.testing.assert_allclose(x.grad.numpy(), 2 * v * np.exp(v * v))


def test_double_backward_through_hooks():
    def pack(t):
        return t.detach().numpy().copy()

    x = leaf(0.7)
    with saved_tensors_hooks(pack, torch.from_numpy):
        y = (x * x).exp() * x
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (h,) = torch.autograd.grad(g, x)
    z = (x * x).exp() * x
    (g2,) = torch.autograd.grad(z, x, create_graph=True)
    (h2,) = torch.autograd.grad(g2, x)
    assert torch.allclose(g, g2)
    assert torch.allclose(h, h2)


def test_the_innermost_pair_wins_and_numbers_are_not_packed():
    outer, inner = [], []
    x = leaf(1.0)
    with saved_tensors_hooks(lambda t: outer.append(1) or t, same):
        y = x * x
        with saved_tensors_hooks(lambda t: inner.append(1) or t, same):
            z = y.exp() * 3.0
        z = z.exp()
    z.backward()
    assert (len(outer), len(inner)) == (3, 1)


def test_hooks_and_threads():
    import threading

    seen = []
    x = leaf(1.0)

    def other():
        (x * x).backward()

    with saved_tensors_hooks(lambda t: seen.append(1) or t, same):
        t = threading.Thread(target=other)
        t.start()
        t.join()
    assert seen == []


def test_wrong_hooks():
    x = leaf(1.0)
    with saved_tensors_hooks(same, lambda p: 3):
        y = x * x
    with pytest.raises(TypeError, match="expected to be a Tensor but got result of type int"):
        y.backward()
    with (
        saved_tensors_hooks(lambda t: t.mul_(2), same),
        pytest.raises(RuntimeError, match="pack hook is modifying its input in place"),
    ):
        _ = torch.ones(1).double() * (x * 1)

    def fail(t):
        raise KeyError("from the hook")

    with saved_tensors_hooks(fail, same), pytest.raises(KeyError, match="from the hook"):
        _ = x * x
    with saved_tensors_hooks(same, fail):
        y = x * x
    with pytest.raises(KeyError, match="from the hook"):
        y.backward()
    assert torch.is_grad_enabled()
    (x * x).backward()
    assert x.grad.item() == 2


def test_disabled_hooks():
    with (
        disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        saved_tensors_hooks(same, same),
    ):
        pass
    with (
        saved_tensors_hooks(same, same),
        pytest.raises(RuntimeError, match="too late"),
        disable_saved_tensors_hooks("too late"),
    ):
        pass
    with saved_tensors_hooks(same, same):
        leaf(1.0).exp().backward()


def test_save_on_cpu():
    x = leaf(2.0)
    with save_on_cpu(pin_memory=True):
        y = x * x * x
    y.backward()
    assert x.grad.item() == 12


def test_cycles_through_packed_values_are_collected():
    class Token:
        pass

    token = Token()
    alive = weakref.ref(token)
    x = leaf(1.0)
    with saved_tensors_hooks(lambda t, keep=token: (t, keep), lambda p: p[0]):
        y = (x * 2).exp()
    del y, x, token
    gc.collect()
    assert alive() is None


# --- handles ----------------------------------------------------------------------------------


def test_raw_saved_handles():
    x = leaf(3.0)
    y = x * x
    handle = y.grad_fn._raw_saved_self
    assert handle.unpack() is x
    assert handle.unpack_hook is None
    handle.register_hooks(lambda t: t.detach() * 2, lambda t: t / 2)
    assert handle.data.item() == 6
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        handle.register_hooks(same, same)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        handle.register_hooks(same, 3)
    y.backward()
    assert x.grad.item() == 6
    with pytest.raises(RuntimeError, match="after it has been freed"):
        handle.register_hooks(same, same)
    with pytest.raises(RuntimeError, match="value None is forbidden"):
        (x * 2.0).grad_fn._raw_saved_self.register_hooks(same, same)
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = y.grad_fn._saved_self


def test_unpacking_checks_the_version():
    x = leaf(3.0)
    a = x * 1
    y = a * a
    a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as error:
        _ = y.grad_fn._saved_self
    assert "DoubleTensor [1]" in str(error.value)
    assert "is at version 1; expected version 0 instead" in str(error.value)
    assert "saved by MulBackward0 and last changed by add_" in str(error.value)


# --- allowed mutation -------------------------------------------------------------------------


def test_mutation_is_allowed_inside():
    with allow_mutation_on_saved_tensors():
        x = leaf(1.0, 2.0)
        y = x.clone()
        loss = (y**2).sum() + (y * y).sum()
        y.sin_()
        y[0] = 5
        y.add_(1)
        loss.backward()
    np.testing.assert_allclose(x.grad.numpy(), [4, 8])


def test_mutation_through_views_out_arguments_and_optimisers():
    with allow_mutation_on_saved_tensors():
        x = leaf(1.0, 2.0)
        y = x.clone()
        loss = (y * y).sum()
        with torch.no_grad():
            y[:1].zero_()
        loss.backward()
        np.testing.assert_allclose(x.grad.numpy(), [2, 4])
        w = leaf(3.0)
        a = torch.ones(1).double()
        loss = (w * a).sum() + (w * w).sum()
        torch.exp(torch.ones(1).double(), out=a)
        step = torch.optim.SGD([w], lr=0.1)
        w.grad = torch.ones(1).double()
        step.step()
        w.grad = None
        loss.backward()
        np.testing.assert_allclose(w.grad.numpy(), [7])


def test_mutation_context_has_an_end_and_does_not_nest():
    with allow_mutation_on_saved_tensors() as context:
        x = leaf(1.0)
        y = x * x
        z = x * x
        y.backward()
        context.clear()
        with pytest.raises(AssertionError, match="outside of the 'allow_mutation"):
            z.backward()
    with allow_mutation_on_saved_tensors():
        z = x * x
        with (
            pytest.raises(RuntimeError, match="cannot be nested"),
            allow_mutation_on_saved_tensors(),
        ):
            pass
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation"):
        z.backward()
    y = x * 1
    loss = (y * y).sum()
    y.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_mutation_copies_only_what_changes():
    with allow_mutation_on_saved_tensors() as context:
        x = leaf(1.0)
        loss = (x.exp() * x).sum()
        assert len(context.tid_to_weakhandle) == 2
        loss.backward()
        assert x.grad is not None
        del loss
        fresh = x.exp()
        assert len(context.tid_to_weakhandle) == 1
        del fresh


# --- index tensors ------------------------------------------------------------------------------


def read_at(x, index):
    return x[index]


def written_at(x, index):
    y = x * 1
    y[index] = torch.full((2,), 5.0, requires_grad=True)
    return y


def written_in_a_view(x, index):
    y = x * 1
    y[:2][index] = 5.0
    return y


USES_OF_INDICES = [read_at, written_at, written_in_a_view]


@pytest.mark.parametrize("use", USES_OF_INDICES)
def test_a_changed_index_is_an_error(use):
    x, index = torch.ones(3, requires_grad=True), torch.tensor([0, 1])
    y = use(x, index)
    index.add_(1)
    with pytest.raises(
        RuntimeError, match=r"modified by an inplace operation.*version 1.*version 0"
    ):
        y.sum().backward()
    assert x.grad is None


def test_a_changed_mask_is_an_error():
    x, mask = torch.ones(3, requires_grad=True), torch.tensor([True, False, True])
    y = x[mask]
    mask.logical_not_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("use", USES_OF_INDICES)
def test_indices_are_freed_by_backward(use):
    x, index = torch.ones(3, requires_grad=True), torch.tensor([0, 1])
    kept = weakref.ref(index)
    y = use(x, index)
    y.sum().backward()
    del index
    gc.collect()
    assert kept() is None
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_indices_stay_as_long_as_the_graph_is_retained():
    x = torch.ones(3, requires_grad=True)
    y = x[torch.tensor([0, 0])]
    for _ in range(2):
        y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [4.0, 0.0, 0.0]
    assert y.grad_fn._saved_indices[0].tolist() == [0, 0]
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn._saved_indices


def test_indices_made_in_inference_mode_cannot_be_kept():
    with torch.inference_mode():
        index = torch.tensor([0, 1])
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        torch.ones(3, requires_grad=True)[index]


# --- how much is saved --------------------------------------------------------------------------

PACKED = {  # what the double backward packs, as in torch
    "exp": (torch.exp, 1),
    "sin": (torch.sin, 2),
    "rsqrt": (torch.rsqrt, 2),
    "erf": (torch.erf, 3),
    "erfc": (torch.erfc, 3),
    "tan": (torch.tan, 2),
}


def packed_in_double_backward(module, function):
    x = module.tensor([1.5], dtype=module.float64, requires_grad=True)
    kept = []
    y = function(x)
    with module.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        module.autograd.grad(y, x, create_graph=True)
    assert all(isinstance(t, module.Tensor) for t in kept)
    return len(kept)


@pytest.mark.parametrize("name", PACKED)
def test_what_double_backward_packs(name):
    function, expected = PACKED[name]
    assert packed_in_double_backward(torch, function) == expected


@pytest.mark.parametrize("hooks", [False, True])
def test_users_see_the_history_of_saved_tensors_where_nothing_is_recorded(hooks):
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            result = x * y
            ctx.save_for_backward(x, y, result)
            return result

        @staticmethod
        def backward(ctx, grad):
            seen.append([history(t) for t in ctx.saved_tensors])
            return grad, grad

    def history(t):
        return t.requires_grad, t.is_leaf, t.grad_fn and t.grad_fn.name()

    seen = []
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    detach = torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t)
    with detach if hooks else contextlib.nullcontext():
        z = Product.apply(x, y)
        w = y.exp()
    z.sum().backward(retain_graph=True)
    with torch.no_grad():
        seen.append([history(t) for t in z.grad_fn.saved_tensors])
        assert history(w.grad_fn._saved_result) == (True, False, "ExpBackward0")
    seen.append([history(t) for t in z.grad_fn.saved_tensors])
    wanted = [(True, True, None), (True, False, "MulBackward0"), (True, False, "ProductBackward")]
    assert seen == [wanted] * 3


def test_a_leaf_that_a_hook_has_unpacked_leads_to_the_leaf():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = x * x
    again = y.grad_fn._saved_self
    assert again.is_leaf and again.requires_grad and again is not x
    (again * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
