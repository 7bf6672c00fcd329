"""Legacy nn: calls of the Python layer (`autograd_cy`)."""

from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import error_name, float_range, legacy_gradients

DIFFERS = "The namespace for programs of 2017: modules, losses, optimizers. Torch has none of it today."

# optimizers: three steps on 1, -2 with gradients of x ** 2 / 2, then the state's names
def went(kind, *values, **options):
    v = Variable(legacy.DoubleTensor(values or (1, -2)), requires_grad=True)
    o = getattr(legacy.optim, kind)([v], **options)
    found = []
    for _ in range(3):
        o.zero_grad()
        (v * v / 2).sum().backward()
        o.step()
        found.append(v.data.clone())
    return found, sorted(o.state[v])

went("Adam")
went("Adam", lr=0.1, betas=(0.5, 0.75), eps=0.25, weight_decay=0.5)
went("Adamax")
went("Adamax", lr=0.1, betas=(0.5, 0.75), eps=0.25, weight_decay=0.5)
went("Adagrad")
went("Adagrad", lr=0.1, lr_decay=0.5, weight_decay=0.5)
went("Adadelta")
went("Adadelta", lr=0.5, rho=0.5, eps=0.25, weight_decay=0.5)
went("RMSprop")
went("RMSprop", lr=0.1, alpha=0.5, eps=0.25, weight_decay=0.5)
went("RMSprop", momentum=0.5)
went("RMSprop", lr=0.1, momentum=0.5, centered=True)
went("RMSprop", centered=True)
went("ASGD", lr=0.1, lambd=0.1, alpha=0.5, t0=1)
went("ASGD")
went("ASGD", weight_decay=0.5)
went("Rprop")
went("Rprop", lr=1.5, etas=(0.25, 3), step_sizes=(0.5, 2))

def max_iter_history_size():
    def searched(**options):
        v = Variable(legacy.DoubleTensor([1, -2]), requires_grad=True)
        o = legacy.optim.LBFGS([v], **options)
        seen = []
        def closure():
            o.zero_grad()
            loss = ((v - 3) * (v - 3) * Variable(legacy.DoubleTensor([1, 10]))).sum()
            loss.backward()
            seen.append(loss.data[0])
            return loss
        first = o.step(closure)
        second = o.step(closure)
        return v.data, len(seen), first.data[0], second.data[0], sorted(o.state[v])
    return searched(), searched(lr=0.05, max_iter=3), searched(lr=0.05, max_iter=4,
        max_eval=2), searched(lr=0.05, max_iter=9, history_size=2), searched(lr=0.05, max_iter=9,
        history_size=1), searched(lr=0.05, tolerance_grad=50), searched(lr=0.05, tolerance_change=5)

legacy.optim.SGD([Variable(float_range(1), requires_grad=True)])
legacy.optim.SGD([], lr=1)
legacy.optim.SGD(Variable(float_range(1), requires_grad=True), lr=1)
legacy.optim.SGD(float_range(1), lr=1)
legacy.optim.SGD(3, lr=1)
legacy.optim.SGD([float_range(1)], lr=1)
legacy.optim.SGD([Variable(float_range(1))], lr=1)
legacy.optim.SGD([Variable(float_range(1), requires_grad=True) * 2], lr=1)

def optim_legacy():
    v = Variable(float_range(1), requires_grad=True)
    return legacy.optim.SGD([v, v], lr=1)

# modules
def again_named_modules():
    class Net(legacy.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = legacy.nn.Linear(2, 3)
            self.act = legacy.nn.ReLU()
            self.again = self.fc
            self.register_buffer("mean", float_range(2))
            self.w = legacy.nn.Parameter(float_range(2))
            self.register_parameter("none", None)
            self.plain = 3
    n = Net()
    return [k for k, _ in n.named_parameters()], [k for k, _ in n.named_children()], [k
        for k, _ in n.named_modules()], len(list(n.modules())), len(list(n.children())), len(
        list(n.parameters())), list(
        n.state_dict()), n.mean, n.none, n.training, n.fc is n.again, "fc" in dir(n), "mean" in dir(
        n), "w" in dir(n)

def mean_dict():
    class Net(legacy.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = legacy.nn.Linear(2, 3)
            self.register_buffer("mean", float_range(2))
            self.w = legacy.nn.Parameter(float_range(2))
    n, other = Net(), Net()
    s = n.state_dict()
    found = [error_name(n.load_state_dict, dict(s, more=float_range(1))),
        error_name(n.load_state_dict, {"w": float_range(2)}),
        error_name(n.load_state_dict, dict(s, w=float_range(3)))]
    other.w.data.fill_(9)
    other.load_state_dict(s)
    other.mean.fill_(7)
    return found, other.w.data, n.mean, other.fc.weight.data.equal(n.fc.weight.data), type(
        s).__name__, s["w"] is n.w.data

def bias_parameter():
    n = legacy.nn.Linear(2, 3)
    n.load_state_dict({"weight": legacy.nn.Parameter(legacy.ones(3, 2)),
        "bias": Variable(legacy.ones(3))})
    return n.weight.data, n.bias.data

def load_state_dict_legacy():
    n = legacy.nn.Linear(2, 3)
    return n.load_state_dict({"weight": legacy.ones(3, 2), "bias": legacy.ones(3),
        "no": float_range(1)})

def load_state_dict_legacy_2():
    n = legacy.nn.Linear(2, 3)
    return n.load_state_dict({"weight": legacy.ones(3, 2)})

def load_state_dict_legacy_3():
    n = legacy.nn.Linear(2, 3)
    return n.load_state_dict({"weight": legacy.ones(2, 2)})

def weight_linear():
    n = legacy.nn.Linear(2, 2)
    n.weight = 3
    return n

def linear_register_parameter():
    n = legacy.nn.Linear(2, 2)
    n.register_parameter("w", float_range(2))
    return n

def parameter_legacy():
    n = legacy.nn.Linear(2, 2)
    p = legacy.nn.Parameter(float_range(2))
    p._maker = legacy.Function()
    n.w = p
    return n

def add_module_repr():
    n = legacy.nn.Sequential(legacy.nn.ReLU())
    n.add_module("0", legacy.nn.Tanh())
    n.add_module("more", None)
    return repr(n)

def add_module_re_lu():
    n = legacy.nn.Linear(2, 2)
    return n.add_module("weight", legacy.nn.ReLU())

def none_setattr():
    n = legacy.nn.Module()
    n.x = 3
    n.x = legacy.nn.Parameter(float_range(2))
    a = "x" in n.__dict__, list(n._parameters)
    n.y = 4
    n.y = legacy.nn.ReLU()
    b = "y" in n.__dict__, list(n._modules)
    n.y = None
    n.x = None
    n.register_buffer("z", float_range(1))
    n.z = float_range(2)
    n.register_buffer("none", None)
    return a, b, n.y, n.x, n.z, n._buffers["z"], "z" in n.__dict__, error_name(setattr, n, "y",
        3), error_name(setattr, n, "x", float_range(1)), n.none

error_name(getattr, legacy.nn.Module(), "nothing")
legacy.nn.Module()(Variable(float_range(1)))

def training_modules():
    n = legacy.nn.Sequential(legacy.nn.Linear(2, 2), legacy.nn.Sequential(legacy.nn.ReLU()))
    order = []
    r = n.apply(lambda m: order.append(type(m).__name__))
    return r is n, order, n.eval() is n, [m.training
        for m in n.modules()], n.train().training, [m.training
        for m in n.modules()], n.train(False).training, n.cpu() is n

def cuda_count():
    n = legacy.nn.BatchNorm1d(2)
    n.weight._grad = Variable(float_range(2))
    n.register_buffer("count", legacy.LongTensor([3]))
    r = n.double()
    return r is n, n.weight.data.type(), n.weight.grad.data.type(), n.running_mean.type(), n.count.type(), n.half().weight.data.type(), n.float().bias.data.type(), n.type(
        legacy.DoubleTensor).count.type(), error_name(n.cuda)

def register_forward_hook_legacy():
    n = legacy.nn.Linear(2, 1)
    h = n.register_forward_hook(lambda m, i, o: 3)
    return error_name(n, Variable(legacy.ones(1, 2)))

def register_backward_hook_equal():
    n = legacy.nn.Linear(2, 1)
    def doubled(m, i, o):
        return tuple(None if x is None else x * 2 for x in i)
    h = n.register_backward_hook(doubled)
    v = Variable(legacy.ones(1, 2), requires_grad=True)
    n(v).backward()
    return v.grad.data.equal(n.weight.data * 2), n.bias.grad.data

# functions that every step calls
def threshold_legacy():
    Fn = legacy.nn._functions
    return Fn.Threshold(1, 5, True)

def threshold_variable():
    Fn = legacy.nn._functions
    return [legacy_gradients(lambda x: Fn.Threshold(2, -1)(x), float_range(3)),
        legacy_gradients(lambda x: Fn.Threshold(2, 1, True)(x * 1), float_range(3)),
        Fn.Threshold(2, -1)(Variable(float_range(3))).data,
        Fn.Threshold(2, 2, True)(Variable(float_range(3))).data]

def data_variable():
    Fn = legacy.nn._functions
    x = legacy.FloatTensor([-2, 0, 3])
    return [legacy_gradients(lambda v: Fn.ELU(0.5)(v), x),
        legacy_gradients(lambda v: Fn.ELU(0.5, True)(v * 1), x), Fn.ELU(0.5)(Variable(x)).data,
        Fn.ELU(0.5, True)(Variable(x.clone())).data, error_name(Fn.ELU, -1), error_name(Fn.ELU, 0)]

def rre_lu_variable():
    Fn = legacy.nn._functions
    x = legacy.FloatTensor([-2, 0, 3])
    return [legacy_gradients(lambda v: Fn.RReLU(0.25, 0.75, False)(v), x),
        Fn.RReLU(0.25, 0.75, False)(Variable(x)).data, Fn.RReLU(0.5, 0.5, True)(Variable(x)).data,
        Fn.RReLU(0.5, 0.5, True, True)(Variable(x.clone())).data,
        legacy_gradients(lambda v: Fn.RReLU(0.5, 0.5, True, True)(v * 1), x),
        error_name(Fn.RReLU, 1, 0.5, True), error_name(Fn.RReLU, -1, 0.5, True),
        error_name(Fn.RReLU, 0, 0, True), -1.5 <= Fn.RReLU(0.25, 0.75,
        True)(Variable(x)).data[0] <= -0.5]

def dropout_noise():
    Fn = legacy.nn._functions
    f = Fn.Dropout(0.5, True, True)
    v = Variable(legacy.ones(6))
    u = f(v)
    return u is v, f.noise.size(), u.data.equal(f.noise)

def softmax_variable():
    Fn = legacy.nn._functions
    return [[legacy_gradients(lambda v: k()(v), x), k()(Variable(x)).data]
        for k in (Fn.Softmax, Fn.LogSoftmax) for x in (float_range(3), float_range(2, 3),
        float_range(3, 1, 2), float_range(1, 3, 1, 2))]

# losses
def mse_loss_size_average():
    F2 = legacy.nn.functional
    x, y = legacy.FloatTensor([[0.2, 0.7], [0.5, 0.9]]), legacy.FloatTensor([[0, 1], [1, 0.5]])
    return [legacy_gradients(lambda v: f(v, Variable(y.double())),
        x) + legacy_gradients(lambda v: f(v, Variable(y.double()), size_average=False),
        x) + [f(Variable(x), Variable(y)).data, f(Variable(x), Variable(y),
        size_average=False).data] for f in (F2.mse_loss, F2.l1_loss, F2.smooth_l1_loss, F2.kl_div,
        F2.soft_margin_loss, F2.multilabel_soft_margin_loss)]

def binary_cross_entropy_double_tensor():
    F2 = legacy.nn.functional
    x, y = legacy.FloatTensor([[0.2, 0.7], [0.5, 0.9]]), legacy.FloatTensor([[0, 1], [1, 0.5]])
    return [legacy_gradients(lambda v: F2.binary_cross_entropy(v, Variable(y.double()), *how),
        x) + [F2.binary_cross_entropy(Variable(x), Variable(y), *how[:0]).data]
        for how in ((), (None, False), (legacy.DoubleTensor([1, 3]),))]

def cross_entropy_multi_margin_loss():
    F2 = legacy.nn.functional
    x = legacy.FloatTensor([[0.2, 0.7, -1], [0.5, 0.9, 2]])
    return [f(Variable(x), Variable(legacy.LongTensor([2, 0])), **how).data
        for f in (F2.cross_entropy, F2.nll_loss, F2.multi_margin_loss)
        for how in ({}, {"size_average": False}, {"weight": legacy.FloatTensor([1, 2, 3])})]

legacy.nn.functional.pairwise_distance(Variable(float_range(2)), Variable(float_range(2)))
legacy.nn.functional.pairwise_distance(Variable(float_range(2, 2)), Variable(float_range(2, 3)))
legacy.nn.functional.triplet_margin_loss(Variable(float_range(2, 2)), Variable(float_range(2, 2)),
    Variable(float_range(2, 2)), 0)
legacy.nn.functional.triplet_margin_loss(Variable(float_range(2, 2)), Variable(float_range(2, 2)),
    Variable(float_range(2)))
legacy.nn.functional.cosine_similarity(Variable(float_range(2, 2)), Variable(float_range(2, 3)))
legacy.nn.functional.linear(Variable(float_range(2)), Variable(float_range(2, 2)))
legacy.nn.functional.linear(float_range(2, 2), Variable(float_range(2, 2)))
[error_name(f, Variable(float_range(2, 2)), 2)
    for f in (legacy.nn.functional.max_pool1d, legacy.nn.functional.max_pool2d,
    legacy.nn.functional.avg_pool1d, legacy.nn.functional.avg_pool2d,
    legacy.nn.functional.adaptive_max_pool1d, legacy.nn.functional.adaptive_max_pool2d,
    legacy.nn.functional.adaptive_avg_pool1d, legacy.nn.functional.adaptive_avg_pool2d,
    legacy.nn.functional.pixel_shuffle, legacy.nn.functional.upsample_nearest,
    legacy.nn.functional.upsample_bilinear)]
legacy.nn.functional.adaptive_avg_pool1d(Variable(float_range(2, 2)), 2)
legacy.nn.functional.pixel_shuffle(Variable(float_range(4, 2, 2)), 2)
legacy.nn.functional.fractional_max_pool2d(Variable(float_range(2, 2)), 1, 1)
[x.data for x in (legacy.nn.functional.max_pool2d(Variable(float_range(1, 1, 4, 4)), 2),
    legacy.nn.functional.avg_pool2d(Variable(float_range(1, 1, 4, 4)), 2),
    legacy.nn.functional.lp_pool2d(Variable(float_range(1, 1, 4, 4)), 2, 2),
    legacy.nn.functional.adaptive_max_pool2d(Variable(float_range(1, 1, 4, 4)), 2),
    legacy.nn.functional.adaptive_avg_pool1d(Variable(float_range(1, 1, 4)), 2),
    legacy.nn.functional.pixel_shuffle(Variable(float_range(1, 4, 1, 2)), 2),
    legacy.nn.functional.upsample_nearest(Variable(float_range(1, 1, 2, 2)), scale_factor=2),
    legacy.nn.functional.upsample_bilinear(Variable(float_range(1, 1, 2, 2)), size=(3, 3)),
    legacy.nn.functional.pad(Variable(float_range(1, 1, 2, 2)), (1, 0, 0, 1)),
    legacy.nn.functional.pad(Variable(float_range(1, 1, 2, 2)), (1, 0, 0, 1), value=7),
    legacy.nn.functional.pad(Variable(float_range(1, 1, 2, 2)), (1, 0, 0, 1), "reflect"))]

def fractional_max_pool2d_return_indices():
    x = float_range(1, 1, 5, 5)
    u = legacy.DoubleTensor([[[0.3, 0.6]]])
    return [y.data for how in ((2, 3), ((2, 1), (2, 4)), (2, None, 0.6), (3, 1))
        for y in [legacy.nn.functional.fractional_max_pool2d(Variable(x), *how,
        _random_samples=u)]], [y.data for y in legacy.nn.functional.fractional_max_pool2d(
        Variable(x), 2, 2, return_indices=True, _random_samples=Variable(u))]

[error_name(legacy.nn.functional.fractional_max_pool2d, Variable(float_range(1, 1, 5, 5)), *how)
    for how in ((2,), (2, 3, 0.5), (2, None, 1), (2, None, 0), (2, 5), (2, 0), (2, 4), (6, 1),
    (5, 1))]
[error_name(f, Variable(float_range(1, 1, 2, 2)), *how)
    for f in (legacy.nn.functional.upsample_nearest, legacy.nn.functional.upsample_bilinear)
    for how in ((), (None, 1.5), (None, 2), (3,), (None, (2, 1.5)))]
legacy.nn.functional.pad(Variable(float_range(1, 1, 2, 2)), (1, 1), "other")

# recurrent modules
def ones_of(module):
    for k, p in enumerate(module.parameters()):
        p.data.copy_(legacy.linspace(-0.4, 0.3 + 0.1 * k, p.data.numel()).view_as(p.data))
    return module

def ones_of_nonlinearity():
    x = Variable(float_range(3, 2, 2) / 10)
    return ([y.data for make in (legacy.nn.RNN, legacy.nn.GRU)
        for how in ({}, {"num_layers": 2}, {"bidirectional": True}, {"bias": False})
        for y in ones_of(make(2, 3, **how))(x)], [y.data
        for y in ones_of(legacy.nn.RNN(2, 3, nonlinearity="relu", batch_first=True))(x)],
        [y.data for y in (lambda o, h: (o, *h))(*ones_of(legacy.nn.LSTM(2, 3))(x))])

def ones_of_rnncell():
    x, h = Variable(float_range(2, 2) / 10), Variable(float_range(2, 3) / 10)
    return (ones_of(legacy.nn.RNNCell(2, 3))(x, h).data,
        ones_of(legacy.nn.RNNCell(2, 3, nonlinearity="relu"))(x, h).data,
        ones_of(legacy.nn.GRUCell(2, 3))(x, h).data,
        [y.data for y in ones_of(legacy.nn.LSTMCell(2, 3))(x, (h, h))],
        ones_of(legacy.nn.RNNCell(2, 3, bias=False))(x, h).data,
        [k for k, _ in legacy.nn.GRU(2, 3, num_layers=2, bidirectional=True,
        bias=False).named_parameters()])

legacy.nn.RNN(2, 3)(Variable(float_range(2, 2)))
legacy.nn.RNN(2, 3)(Variable(float_range(1, 2, 2)), Variable(float_range(1, 1, 3)))
legacy.nn.LSTM(2, 3)(Variable(float_range(1, 2, 2)), Variable(float_range(1, 2, 3)))
legacy.nn.RNN(2, 3, nonlinearity="sin")
legacy.nn.RNNCell(2, 3, nonlinearity="sin")

def all_weights_lstm():
    b = 1 / 3**0.5
    return ([all(p.data.abs().max() <= b and p.data.abs().max() > b / 2
        for p in make(9, 3).parameters()) for make in (legacy.nn.RNN, legacy.nn.LSTMCell)],
        legacy.nn.LSTM(2, 3)(Variable(float_range(1, 2, 2), volatile=True))[0].volatile,
        len(legacy.nn.LSTM(2, 3, 2).all_weights), repr(legacy.nn.RNN(2, 3, 2, False, True, 0.5,
        True)), repr(legacy.nn.GRUCell(2, 3)))

def batch_sizes_unpack():
    from autograd_cy.legacy.nn.utils.rnn import pack_padded_sequence as pack
    from autograd_cy.legacy.nn.utils.rnn import pad_packed_sequence as unpack
    p = pack(Variable(float_range(3, 2, 1)), [3, 1])
    q = pack(Variable(float_range(2, 3, 1)), [3, 2], True)
    return p.data.data, p.batch_sizes, q.data.data, q.batch_sizes, unpack(p)[0].data, unpack(p)[
        1], unpack(q, True)[0].data, unpack(q, True)[1], [error_name(pack,
        Variable(float_range(3, 2, 1)), n) for n in ([1, 3], [3, 0], [3], [4, 1], [])]

def dist_unpack():
    from autograd_cy.legacy.nn.utils.rnn import pack_padded_sequence as pack
    from autograd_cy.legacy.nn.utils.rnn import pad_packed_sequence as unpack
    n = legacy.nn.RNN(1, 2)
    x = Variable(float_range(3, 2, 1))
    out, last = n(pack(x, [3, 1]))
    whole, end = n(x)
    return unpack(out)[0].data[0].dist(whole.data[0]) < 1e-6, last.data[0][0].dist(
        end.data[0][0]) < 1e-6, last.data[0][1].dist(whole.data[0][1]) < 1e-6, unpack(out)[0].data[
        2][1]

# other modules
def running_var_batch_norm2d():
    n = legacy.nn.BatchNorm1d(2)
    n.weight.data.fill_(1)
    x = Variable(legacy.FloatTensor([[1, 2], [3, 6]]))
    y = n(x).data
    m1 = n.running_mean.clone(), n.running_var.clone()
    n.eval()
    z = n(x).data
    n.reset_parameters()
    return (y, m1, z, n.running_mean, n.running_var, n.bias.data, n.weight.data.min() >= 0, repr(n),
        repr(legacy.nn.BatchNorm2d(3, momentum=0.5, affine=False)),
        error_name(legacy.nn.BatchNorm1d(2), Variable(float_range(2, 3))),
        error_name(legacy.nn.BatchNorm2d(2), Variable(float_range(2, 2))),
        error_name(legacy.nn.BatchNorm1d(2), Variable(float_range(1, 2, 2, 2))))

def ordered_dict_repr():
    n = legacy.nn.Sequential(legacy.nn.ReLU(), legacy.nn.Tanh())
    from collections import OrderedDict
    m2 = legacy.nn.Sequential(OrderedDict([("a", legacy.nn.ReLU())]))
    return repr(n), len(n), type(n[1]).__name__, repr(m2), error_name(lambda: n[2]), type(
        n[-1]).__name__ if error_name(lambda: n[-1]) is None else "", n(
        Variable(float_range(2))).data

def tanh_children():
    l, p = legacy.nn.ModuleList([legacy.nn.ReLU(),
        legacy.nn.Tanh()]), legacy.nn.ParameterList(
        [legacy.nn.Parameter(float_range(1))]) if hasattr(legacy.nn, "ParameterList") else None
    l.append(legacy.nn.ReLU())
    l.extend([legacy.nn.Tanh()])
    l[0] = legacy.nn.Tanh()
    return len(l), [type(x).__name__ for x in l], repr(l), error_name(lambda: l[9]), len(
        list(l.children()))

def embedding_padding_idx():
    e = legacy.nn.Embedding(4, 2, padding_idx=1)
    e.weight.data.copy_(float_range(4, 2))
    e(Variable(legacy.LongTensor([[0, 1], [3, 3]]))).sum().backward()
    return e(Variable(legacy.LongTensor([[0, 3]]))).data, e.weight.grad.data, legacy.nn.Embedding(4,
        2, padding_idx=1).weight.data[1]

def embedding_weight():
    e = legacy.nn.Embedding(3, 2, max_norm=1)
    e.weight.data.copy_(float_range(3, 2))
    y = e(Variable(legacy.LongTensor([1])))
    return y.data, e.weight.data, e.weight.data[0]

def constant_calculate_gain():
    i = legacy.nn.init
    return [i.constant(legacy.ones(2), 3), i.constant(Variable(legacy.ones(2)), 3).data,
        i.eye(legacy.ones(2, 3)), error_name(i.eye, float_range(2)), i.calculate_gain("relu"),
        i.calculate_gain("leaky_relu"), i.calculate_gain("leaky_relu", 1), i.calculate_gain("tanh"),
        i.calculate_gain("linear"), i.calculate_gain("sigmoid"), i.calculate_gain("conv2d"),
        error_name(i.calculate_gain, "no")]

def kaiming_normal_xavier_normal():
    i = legacy.nn.init
    r = legacy.manual_seed(1)
    w1 = legacy.ones(60, 50)
    return [abs(i.uniform(w1, 1, 3).mean() - 2) < 0.1, abs(i.normal(w1, 1, 3).std() - 3) < 0.2,
        abs(i.xavier_uniform(w1).std() - (2 / 110) ** 0.5) < 0.02,
        abs(i.xavier_normal(w1, 2).std() - 2 * (2 / 110) ** 0.5) < 0.03,
        abs(i.kaiming_uniform(w1).std() - (2 / 50) ** 0.5) < 0.02,
        abs(i.kaiming_normal(w1, 0, "fan_out").std() - (2 / 60) ** 0.5) < 0.02,
        abs(i.kaiming_normal(w1, 1).std() - (1 / 50) ** 0.5) < 0.02,
        (lambda q: q.t().mm(q).dist(legacy.eye(50)) < 1e-3)(i.orthogonal(w1)),
        (lambda q: q.mm(q.t()).dist(legacy.eye(3) * 4) < 1e-4)(i.orthogonal(legacy.ones(3, 2, 2),
        2).view(3, 4)), (i.sparse(w1, 0.5) == 0).sum(),
        (lambda z: z.sum(0).view(-1).max())((i.sparse(w1, 0.1, 2) == 0).float()),
        error_name(i.kaiming_normal, float_range(3, 3), 0, "no"),
        error_name(i.xavier_normal, float_range(3)), error_name(i.orthogonal, float_range(3)),
        error_name(i.sparse, float_range(1, 1, 1), 0.5),
        abs(i.xavier_normal(legacy.ones(20, 10, 3, 3)).std() - (2 / 270) ** 0.5) < 0.01]

def clip_grad_norm_data():
    c = legacy.nn.utils.clip_grad_norm
    v, u, w1 = (Variable(float_range(2), requires_grad=True) for _ in range(3))
    (v * 3 + u * 4).sum().backward()
    n = c([v, u, w1], 5)
    return n, v.grad.data, u.grad.data, w1.grad, c([v], 100), v.grad.data, c([v], 1,
        1), v.grad.data, c([v], 0.1, float("inf")), v.grad.data

# loaders
def tensor_dataset_sampler():
    D = legacy.utils.data
    s = D.TensorDataset(float_range(5, 1), legacy.LongTensor([0, 1, 2, 3, 4]))
    d = D.DataLoader(s, batch_size=2)
    return (len(s), s[1], len(d), [[x for x in b] for b in d], len(D.DataLoader(s, batch_size=5)),
        len(D.DataLoader(s)), error_name(D.TensorDataset, float_range(2), float_range(3)),
        [b[1] for b in D.DataLoader(s, 2, num_workers=2)],
        sorted(x for b in D.DataLoader(s, 2, shuffle=True) for x in b[1].tolist()),
        list(D.sampler.SequentialSampler(s)), sorted(D.sampler.RandomSampler(s)),
        len(D.sampler.RandomSampler(s)))

# rarer ways
def threshold_hardtanh():
    Fn = legacy.nn._functions
    found = []
    for f in (Fn.Threshold(1, 0, True), Fn.Hardtanh(0, 1, True), Fn.LeakyReLU(0.5, True),
        Fn.ELU(1, True), Fn.RReLU(0.5, 0.5, True, True), Fn.Dropout(0.5, True, True)):
        v = Variable(legacy.FloatTensor([-1, 0.5, 2]))
        u = f(v)
        found.append((u is v, v._version, f.inplace))
    return found, error_name(Fn.Threshold(1, 0, True), Variable(float_range(2), requires_grad=True))

def rre_lu_leaky_re_lu():
    Fn = legacy.nn._functions
    x = legacy.FloatTensor([-0.5, 0.25, 0.5])
    return [legacy_gradients(lambda v: f(v), x)
        for f in (Fn.LeakyReLU(0.5), Fn.ELU(0.5), Fn.RReLU(0.25, 0.75, False))], Fn.RReLU(0.25,
        0.75, False)(Variable(x)).data

legacy.nn.functional.fractional_max_pool2d(Variable(float_range(1, 1, 5, 5)), 2, None, 1.5)
legacy.nn.functional.upsample_nearest(Variable(float_range(1, 1, 2, 2)))
legacy.nn.functional.upsample_nearest(Variable(float_range(1, 1, 2, 2)), scale_factor=1.5)
legacy.nn.functional.adaptive_max_pool2d(Variable(float_range(2, 2, 2)), 1)
legacy.nn.functional.lp_pool2d(Variable(float_range(2, 2, 2)), 2, 1)

def xavier_normal_sparse():
    i = legacy.nn.init
    r = legacy.manual_seed(1)
    w1 = legacy.ones(60, 50)
    return abs(i.xavier_normal(w1).mean()) < 0.02, abs(
        i.kaiming_normal(w1).mean()) < 0.02, i.sparse(legacy.ones(5, 2),
        0.4).eq(0).sum(0), i.sparse(legacy.ones(2, 5), 0.5).eq(0).sum(0)

def cross_entropy_cosine_similarity():
    n = legacy.nn.Linear(2, 2)
    v = Variable(legacy.ones(1, 2), requires_grad=True)
    z = legacy.nn.functional.cross_entropy(n(v), Variable(legacy.LongTensor([1])))
    z.backward(retain_variables=True)
    z.backward()
    return error_name(z.backward), type(legacy.nn.functional.cosine_similarity(v,
        v).creator).__name__

def pairwise_distance_functional():
    v, u = Variable(float_range(2, 2), requires_grad=True), Variable(float_range(2, 2) * 2,
        requires_grad=True)
    y = legacy.nn.functional.pairwise_distance(v, u)
    c = y.creator
    n = len(c.saved_tensors)
    v.data.add_(1)
    w1 = v * 1
    z = legacy.nn.functional.pairwise_distance(w1, u)
    r = w1.add_(1)
    return n, c.name, z.sum().backward(), v.grad.data.clone(), u.grad.data.clone(), y.sum().backward(), v.grad.data, u.grad.data

# modules and functions with arguments that are left out, in their place, or odd
def data_parallel_device_ids():
    x = legacy.nn.DataParallel(legacy.nn.Linear(1, 1), [0], 0, dim=1)
    return [x.dim, legacy.nn.DataParallel(legacy.nn.Linear(1, 1)).dim, x.device_ids,
        x.output_device, x(Variable(float_range(2, 1))).size()]

legacy.nn.RNN(2, 2, nonlinearity="relu").nonlinearity
legacy.nn.RNN(2, 2).nonlinearity
error_name(lambda: legacy.nn.RNN(2, 2, nonlinearity="odd"))
legacy.nn.functional.fractional_max_pool2d(Variable(float_range(1, 1, 4, 4)), 2,
    output_ratio=(0.5, 1.0))
legacy.nn.functional.cosine_embedding_loss(Variable(float_range(2, 2)), Variable(float_range(2, 2)),
    Variable(float_range(2), requires_grad=True))

def pack_padded_sequence_batch_sizes():
    P = legacy.nn.utils.rnn
    x = P.pack_padded_sequence(Variable(float_range(3, 3, 1)), [2, 2, 1])
    return [x.data.data, x.batch_sizes, P.pad_packed_sequence(x)[1],
        error_name(lambda: P.pack_padded_sequence(Variable(float_range(3, 3, 1)), [1, 2, 2]))]
