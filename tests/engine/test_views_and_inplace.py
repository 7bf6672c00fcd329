"""Version counters, in-place operations, and the history of views."""

import math

import pytest

import autograd_cy as torch


def leaf(*shape):
    return (
        torch.arange(1.0, 1 + max(1, int(torch.Size(shape).numel())), dtype=torch.float64)
        .reshape(shape)
        .requires_grad_()
    )


def test_views_and_detach_share_the_version():
    x = torch.zeros(4)
    v, d = x[1:], x.detach()
    v.add_(1)
    d.add_(1)
    assert x._version == v._version == d._version == 2
    x.data.add_(1)
    assert x._version == 2


def test_inplace_on_a_leaf_is_refused_and_changes_nothing():
    x = leaf(3)
    with pytest.raises(
        RuntimeError,
        match="a leaf Variable that requires grad is being used in an in-place operation",
    ):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0].add_(1)
    assert x.tolist() == [1.0, 2.0, 3.0] and x._version == 0


def test_no_grad_allows_inplace_on_a_leaf():
    x = leaf(3)
    with torch.no_grad():
        x.add_(1)
    assert x.is_leaf and x.requires_grad and x._version == 1


def test_modified_saved_tensor_is_found():
    x = leaf(3)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as e:
        y.sum().backward()
    assert "ExpBackward0" in str(e.value) and "version 1; expected version 0" in str(e.value)


def test_modification_that_backward_doesn_t_need_is_fine():
    x = leaf(3)
    y = x + 1
    y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_inplace_product_uses_the_old_value():
    x, w = leaf(3), leaf(3)
    y = x * 1
    y.mul_(w)
    y.sum().backward()
    assert x.grad.tolist() == w.tolist()
    assert w.grad.tolist() == x.tolist()


def test_inplace_on_a_view_rewrites_the_history_of_the_base():
    x = leaf(4)
    y = x * 1
    v = y[1:3]
    v.mul_(10)
    assert type(y.grad_fn).__name__ == "CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 10.0, 10.0, 1.0]


def test_view_sees_the_new_history_of_its_base():
    x = leaf(4)
    y = x * 1
    v = y[:2]
    y.mul_(3)
    assert v.grad_fn.name() == "AsStridedBackward0"
    v.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 0.0, 0.0]


def test_assignment_of_a_tensor_that_requires_grad_into_a_plain_base():
    base = torch.zeros(2, 3, dtype=torch.float64)
    row = leaf(3)
    base[1] = row * 2
    assert base.requires_grad
    (base * base).sum().backward()
    assert row.grad.tolist() == [8.0, 16.0, 24.0]


def test_chain_of_views_and_two_views_of_one_base():
    x = leaf(2, 3)
    y = x * 1
    a = y[0]
    b = y.t()[2]
    a[1:].mul_(2)
    b.add_(x.detach()[:, 0])
    (y * y).sum().backward()
    z = x.detach().numpy().copy()
    scale = z * 0 + 1
    scale[0, 1:] = 2
    value = z * scale
    value[:, 2] += z[:, 0]
    assert x.grad.tolist() == (2 * value * scale).tolist()


def test_second_derivative_through_an_inplace_view():
    x = leaf(3)
    y = x * x
    y[:2].mul_(x[1:])
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    # f = a^2 b + b^2 c + c^2
    a, b, c = 1.0, 2.0, 3.0
    assert g.tolist() == [2 * a * b, a * a + 2 * b * c, b * b + 2 * c]
    assert h.tolist() == [2 * b + 2 * a, 2 * a + 2 * c + 2 * b, 2 * b + 2]


def test_multi_output_view_refuses_inplace():
    y = leaf(2, 3) * 1
    first, _ = y.unbind(0)
    with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
        first.add_(1)


def test_view_made_in_no_grad_refuses_inplace_outside():
    y = leaf(3) * 1
    with torch.no_grad():
        v = y[:2]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        v.mul_(2)


def test_expanded_tensor_refuses_inplace():
    x = torch.zeros(3, 1).expand(3, 4)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.add_(1)


def test_inplace_shape_mismatch_changes_nothing():
    x = torch.zeros(3)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.add_(torch.ones(2, 3))
    assert x.tolist() == [0.0, 0.0, 0.0] and x._version == 0


def test_overlapping_strided_source_is_read_before_it_is_overwritten():
    x = torch.arange(8.0)
    x[::2].copy_(x[:4])
    assert x.tolist() == [0.0, 1.0, 1.0, 3.0, 2.0, 5.0, 3.0, 7.0]
    x = torch.arange(8.0)
    x[1::2].add_(x[1:5])
    assert x.tolist() == [0.0, 2.0, 2.0, 5.0, 4.0, 8.0, 6.0, 11.0]


def test_data_shares_memory_and_not_history():
    x = leaf(2)
    x.data.mul_(3)
    assert x.tolist() == [3.0, 6.0] and x._version == 0


def test_detach_in_place_makes_a_leaf():
    x = leaf(2)
    y = x * 2
    z = y.exp()
    y.detach_()
    assert y.is_leaf and not y.requires_grad
    z.sum().backward()
    assert torch.allclose(x.grad, 2 * y.exp())


def test_out_refuses_autograd():
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.add(leaf(2), 1, out=torch.empty(2, dtype=torch.float64))


# --- hooks and retained gradients follow the history ----------------------------------------


def test_old_hooks_see_the_gradient_before_a_change_and_new_ones_after():
    seen = []
    x = leaf(3)
    y = x * 1
    y.register_hook(lambda g: seen.append(("old", g.tolist())))
    v = y[:2]
    v.register_hook(lambda g: seen.append(("old view", g.tolist())))
    v.mul_(3)
    v.register_hook(lambda g: seen.append(("new view", g.tolist())))
    y.register_hook(lambda g: seen.append(("new", g.tolist())))
    (v.sum() * 5 + y.sum()).backward()
    # What the view's old hook was on is no longer part of the graph.
    assert seen == [
        ("new view", [5.0, 5.0]),
        ("new", [6.0, 6.0, 1.0]),
        ("old", [18.0, 18.0, 1.0]),
    ]


def test_retained_gradient_is_that_of_the_last_value():
    x = leaf(3)
    y = x * 1
    v = y[:2]
    y.retain_grad()
    v.retain_grad()
    y.mul_(2)
    v.exp_()
    (y.sum() + v.sum()).backward()
    assert y.grad.tolist() == [2.0, 2.0, 1.0]
    assert v.grad.tolist() == [1.0, 1.0]


def test_retained_gradient_of_a_view_that_another_view_changed():
    x = leaf(1)
    y = x * 1
    a, b = y[:], y[:]
    a.retain_grad()
    b.retain_grad()
    a.mul_(2)
    (a + b).sum().backward()
    assert a.grad.tolist() == b.grad.tolist() == [1.0]


# --- CopySlices -----------------------------------------------------------------------------


def test_more_inputs_than_few():
    xs = [leaf(2) for _ in range(20)]
    y = torch.zeros(40, dtype=torch.float64)
    y[:] = torch.cat(xs)
    y[4:36].mul_(torch.cat([t * t for t in xs[2:18]]))
    grads = torch.autograd.grad(y.sum(), xs)
    assert grads[0].tolist() == [1.0, 1.0]
    assert grads[5].tolist() == [3.0, 12.0]


def test_inner_operation_is_named_when_it_was_freed_or_its_result_changed():
    y = leaf(3) * 1
    y[:2].exp_()
    s = y.sum()
    s.backward(retain_graph=True)
    s.backward()
    with pytest.raises(RuntimeError, match="a second time(.|\n)*ExpBackward0"):
        s.backward()
    y = leaf(3) * 1
    v = y[:2]
    v.exp_()
    y[2:].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation(.|\n)*ExpBackward0"):
        y.sum().backward()


def test_second_derivative_of_a_change_that_saves_its_result():
    x = leaf(3)
    y = x * x
    y[:2].exp_()
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    # f = exp(a^2) + exp(b^2) + c^2
    (a, b, c), (ea, eb) = x.tolist(), (math.exp(1.0), math.exp(4.0))
    assert g.tolist() == pytest.approx([2 * a * ea, 2 * b * eb, 2 * c])
    assert h.tolist() == pytest.approx([(2 + 4 * a * a) * ea, (2 + 4 * b * b) * eb, 2.0])


def test_gradients_of_a_batch_through_a_changed_view():
    x = leaf(4)
    y = x * 1
    y[1:3].mul_(y[:2].detach().clone()).exp_()
    rows = torch.eye(4, dtype=torch.float64)
    (together,) = torch.autograd.grad(y, x, rows, retain_graph=True, is_grads_batched=True)
    single = [torch.autograd.grad(y, x, r, retain_graph=True)[0].tolist() for r in rows]
    assert together.tolist() == single


@pytest.mark.parametrize("make", ["unbind", "split", "chunk", "narrow"])
def test_views_made_in_no_grad_refuse_a_recorded_change(make):
    y = leaf(4, 2) * 1
    args = {"unbind": (), "split": (2,), "chunk": (2,), "narrow": (0, 0, 2)}[make]
    with torch.no_grad():
        found = getattr(y, make)(*args)
    v = found if make == "narrow" else found[0]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        v.mul_(2)
    assert y._version == 0
    with torch.no_grad():
        v.mul_(2)
    assert y._version == 1


def test_views_made_in_inference_mode_refuse_a_recorded_change():
    y = leaf(4) * 1
    with torch.inference_mode():
        v = y[:2]
    with pytest.raises(RuntimeError, match="A view was created in inference mode"):
        v.mul_(2)
    assert y._version == 0


def test_a_reshaped_copy_is_no_view():
    x = torch.ones(3, 4, requires_grad=True)
    for y in (x.t().reshape(12), x.expand(2, 3, 4).reshape(-1), x.t().flatten()):
        assert y._base is None
        assert y.detach_().is_leaf
    assert x.reshape(2, 6)._base is x


def test_elements_of_an_expanded_tensor_share_the_gradient_of_their_place():
    x = torch.arange(6.0, dtype=torch.float64, requires_grad=True)
    v = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).requires_grad_()
    for base in (x.expand(3, 6), x.unsqueeze(1).expand(6, 2)):
        (grad,) = torch.autograd.grad(base.as_strided((2, 3), (0, 2), 0), x, v, create_graph=True)
        assert grad.tolist() == [3.0, 0.0, 5.0, 0.0, 7.0, 0.0]
        (again,) = torch.autograd.grad((grad * torch.arange(1.0, 7.0)).sum(), v)
        assert again.tolist() == [[1.0, 3.0, 5.0]] * 2
