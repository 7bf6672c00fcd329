"""Variables: their attributes, flags, methods, copies and files."""

import copy
import pickle

import numpy as np
import programs
import pytest

import autograd_cy as modern
import autograd_cy.legacy as torch
from autograd_cy.legacy.autograd import Function, Variable, _functions


def ones(*size, **flags):
    return Variable(torch.ones(*size), **flags)


def test_the_data_is_the_tensor_that_was_given_and_may_be_assigned():
    t = torch.ones(2)
    v = Variable(t)
    assert v.data is t
    v.data = other = torch.zeros(3)
    assert v.data is other and v.size() == (3,)
    with pytest.raises(RuntimeError, match="has to be a tensor"):
        v.data = 3
    plain = modern.ones(2)
    assert Variable(plain).data is plain
    assert type((Variable(plain) * 2).data) is torch.FloatTensor


def test_arguments_are_keywords_and_data_a_tensor():
    v = Variable(torch.ones(2), requires_grad=True)
    assert v.requires_grad and not v.volatile and v.creator is None and v.grad is None
    assert v.output_nr == 0 and v._version == 0 and v._backward_hooks is None
    for wrong in ((torch.ones(1), True), (torch.ones(1), None, True)):
        with pytest.raises(TypeError):
            Variable(*wrong)
    for data in (3, [1.0], None, v):
        with pytest.raises(RuntimeError, match="Variable data has to be a tensor"):
            Variable(data)
    with pytest.raises(RuntimeError, match="volatile and require_grad"):
        Variable(torch.ones(1), requires_grad=True, volatile=True)
    with pytest.raises(TypeError, match="requires_grad must be a bool"):
        Variable(torch.ones(1), requires_grad=1)
    with pytest.raises(RuntimeError, match="creator has to be a Function"):
        Variable(torch.ones(1), creator=3)
    assert Variable(torch.ones(1), creator=Function()).creator is not None
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        Variable(modern.ones(2, requires_grad=True))


def test_a_variable_is_no_tensor_and_reached_by_both_names():
    assert torch.Variable is Variable
    assert not torch.is_tensor(ones(1)) and torch.is_tensor(ones(1).data)


def test_the_gradient_is_a_volatile_variable_that_grows_in_place():
    x = ones(2, 3, requires_grad=True)
    x.sum().backward()
    grad = x.grad
    assert type(grad) is Variable and grad.volatile and grad.size() == (2, 3)
    assert type(grad.data) is torch.FloatTensor and grad.data.tolist() == [[1.0] * 3] * 2
    (x * 2).sum().backward()
    assert x.grad is grad and grad.data.tolist() == [[3.0] * 3] * 2
    grad.data.zero_()
    x.sum().backward()
    assert x.grad is grad and grad.data.sum() == 6


def test_only_leaves_have_gradients_and_only_the_private_name_can_be_assigned():
    x = ones(2, requires_grad=True)
    y = x * 2
    y.sum().backward()
    assert y.grad is None and x.grad is not None
    with pytest.raises(AttributeError):
        x.grad = None
    x._grad = None
    assert x.grad is None
    x._grad = given = ones(2)
    (x * 3).sum().backward()
    assert x.grad is given and given.data.tolist() == [4.0, 4.0]
    with pytest.raises(TypeError, match="_grad has to be a Variable or None"):
        x._grad = torch.ones(2)


def test_flags_are_set_on_leaves_only():
    x = ones(2)
    x.requires_grad = True
    y = x * 2
    for name in ("requires_grad", "volatile"):
        with pytest.raises(RuntimeError, match="leaf"):
            setattr(y, name, False)
        with pytest.raises(TypeError, match=name):
            setattr(x, name, 1)
    assert y.requires_grad
    x.requires_grad = False
    assert not (x * 2).requires_grad


def test_the_creator_is_read_only_except_to_forget_it():
    x = ones(2, requires_grad=True)
    y = x * 2
    assert isinstance(y.creator, Function) and x.creator is None
    with pytest.raises(AttributeError):
        y.creator = None
    with pytest.raises(RuntimeError, match="only set to None"):
        y._creator = x.creator or y.creator
    y._creator = None
    assert y.creator is None
    y.requires_grad = False


def test_a_result_of_what_needs_no_gradient_has_a_creator():
    y = ones(2) + 1
    assert y.creator is not None and not y.requires_grad and y.creator.saved_tensors == ()
    product = ones(2) * ones(2)
    assert product.creator.saved_tensors == ()


# Volatile -------------------------------------------------------------------------------------


def test_volatile_is_contagious_and_beats_requires_grad():
    x = ones(2, requires_grad=True)
    v = ones(2, volatile=True)
    for y in (x * v, v + x, torch.cat([x, v]), x.addcmul(v, x), v.max(0)[0]):
        assert y.volatile and not y.requires_grad and y.creator is None
    with pytest.raises(RuntimeError, match="volatile"):
        (x * v).backward(torch.ones(2))
    with pytest.raises(RuntimeError, match="volatile"):
        torch.autograd.backward([x * v], [torch.ones(2)])
    for y in (v, x * v):
        with pytest.raises(RuntimeError, match="volatile"):
            y.register_hook(print)
    x.volatile = True
    assert not (x * 2).requires_grad and (x * 2).volatile
    with pytest.raises(RuntimeError, match="volatile"):
        x.backward(torch.ones(2))


def test_modes_of_the_modern_api_have_no_effect():
    x = ones(2, requires_grad=True)
    with modern.no_grad():
        y = x * 2
    with modern.inference_mode():
        z = x * 2
    assert y.requires_grad and z.requires_grad and y.creator is not None


def test_detach_copies_and_pickles_keep_volatile():
    v = ones(2, volatile=True)
    assert v.detach().volatile
    assert copy.deepcopy(v).volatile
    assert pickle.loads(pickle.dumps(v)).volatile


def test_an_in_place_operation_with_a_volatile_operand_makes_volatile():
    x = ones(2, requires_grad=True)
    y = x * 2
    assert y.add_(ones(2, volatile=True)) is y
    assert y.volatile and not y.requires_grad and y.creator is None and y._version == 1


# What it tells --------------------------------------------------------------------------------


def test_it_tells_what_the_data_tells():
    v = ones(2, 3)
    assert v.size() == (2, 3) and v.size(1) == 3 and v.stride() == (3, 1)
    assert v.nelement() == v.numel() == 6 and v.dim() == v.ndimension() == 2
    assert v.element_size() == 4 and v.is_contiguous() and v.is_signed()
    assert v.is_set_to(Variable(v.data)) and not v.is_set_to(ones(2, 3))
    assert v.get_device() == -1 and v.is_cuda is False
    assert v.is_same_size(ones(2, 3)) and not v.is_same_size(ones(6))
    assert v.type() == "torch.FloatTensor"


def test_contiguous_changes_the_data_and_returns_itself():
    v = Variable(torch.ones(2, 3).t())
    assert not v.is_contiguous()
    assert v.contiguous() is v and v.is_contiguous()


def test_it_prints_as_then():
    assert repr(Variable(torch.zeros(2))) == (
        "Variable containing:\n 0\n 0\n[torch.FloatTensor of size 2]\n"
    )


def test_hash_is_identity_and_comparison_is_elementwise():
    a, b = ones(2), ones(2)
    assert len({a, b}) == 2 and hash(a) != hash(b)
    assert (a == b).data.tolist() == [1, 1] and isinstance((a != b).data, torch.ByteTensor)
    for y in (a == 1, a != b, a > 0, a >= b, a < b, a <= 3):
        assert type(y) is Variable and isinstance(y.data, torch.ByteTensor)
        assert not y.requires_grad


def test_length_iteration_and_truth():
    v = Variable(torch.range(1, 3), requires_grad=True)
    assert len(v) == 3 and [x.data[0] for x in v] == [1.0, 2.0, 3.0]
    assert all(x.size() == (1,) and x.requires_grad for x in v)
    assert v and not Variable(torch.Tensor())
    rows = list(ones(2, 3))
    assert [row.size() for row in rows] == [(3,), (3,)]


@pytest.mark.parametrize("make", [torch.ones, modern.ones], ids=["era", "core"])
def test_a_variable_and_a_tensor_do_not_mix(make):
    v, t = ones(2), make(2)
    for compute in (
        lambda: v + t,
        lambda: t + v,
        lambda: v * t,
        lambda: t - v,
        lambda: v / t,
        lambda: v == t,
        lambda: v < t,
        lambda: t > v,
        lambda: v.add(t),
        lambda: v.add_(t),
        lambda: v.pow(t),
        lambda: v + "a",
        lambda: v == None,  # noqa: E711 - an operand of a wrong kind
    ):
        with pytest.raises(TypeError):
            compute()
    for compute in (lambda: v.mm(t), lambda: v.dot(t), lambda: v.addcmul(t, t)):
        with pytest.raises((RuntimeError, TypeError), match="Variable"):
            compute()


def test_functions_of_the_modern_api_refuse_variables_and_name_data():
    v = ones(2)
    for compute in (
        lambda: modern.add(v, 1),
        lambda: modern.stack([v, v]),
        lambda: modern.nn.functional.relu(v),
        lambda: modern.ones(2) @ v,
        lambda: modern.tensor(v),
        lambda: modern.as_tensor(v),
        lambda: np.array(v),
    ):
        with pytest.raises(TypeError, match=r"\.data"):
            compute()


def test_numbers_of_numpy_are_numbers_and_arrays_are_refused():
    v = ones(2, requires_grad=True)
    for two in (np.float64(2), np.float32(2), np.int64(2)):
        for out in (v * two, two * v, v + two - 1, two / v, two**v, v.clamp(max=two) * 2):
            assert isinstance(out, Variable) and out.data.tolist() == [2, 2]
        assert (v < two).data.tolist() == (two > v).data.tolist() == [1, 1]
    for compute in (lambda: v * np.ones(2), lambda: np.ones(2) + v, lambda: np.ones(2) == v):
        with pytest.raises(TypeError, match="ndarray"):
            compute()


def test_the_modern_namespace_does_not_load_it():
    code = (
        "import sys, autograd_cy\n"
        "print([m for m in sys.modules if m.startswith('autograd_cy') and 'legacy' in m])"
    )
    run = programs.run("-c", code)
    assert run.stdout.strip() == "[]"


# Copies and files -----------------------------------------------------------------------------


def test_deepcopy_is_of_leaves():
    x = ones(2, requires_grad=True)
    made = copy.deepcopy([x, x])
    assert made[0] is made[1] and made[0] is not x and made[0].requires_grad
    made[0].data.fill_(7)
    assert x.data.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="leaves"):
        copy.deepcopy(x * 2)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_keep_data_flags_and_hooks(protocol):
    x = ones(2, 3, requires_grad=True)
    x.register_hook(double)
    made = pickle.loads(pickle.dumps(x, protocol))
    assert type(made) is Variable and made.requires_grad and not made.volatile
    assert made.data.equal(x.data) and type(made.data) is torch.FloatTensor
    assert list(made._backward_hooks.values()) == [double]
    made.sum().backward()
    assert made.grad.data.sum() == 12
    of_result = pickle.loads(pickle.dumps(x * 2, protocol))
    assert of_result.creator is None and of_result.data.sum() == 12


def double(grad):
    return grad * 2


# Arithmetic -----------------------------------------------------------------------------------


def test_operators_and_their_reflected_forms():
    x = Variable(torch.Tensor([1, 2, 4]))
    two = Variable(torch.Tensor([2, 2, 2]))
    expected = {
        "x + two": [3, 4, 6],
        "x + 2": [3, 4, 6],
        "2 + x": [3, 4, 6],
        "x - two": [-1, 0, 2],
        "x - 2": [-1, 0, 2],
        "2 - x": [1, 0, -2],
        "x * two": [2, 4, 8],
        "2 * x": [2, 4, 8],
        "x / two": [0.5, 1, 2],
        "x / 2": [0.5, 1, 2],
        "4 / x": [4, 2, 1],
        "x ** two": [1, 4, 16],
        "x ** 2": [1, 4, 16],
        "2 ** x": [2, 4, 16],
        "x % 3": [1, 2, 1],
        "-x": [-1, -2, -4],
        "abs(-x)": [1, 2, 4],
    }
    for text, values in expected.items():
        assert eval(text, {"x": x, "two": two, "abs": abs}).data.tolist() == values, text
    with pytest.raises(NotImplementedError):
        x **= 2


def test_matmul_is_of_vectors_and_matrices():
    m, n = Variable(torch.range(1, 6).view(2, 3)), Variable(torch.range(1, 12).view(3, 4))
    v, w = Variable(torch.range(1, 3)), Variable(torch.range(1, 2))
    assert (m @ n).data.equal(m.data.mm(n.data))
    assert (m @ v).data.equal(m.data.mv(v.data)) and (v @ v).size() == (1,)
    assert (w @ m).size() == (3,)
    with pytest.raises(ValueError, match="1D or 2D"):
        ones(1, 2, 3) @ ones(1, 3, 2)


def test_in_place_forms_there_are_and_are_not():
    x = ones(2) + 1
    x += 1
    x -= ones(2)
    x *= 3
    x /= 2
    assert x.data.tolist() == [3.0, 3.0] and x._version == 4
    for name in ("mul_", "div_"):
        with pytest.raises(RuntimeError, match="only supports scalar multiplication"):
            getattr(x, name)(ones(2))
    for name in "log_ sqrt_ abs_ clamp_ zero_ fill_ floor_ copy_ cos_".split():
        assert not hasattr(x, name)
    for name in "exp_ neg_ tanh_ sigmoid_".split():
        assert getattr(x, name)() is x


def long(*values):
    return Variable(torch.LongTensor(list(values)))


IN_PLACE = {
    "add": lambda v: (v,),
    "sub": lambda v: (v * 3,),
    "mul": lambda v: (2,),
    "div": lambda v: (2,),
    "exp": lambda v: (),
    "neg": lambda v: (),
    "tanh": lambda v: (),
    "sigmoid": lambda v: (),
    "addmm": lambda v: (2, 3, v, v),
    "addbmm": lambda v: (2, 3, v.view(1, 2, 2).clone(), v.view(1, 2, 2).clone()),
    "addmv": lambda v: (2, 3, v, v[0].clone()),
    "addr": lambda v: (2, 3, v[0].clone(), v[1].clone()),
    "baddbmm": lambda v: (2, 3, v.view(1, 2, 2).clone(), v.view(1, 2, 2).clone()),
    "index_add": lambda v: (0, long(1), v[:1].clone()),
    "index_copy": lambda v: (0, long(1), v[:1].clone()),
    "index_fill": lambda v: (0, long(1), 7),
    "scatter": lambda v: (0, Variable(torch.LongTensor([[1, 0]])), v[:1].clone()),
    "masked_copy": lambda v: (v > 2, v),
    "masked_fill": lambda v: (v > 2, 7),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_methods_change_the_variable_to_what_the_others_return(name):
    data = torch.range(1, 4).view(2, 2)
    if name == "addmv":
        data = data[0]
    if name == "baddbmm":
        data = data.view(1, 2, 2)
    v = Variable(torch.range(1, 4).view(2, 2))
    plain, changed = Variable(data.clone()), Variable(data.clone())
    arguments = IN_PLACE[name](v)
    expected = getattr(plain, name)(*arguments)
    assert plain.data.equal(data) and expected is not plain and plain._version == 0
    assert getattr(changed, name + "_")(*arguments) is changed and changed._version == 1
    assert changed.data.equal(expected.data) and not changed.data.equal(data)


def test_clamp_needs_a_bound_and_remainders_a_number():
    x = Variable(torch.Tensor([-2, 0, 2]), requires_grad=True)
    assert x.clamp(min=-1).data.tolist() == [-1, 0, 2]
    assert x.clamp(max=1).data.tolist() == [-2, 0, 1]
    assert x.clamp(-1, 1).data.tolist() == [-1, 0, 1]
    with pytest.raises(ValueError, match="at least one"):
        x.clamp()
    for name in ("fmod", "remainder"):
        with pytest.raises(TypeError):
            getattr(x, name)(x)


def test_gradients_of_steps_and_of_rests():
    for name in "floor ceil round trunc sign".split():
        x = Variable(torch.Tensor([0.3, -1.7]), requires_grad=True)
        getattr(x, name)().sum().backward()
        assert x.grad.data.tolist() == [0, 0], name
    for compute in (lambda x: x.frac(), lambda x: x.fmod(0.5), lambda x: x % 0.5):
        x = Variable(torch.Tensor([0.3, -1.7]), requires_grad=True)
        compute(x).sum().backward()
        assert x.grad.data.tolist() == [1, 1]


def test_nothing_is_broadcast_and_types_do_not_mix():
    a, b = ones(2, 3, requires_grad=True), ones(6, requires_grad=True)
    out = a * b
    assert out.size() == (2, 3)
    out.sum().backward()
    assert a.grad.size() == (2, 3) and b.grad.size() == (6,)
    with pytest.raises(RuntimeError, match="inconsistent tensor size"):
        ones(2, 3) + ones(3)
    with pytest.raises(TypeError):
        ones(2) + Variable(torch.ones(2).double())


def test_numbers_come_first_in_sums_of_products():
    m = Variable(torch.ones(2, 2), requires_grad=True)
    assert m.addmm(2, 3, m, m).data.tolist() == [[8, 8]] * 2
    assert m.addmm(2, m, m).data.tolist() == [[4, 4]] * 2
    assert m.addmm(m, m).data.tolist() == [[3, 3]] * 2
    assert m.addcmul(5, m, m).data.tolist() == [[6, 6]] * 2
    assert m.addcdiv(0.5, m, m).data.tolist() == [[1.5, 1.5]] * 2
    y = m.clone()
    assert y.addmm_(2, m, m) is y and y.data.tolist() == [[4, 4]] * 2
    with pytest.raises(TypeError, match="addmm"):
        m.addmm(m)


# Reductions, shapes, indices ------------------------------------------------------------------


def test_full_reductions_are_of_size_one_and_others_keep_the_dimension():
    x = Variable(torch.range(1, 6).view(2, 3), requires_grad=True)
    for name in "sum prod mean max min var std norm".split():
        assert getattr(x, name)().size() == (1,), name
    for name in "sum prod mean var std".split():
        assert getattr(x, name)(1).size() == (2, 1), name
        assert getattr(x, name)(dim=0).size() == (1, 3), name
    assert x.norm(2, 1).size() == (2, 1) and x.dist(x + 1).size() == (1,)
    for name in "max min mode median".split():
        values, indices = getattr(x, name)(1)
        assert values.size() == indices.size() == (2, 1)
        assert isinstance(indices.data, torch.LongTensor) and not indices.requires_grad
    for values, indices in (x.kthvalue(2), x.sort(), x.topk(2), x.median()):
        assert values.requires_grad and not indices.requires_grad
        assert isinstance(indices.data, torch.LongTensor)
    assert x.sort(1, True)[0].data[0].tolist() == [3, 2, 1]
    assert x.sort()[0].data[0].tolist() == [1, 2, 3]
    assert x.topk(2)[0].data[0].tolist() == [3, 2]
    assert sorted(x.topk(2, 1, False)[0].data[0].tolist()) == [1, 2]
    assert abs(x[0].std().data[0] - 1) < 1e-6 and x[0].var(0, False).data[0] < 0.7
    assert abs(x.norm(1, 1).data[0][0] - 6) < 1e-6 and abs(x[0].norm().data[0] ** 2 - 14) < 1e-4
    assert x.dist(x + 1, 1).data[0] == 6 and abs(x.dist(x + 1).data[0] ** 2 - 6) < 1e-4
    assert x.max(x * 0 + 2).data.tolist() == [[2, 2, 3], [4, 5, 6]]


def test_a_full_extreme_leads_to_one_element():
    x = Variable(torch.Tensor([[1, 3], [3, 0]]), requires_grad=True)
    x.max().backward()
    assert x.grad.data.tolist() == [[0, 1], [0, 0]]


def test_renorm_scales_long_slices_down():
    data = torch.DoubleTensor([[3, 4], [0.3, 0.4]])
    x = Variable(data, requires_grad=True)
    out = x.renorm(2, 0, 1.0)
    assert out.data.sub(data.renorm(2, 0, 1.0)).abs().max() < 1e-6
    assert torch.autograd.gradcheck(lambda x: x.renorm(2, 0, 1.0), (x,))
    assert torch.autograd.gradcheck(lambda x: x.renorm(1, 1, 2.0), (x,))


def test_shapes():
    x = Variable(torch.range(1, 6).view(2, 3), requires_grad=True)
    sizes = {
        "x.view(3, 2)": (3, 2),
        "x.view(-1)": (6,),
        "x.view(x.size())": (2, 3),
        "x.view_as(x.t().clone())": (3, 2),
        "x.resize(6, 1)": (6, 1),
        "x.resize_as(x.t())": (3, 2),
        "x.unsqueeze(0).expand(4, 2, 3)": (4, 2, 3),
        "x.expand(torch.Size([5, 2, 3]))": (5, 2, 3),
        "x[0].expand_as(x)": (2, 3),
        "x.repeat(2, 2)": (4, 6),
        "x.t()": (3, 2),
        "x.transpose(0, 1)": (3, 2),
        "x.permute(1, 0)": (3, 2),
        "x.unsqueeze(1)": (2, 1, 3),
        "x.unsqueeze(1).squeeze(1)": (2, 3),
        "x.sum().squeeze()": (1,),
        "x.select(1, 0)": (2,),
        "x.narrow(1, 1, 2)": (2, 2),
        "x.diag()": (2,),
        "x[0].diag()": (3, 3),
        "x.tril()": (2, 3),
        "x.triu(1)": (2, 3),
        "x.clone()": (2, 3),
        "x[0, 1]": (1,),
        "x[0].select(0, 1)": (1,),
    }
    for text, size in sizes.items():
        out = eval(text, {"x": x, "torch": torch})
        assert out.size() == size, text
        x._grad = None
        out.sum().backward()
        assert x.grad.size() == (2, 3), text
    assert [p.size() for p in x.chunk(2)] == [p.size() for p in x.split(1)] == [(1, 3)] * 2
    assert [p.size() for p in _functions.Chunk(2)(x)] == [(1, 3)] * 2
    assert x.narrow(0, 1, 1).data.tolist() == [[4, 5, 6]]
    assert [p.size() for p in x.chunk(2, 1)] == [(2, 2), (2, 1)]
    assert [p.size() for p in x.split(2, 1)] == [(2, 2), (2, 1)]
    with pytest.raises(RuntimeError, match="elements"):
        x.resize(7)
    for parts in (x.chunk, x.data.chunk):
        with pytest.raises(RuntimeError, match="positive"):
            parts(0)
    with pytest.raises(ValueError, match="positive"):
        x.split(0)
    with pytest.raises(RuntimeError, match="2D"):
        x.view(1, 2, 3).t()
    with pytest.raises(RuntimeError, match="out of range"):
        x.narrow(1, 2, 2)


def test_indexing_by_every_kind_of_key():
    x = Variable(torch.range(1, 6).view(2, 3), requires_grad=True)
    assert x[1].data.tolist() == [4, 5, 6]
    assert x[:, 1].data.tolist() == [2, 5] and x[..., 2].data.tolist() == [3, 6]
    assert x[1, 2].data.tolist() == [6] and x[-1][0].data.tolist() == [4]
    for index in (torch.LongTensor([1, 0, 1]), Variable(torch.LongTensor([1, 0, 1]))):
        assert x[index].size() == (3, 3)
    mask = x > 4
    assert x[mask].data.tolist() == [5, 6]
    x[mask].sum().backward()
    assert x.grad.data.tolist() == [[0, 0, 0], [0, 1, 1]]


def test_assignment_by_every_kind_of_key():
    def of(**flags):
        return Variable(torch.zeros(2, 3), **flags)

    x = of()
    x[0] = 1
    x[1, 2] = Variable(torch.Tensor([7]))
    assert x.data.tolist() == [[1, 1, 1], [0, 0, 7]]
    x[x > 5] = 2
    x[x == 0] = Variable(torch.Tensor([3, 4]))
    assert x.data.tolist() == [[1, 1, 1], [3, 4, 2]]
    x[torch.LongTensor([0])] = 9
    assert x.data.tolist() == [[9, 9, 9], [3, 4, 2]]
    with pytest.raises(RuntimeError, match="inconsistent tensor size"):
        x[0] = Variable(torch.ones(2))
    with pytest.raises(TypeError):
        x[0] = torch.ones(3)
    y = Variable(torch.ones(3), requires_grad=True)
    x[1] = y
    (x * x).sum().backward()
    assert y.grad.data.tolist() == [2, 2, 2]


def test_indices_and_masks_get_no_gradient():
    x = Variable(torch.zeros(3, 2), requires_grad=True)
    y = Variable(torch.ones(2, 2), requires_grad=True)
    index = Variable(torch.LongTensor([0, 2]))
    for out in (x.index_add(0, index, y), x.index_copy(0, index, y), x.index_fill(0, index, 3)):
        out.sum().backward()
        assert index.grad is None
    assert x.index_select(0, index).size() == (2, 2)
    places = Variable(torch.LongTensor([[0, 1]]))
    assert x.gather(0, places).size() == (1, 2)
    assert x.scatter(0, places, y).data.sum() == 2
    mask = Variable(torch.ByteTensor([[1, 0], [0, 1], [0, 0]]))
    assert x.masked_fill(mask, 2).data.sum() == 4
    assert x.masked_copy(mask, y).data.sum() == 2
    assert x.masked_select(mask).size() == (2,)


def test_types():
    x = Variable(torch.ones(2), requires_grad=True)
    for name in "double float half long int short char byte".split():
        out = getattr(x, name)()
        assert out.type() == f"torch.{name.capitalize()}Tensor"
    for kind in (torch.DoubleTensor, "torch.DoubleTensor"):
        y = x.type(kind)
        (y * 2).sum().backward()
        assert isinstance(y.data, torch.DoubleTensor)
    assert isinstance(x.grad.data, torch.FloatTensor) and x.grad.data.tolist() == [4, 4]
    assert x.type_as(y).type() == "torch.DoubleTensor" and x.cpu().data is x.data
    for given in ({}, {"device_id": 0}, {"async_": True}, {"async": True}):
        with pytest.raises(RuntimeError, match="GPU"):
            x.cuda(**given)


def test_functions_of_the_namespace_take_variables():
    x = Variable(torch.ones(2, 2), requires_grad=True)
    for out in (
        torch.add(x, 1),
        torch.mm(x, x),
        torch.exp(x),
        torch.sum(x, 1),
        torch.cat([x, x], 1),
        torch.stack([x, x]),
        torch.max(x, 1)[0],
        torch.t(x),
    ):
        assert isinstance(out, Variable) and out.requires_grad
    for parts in (torch.split(x, 1), torch.chunk(x, 2, 1), torch.unbind(x)):
        assert len(parts) == 2 and all(isinstance(p, Variable) for p in parts)
    assert torch.stack([x, x], 1).size() == (2, 2, 2)


def test_detach_makes_a_leaf_on_the_same_data():
    x = ones(2, requires_grad=True)
    y = x * 2
    d = y.detach()
    assert d.data is y.data and d.creator is None and not d.requires_grad
    assert y.requires_grad and y.creator is not None
    assert y.detach_() is None
    assert y.creator is None and not y.requires_grad
