"""Tensors of the Variable era: their classes, what they refuse and how results come out."""

import copy
import pickle

import numpy as np
import pytest

import autograd_cy as ag
import autograd_cy.legacy as torch

TYPES = "Float Double Half Long Int Short Char Byte".split()


def classes():
    return [getattr(torch, f"{name}Tensor") for name in TYPES]


@pytest.fixture
def x():
    return torch.FloatTensor([[1, 2, 3], [4, 5, 6]])


def test_each_dtype_has_a_class_and_conversions_give_it(x):
    for name, cls in zip(TYPES, classes()):
        made = getattr(x, name.lower())()
        assert type(made) is cls and isinstance(made, ag.Tensor)
        assert made.type() == f"torch.{name}Tensor"
        for form in (cls, f"torch.{name}Tensor"):
            assert type(x.type(form)) is cls
        assert type(x.type_as(cls(1))) is cls and type(cls(2).new(3)) is cls
        assert made.tolist() == x.tolist()


def test_results_are_of_the_class_of_their_dtype(x):
    for made in (x + 1, 2 - x, 1 / x, x.exp(), x.t(), x[0], x.sum(1), x.mm(x.t()), x.clone(), -x):
        assert type(made) is torch.FloatTensor
    assert type(x > 2) is torch.ByteTensor and type(x.max(1)[1]) is torch.LongTensor
    # What came later, too, loaded when called.
    assert type(x.reshape(-1)) is type(x.i0()) is torch.FloatTensor


@pytest.mark.parametrize("name", "add sub mul div pow fmod remainder eq lt".split())
def test_equal_numbers_of_elements_are_asked_for_and_shapes_may_differ(x, name):
    other = torch.FloatTensor([1, 2, 3, 4, 5, 6])
    found = getattr(x, name)(other)
    assert found.size() == x.size()
    assert getattr(other, name)(x).size() == other.size()
    with pytest.raises(RuntimeError, match="inconsistent tensor size"):
        getattr(x, name)(torch.FloatTensor(3).fill_(1))


def test_mixed_types_are_refused_and_numbers_go_with_everything(x):
    with pytest.raises(TypeError, match=r"torch.FloatTensor, torch.DoubleTensor"):
        x + x.double()
    with pytest.raises(TypeError, match="invalid combination"):
        x.add("1")
    for cls in classes():
        assert (cls([4]) + 2).tolist() == [6] and (2 * cls([4])).tolist() == [8]
        assert (cls([7]) / 2).tolist() == ([3.5] if cls.kind.is_floating_point else [3])
    with pytest.raises(TypeError, match="holds no fractions"):
        torch.LongTensor([1]) + 0.5
    with pytest.raises(TypeError, match="doesn't implement stateless method exp"):
        torch.LongTensor([1]).exp()


def test_a_plain_core_tensor_is_welcome_unless_it_requires_grad(x):
    assert (x + ag.ones(2, 3)).tolist() == [[2, 3, 4], [5, 6, 7]]
    assert type(torch.add(ag.ones(2), 1)) is torch.FloatTensor
    with pytest.raises(TypeError, match="detach"):
        torch.add(ag.ones(2, requires_grad=True), 1)


def test_reductions_keep_the_dimension(x):
    for name in "sum prod mean std var norm".split():
        found = getattr(x, name)
        args = (2, 1) if name == "norm" else (1,)
        assert found(*args).size() == (2, 1), name
        assert isinstance(found(), float), name
    for name in "max min sort mode median".split():
        values, indices = getattr(x, name)(*(() if name == "sort" else (1,)))
        assert indices.type() == "torch.LongTensor", name
        assert values.size() == ((2, 3) if name == "sort" else (2, 1)), name
    assert x.kthvalue(2, 1)[0].tolist() == [[2], [5]]
    assert x.topk(2)[0].tolist() == [[3, 2], [6, 5]]
    assert x.max() == 6 and x.min() == 1 and isinstance(x.max(), float)
    assert isinstance(torch.LongTensor([1, 2]).sum(), int)
    assert x.max(x.t()).tolist() == [[1, 4, 3], [5, 5, 6]]
    assert x.dot(x) == 91 and x.mm(x.t()).trace() == 91
    assert x.dist(x + 1, 1) == pytest.approx(6)


def test_mode_median_and_kthvalue_name_their_elements():
    t = torch.LongTensor([[3, 1, 3, 1], [2, 5, 4, 4]])
    for dim in (0, 1):
        for found in (t.mode(dim), t.median(dim), t.kthvalue(1, dim)):
            assert t.gather(dim, found[1]).equal(found[0])
    assert t.mode(1)[0].tolist() == [[1], [4]]
    assert t.median(1)[0].tolist() == [[1], [4]]
    with pytest.raises(RuntimeError, match="k is 5"):
        t.kthvalue(5)


def test_there_are_no_tensors_without_dimensions(x):
    assert x[0][1] == 2.0 and isinstance(x[0][1], float) and isinstance(x[0, 1], float)
    assert torch.FloatTensor(1, 1).squeeze().size() == (1,)
    assert x.squeeze_().size() == (2, 3)
    assert torch.ones(1).squeeze(0).size() == (1,)
    assert x.index((0, 1)).tolist() == [2.0]
    empty = torch.Tensor()
    assert empty.numel() == 0 and empty.dim() == 0 and len(empty) == 0 and not empty
    assert empty.size() == torch.Size([])


def test_the_truth_of_a_tensor_is_an_error(x):
    with pytest.raises(RuntimeError, match="bool value of non-empty torch.FloatTensor objects"):
        bool(x)
    assert len(x) == 2 and [row.sum() for row in x] == [6, 15]


def test_comparisons_give_bytes_that_combine(x):
    many, few = x > 2, x < 5
    assert (many & few).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert (many | few).all() is True and (many ^ few).any() is True
    assert (~many).tolist() == [[1, 1, 0], [0, 0, 0]]
    with pytest.raises(RuntimeError, match="ByteTensors only"):
        x & x
    with pytest.raises(TypeError, match="ByteTensor"):
        x.all()


def test_masks_and_long_tensors_choose(x):
    assert x[x > 4].tolist() == [5, 6]
    assert x[torch.LongTensor([1, 1])].tolist() == [[4, 5, 6]] * 2
    x[x > 4] = 0
    x[torch.LongTensor([0])] = torch.FloatTensor([7, 8, 9])
    assert x.tolist() == [[7, 8, 9], [4, 0, 0]]
    x[0, 1:] = torch.FloatTensor([[1], [2]])
    x[1] = 3
    assert x.tolist() == [[7, 1, 2], [3, 3, 3]]


@pytest.mark.parametrize(
    ("key", "kind", "words"),
    [
        (5, IndexError, "index 5 is out of range for dimension 0"),
        ((0, 1, 2), IndexError, "trying to index 3 dimensions of a 2 dimensional tensor"),
        ("a", TypeError, "indexing a tensor with an object of type str"),
        ([0, 1], TypeError, "type list"),
        (slice(1, 1), ValueError, "result of slicing is an empty tensor"),
    ],
)
def test_keys_that_mean_nothing_are_refused(x, key, kind, words):
    with pytest.raises(kind, match=words):
        x[key]


def test_numbers_come_before_the_tensor_that_they_scale(x):
    ones, eye = torch.ones(2, 3), torch.eye(3)
    assert x.clone().add_(2, ones).tolist() == (x + 2).tolist()
    assert x.clone().sub_(2, ones).tolist() == (x - 2).tolist()
    assert x.clone().addcmul_(3, ones, x).tolist() == (x * 4).tolist()
    assert x.clone().addmm_(2, 3, x, eye).tolist() == (x * 5).tolist()
    assert torch.addmm(2, x, 3, x, eye).tolist() == (x * 5).tolist()
    assert torch.addmm(x, x, eye).tolist() == (x * 2).tolist()
    assert torch.add(x, 2, ones).tolist() == (x + 2).tolist()
    with pytest.raises(RuntimeError, match="nothing is broadcast"):
        torch.ones(3).addmm(x, eye)


def test_resizing_grows_a_fresh_and_a_shared_block(x):
    assert x.new().resize_as_(x).fill_(1).sum() == 6
    row = x[1]
    row.resize_(2, 2)
    assert row.tolist()[0] == [4, 5] and row.tolist()[1][0] == 6
    row.fill_(0)
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    part = x.view(6).resize_(2)
    part.fill_(9)
    assert x.tolist() == [[9, 9, 3], [4, 5, 6]]
    with pytest.raises(RuntimeError, match="must not be negative"):
        x.resize_(-1)


def test_clone_is_contiguous_and_views_share(x):
    assert x.t().clone().is_contiguous() and not x.t().is_contiguous()
    with pytest.raises(RuntimeError, match="not contiguous"):
        x.t().view(6)
    x.view(-1)[0] = 10
    x[0].narrow(0, 1, 1).fill_(11)
    assert x.tolist()[0] == [10, 11, 3]


def test_pickles_and_copies_keep_class_and_shared_memory(x):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        whole, row = pickle.loads(pickle.dumps([x, x[1]], protocol))
        assert type(whole) is torch.FloatTensor and whole.equal(x)
        row.fill_(0)
        assert whole[1].sum() == 0
    whole, row = copy.deepcopy([x, x[1]])
    row.fill_(0)
    assert type(row) is torch.FloatTensor and whole[1].sum() == 0 and x[1].sum() == 15


def test_sharing_memory_keeps_the_values_of_an_alias(x):
    row = x[1]
    assert row.share_memory_() is row and row.is_shared() and row.tolist() == [4, 5, 6]
    assert not x.is_shared()


def test_arrays_share_memory(x):
    x.numpy()[0, 0] = 5
    assert x[0][0] == 5 and np.asarray(x).shape == (2, 3)
    array = np.arange(3.0)
    torch.from_numpy(array).fill_(1)
    assert array.tolist() == [1, 1, 1] and torch.from_numpy(array).type() == "torch.DoubleTensor"


def test_tensors_print_as_rows_and_their_type(x):
    assert repr(x) == "\n 1  2  3\n 4  5  6\n[torch.FloatTensor of size 2x3]\n"
    assert repr(x[0] / 2) == "\n 0.5000\n 1.0000\n 1.5000\n[torch.FloatTensor of size 3]\n"
    assert repr(torch.Tensor()) == "[torch.FloatTensor with no dimension]\n"
    assert repr(torch.LongTensor([1, -20])) == "\n  1\n-20\n[torch.LongTensor of size 2]\n"
    assert str(torch.ones(1, 1, 2)) == (
        "\n(0 ,.,.) = \n  1  1\n[torch.FloatTensor of size 1x1x2]\n"
    )
    assert "1.0000e-03" in repr(torch.FloatTensor([0.001, 100]))
    assert repr(torch.FloatTensor([250000.5, 1])).startswith("\n 2.5000e+05\n")
    assert "Columns 0 to " in repr(torch.ones(1, 100) * 0.5)
    assert "..." in repr(torch.ones(2000))


def test_the_default_type_follows_the_default_dtype():
    assert torch.Tensor is torch.FloatTensor
    try:
        torch.set_default_tensor_type("torch.DoubleTensor")
        assert torch.Tensor is torch.DoubleTensor and type(torch.ones(1)) is torch.DoubleTensor
        assert ag.get_default_dtype() is ag.float64
    finally:
        torch.set_default_tensor_type(torch.FloatTensor)
    assert type(torch.rand(2)) is torch.FloatTensor
    with pytest.raises(TypeError, match="only floating-point"):
        torch.set_default_tensor_type("torch.LongTensor")
