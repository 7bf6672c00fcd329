"""Views after their base, or another view of it, was changed in place."""

import pytest

import autograd_cy as torch

W = [1.0, 2.0, 3.0, 4.0]


class Halves(torch.autograd.Function):
    """A custom Function whose output is a view of its input."""

    @staticmethod
    def forward(ctx, x):
        return x.view(2, 2)

    @staticmethod
    def backward(ctx, grad):
        return grad.view(4)


def base_with_history():
    x = torch.ones(4, requires_grad=True)
    return x, x * 1


VIEWS = {
    "no_grad mode": lambda y: unrecorded(y, torch.no_grad),
    "inference mode": lambda y: unrecorded(y, torch.inference_mode),
    "function that returns multiple views": lambda y: y.split(2)[0],
    "multiple views": lambda y: y.split(2)[0][:1],
    "custom Function": lambda y: Halves.apply(y),
}


def unrecorded(y, mode):
    with mode():
        return y[:2]


def without_grad(y):
    with torch.no_grad():
        y.mul_(2)


CHANGES = {
    "recorded": lambda y: y.mul_(torch.tensor(W, requires_grad=True)),
    "by a number": lambda y: y.mul_(2),
    "without grad": without_grad,
    "through detach": lambda y: y.detach().mul_(2),
    "another view": lambda y: y[2:].mul_(torch.ones(2, requires_grad=True)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", VIEWS)
def test_views_whose_history_cannot_be_remade_are_errors(kind, change):
    x, y = base_with_history()
    v = VIEWS[kind](y)
    CHANGES[change](y)
    assert v.requires_grad
    for use in (lambda: v.grad_fn, lambda: v.is_leaf, lambda: v * 2, lambda: v.sum().backward()):
        with pytest.raises(RuntimeError, match=f"(?s)its base or another view.*|{kind}") as error:
            use()
        assert kind in str(error.value)
        assert "its base or another view of its base has been modified inplace" in str(error.value)
    assert "grad_fn=<Invalid>" in repr(v)
    # The base is fine, and so is the view where nothing is recorded.
    with torch.no_grad():
        assert (v * 1).tolist() is not None
    y.sum().backward()
    assert x.grad is not None


@pytest.mark.parametrize("kind", VIEWS)
def test_data_changes_nothing_of_a_history(kind):
    _, y = base_with_history()
    v = VIEWS[kind](y)
    before = v.grad_fn
    y.data.mul_(2)
    assert v.grad_fn is before


@pytest.mark.parametrize("kind", ["no_grad mode", "function that returns multiple views"])
def test_views_of_plain_tensors_become_errors_with_the_history_of_the_base(kind):
    y = torch.ones(4)
    v = VIEWS[kind](y)
    y.mul_(2)
    assert not v.requires_grad and v.grad_fn is None
    y.mul_(torch.ones(4, requires_grad=True))
    with pytest.raises(RuntimeError, match="another view of its base"):
        v.grad_fn


@pytest.mark.parametrize("change", CHANGES)
def test_other_views_are_remade(change):
    x, y = base_with_history()
    v = y[:2]
    CHANGES[change](y)
    assert type(v.grad_fn).__name__ == "AsStridedBackward0"
    v.sum().backward()
    # What isn't recorded has no part in the gradient.
    factor = {"recorded": [1.0, 2.0], "by a number": [2.0, 2.0]}.get(change, [1.0, 1.0])
    assert x.grad.tolist() == [*factor, 0.0, 0.0]


def taken_out_by_detach(x):
    y = x * 1
    v = y[:2]
    y.detach_()
    return y, v


def taken_out_by_the_flag(x):
    v = x[:2]
    x.requires_grad_(False)
    return x, v


@pytest.mark.parametrize("take_out", [taken_out_by_detach, taken_out_by_the_flag])
def test_no_gradient_goes_through_a_base_that_left_the_graph_and_was_changed(take_out):
    x = torch.ones(4, requires_grad=True)
    base, v = take_out(x)
    assert type(v.grad_fn).__name__ == "SliceBackward0"
    base.mul_(2)
    assert v.requires_grad and type(v.grad_fn).__name__ == "AsStridedBackward0"
    assert v.grad_fn.next_functions == ((None, 0),)
    (v * 3).sum().backward()
    assert x.grad is None and base.grad is None


def test_a_view_of_a_base_that_left_the_graph_keeps_its_history_until_then():
    x = torch.ones(4, requires_grad=True)
    _, v = taken_out_by_detach(x)
    v.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_geometry_changed_without_grad_is_that_of_the_remade_history():
    x = torch.ones(2, 3, requires_grad=True)
    v = (x * 1)[:1]
    with torch.no_grad():
        v.t_()
    assert type(v.grad_fn).__name__ == "AsStridedBackward0" and v.shape == (3, 1)
    (v * torch.tensor([[1.0], [2.0], [3.0]])).sum().backward()
    assert x.grad.tolist() == [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]


def test_an_unrecorded_view_of_a_leaf_gets_nothing_and_passes_nothing_on():
    x = torch.ones(4, requires_grad=True)
    with torch.no_grad():
        v = x.view(2, 2)
    assert v.requires_grad and v.is_leaf
    w = torch.full((2, 2), 3.0, requires_grad=True)
    (v * w).sum().backward()
    assert x.grad is None and v.grad is None and w.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    v.requires_grad_(False)
    assert v.requires_grad  # by its base


def test_a_leaf_without_the_flag_gets_nothing():
    x = torch.ones(3, requires_grad=True)
    seen = []
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    other = torch.ones(3, requires_grad=True)
    loss = (x * 2 + other).sum()
    x.requires_grad_(False)
    loss.backward()
    assert x.grad is None and other.grad.tolist() == [1.0, 1.0, 1.0]
    assert seen == [[2.0, 2.0, 2.0], None]


@pytest.mark.parametrize("view", [lambda x: x[1:], lambda x: x.view(-1), lambda x: x.t()])
def test_views_cannot_be_detached_in_place(view):
    for x in (torch.ones(3), torch.ones(3, requires_grad=True)):
        with pytest.raises(RuntimeError, match="Can't detach views in-place"):
            view(x).detach_()


def test_detach_in_place_does_nothing_in_inference_mode():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    with torch.inference_mode():
        assert y.detach_() is y
    assert y.requires_grad and y.grad_fn is not None


def test_the_transpose_of_a_vector_is_a_view():
    for x in (torch.ones(3, requires_grad=True), torch.tensor(1.0, requires_grad=True)):
        y = x.t()
        assert y is not x and y._is_view() and type(y.grad_fn).__name__ == "TBackward0"


def test_flatten_of_one_dimension_is_the_tensor():
    x = torch.ones(3, requires_grad=True)
    assert x.flatten() is x and torch.ones(2, 3).flatten(1).shape == (2, 3)
    assert torch.tensor(1.0).flatten().shape == (1,)


def test_unbind_of_a_number_is_an_index_error():
    with pytest.raises(IndexError, match="tensor has no dimensions"):
        torch.tensor(1.0).unbind()
