"""In-place changes of geometry, fills, overlap, and what in-place forms refuse."""

import numpy as np
import pytest

import autograd_cy as torch


def leaf(*shape):
    n = int(np.prod(shape))
    return torch.arange(1.0, n + 1, dtype=torch.float64).reshape(shape).requires_grad_()


# --- geometry -------------------------------------------------------------------------------

GEOMETRY = {
    "t_": ((3, 2), ()),
    "transpose_": ((2, 3, 4), (0, 2)),
    "swapaxes_": ((2, 3), (0, -1)),
    "swapdims_": ((2, 3), (0, 1)),
    "squeeze_": ((1, 3, 1), ()),
    "unsqueeze_": ((3,), (0,)),
    "as_strided_": ((2, 3), ((2, 2), (3, 1), 1)),
}


@pytest.mark.parametrize("name", GEOMETRY)
def test_inplace_change_of_geometry_equals_the_copying_one(name):
    shape, args = GEOMETRY[name]
    x = leaf(*shape)
    y = x * 1
    expected = getattr(y, name[:-1])(*args)
    weight = torch.arange(expected.numel(), dtype=torch.float64).reshape(expected.shape)
    (g,) = torch.autograd.grad((expected * expected * weight).sum(), x)
    y = x * 1
    assert getattr(y, name)(*args) is y
    assert y.tolist() == expected.tolist() and y._version == 1
    (h,) = torch.autograd.grad((y * y * weight).sum(), x)
    assert g.tolist() == h.tolist()


@pytest.mark.parametrize("name", GEOMETRY)
def test_change_of_a_view_s_geometry_leaves_the_base_alone(name):
    shape, args = GEOMETRY[name]
    x = leaf(2, *shape)
    y = x * 1
    v = y[1]
    getattr(v, name)(*args) if name != "as_strided_" else v.as_strided_((2, 2), (3, 1), 7)
    assert y.grad_fn.name() == "MulBackward0" and y._version == 1
    v.mul_(3)
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    changed = (y.detach() == x.detach() * 3).double()
    assert int(changed.sum()) == v.numel()
    (g,) = torch.autograd.grad(y.sum(), x)
    assert g.tolist() == (1 + 2 * changed).tolist()


@pytest.mark.parametrize("name", GEOMETRY)
def test_a_view_s_new_geometry_is_a_step_of_its_history(name):
    """The history goes on by the view's own node; nothing is remade by strides of the base."""
    shape, args = GEOMETRY[name]
    args = ((2, 2), (3, 1), 7) if name == "as_strided_" else args
    x = leaf(2, *shape)
    y = x * 1
    v, other = y[1], y[0]
    before = v.grad_fn
    getattr(v, name)(*args)
    assert v.grad_fn.name() == getattr(y[1], name[:-1])(*args).grad_fn.name()
    assert [edge[0] for edge in v.grad_fn.next_functions] == [before]
    assert y.grad_fn.name() == "MulBackward0"
    with torch.no_grad():
        fresh = y[1]
        getattr(fresh, name)(*args)
        assert tuple(fresh.shape) == tuple(v.shape)
    with pytest.raises(RuntimeError, match="view was created in no_grad mode"):
        fresh.grad_fn
    weight = torch.arange(1.0, v.numel() + 1, dtype=torch.float64).reshape(v.shape)
    (expected,) = torch.autograd.grad((getattr((x * 1)[1], name[:-1])(*args) * weight).sum(), x)
    other.mul_(2)  # now the history of v is remade
    (found,) = torch.autograd.grad((v * weight).sum(), x)
    assert found.tolist() == expected.tolist()


def test_other_views_follow_after_the_base_was_transposed():
    x = leaf(2, 3)
    y = x * 1
    flat = y.view(-1)
    y.t_()
    y[0].mul_(10)  # the first column of x
    assert flat.tolist() == [10.0, 2.0, 3.0, 40.0, 5.0, 6.0]
    (g,) = torch.autograd.grad((flat * flat).sum(), x)
    assert g.tolist() == [[200.0, 4.0, 6.0], [800.0, 10.0, 12.0]]


def test_change_of_geometry_is_refused_like_other_changes():
    x = leaf(3, 3)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.t_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        x[:2].unsqueeze_(0)
    with pytest.raises(RuntimeError, match="returns multiple views"):
        (x * 1).unbind()[0].unsqueeze_(0)
    assert tuple(x.shape) == (3, 3) and x._version == 0
    with torch.no_grad():
        x.unsqueeze_(0)
    assert tuple(x.shape) == (1, 3, 3) and x.is_leaf and x._version == 1


def test_saved_tensor_that_was_transposed_is_found():
    y = leaf(2, 2) * 1
    z = y * y
    y.t_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_t_of_more_than_two_dimensions():
    with pytest.raises(RuntimeError, match=r"t_\(\) expects a tensor with <= 2 dimensions"):
        torch.zeros(1, 2, 3).t_()


def test_resize_reads_memory_in_another_shape():
    x = torch.arange(6)
    assert x.resize_(2, 2) is x
    assert x.tolist() == [[0, 1], [2, 3]] and x._version == 1
    x.resize_((2, 3))
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    x.resize_(9)
    assert x[:6].tolist() == [0, 1, 2, 3, 4, 5] and x._version == 3
    x.resize_as_(torch.zeros(1, 2))
    assert tuple(x.shape) == (1, 2)


def test_resize_refuses_what_it_cannot_do():
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        leaf(2).resize_(1)
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        torch.from_numpy(np.ones(3)).resize_(10)
    x = torch.zeros(3)
    v = x[:2]
    with pytest.raises(RuntimeError, match="other tensors show the same memory"):
        x.resize_(100)
    assert tuple(x.shape) == (3,) and x._version == 0 and v.numel() == 2


# --- filling --------------------------------------------------------------------------------


def test_fill_of_expanded_memory_is_allowed_because_all_elements_are_equal():
    x = torch.zeros(3, 1)
    x.expand(3, 4).fill_(2)
    assert x.tolist() == [[2.0]] * 3
    x.expand(3, 4).zero_()
    assert x.tolist() == [[0.0]] * 3


def test_fill_of_an_expanded_view_has_zero_gradient_there():
    x = leaf(2, 1)
    y = x * 1
    z = y.expand(2, 3)
    z.fill_(5.0)
    (g,) = torch.autograd.grad((y * y).sum() + z.sum(), x)
    assert g.tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("value", [1j, torch.tensor([1.0])])
def test_fill_refuses_complex_values_and_vectors(value):
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="without overflow|0-dimension value tensor"):
        x.fill_(value)
    assert x.tolist() == [1.0, 1.0] and x._version == 0


def test_fill_diagonal():
    x = leaf(3, 4)
    y = x * 1
    assert y.fill_diagonal_(7) is y
    assert [y[i, i].item() for i in range(3)] == [7.0] * 3
    (g,) = torch.autograd.grad(y.sum(), x)
    np.testing.assert_array_equal(g.numpy(), 1 - np.eye(3, 4))
    expected = np.zeros((7, 3))
    np.fill_diagonal(expected, 5, wrap=True)
    for tall in (torch.zeros(7, 3), torch.zeros(3, 7).t()):
        np.testing.assert_array_equal(tall.fill_diagonal_(5, wrap=True).numpy(), expected)
    with pytest.raises(RuntimeError, match="dimensions must larger than 1"):
        torch.zeros(3).fill_diagonal_(0)
    with pytest.raises(RuntimeError, match="all dimensions of input must be of equal length"):
        torch.zeros(2, 3, 4).fill_diagonal_(0)


# --- overlap --------------------------------------------------------------------------------

OVERLAP = "some elements of the input tensor and the written-to tensor refer to a single memory"


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x[1:].add_(x[:-1]),
        lambda x: x[1:].copy_(x[:-1]),
        lambda x: x.mul_(x[0]),
        lambda x: torch.add(x[:-1], 1, out=x[1:]),
        lambda x: x.__setitem__(slice(1, None), x[:-1]),
        lambda x: x.view(2, 3).copy_(x.view(3, 2).t()),
        lambda x: x.index_add_(0, torch.tensor([0, 1, 2, 3, 4, 5]), x),
    ],
)
def test_partial_overlap_of_input_and_output_is_refused(program):
    x = torch.arange(6.0)
    with pytest.raises(RuntimeError, match=OVERLAP):
        program(x)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] and x._version == 0


def test_the_same_window_and_interleaved_ones_are_fine():
    x = torch.arange(6.0)
    x.add_(x)
    x[::2].add_(x[1::2])
    assert x.tolist() == [2.0, 2.0, 10.0, 6.0, 18.0, 10.0]


@pytest.mark.parametrize("name", ["add_", "mul_", "copy_"])
def test_writing_to_overlapping_memory_is_refused(name):
    x = torch.zeros(3, 1).expand(3, 4)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        getattr(x, name)(torch.ones(3, 4))


# --- in-place forms that don't fit ----------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (lambda: torch.arange(3).clamp_(0.5), "can't be cast to the desired output type Long"),
        (lambda: torch.arange(3).sqrt_(), "can't be cast to the desired output type Long"),
        (lambda: torch.ones(3).add_(1j), "can't be cast to the desired output type Float"),
        (lambda: torch.ones(3).lerp_(torch.ones(2, 3), 0.5), "doesn't match the broadcast shape"),
        (lambda: torch.ones(3).clamp_(torch.ones(2, 3)), "doesn't match the broadcast shape"),
        (
            lambda: torch.ones(2).addmm_(torch.ones(3, 2), torch.ones(2, 2)),
            "doesn't match the broadcast shape",
        ),
        (lambda: torch.ones(2, dtype=torch.complex64).abs_(), "In-place abs is not supported"),
    ],
)
def test_result_that_does_not_fit_is_refused(program, text):
    with pytest.raises(RuntimeError, match=text):
        program()


def test_comparison_in_place_gives_numbers_with_zero_gradient():
    x = leaf(3)
    y = x * 1
    y.gt_(1.5)
    assert y.tolist() == [0.0, 1.0, 1.0] and y.grad_fn.name() == "GtBackward0"
    (g,) = torch.autograd.grad(y.sum(), x)
    assert g.tolist() == [0.0, 0.0, 0.0]
    b = torch.tensor([True, False])
    assert b.logical_not_().tolist() == [False, True]


def test_inplace_operation_without_a_derivative_fails_in_backward_only():
    y = leaf(3) * 1
    y.floor_divide_(2)
    assert y.tolist() == [0.0, 1.0, 1.0]
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        y.sum().backward()
    assert leaf(2).sum().backward() is None


def test_alpha_is_one_node_and_one_version():
    x, w = leaf(3), leaf(3)
    y = torch.add(x, w, alpha=2)
    assert y.tolist() == [3.0, 6.0, 9.0] and y.grad_fn.next_functions[0][0].variable is x
    y.sub_(w, alpha=3)
    assert y._version == 1
    assert torch.sub(x, w, alpha=0.5).tolist() == [0.5, 1.0, 1.5]
    gx, gw = torch.autograd.grad(y.sum(), (x, w))
    assert gx.tolist() == [1.0] * 3 and gw.tolist() == [-1.0] * 3
    assert torch.arange(3, dtype=torch.uint8).sub(torch.ones(3, dtype=torch.uint8), alpha=2)[2] == 0
    truth = torch.tensor([True, False])
    assert torch.add(truth, truth, alpha=True).tolist() == [True, False]
    out = torch.empty(3, dtype=torch.float64)
    assert torch.add(x.detach(), w.detach(), alpha=2, out=out) is out and out[2] == 9.0
