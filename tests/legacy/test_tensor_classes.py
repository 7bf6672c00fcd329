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


@pytest.mark.parametrize("wrong", ["1", 3, None, [1, 2]], ids=repr)
@pytest.mark.parametrize("name", ["add", "sub", "add_", "sub_"])
def test_after_a_scale_comes_a_tensor(x, name, wrong):
    with pytest.raises(TypeError, match=r"but expected \(\[scale,\] torch.FloatTensor\)"):
        getattr(x, name)(2, wrong)


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


def test_a_graph_of_the_modern_api_is_never_lost_silently(x):
    recorded = ag.ones(2, 3, requires_grad=True)
    for call in (
        lambda: x + recorded,
        lambda: x.add_(recorded),
        lambda: x.addcmul_(1, x, recorded),
        lambda: x.mm(recorded.t()),
        lambda: x.max(recorded),
        lambda: torch.cat([x, recorded]),
        lambda: x.masked_copy_(x > 2, recorded),
    ):
        with pytest.raises(TypeError, match=r"detach\(\)"):
            call()
    for ask in (lambda: x.requires_grad_(), lambda: setattr(x, "requires_grad", True)):
        with pytest.raises(RuntimeError, match=r"use Variable\(tensor, requires_grad=True\)"):
            ask()
    x.requires_grad = False
    assert not x.requires_grad


def test_operators_that_came_later_are_unknown(x):
    for call in (lambda: x // 2, lambda: 3 % x, lambda: x << 1, lambda: 1 | x.byte()):
        with pytest.raises(TypeError, match="unsupported operand"):
            call()
    assert 2.0 in x[0] and 9.0 not in x[0] and (+x) is x
    with pytest.raises(NotImplementedError, match="pow_"):
        x **= 2
    with pytest.raises(ValueError, match="need to be 1D or 2D"):
        x @ torch.ones(2, 3, 1)
    assert (x @ x.t()).tolist() == [[14, 32], [32, 77]] and x[0] @ x[1] == 32
    assert (x @ x[0]).tolist() == [14, 32] and (x[0] @ x.t()).tolist() == [14, 32]


def test_attributes_that_show_the_same_memory_are_of_the_class(x):
    for other in (x.data, x.T, x.real, np.sqrt(x)):
        assert type(other) is torch.FloatTensor
    x.data[0, 0] = 5
    assert x[0][0] == 5
    x.data = torch.ones(1)
    assert x.size() == (1,)
    assert type(np.float32(2) * torch.ones(2)) is torch.FloatTensor


def test_bytes_and_integers_wrap_and_cut_as_then():
    assert torch.ByteTensor([200, 100]).sum() == 300
    assert torch.ByteTensor([200, 100]).sum(0).tolist() == [44]
    assert (torch.LongTensor([5, -5]) / 2).tolist() == [2, -2]
    assert (torch.LongTensor([5, -5]) % 3).tolist() == [2, 1]
    assert torch.LongTensor([7]).div_(2)[0] == 3 and (7 / torch.LongTensor([2]))[0] == 3
    with pytest.raises(TypeError, match="doesn't implement stateless method mean"):
        torch.LongTensor([1]).mean()
    with pytest.raises(TypeError, match="found an item of type float"):
        torch.LongTensor([1.5])


def test_views_ask_for_dimensions_that_are_there(x):
    for call, words in (
        (lambda: x.size(2), "dimension 2 out of range of 2D tensor"),
        (lambda: x.transpose(0, 2), "dimension 2 out of range"),
        (lambda: x[0].t(), r"t\(\) expects a 2D tensor, but self is 1D"),
        (lambda: x.narrow(1, 2, 2), "out of range for dimension 1 of size 3"),
        (lambda: x[0].select(0, 1), "cannot select on a vector"),
        (lambda: torch.Tensor().unsqueeze(0), "cannot unsqueeze empty tensor"),
        (lambda: torch.Tensor().size(0), "out of range of 0D tensor"),
        (lambda: x.view(4), "invalid for input of size 6"),
        (lambda: x[0].trace(), "expected a matrix"),
        (lambda: torch.Tensor().max(), "no elements"),
        (lambda: x.mm(x[0]), "expected tensors of 2 and 2 dimensions"),
        (lambda: x[0].renorm(2, 0, 1), "at least 2 dimensions"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()


def test_shapes_change_in_place_and_by_views(x):
    assert x.clone().t_().size() == x.clone().transpose_(0, 1).size() == (3, 2)
    assert x.clone().unsqueeze_(1).size() == (2, 1, 3) and x.unsqueeze(1).squeeze(1).size() == (
        2,
        3,
    )
    assert torch.ones(1, 1).squeeze_().size() == (1,) and torch.ones(2, 1).squeeze_(1).size() == (
        2,
    )
    assert x.permute(1, 0).size() == (3, 2) and x.unfold(1, 2, 1).size() == (2, 2, 2)
    assert x[0].expand_as(x).size() == (2, 3) and x.repeat(2, 1).size() == (4, 3)
    assert [t.size() for t in x.chunk(2, 1)] == [(2, 2), (2, 1)]
    assert x.tril().tolist()[0] == [1, 0, 0] and x.clone().triu_().tolist()[1] == [0, 5, 6]
    assert x.resize(3, 2).size() == x.resize_as(torch.ones(3, 2)).size() == (3, 2)
    assert x.stride() == (3, 1) and x.stride(0) == 3 and x.dim() == x.ndimension() == 2
    assert x.is_same_size(torch.ones(2, 3)) and not x.is_same_size(x.t())


def test_indices_put_fill_and_add(x):
    rows = torch.LongTensor([1, 0])
    assert x.clone().index_copy_(0, rows, x).tolist() == [[4, 5, 6], [1, 2, 3]]
    assert x.clone().index_add_(0, rows, x).tolist() == [[5, 7, 9], [5, 7, 9]]
    assert x.clone().index_fill_(1, torch.LongTensor([0]), 9).tolist() == [[9, 2, 3], [9, 5, 6]]
    places = torch.LongTensor([[2], [0]])
    assert x.gather(1, places).tolist() == [[3], [4]]
    assert x.clone().scatter_(1, places, 0).tolist() == [[1, 2, 0], [0, 5, 6]]
    assert x.clone().scatter_add_(1, places, torch.ones(2, 1)).tolist() == [[1, 2, 4], [5, 5, 6]]
    assert x.gt(4).nonzero().tolist() == [[1, 1], [1, 2]]
    for call in (
        lambda: x.index_select(0, torch.IntTensor([0])),
        lambda: x.gather(1, places.int()),
        lambda: x.masked_fill_(x, 1),
    ):
        with pytest.raises(TypeError, match=r"LongTensor of indices|ByteTensor as mask"):
            call()
    with pytest.raises(RuntimeError, match="2 ones, and the source 1 elements"):
        x.masked_copy_(x.gt(4), torch.ones(1))
    with pytest.raises(RuntimeError, match="the mask: inconsistent tensor size"):
        x.masked_select(torch.ByteTensor([1]))
    with pytest.raises(TypeError, match="can't assign a str"):
        x[0] = "a"
