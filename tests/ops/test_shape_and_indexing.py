"""Splitting, stacking and scattering: values against NumPy, gradients, and errors."""

import itertools
import time

import numpy as np
import pytest

import autograd_cy as ag


def grid(*shape):
    return ag.arange(float(np.prod(shape)), dtype=ag.float64).reshape(shape)


def leaf(*shape):
    return grid(*shape).requires_grad_()


def equal(found, expected):
    np.testing.assert_array_equal(found.detach().numpy(), expected)


# --- rolling --------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (5,), (0,), (0, 3), (3, 0), (2, 3), (2, 0, 3)])
def test_rolls_equal_numpy_also_where_a_dimension_is_empty(shape):
    x = grid(*shape)
    for shift in (0, 1, -1, 7):
        equal(ag.roll(x, shift), np.roll(x.numpy(), shift))
        for dim in range(-x.dim(), x.dim()):
            equal(ag.roll(x, shift, dim), np.roll(x.numpy(), shift, dim))
    if x.dim() > 1:
        equal(ag.roll(x, (1, 2), (0, -1)), np.roll(x.numpy(), (1, 2), (0, -1)))


# --- joining --------------------------------------------------------------------------------

SHAPES = [((3,), (3,)), ((2, 3), (2, 3)), ((2, 3, 2), (2, 3, 2)), ((), ())]


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack", "row_stack"])
def test_stacking_equals_numpy(name, shapes):
    tensors = [grid(*s) + i for i, s in enumerate(shapes)]
    numpy_name = "vstack" if name == "row_stack" else name
    if name == "column_stack" and not shapes[0]:
        expected = np.array([[0.0, 1.0]])
    else:
        expected = getattr(np, numpy_name)([t.numpy() for t in tensors])
    equal(getattr(ag, name)(tensors), expected)


@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d"])
def test_atleast_equals_numpy(name):
    for shape in ((), (2,), (2, 3), (1, 2, 3)):
        equal(getattr(ag, name)(grid(*shape)), getattr(np, name)(grid(*shape).numpy()))
    several = getattr(ag, name)(grid(2), grid())
    assert isinstance(several, tuple) and len(several) == 2


@pytest.mark.parametrize(
    ("name", "shape", "where"),
    [
        ("hsplit", (2, 4), 2),
        ("hsplit", (6,), [1, 4]),
        ("vsplit", (4, 2), 2),
        ("dsplit", (1, 2, 4), 4),
    ],
)
def test_splitting_equals_numpy(name, shape, where):
    x = grid(*shape)
    found = getattr(ag, name)(x, where)
    expected = getattr(np, name)(x.numpy(), where)
    assert len(found) == len(expected)
    for t, e in zip(found, expected):
        equal(t, e)
        assert t.data_ptr() >= x.data_ptr() and t._is_view()
    assert len(getattr(x, name)(where)) == len(expected)


def test_splitting_refuses_unequal_pieces_and_missing_dimensions():
    with pytest.raises(RuntimeError, match="not divisible by the split_size 2"):
        ag.hsplit(grid(3), 2)
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        ag.vsplit(grid(3), 3)
    with pytest.raises(RuntimeError, match="number of sections must be larger than 0"):
        grid(3).tensor_split(0)


def test_pieces_of_tensor_split_may_change_in_place():
    x = leaf(5, 2)
    y = x * 1
    a, b = y.tensor_split(2)
    a.mul_(3)
    b.add_(a[:2])
    (g,) = ag.autograd.grad(y.sum(), x)
    equal(g, [[6.0, 6.0], [6.0, 6.0], [3.0, 3.0], [1.0, 1.0], [1.0, 1.0]])


def test_unsafe_split_gives_tensors_of_their_own():
    y = leaf(4, 2) * 1
    a, b = y.unsafe_split(2)
    assert not a._is_view() and a.data_ptr() == y.data_ptr()
    a.mul_(2)
    assert len(y.unsafe_chunk(2)) == 2 and b.requires_grad


@pytest.mark.parametrize("indexing", ["ij", "xy"])
@pytest.mark.parametrize("sizes", [(2, 3), (2, 3, 4), (3,)])
def test_meshgrid_equals_numpy(sizes, indexing):
    lines = [grid(n) for n in sizes]
    found = ag.meshgrid(*lines, indexing=indexing)
    for t, e in zip(found, np.meshgrid(*[x.numpy() for x in lines], indexing=indexing)):
        equal(t, e)
    with pytest.raises(RuntimeError, match="indexing must be one of"):
        ag.meshgrid(*lines, indexing="yx")


def test_broadcast_tensors():
    x, y, z = ag.broadcast_tensors(grid(3, 1), grid(4), grid())
    assert x.shape == y.shape == z.shape == (3, 4)
    with pytest.raises(RuntimeError, match="must match the size"):
        ag.broadcast_tensors(grid(3), grid(4))
    with pytest.raises(TypeError, match="expected Tensor as element 1"):
        ag.broadcast_tensors(grid(3), 1.0)


# --- writing slices and indices -------------------------------------------------------------


def test_scattered_slices_leave_their_arguments_alone():
    x, d, row = leaf(3, 4), leaf(3), leaf(4)
    expected = x.detach().numpy().copy()
    np.fill_diagonal(expected, [0.0, 1.0, 2.0])
    equal(x.diagonal_scatter(d), expected)
    expected = x.detach().numpy().copy()
    expected[1] = row.detach().numpy()
    equal(x.select_scatter(row, 0, 1), expected)
    expected = x.detach().numpy().copy()
    expected[:, 1:4:2] = 7
    equal(x.slice_scatter(ag.full((3, 2), 7.0, dtype=ag.float64), 1, 1, 4, 2), expected)
    assert x._version == 0
    gx, gd = ag.autograd.grad(x.diagonal_scatter(d).sum(), (x, d))
    equal(gx, 1 - np.eye(3, 4))
    equal(gd, np.ones(3))
    with pytest.raises(RuntimeError, match="expected src to have a size equal to the slice"):
        x.select_scatter(d, 0, 1)


def test_a_window_of_the_memory_is_written():
    x, src = grid(3, 4), -grid(2, 2)
    expected = x.numpy().copy()
    expected[:2, :2] = src.numpy()
    equal(x.as_strided_scatter(src, (2, 2), (4, 1)), expected)
    expected = x.numpy().copy().ravel()
    expected[[1, 3, 5]] = [7, 8, 9]
    equal(
        ag.as_strided_scatter(x, ag.tensor([7.0, 8.0, 9.0]).double(), (3,), (2,), 1),
        expected.reshape(3, 4),
    )
    assert x._version == 0


def test_diag_embed_and_its_inverse():
    x = grid(2, 3)
    found = x.diag_embed(1)
    assert tuple(found.shape) == (2, 4, 4)
    equal(found.diagonal(1, -2, -1), x.numpy())
    assert float(found.sum()) == float(x.sum())
    equal(x.diag_embed(0, 0, 2).diagonal(0, 0, 2), x.numpy())


def test_index_put_writes_and_adds():
    x, v = leaf(4), leaf(3)
    places = (ag.tensor([0, 0, 2]),)
    y = x.index_put(places, v, accumulate=True)
    equal(y, [0.0 + 0 + 1, 1.0, 2.0 + 2, 3.0])
    gx, gv = ag.autograd.grad((y * y).sum(), (x, v))
    equal(gx, 2 * y.detach().numpy())
    equal(gv, 2 * y.detach().numpy()[[0, 0, 2]])
    z = x * 1
    assert z.index_put_((ag.tensor([True, False, False, True]),), ag.tensor(9.0).double()) is z
    equal(z, [9.0, 1.0, 2.0, 9.0])
    assert z._version == 1
    with pytest.raises(RuntimeError, match="source and destination dtypes match"):
        x.index_put(places, ag.tensor(1))
    with pytest.raises(TypeError, match="must be tuple of Tensors"):
        x.index_put(3, v)


def test_index_copy_and_index_fill():
    x, s = leaf(3, 4), leaf(2, 4)
    places = ag.tensor([2, 0])
    y = x.index_copy(0, places, s)
    expected = x.detach().numpy().copy()
    expected[[2, 0]] = s.detach().numpy()
    equal(y, expected)
    gx, gs = ag.autograd.grad(y.sum(), (x, s))
    equal(gx, [[0.0] * 4, [1.0] * 4, [0.0] * 4])
    equal(gs, np.ones((2, 4)))
    filled = x.index_fill(1, ag.tensor([0, -1]), 5.0)
    assert filled[:, 0].tolist() == filled[:, 3].tolist() == [5.0] * 3
    with pytest.raises(IndexError, match="Number of indices"):
        x.index_copy(0, ag.tensor([1]), s)
    with pytest.raises(IndexError, match="Expected dtype int64 for index"):
        x.index_fill(0, ag.tensor([1.0]), 0)


@pytest.mark.parametrize("place", [4, [4]])
def test_index_copy_of_a_number_into_a_vector(place):
    x, s = leaf(6), leaf()
    y = x.index_copy(0, ag.tensor(place), s)
    expected = x.detach().numpy().copy()
    expected[4] = s.item()
    equal(y, expected)
    gx, gs = ag.autograd.grad(y.sum(), (x, s))
    equal(gx, [1.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    equal(gs, 1.0)


def test_masked_scatter_takes_elements_in_order():
    x, s = leaf(2, 3), leaf(4)
    mask = ag.tensor([[True, False, True], [False, True, False]])
    y = x.masked_scatter(mask, s)
    equal(y, [[0.0, 1.0, 1.0], [3.0, 2.0, 5.0]])
    gx, gs = ag.autograd.grad(y.sum(), (x, s))
    equal(gx, 1.0 - mask.numpy())
    equal(gs, [1.0, 1.0, 1.0, 0.0])
    with pytest.raises(RuntimeError, match="Number of elements of source < number of ones"):
        x.masked_scatter(mask, s[:2])
    with pytest.raises(RuntimeError, match="only supports boolean masks"):
        x.masked_scatter(mask.double(), s)


@pytest.mark.parametrize("batched", ["mask", "source", "both"])
def test_masked_scatter_of_examples_is_that_of_each(batched):
    x, mask = ag.zeros(2, 3), ag.tensor([[True, False, True], [False, False, True]])
    source = ag.arange(1.0, 7.0).reshape(2, 3)
    in_dims = (0 if batched != "source" else None, 0 if batched != "mask" else None)
    given = [t if d == 0 else t[0] for t, d in zip((mask, source), in_dims)]
    found = ag.vmap(lambda m, s: x[0].masked_scatter(m, s), in_dims)(*given)
    for i in range(2):
        one = [t if d is None else t[i] for t, d in zip(given, in_dims)]
        equal(found[i], x[0].masked_scatter(*one).numpy())
    filled = ag.vmap(lambda y: y.masked_scatter(mask[0], source[0]))(x)
    equal(filled, [[1.0, 0.0, 2.0]] * 2)


def test_masks_in_index_put_may_be_bytes_and_have_to_fit():
    x, mask = leaf(3, 2), ag.tensor([1, 0, 1], dtype=ag.uint8)
    equal(x.index_put((mask,), ag.tensor(-1.0).double()), [[-1, -1], [2, 3], [-1, -1]])
    equal(x.index_put((mask, ag.tensor(1)), ag.tensor(-1.0).double()), [[0, -1], [2, 3], [4, -1]])
    yes = ag.tensor(1, dtype=ag.uint8)
    equal(x.index_put((yes,), ag.tensor(-1.0).double()), [[-1, -1]] * 3)
    ones = ag.ones(3, 2, 1) > 0
    for indices in ((ones,), (ones[..., 0], ag.tensor(0)), (mask, mask[:2], mask[:1])):
        with pytest.raises(IndexError, match="too many indices for tensor of dimension 2"):
            x.index_put(indices, ag.tensor(1.0).double())
    with pytest.raises(IndexError, match="shape of the mask .* does not match"):
        x.index_put((mask[:2],), ag.tensor(1.0).double())


def test_masks_without_dimensions_stand_before_whole_dimensions():
    x, yes, no = grid(2, 3, 4), ag.tensor(True), ag.tensor(False)
    index = ag.tensor([0, 1, 1])
    values = -x[yes, :, index]
    assert values.shape == (3, 2, 4)
    wanted = x.clone()
    wanted[:, :2] *= -1
    equal(x.index_put((yes, None, index), values), wanted)
    wanted[:, 0], wanted[:, 1] = 0, -x[:, 1]
    equal(x.index_put((yes, None, index), values, accumulate=True), wanted)
    equal(x.index_put((yes, None, None), -x[yes]), -x)
    equal(x.index_put((no, None, None), ag.ones(0, 2, 3, 4).double()), x)
    one, mask = ag.tensor(-1.0).double(), x[:, :, 0] > 5
    equal(x.index_put((yes, mask), one), ag.where(mask[..., None], one, x))
    equal(x.index_put((yes, None, mask[1] | mask[0]), one), ag.where(mask.any(0)[:, None], one, x))
    with pytest.raises(IndexError, match="mask .* does not match the shape .* at index 2"):
        x.index_put((yes, None, mask[:, 0]), one)


@pytest.mark.parametrize("step", [1, 2, 7])
def test_slices_and_their_gradients_are_those_of_numpy(step):
    for start, stop in itertools.product([None, 0, 2, 3, 5, -1, -9], repeat=2):
        x = leaf(5, 2)
        y = x[start:stop:step]
        equal(y, x.detach().numpy()[start:stop:step])
        expected = np.zeros((5, 2))
        expected[start:stop:step] = 1
        equal(ag.autograd.grad(y.sum(), x)[0], expected)
        many = ag.vmap(lambda t, s=slice(start, stop, step): t[s], 1, 1)(x.detach())
        equal(many, x.detach().numpy()[start:stop:step])


def test_scatter_in_place_with_tensors_and_numbers():
    x, s = leaf(3, 4), leaf(1, 4)
    places = ag.tensor([[0, 1, 2, 0]])
    y = x * 1
    y.scatter_(0, places, s)
    y.scatter_(1, ag.tensor([[3], [3], [3]]), 9.0)
    assert y._version == 2 and y[:, 3].tolist() == [9.0] * 3
    gx, gs = ag.autograd.grad(y.sum(), (x, s))
    assert gs.tolist() == [[1.0, 1.0, 1.0, 0.0]]
    assert float(gx.sum()) == 12 - 3 - 3


# --- repeating and ordering -----------------------------------------------------------------


def test_repeat_interleave_by_a_tensor_of_counts():
    x = leaf(3, 2)
    counts = ag.tensor([2, 0, 3])
    y = ag.repeat_interleave(x, counts, 0)
    equal(y, np.repeat(x.detach().numpy(), [2, 0, 3], 0))
    (g,) = ag.autograd.grad(y.sum(), x)
    equal(g, [[2.0, 2.0], [0.0, 0.0], [3.0, 3.0]])
    with pytest.raises(RuntimeError, match="same size as input along dim"):
        ag.repeat_interleave(x, ag.tensor([1]).expand(2), 0)


def test_topk():
    x = leaf(2, 4)
    values, places = x.topk(2)
    equal(values, [[3.0, 2.0], [7.0, 6.0]])
    assert places.tolist() == [[3, 2], [3, 2]]
    (g,) = ag.autograd.grad((values * values).sum(), x)
    equal(g, [[0.0, 0.0, 4.0, 6.0], [0.0, 0.0, 12.0, 14.0]])
    assert x.topk(1, 0, largest=False).values.tolist() == [[0.0, 1.0, 2.0, 3.0]]
    with pytest.raises(RuntimeError, match="out of range"):
        x.topk(5)


def test_products_with_zeros_have_gradients():
    x = ag.tensor([2.0, 0.0, 3.0], dtype=ag.float64, requires_grad=True)
    (g,) = ag.autograd.grad(x.prod(), x, create_graph=True)
    assert g.tolist() == [0.0, 6.0, 0.0]
    (h,) = ag.autograd.grad(g.sum(), x)
    assert h.tolist() == [3.0, 5.0, 2.0]  # x0 x1 + x0 x2 + x1 x2
    (g,) = ag.autograd.grad(x.cumprod(0).sum(), x)
    assert g.tolist() == [1.0, 2.0 + 6.0, 0.0]


def test_norms_at_zero_have_zero_gradient():
    x = ag.zeros(3, dtype=ag.float64, requires_grad=True)
    for value in (x.norm(), x.std()):
        (g,) = ag.autograd.grad(value, x)
        assert g.tolist() == [0.0] * 3
    with pytest.raises(RuntimeError, match="expected a floating point or complex tensor"):
        ag.arange(3).norm()


def test_other_names_are_the_same_functions():
    x = grid(3)
    for name, other in (("multiply", "mul"), ("clip", "clamp"), ("arcsin", "asin"), ("less", "lt")):
        assert getattr(ag, name) is getattr(ag, other)
        assert hasattr(x, name) and hasattr(x, f"{name}_")
    equal(ag.concat((x, x)), np.tile(x.numpy(), 2))


@pytest.mark.parametrize("ones", [0, 1, 3])
def test_values_put_at_indices_may_have_dimensions_of_one_in_front(ones):
    for index in ([0, 2], (slice(None), [0, 2]), ([1, 0], [2, 1])):
        x, array = grid(3, 3), grid(3, 3).numpy().copy()
        values = np.full((1,) * ones + array[index].shape, -5.0)
        x[index] = ag.tensor(values)
        array[index] = values
        equal(x, array)
    with pytest.raises(RuntimeError, match="shape mismatch"):
        grid(3, 3)[[0, 2]] = grid(2, 1, 2, 3)


# --- put --------------------------------------------------------------------------------------


def test_put_writes_and_adds():
    x = ag.arange(6.0).reshape(2, 3)
    places, source = ag.tensor([[0, -1]]), ag.tensor([10.0, 20.0])
    assert x.put(places, source).tolist() == [[10, 1, 2], [3, 4, 20]]
    assert ag.put(x, ag.tensor([1, 1]), source, accumulate=True).tolist() == [[0, 31, 2], [3, 4, 5]]
    turned = x.clone().t()
    assert turned.put_(places, source) is turned and turned.tolist() == [[10, 3], [1, 4], [2, 20]]
    leaf = ag.zeros(2, 2, requires_grad=True)
    values = ag.ones(1, requires_grad=True)
    y = leaf.put(ag.tensor([3]), values)
    assert type(y.grad_fn).__name__ == "PutBackward0"
    found = ag.autograd.grad((y * ag.arange(4.0).view(2, 2)).sum(), (leaf, values))
    assert [g.tolist() for g in found] == [[[0, 1], [2, 0]], [3]]


@pytest.mark.parametrize("name", ["bool", "uint8", "int8", "int16", "int32", "float16", "bfloat16"])
def test_put_keeps_its_dtype(name):
    dtype = getattr(ag, name)
    x, source = ag.zeros(3, dtype=dtype), ag.ones(1, dtype=dtype)
    for accumulate in (False, True):
        found = x.put(ag.tensor([1]), source, accumulate)
        assert found.dtype == dtype and found.tolist() == [0, 1, 0]
    with pytest.raises(RuntimeError, match=r"put.*same dtype.*Float"):
        x.put(ag.tensor([1]), ag.ones(1))


@pytest.mark.parametrize(
    ("index", "source", "error", "text"),
    [
        (ag.tensor([6]), ag.ones(1), IndexError, "access index 6 on a tensor of 6 elements"),
        (ag.tensor([-7]), ag.ones(1), IndexError, "out of range"),
        (ag.tensor([0, 1]), ag.ones(1), IndexError, "same number of elements"),
        (ag.tensor([0.0]), ag.ones(1), RuntimeError, "Expected a long tensor"),
        (ag.tensor([0]), ag.tensor([1]), RuntimeError, "same dtype"),
    ],
)
def test_put_refuses_and_writes_nothing(index, source, error, text):
    x = ag.zeros(2, 3)
    with pytest.raises(error, match=rf"put.*{text}"):
        x.put_(index, source)
    assert x.tolist() == [[0, 0, 0], [0, 0, 0]] and x._version == 0


def test_derivatives_of_empty_windows_need_no_memory_for_their_strides():
    """More than there is would be asked for, if the last place of an empty window counted."""
    far = 10**13
    x = ag.ones(3, requires_grad=True)
    for size, stride in (
        ((0, 5), (far, far)),
        ((far, 0), (1, 1)),
        ((0,), (far,)),
        ((5, 0), (1, 1)),
    ):

        def window(x, size=size, stride=stride):
            return x.as_strided(size, stride)

        (g,) = ag.autograd.grad((window(x) ** 2).sum(), x, create_graph=True)
        assert g.tolist() == [0.0] * 3
        assert ag.autograd.grad(g.sum(), x)[0].tolist() == [0.0] * 3
        tangent = ag.func.jvp(window, (x.detach(),), (ag.ones(3),))[1]
        assert tangent.shape == size
        each = ag.func.vmap(ag.func.grad(lambda x, window=window: window(x).sum()))
        assert each(ag.ones(2, 3)).tolist() == [[0.0] * 3] * 2
        a = x * 1
        window(a).mul_(2)
        assert ag.autograd.grad(a.sum(), x)[0].tolist() == [1.0] * 3
    empty = ag.ones(2, 3).as_strided((2, 0), (far, 1)).detach().requires_grad_()
    (g,) = ag.autograd.grad(empty.as_strided((1,), (1,)).sum(), empty)
    assert g.shape == (2, 0)
    one = ag.ones(3).as_strided((1, 3), (far, 1)).requires_grad_()
    (g,) = ag.autograd.grad(one.as_strided((2,), (1,)).sum(), one)
    assert g.tolist() == [[1.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    ("size", "stride"),
    [
        ((2, 3, 4, 5), (40, 8, 1, 4)),  # windows that overlap, with a dimension inside of them
        ((2, 4, 4, 3, 3), (36, 6, 1, 6, 1)),  # two dimensions that overlap, each with its own
        ((3, 2, 4), (0, 1, 0)),  # many at one place
        ((3, 4, 5), (2, 3, 6)),  # three that meet only together
        ((4, 3, 2), (1, 1, 1)),
    ],
)
def test_gradients_of_overlapping_windows_are_added_up(size, stride):
    g = ag.arange(1.0, 1 + np.prod(size)).reshape(size)
    places = sum(np.indices(size)[d] * stride[d] for d in range(len(size)))
    x = ag.zeros(places.max() + 3, requires_grad=True)
    expected = np.zeros(x.shape, np.float32)
    np.add.at(expected, places + 2, g.numpy())
    (found,) = ag.autograd.grad(x.as_strided(size, stride, 2), x, g)
    assert found.tolist() == expected.tolist()


def test_gradients_of_windows_are_added_up_along_the_shorter_dimension():
    """Taken apart along others, they are a hundred thousand slices, each a call."""
    x = ag.zeros(300, 40, 50, requires_grad=True)
    windows = x.unfold(1, 20, 4)
    assert windows.shape == (300, 6, 50, 20)
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        (found,) = ag.autograd.grad(windows.sum(), x, retain_graph=True)
        times.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        for _ in range(6):
            ag.ones(300, 20, 50) + x.detach()[:, :20]
        times[-1] /= time.perf_counter() - begin
    counts = [min(i // 4, 5) - max(0, (i - 16) // 4) + 1 for i in range(40)]
    assert found.sum((0, 2)).tolist() == [15000.0 * n for n in counts]
    assert min(times) < 20
