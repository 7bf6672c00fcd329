"""Tensors that are given other memory: ``x.data = y``, ``set_``, ``resize_``, ``unsafe_split``."""

import pytest

import autograd_cy as ag


def test_views_share_the_counter_after_data_was_replaced():
    x = ag.ones(3)
    view, alias = x[:2], x.detach()
    x.data = ag.zeros(3)
    before = view._version
    x.add_(1)
    assert view._version == alias._version == x._version == before + 1


def test_a_saved_view_notices_a_later_change_after_data_was_replaced():
    x = ag.ones(3)
    w = ag.ones(3, requires_grad=True)
    y = (w * x[:3]).sum()
    x.data = ag.zeros(3)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_memory_is_freed_when_data_is_replaced_many_times():
    x = ag.zeros(1000)
    view = x[:1]
    for _ in range(5):
        x.data = ag.zeros(1000)
    before = ag.memory_summary()["live_bytes"]
    for _ in range(100):
        x.data = ag.zeros(1000)
    assert ag.memory_summary()["live_bytes"] == before
    assert view._version == x._version == 0


def test_set_shows_the_memory_of_another_tensor():
    x, y = ag.zeros(3), ag.arange(4.0)
    assert x.set_(y) is x
    assert x.tolist() == [0, 1, 2, 3] and x._version == 1
    y[0] = 7
    assert x[0].item() == 7


def test_set_takes_a_window_of_a_storage():
    x = ag.zeros(3)
    storage = ag.arange(6.0).untyped_storage()
    assert x.set_(storage).tolist() == [0, 1, 2, 3, 4, 5]
    assert x.set_(storage, 1, (2, 2), (2, 1)).tolist() == [[1, 2], [3, 4]]
    assert x.set_(storage, 1, (2, 2)).tolist() == [[1, 2], [3, 4]]
    assert x.set_(ag.arange(6.0), 1, (2,), (2,)).tolist() == [1, 3]
    assert x.set_().tolist() == [] and x._version == 5


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (lambda s: (ag.ones(2, dtype=ag.float64),), RuntimeError, "Could not set tensor of type"),
        (lambda s: (s, 4, (2, 2), (2, 1)), RuntimeError, "out of bounds for storage of size 24"),
        (lambda s: (s, -1, (2,), (1,)), RuntimeError, "invalid storage offset -1"),
        (lambda s: (s, 2**62, (2,), (2**62,)), RuntimeError, "overflowed"),
        (lambda s: (3,), TypeError, "must be Tensor or UntypedStorage, not int"),
    ],
)
def test_what_set_refuses_changes_nothing(arguments, error, text):
    x, other = ag.ones(2), ag.arange(6.0)
    with pytest.raises(error, match=text):
        x.set_(*arguments(other.untyped_storage()))
    assert x.tolist() == [1, 1] and x._version == 0


def test_a_leaf_is_set_only_where_nothing_is_recorded():
    x = ag.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        x.set_(ag.ones(2))
    with ag.no_grad():
        x.set_(ag.ones(2))
    assert x.requires_grad and x.is_leaf and x.tolist() == [1, 1]
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_edges_of_before_still_lead_to_a_leaf_with_new_memory():
    x = ag.ones(2, requires_grad=True)
    out = (x * 2).sum()
    edge = ag.autograd.graph.get_gradient_edge(x)
    with ag.no_grad():
        x.set_(ag.ones(2))
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        ag.autograd.grad(out, x, retain_graph=True)
    assert ag.autograd.grad(out, edge)[0].tolist() == [2, 2]
    del out, edge
    (x * 5).sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_resizing_to_the_same_shape_is_no_change():
    x = ag.zeros(2, 3)
    x.resize_(2, 3)
    x.resize_as_(ag.ones(2, 3))
    assert x._version == 0
    x.resize_(3, 2)
    assert x._version == 1


def test_resizing_a_tensor_that_requires_grad_in_inference_mode():
    x = ag.zeros(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        x.resize_(1)
    with ag.inference_mode():
        x.resize_(1)
        assert x.shape == (1,)


def test_resizing_a_window_counts_its_offset():
    x = ag.arange(6.0)
    window = x[4:]
    with pytest.raises(RuntimeError, match="not resizable"):
        window.resize_(3)
    assert window.resize_(2).tolist() == [4, 5]


@pytest.mark.parametrize("split", [lambda x: x.unsafe_split(1), lambda x: x.unsafe_chunk(3)])
def test_unsafe_pieces_count_their_writes_each_for_itself(split):
    x = ag.ones(3, requires_grad=True)
    a, b, _ = split(x * 1)
    y = b * b
    a.mul_(2)
    assert b._version == 0 and a._version == 1
    y.sum().backward()
    assert x.grad.tolist() == [0, 2, 0]


def test_views_of_inference_tensors_record_nothing():
    with ag.inference_mode():
        x = ag.ones(2, 3).requires_grad_()
    for view in (x.view(6), x[0], x.t(), x.unbind(0)[0]):
        assert not view.requires_grad and view.is_leaf


def test_reversed_bytes_and_numbers_of_tensors():
    x = ag.arange(3)
    assert reversed(x).tolist() == [2, 1, 0]
    number = ag.tensor(4.0)
    assert reversed(number) is number
    assert bytes(ag.tensor([1, 2], dtype=ag.uint8)) == b"\x01\x02"
    assert bytes(ag.tensor(3)) == b"\0\0\0"
    with pytest.raises(TypeError, match="only integer tensors of a single element"):
        bytes(ag.ones(2))
    for kind in (float, int, complex):
        for t in (ag.ones(2), ag.ones(0)):
            with pytest.raises(ValueError, match="only one element tensors can be converted"):
                kind(t)
        assert kind(ag.tensor([[2.0]])) == 2


def test_a_missing_name_of_torch_says_what_to_use():
    with pytest.raises(AttributeError, match="no attribute 'nested'.*pad, or use"):
        _ = ag.nested
    with pytest.raises(AttributeError, match="no attribute 'lu_factor_ex'"):
        _ = ag.linalg.lu_factor_ex
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'$"):
        _ = ag.no_such_name


class Endless:
    """A sequence that never ends by itself."""

    def __len__(self):
        return 3

    def __getitem__(self, i):
        return i


def test_endless_sequences_are_as_long_as_they_say():
    assert ag.tensor(Endless()).tolist() == [0, 1, 2]
    assert ag.tensor([Endless(), Endless()]).tolist() == [[0, 1, 2]] * 2


def test_set_needs_a_tensor_or_a_storage():
    for wrong in (None, 1, "a"):
        with pytest.raises(TypeError, match="'source' must be Tensor or UntypedStorage"):
            ag.ones(2).set_(wrong)
    assert ag.ones(2).set_().tolist() == []


@pytest.mark.parametrize("bits", ["conj", "neg"])
def test_set_keeps_the_bits_of_the_tensor_and_leaves_those_of_the_source(bits):
    z = ag.tensor([1 + 2j, 3.0])
    lazy = z.conj() if bits == "conj" else z.conj().imag
    plain = ag.zeros(1, dtype=lazy.dtype)
    memory = z if bits == "conj" else z.imag
    assert plain.set_(lazy).tolist() == memory.tolist()
    assert not plain.is_conj() and not plain.is_neg()
    other = ag.zeros(1, dtype=lazy.dtype)
    turned = other.conj() if bits == "conj" else ag.zeros(1, dtype=ag.complex64).conj().imag
    assert turned.set_(memory).tolist() == lazy.tolist()
    assert turned.is_conj() == lazy.is_conj() and turned.is_neg() == lazy.is_neg()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "complex128"])
@pytest.mark.parametrize(("length", "size"), [(6, 5), (6, 7), (6, 40), (3000, 3001), (3000, 9000)])
def test_resized_tensors_keep_what_they_had(dtype, length, size):
    x = ag.arange(length).to(getattr(ag, dtype))
    before = x.tolist()
    kept = min(size, length)
    assert x.resize_(size).shape == (size,) and x[:kept].tolist() == before[:kept]
    assert x.untyped_storage().nbytes() >= size * x.element_size()
    behind = ag.arange(length).to(getattr(ag, dtype))[2:]
    assert behind.resize_(3).tolist() == before[2:5] and behind.storage_offset() == 2


# Sizes, strides and offset of a base and of a view that shows memory beside its elements.
BESIDE = [
    (((4,), (3,), 3), ((3,), (1,), 7)),
    (((4,), (1,), 3), ((3,), (1,), 5)),
    (((4,), (1,), 3), ((1,), (1,), 7)),
    (((4,), (1,), 3), ((3,), (2,), 1)),
    (((2, 3), (3, 1), 4), ((2, 2), (4, 1), 6)),
    (((2, 3), (1, 2), 0), ((2,), (7,), 1)),
    (((4,), (1,), 3), ((2,), (1,), 4)),
    (((2, 2), (5, 1), 3), ((6,), (1,), 3)),
]


@pytest.mark.parametrize(("base", "window"), BESIDE)
@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_of_a_view_are_those_of_elements_of_its_base(base, window, create_graph):
    size, stride, offset = base
    memory = ag.arange(1.0, 31.0, dtype=ag.float64)
    shown = ag.empty(0, dtype=ag.float64).set_(memory.untyped_storage(), offset, size, stride)
    both = set(ag.arange(30).as_strided(*base).reshape(-1).tolist())
    both &= set(ag.arange(30).as_strided(*window).reshape(-1).tolist())
    factor = ag.tensor(2.0, dtype=ag.float64, requires_grad=True)
    view = shown.as_strided(*window)
    view.mul_(factor)
    result = (view * view).sum() + (shown * shown).sum()
    (grad,) = ag.autograd.grad(result, factor, create_graph=create_graph)
    # The element at place i was i + 1 and is doubled, squared, and shown by both.
    assert grad.item() == sum(2 * 2 * 2 * (i + 1) ** 2 for i in both)
