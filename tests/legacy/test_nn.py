"""Modules of the Variable era: what they own, show and refuse, hooks, states, volatile input."""

import copy
import io
import pickle
from collections import OrderedDict

import pytest

import autograd_cy.legacy as torch
from autograd_cy.legacy import nn
from autograd_cy.legacy.autograd import Variable
from autograd_cy.legacy.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)
        self.rest = nn.Sequential(nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(3, 2, bias=False))

    def forward(self, x):
        return F.log_softmax(self.rest(self.norm(self.first(x))))


@pytest.fixture
def net():
    torch.manual_seed(0)
    return Net()


@pytest.fixture
def x():
    return Variable(torch.ones(5, 4))


def test_modules_list_parameters_buffers_and_modules(net):
    assert [name for name, _ in net.named_parameters()] == [
        "first.weight",
        "first.bias",
        "norm.weight",
        "norm.bias",
        "rest.2.weight",
    ]
    assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in net.parameters())
    assert [name for name, _ in net.named_modules()] == [
        "",
        "first",
        "norm",
        "rest",
        "rest.0",
        "rest.1",
        "rest.2",
    ]
    state = net.state_dict()
    assert all(torch.is_tensor(t) for t in state.values())
    assert list(state)[:6] == [
        "first.weight",
        "first.bias",
        "norm.weight",
        "norm.bias",
        "norm.running_mean",
        "norm.running_var",
    ]
    assert net.rest[-1].bias is None


def test_modules_show_as_then(net):
    assert repr(net) == (
        "Net (\n"
        "  (first): Linear (4 -> 3)\n"
        "  (norm): BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True)\n"
        "  (rest): Sequential (\n"
        "    (0): ReLU (inplace)\n"
        "    (1): Dropout (p = 0.5)\n"
        "    (2): Linear (3 -> 2)\n"
        "  )\n"
        ")"
    )


def test_zeroing_gradients_fills_them(net, x):
    net(x).sum().backward()
    grads = [p.grad for p in net.parameters()]
    net.zero_grad()
    assert all(p.grad is g and g.data.abs().sum() == 0 for p, g in zip(net.parameters(), grads))


def test_volatile_input_makes_a_volatile_result_without_history(net, x):
    net.eval()
    out = net(Variable(torch.ones(5, 4), volatile=True))
    assert out.volatile and out.creator is None and not out.requires_grad
    assert out.data.equal(net(x).data)


def test_states_are_copied_and_wrong_ones_refused(net):
    other = Net()
    other.load_state_dict(net.state_dict())
    assert all(a.data.equal(b.data) for a, b in zip(net.parameters(), other.parameters()))
    assert other.first.weight is not net.first.weight
    state = net.state_dict()
    with pytest.raises(KeyError, match="unexpected key"):
        other.load_state_dict({**state, "more": torch.ones(1)})
    state.pop("first.bias")
    with pytest.raises(KeyError, match="missing keys"):
        other.load_state_dict(state)
    with pytest.raises(RuntimeError, match="first.weight"):
        other.load_state_dict({**net.state_dict(), "first.weight": torch.ones(1)})


def test_modules_are_copied_pickled_and_saved(net, x):
    net.eval()
    file = io.BytesIO()
    torch.save(net, file)
    file.seek(0)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net)), torch.load(file)):
        assert other(x).data.equal(net(x).data)
        assert isinstance(other.first.weight, nn.Parameter)


def test_forward_hooks_see_and_return_nothing(x):
    layer = nn.Linear(4, 2)
    seen = []
    handle = layer.register_forward_hook(
        lambda module, inputs, output: seen.append((inputs, output))
    )
    out = layer(x)
    assert seen[0][0][0] is x and seen[0][1] is out
    handle.remove()
    layer.register_forward_hook(lambda *_: 1)
    with pytest.raises(RuntimeError, match="forward hooks should never return any values"):
        layer(x)


def test_backward_hooks_get_the_gradients_of_the_last_function(x):
    layer = nn.Linear(4, 2)
    seen = []
    layer.register_backward_hook(lambda *args: seen.append(args))
    layer(x).sum().backward()
    module, grad_input, grad_output = seen[0]
    assert module is layer and grad_input[0] is None
    assert [g.size() for g in grad_input[1:]] == [(2, 4), (2,)]
    assert grad_output[0].data.tolist() == [[1, 1]] * 5


def test_a_second_backward_needs_retain_variables(x):
    layer = nn.Linear(4, 2)
    loss = F.mse_loss(layer(x), Variable(torch.zeros(5, 2)))
    loss.backward(retain_variables=True)
    once = layer.weight.grad.data.clone()
    loss.backward()
    assert layer.weight.grad.data.equal(once * 2)
    with pytest.raises(RuntimeError, match="retain_variables=True"):
        loss.backward()


def test_in_place_changes_of_what_a_layer_saved_are_noticed():
    x = Variable(torch.ones(2, 3), requires_grad=True)
    y = x * 2
    out = F.linear(y, Variable(torch.ones(2, 3), requires_grad=True))
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
    probabilities = F.softmax(x)
    probabilities.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        probabilities.sum().backward()


def test_writes_through_data_are_not_seen():
    layer = nn.Linear(2, 1, bias=False)
    x = Variable(torch.ones(1, 2), requires_grad=True)
    out = layer(x)
    layer.weight.data.fill_(7)
    out.backward()
    assert x.grad.data.tolist() == [[7, 7]]


def test_inplace_relu_and_dropout_move_the_variable():
    x = Variable(torch.FloatTensor([-1, 2]), requires_grad=True)
    y = x * 1
    assert F.relu(y, inplace=True) is y and y.data.tolist() == [0, 2]
    y.sum().backward()
    assert x.grad.data.tolist() == [0, 1]
    torch.manual_seed(0)
    z = F.dropout(x * 1, 0.5, training=True, inplace=True)
    x.grad.data.zero_()
    z.sum().backward()
    assert (x.grad.data * x.data).equal(z.data)
    assert F.dropout(x, 0.5).data.equal(x.data)
    with pytest.raises(ValueError, match="between 0 and 1"):
        nn.Dropout(2)


def test_dropping_channels_drops_whole_ones():
    torch.manual_seed(0)
    out = nn.Dropout2d(0.5)(Variable(torch.ones(4, 8, 3, 3))).data
    sums = out.view(32, 9).sum(1).squeeze()
    assert {round(v, 3) for v in sums} == {0.0, 18.0}


def test_targets_that_require_grad_are_refused():
    x = Variable(torch.ones(2, 3), requires_grad=True)
    with pytest.raises(AssertionError, match="don't compute the gradient w.r.t. targets"):
        F.mse_loss(x, x)
    with pytest.raises(RuntimeError, match="nothing is broadcast"):
        F.mse_loss(x, Variable(torch.ones(3)))
    with pytest.raises(RuntimeError, match="expected a Variable argument"):
        F.relu(torch.ones(2))


def test_losses_are_means_unless_told():
    x, t = Variable(torch.ones(2, 3)), Variable(torch.zeros(2, 3))
    assert nn.MSELoss()(x, t).data[0] == 1 and nn.MSELoss(size_average=False)(x, t).data[0] == 6


def test_parameters_are_variables_that_are_never_volatile():
    p = nn.Parameter(torch.ones(2))
    assert isinstance(p, Variable) and p.requires_grad and not p.volatile
    assert repr(p).startswith("Parameter containing:\n 1\n 1\n[torch.FloatTensor of size 2]")
    with pytest.raises(RuntimeError, match="can't be volatile"):
        p.volatile = True
    with pytest.raises(TypeError):
        nn.Parameter(torch.ones(2), volatile=True)
    assert type(p * 2) is Variable and type(copy.deepcopy(p)) is nn.Parameter
    assert not nn.Parameter(torch.ones(1), requires_grad=False).requires_grad


def test_only_what_fits_can_be_assigned(net):
    with pytest.raises(TypeError, match=r"torch.nn.Parameter or None required"):
        net.first.weight = torch.ones(2)
    with pytest.raises(TypeError, match=r"torch.nn.Module or None required"):
        net.first = 3
    with pytest.raises(AttributeError, match="has no attribute 'second'"):
        net.second
    net.first.bias = None
    assert "first.bias" not in net.state_dict()
    del net.first
    assert "first.weight" not in net.state_dict()

    class Early(nn.Module):
        def __init__(self):
            self.layer = nn.ReLU()

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
        Early()


def test_containers_index_and_grow():
    layers = nn.ModuleList([nn.ReLU()])
    layers.append(nn.Tanh()).extend([nn.Sigmoid()])
    layers += [nn.ELU()]
    assert [type(m).__name__ for m in layers] == ["ReLU", "Tanh", "Sigmoid", "ELU"]
    layers[0] = nn.Tanh()
    assert isinstance(layers[-4], nn.Tanh) and len(layers) == 4
    with pytest.raises(IndexError, match="out of range"):
        layers[4]
    named = nn.Sequential(OrderedDict([("a", nn.Linear(1, 2))]))
    assert named.a is named[0]
    assert len(list(nn.ParameterList([nn.Parameter(torch.ones(1))]).parameters())) == 1


def test_conversions_and_shared_memory_keep_the_parameters(net):
    before = list(net.parameters())
    net.double()
    assert [a is b for a, b in zip(net.parameters(), before)] == [True] * 5
    assert net.first.weight.data.type() == "torch.DoubleTensor"
    assert net.norm.running_mean.type() == "torch.DoubleTensor"
    net.share_memory()
    assert all(p.data.is_shared() for p in net.parameters())
    with pytest.raises(RuntimeError, match="no GPU"):
        net.cuda()


def test_clipping_scales_all_gradients_together():
    p, q = (nn.Parameter(torch.ones(2)) for _ in range(2))
    (p * 3 + q * 4).sum().backward()
    norm = nn.utils.clip_grad_norm([p, q], 5)
    assert norm == pytest.approx(50**0.5)
    assert p.grad.data[0] == pytest.approx(3 * 5 / norm, rel=1e-5)
    assert nn.utils.clip_grad_norm([p, q], float("inf"), float("inf")) == pytest.approx(
        4 * 5 / norm, rel=1e-5
    )


def test_initial_values():
    w = nn.Parameter(torch.Tensor(30, 20))
    init = nn.init
    assert init.constant(w, 2) is w and w.data.mean() == 2
    assert init.uniform(w, 3, 4).data.min() >= 3
    assert abs(init.normal(w, 5, 0.1).data.mean() - 5) < 0.1
    assert init.xavier_uniform(w).data.abs().max() <= (6 / 50) ** 0.5
    assert abs(init.xavier_normal(w).data.std() - (2 / 50) ** 0.5) < 0.03
    assert init.kaiming_uniform(w).data.abs().max() <= (6 / 20) ** 0.5
    assert abs(init.kaiming_normal(w, mode="fan_out").data.std() - (2 / 30) ** 0.5) < 0.03
    for sizes in ((30, 20), (20, 30)):
        m = init.orthogonal(torch.Tensor(*sizes))
        square = m.t().mm(m) if sizes[0] > sizes[1] else m.mm(m.t())
        assert square.sub(torch.eye(20)).abs().max() < 1e-4
    assert init.sparse(torch.Tensor(10, 3), 0.3).eq(0).sum() == 9
    assert init.eye(torch.Tensor(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(ValueError, match="fan in and fan out"):
        init.xavier_normal(torch.Tensor(3))
    with pytest.raises(ValueError, match="mode middle not supported"):
        init.kaiming_normal(w, mode="middle")


def test_missing_names_say_so():
    for module, name in (
        (nn, "GLU"),
        (torch.optim, "lr_scheduler"),
        (torch.utils, "ffi"),
        (torch.cuda, "nvtx"),
    ):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(module, name)
    assert not hasattr(torch, "view") and not hasattr(torch, "add_") and not hasattr(torch, "where")


def test_embedding_limits_norms_of_used_rows():
    e = nn.Embedding(4, 3, padding_idx=0, max_norm=1)
    e.weight.data.fill_(2)
    out = e(Variable(torch.LongTensor([[1, 0], [1, 2]])))
    assert out.size() == (2, 2, 3)
    assert e.weight.data[1].norm() == pytest.approx(1, rel=1e-4) and e.weight.data[3].sum() == 6
    out.sum().backward()
    assert e.weight.grad.data.sum(1).view(-1).tolist() == [0, 6, 3, 0]
    with pytest.raises(NotImplementedError, match="gradients are dense"):
        nn.Embedding(2, 2, sparse=True)


def test_layers_name_sizes_that_do_not_fit():
    with pytest.raises(RuntimeError, match=r"expected rows in 2 dimensions, got size \(3,\)"):
        nn.Linear(3, 2)(Variable(torch.ones(3)))
    with pytest.raises(RuntimeError, match="to have 2 channels"):
        nn.Conv1d(2, 2, 1)(Variable(torch.ones(1, 3, 4)))
    with pytest.raises(RuntimeError, match="size can't be greater"):
        nn.Conv1d(1, 1, 5)(Variable(torch.ones(1, 1, 4)))
    with pytest.raises(ValueError, match="expected 4D input"):
        nn.BatchNorm2d(3)(Variable(torch.ones(2, 3)))
    with pytest.raises(ValueError, match="divisible by groups"):
        nn.Conv2d(3, 2, 1, groups=2)
