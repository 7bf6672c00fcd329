"""Legacy backward: calls of the Python layer (`autograd_cy`)."""

from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import error_name, float_range

DIFFERS = "Programs of 2017: backward, hooks, samples, checks. Torch has none of it today."

# backward
Variable(float_range(2), volatile=True).backward()
Variable(float_range(2), requires_grad=True).backward(3)
Variable(float_range(2), requires_grad=True).backward(float_range(3))
Variable(float_range(2), requires_grad=True).backward(float_range(2).double())

def variable_requires_grad():
    v = Variable(float_range(2), requires_grad=True)
    u = (v * v).sum()
    u.backward()
    return u.backward()

def variable_legacy():
    v = Variable(float_range(2), requires_grad=True)
    return legacy.backward([v, v], [float_range(2)])

legacy.backward([Variable(float_range(2), requires_grad=True)], [None])
legacy.backward([Variable(float_range(2))], [float_range(2)])
legacy.backward([Variable(float_range(2), volatile=True)], [float_range(2)])
legacy.backward([3], [float_range(2)])

# hooks
Variable(float_range(2), volatile=True).register_hook(print)
Variable(float_range(2)).register_hook(print)

def data_register_hook():
    v = Variable(float_range(2), requires_grad=True)
    u = v * 3
    with u.register_hook(lambda g: g * 10):
        u.backward(float_range(2))
    u.backward(float_range(2))
    return v.grad.data

def chunk_register_hook():
    v = Variable(float_range(2), requires_grad=True)
    a, b = v.chunk(2)
    h = b.register_hook(lambda g: g * 10)
    legacy.backward([a, b], [float_range(1), float_range(1)])
    a, b = v.chunk(2)
    h = b.register_hook(lambda g: g * 10)
    a.backward(float_range(1))
    return v.grad.data

def data_variable():
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    u._backward_hooks = {1: lambda g: g * 10}
    r = u.sum()
    del u
    r.backward()
    return v.grad.data

def variable_register_hook():
    v = Variable(float_range(2), requires_grad=True)
    h = v.register_hook(lambda g: 3)
    return v.backward(float_range(2))

def variable_register_hook_2():
    def named(g):
        return Variable(float_range(3))
    v = Variable(float_range(2), requires_grad=True)
    h = v.register_hook(named)
    return v.backward(float_range(2))

def register_hook_double():
    v = Variable(float_range(2), requires_grad=True)
    h = v.register_hook(lambda g: g.double())
    return v.backward(float_range(2))

def register_hook_creator():
    def one(i, o):
        return i[0]
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    h = u.creator.register_hook(one)
    return u.backward(float_range(2))

def register_hook_creator_2():
    def two(i, o):
        return i * 2
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    h = u.creator.register_hook(two)
    return u.backward(float_range(2))

def register_hook_creator_3():
    def bad(i, o):
        return (3,)
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    h = u.creator.register_hook(bad)
    return u.backward(float_range(2))

def register_hook_creator_4():
    def large(i, o):
        return (Variable(float_range(3)),)
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    h = u.creator.register_hook(large)
    return u.backward(float_range(2))

def register_hook_creator_5():
    v, w1 = Variable(float_range(2), requires_grad=True), Variable(float_range(2))
    u = v * w1
    seen = []
    h = u.creator.register_hook(lambda i, o: seen.append(i[1]) or (i[0], 3))
    return seen, error_name(u.backward, float_range(2))

def variable_creator():
    v, w1 = Variable(float_range(2), requires_grad=True), Variable(float_range(2))
    u = v * w1
    h = u.creator.register_hook(lambda i, o: (i[0] * 2, Variable(float_range(2))))
    u.backward(float_range(2))
    return v.grad.data, w1.grad

def register_hook_creator_6():
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    h = u.creator.register_hook(lambda i, o: (None,))
    return u.backward(float_range(2))

# samples
def num_samples_with_replacement():
    r = legacy.manual_seed(1)
    p = Variable(legacy.FloatTensor([[0.25, 0.75], [1, 3]]), requires_grad=True)
    s = p.multinomial(2, True)
    s.reinforce(2)
    s.backward()
    d = s.data
    want = legacy.zeros(2, 2)
    for i in range(2):
        for j in range(2):
            want[i, d[i, j]] -= 2 / ((0.25, 0.75)[d[i, j]] + 1e-6)
    return s.requires_grad, type(s.creator).__name__, s.data.type(), p.grad.data.dist(
        want) < 1e-4, s.creator.num_samples, s.creator.with_replacement, s.creator.num_outputs

def bernoulli_float_tensor():
    r = legacy.manual_seed(1)
    p = Variable(legacy.FloatTensor([0.25, 0.75, 0.5]), requires_grad=True)
    s = p.bernoulli()
    s.reinforce(legacy.FloatTensor([1, 2, 3]))
    s.backward()
    want = (p.data - s.data) / (p.data * (1 - p.data) + 1e-6) * legacy.FloatTensor([1, 2, 3])
    return s.requires_grad, p.grad.data.dist(want) < 1e-5, p.multinomial().size(), Variable(
        legacy.FloatTensor([0, 1])).bernoulli().data

def view_dist():
    r = legacy.manual_seed(1)
    m1, d = Variable(legacy.FloatTensor([1, 2]),
        requires_grad=True), Variable(legacy.FloatTensor([[0.5], [2]]), requires_grad=True)
    s = legacy.normal(m1, d)
    s.reinforce(3)
    s.backward()
    away, std = m1.data - s.data, d.data.view(2)
    return m1.grad.data.dist(away / (std * std + 1e-6)
        * 3) < 1e-5, d.grad.data.view(2).dist((1 / (std + 1e-6) - away * away
        / (std * std * std + 1e-6)) * 3) < 1e-5, d.grad.size()

legacy.normal(Variable(float_range(2)), 0)
legacy.normal(Variable(float_range(2)), -1)
legacy.normal(Variable(float_range(2)), float_range(2))
legacy.normal(float_range(2), Variable(float_range(2)))
legacy.autograd._functions.Normal()(Variable(float_range(2)))

def bernoulli_float_tensor_2():
    s = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True).bernoulli()
    return s.backward()

def bernoulli_reinforce():
    s = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True).bernoulli()
    s.reinforce(1)
    return s.reinforce(1)

def reinforce_retain_variables():
    s = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True).bernoulli()
    s.reinforce(1)
    s.backward(retain_variables=True)
    s.backward()
    return s.backward()

def reinforce_long():
    s = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True).bernoulli()
    return s.reinforce(float_range(2).long())

def bernoulli_reinforce_2():
    s = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True).bernoulli()
    return s.reinforce(float_range(2, 1))

def bernoulli_reinforce_3():
    s = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True).bernoulli()
    return s.reinforce("a")

(Variable(float_range(2), requires_grad=True) * 2).reinforce(1)

# checks of gradients
legacy.gradcheck(lambda a: a * a, [Variable(float_range(3).double(), requires_grad=True)])
legacy.gradcheck(lambda a, b: (a * b, a + 1),
    (Variable(float_range(2).double(), requires_grad=True), Variable(float_range(2).double())))
legacy.gradcheck(lambda a: a.detach() * 2, [Variable(float_range(2).double(), requires_grad=True)])
legacy.gradcheck(lambda a: [a * 2], [Variable(float_range(2).double(), requires_grad=True)])

def gradcheck_double():
    class Shifted(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            return g * 2 + 1e-7
    return legacy.gradcheck(Shifted(), [Variable(float_range(2).double(), requires_grad=True)])

def get_numerical_jacobian_make_jacobian():
    c = legacy.autograd.gradcheck
    import sys
    c = sys.modules["autograd_cy.legacy.autograd.gradcheck"]
    v = Variable(float_range(2).double(), requires_grad=True)
    u = Variable(float_range(2, 2).t().double())
    return (c.get_numerical_jacobian(lambda x: x[0] * x[0], [v], v),
        c.get_numerical_jacobian(lambda x: x[0] * x[0], [v], v, 0.5),
        c.get_analytical_jacobian((v,), v * v), len(
        list(c.iter_tensors([v, (u, float_range(1)), 3]))),
        len(list(c.iter_tensors([v, u, float_range(1)], True))),
        [g for g, _ in c.iter_variables((v, u))], c.make_jacobian((v, [u], float_range(1)), 3),
        c.make_jacobian([u], 3), c.contiguous([u, "a", float_range(2, 2).t()])[0] is u,
        u.data.stride(), c.contiguous([float_range(2, 2).t()])[0].stride(),)

# programs that have several threads, and memory
def add_live():
    a, b = Variable(float_range(2), requires_grad=True) * 1, Variable(float_range(2)) * 1
    r = a.add_(1)
    s = b.view(2)
    class One(legacy.Function):
        def forward(self, x, y):
            return x * 2
    from autograd_cy.legacy.autograd._versions import share
    share(b, a)
    return a._version, b._version, s._version, a._ver is b._ver, a._ver.live(), error_name(s.add_,
        1)

# rarer ways
def inplace_getattr():
    F3 = legacy.autograd._functions
    names = ("Add", "Sub"), ("AddConstant", "SubConstant", "MulConstant", "DivConstant"), ("Exp",
        "Tanh", "Sigmoid", "Negate", "Rsqrt"), ("Addcmul", "Addcdiv")
    found = []
    for n in names[0]:
        v = Variable(float_range(2))
        found.append(getattr(F3, n)(True)(v, Variable(float_range(2))) is v)
    for n in names[1]:
        v = Variable(float_range(2))
        found.append(getattr(F3, n)(2, inplace=True)(v) is v)
    for n in names[2]:
        v = Variable(float_range(2))
        found.append(getattr(F3, n)(True)(v) is v)
    for n in names[3]:
        v = Variable(float_range(2))
        found.append(getattr(F3, n)(2, True)(v, Variable(float_range(2)),
            Variable(float_range(2))) is v)
    for n, a, b in (("Addmm", float_range(2, 2), float_range(2, 2)),
        ("Addmv", float_range(2, 2), float_range(2)), ("Addr", float_range(2), float_range(2)),
        ("Addbmm", float_range(1, 2, 2), float_range(1, 2, 2)),
        ("Baddbmm", float_range(1, 2, 2), float_range(1, 2, 2))):
        v = Variable(float_range(2) if n == "Addmv" else float_range(1, 2, 2) if n == "Baddbmm"
            else float_range(2, 2))
        found.append(getattr(F3, n)(2, 3, True)(v, Variable(a), Variable(b)) is v)
    return found

def sub_div():
    found = []
    for f in (lambda v: v.add_(1), lambda v: v.add_(Variable(float_range(2))), lambda v: v.sub_(1),
        lambda v: v.sub_(Variable(float_range(2))), lambda v: v.mul_(2), lambda v: v.div_(2),
        lambda v: v.exp_(), lambda v: v.neg_(), lambda v: v.tanh_(), lambda v: v.sigmoid_(),
        lambda v: v.masked_fill_(Variable(legacy.ByteTensor([1, 0])), 3),
        lambda v: v.masked_copy_(Variable(legacy.ByteTensor([1, 0])),
        Variable(float_range(1) * 9))):
        v = Variable(float_range(2))
        u = f(v)
        found.append((u is v, v._version, v.data))
    return found

def index_select_shared_pairs():
    found = []
    for f in (lambda v: v.exp(), lambda v: v * v, lambda v: v.max(0), lambda v: v.sort(),
        lambda v: v.view(2, 1), lambda v: v.chunk(2),
        lambda v: v.index_select(0, Variable(legacy.LongTensor([0])))):
        for flags in ({"requires_grad": True}, {}, {"volatile": True}):
            y = f(Variable(float_range(2), **flags))
            y = y if isinstance(y, tuple) else (y,)
            c = y[0].creator
            found.append((c and (c.to_save, c.non_differentiable, c.shared_pairs, c.dirty_tensors,
                len(c.saved_tensors), c.num_outputs), [x.output_nr for x in y],
                [x.volatile for x in y], [x.requires_grad for x in y]))
    return found

def creator_volatile():
    v = Variable(float_range(3))
    v.detach_()
    u = Variable(float_range(2), requires_grad=True) * 2
    u.detach_()
    a = u.detach()
    return v.creator, u.creator, u.requires_grad, a.creator, a.requires_grad, a.data, u.output_nr, (
        Variable(float_range(2), volatile=True).detach()).volatile

legacy.backward([Variable(float_range(1), requires_grad=True)], None)
legacy.backward([Variable(float_range(1), requires_grad=True)], float_range(1))
legacy.backward(Variable(float_range(1), requires_grad=True), Variable(float_range(1)))

def live_version():
    a, b = Variable(float_range(2)), Variable(float_range(2))
    c, d = a.view(2), b.view(2)
    class One(legacy.Function):
        def forward(self, x, y):
            self.save_for_backward(x)
            return x * 2
    f = One()
    u = f(c, Variable(float_range(2), requires_grad=True))
    from autograd_cy.legacy.autograd._versions import Version, share, version_of
    share(d, c)
    n = c._ver.live()
    del a, b
    before = f.saved_tensors
    v = version_of(c)
    v.increase()
    return n, c._ver is d._ver, c._version, len(before), error_name(
        lambda: f.saved_tensors), Version().live(), v.live()

def float_storage_long_storage():
    s = legacy.FloatStorage([1, 2, 3])
    s[0], s[-1] = 5, 7
    s[1:2] = 6
    return (s.tolist(), s[-3], error_name(lambda: s[3]), error_name(lambda: s[-4]), s[1:],
        s.fill_(2).tolist(), s.copy_(legacy.LongStorage([1, 2, 3])).tolist(),
        error_name(s.copy_, legacy.FloatStorage(2)), s.type(), s.type("torch.LongStorage").tolist(),
        s.type(legacy.FloatStorage) is s, s.clone().tolist(), s.new(2).type(), list(s))

float_range(3).kthvalue(1, None)
float_range(2, 3).kthvalue(2, None)
float_range(2, 3).mode(None)
error_name(float_range(3).kthvalue, 0)
error_name(float_range(3).kthvalue, 4)
float_range(3).kthvalue(3)[0]
error_name(legacy.FloatTensor, Variable(float_range(2)))
error_name(legacy.FloatTensor, float_range(2).long())
legacy.FloatTensor(float_range(2))
legacy.LongTensor([1, 2])
error_name(legacy.LongTensor, [1.5])
error_name(legacy.LongTensor, [1.0])
legacy.LongTensor([]).numel()
legacy.LongTensor(2).size()
legacy.FloatTensor(legacy.Size([2])).size()
legacy.FloatTensor(float_range(3).storage())
float_range(2).requires_grad
error_name(float_range(2).requires_grad_)
float_range(2).requires_grad_(False)
error_name(setattr, float_range(2), "requires_grad", True)
float_range(2).data
