"""Legacy backward: calls of the Python layer (`autograd_cy`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import error_name, float_range

DIFFERS = "Programs of 2017: backward, hooks, samples, checks. Torch has none of it today."

# backward
Variable(float_range(2), volatile=True).backward()
Variable(float_range(2), requires_grad=True).backward()
Variable(float_range(1)).backward()
Variable(float_range(2), requires_grad=True).backward(3)
Variable(float_range(2), requires_grad=True).backward(float_range(3))
Variable(float_range(2), requires_grad=True).backward(float_range(2).double())

def volatile_float_range():
    v = Variable(float_range(2), requires_grad=True)
    v.backward(float_range(2))
    g = v.grad
    v.backward(Variable(float_range(2)))
    v.backward(float_range(2, 1))
    return g is v.grad, g.data, g.volatile, g.requires_grad

def data_is_contiguous():
    v = Variable(float_range(2), requires_grad=True)
    w1 = float_range(2)
    v.backward(w1)
    v.backward(w1)
    return w1, v.grad.data, v.grad.data.is_contiguous()

def variable_float_range():
    v = Variable(float_range(2), requires_grad=True)
    u = (v * v).sum()
    u.backward()
    return u.backward()

def retain_variables_data():
    v = Variable(float_range(2), requires_grad=True)
    u = (v * v).sum()
    u.backward(retain_variables=True)
    u.backward(None, True)
    u.backward()
    return v.grad.data, error_name(u.backward)

def data_float_range():
    v = Variable(float_range(2), requires_grad=True)
    u = v + 1
    u.backward(float_range(2))
    u.backward(float_range(2))
    return v.grad.data

def data_variable():
    v, u = Variable(float_range(2), requires_grad=True), Variable(float_range(2),
        requires_grad=True)
    legacy.backward([v * u, v * 2, Variable(float_range(2)), v.sum()],
        [float_range(2), Variable(float_range(2)), None, None])
    return v.grad.data, u.grad.data

def float_range_legacy():
    v = Variable(float_range(2), requires_grad=True)
    return legacy.backward([v, v], [float_range(2)])

legacy.backward([Variable(float_range(2), requires_grad=True)], [None])
legacy.backward([Variable(float_range(2))], [float_range(2)])
legacy.backward([Variable(float_range(2), volatile=True)], [float_range(2)])
legacy.backward([3], [float_range(2)])

def data_float_range_2():
    v = Variable(float_range(1), requires_grad=True)
    y = v * 2
    legacy.backward([y, y], [float_range(1), float_range(1)])
    return v.grad.data

def run_backward_volatile():
    e = Variable._execution_engine
    return [error_name(e.run_backward, *a, False)
        for a in (([Variable(float_range(1))], (float_range(1),)),
        ((Variable(float_range(1)),), [float_range(1)]), ((Variable(float_range(1)),), ()),
        ((3,), (float_range(1),)), ((Variable(float_range(1), volatile=True),), (float_range(1),)),
        ((Variable(float_range(1), requires_grad=True),), (3,)),
        ((Variable(float_range(1)),), (float_range(1),)),
        ((Variable(float_range(1), requires_grad=True),), (None,)),)]

def run_backward_execution_engine():
    v = Variable(float_range(1), requires_grad=True)
    a = v * 2
    b = a * 3 + a * 5
    c = Variable(float_range(1), requires_grad=True)
    Variable._execution_engine.run_backward((b, a, c, Variable(float_range(1))),
        (float_range(1), Variable(float_range(1)), float_range(1), float_range(1)), False)
    return v.grad.data, c.grad.data

def note_order():
    order = []
    class Note(legacy.Function):
        def __init__(self, name):
            self.name = name
        def forward(self, x):
            return x * 1
        def backward(self, g):
            order.append(self.name)
            return g
    v = Variable(float_range(1), requires_grad=True)
    a, b = Note("a")(v), Note("b")(v)
    legacy.backward([a, b, Note("c")(a)], [float_range(1)] * 3)
    return order, v.grad.data

# hooks
Variable(float_range(2), volatile=True).register_hook(print)
Variable(float_range(2)).register_hook(print)

def seen_remove():
    v = Variable(float_range(2), requires_grad=True)
    seen = []
    h = v.register_hook(lambda g: seen.append((type(g).__name__, g.volatile, g.requires_grad))
        or g * 2)
    k = v.register_hook(lambda g: g + 1)
    (v * 3).backward(float_range(2))
    h.remove()
    v.backward(float_range(2))
    return v.grad.data, seen, k.id - h.id

def float_range_register_hook():
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

def backward_hooks_data():
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    u._backward_hooks = {1: lambda g: g * 10}
    r = u.sum()
    del u
    r.backward()
    return v.grad.data

def register_hook_float_range():
    v = Variable(float_range(2), requires_grad=True)
    h = v.register_hook(lambda g: 3)
    return v.backward(float_range(2))

def named_float_range():
    def named(g):
        return Variable(float_range(3))
    v = Variable(float_range(2), requires_grad=True)
    h = v.register_hook(named)
    return v.backward(float_range(2))

def float_range_double():
    v = Variable(float_range(2), requires_grad=True)
    h = v.register_hook(lambda g: g.double())
    return v.backward(float_range(2))

def seen_creator():
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    seen = []
    h = u.creator.register_hook(lambda i, o: seen.append((i[0].data, o[0].data, i[0].volatile)))
    k = u.creator.register_hook(lambda i, o: (i[0] * 10,))
    u.backward(float_range(2))
    return v.grad.data, seen, k.id - h.id

def float_range_creator():
    def one(i, o):
        return i[0]
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    h = u.creator.register_hook(one)
    return u.backward(float_range(2))

def float_range_creator_2():
    def two(i, o):
        return i * 2
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    h = u.creator.register_hook(two)
    return u.backward(float_range(2))

def float_range_creator_3():
    def bad(i, o):
        return (3,)
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    h = u.creator.register_hook(bad)
    return u.backward(float_range(2))

def large_float_range():
    def large(i, o):
        return (Variable(float_range(3)),)
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    h = u.creator.register_hook(large)
    return u.backward(float_range(2))

def seen_float_range():
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

def float_range_creator_4():
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    h = u.creator.register_hook(lambda i, o: (None,))
    return u.backward(float_range(2))

# samples
def want_with_replacement():
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

def want_bernoulli():
    r = legacy.manual_seed(1)
    p = Variable(legacy.FloatTensor([0.25, 0.75, 0.5]), requires_grad=True)
    s = p.bernoulli()
    s.reinforce(legacy.FloatTensor([1, 2, 3]))
    s.backward()
    want = (p.data - s.data) / (p.data * (1 - p.data) + 1e-6) * legacy.FloatTensor([1, 2, 3])
    return s.requires_grad, p.grad.data.dist(want) < 1e-5, p.multinomial().size(), Variable(
        legacy.FloatTensor([0, 1])).bernoulli().data

def away_dist():
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

def dist_norm():
    r = legacy.manual_seed(1)
    m1 = Variable(legacy.FloatTensor([1, 2]), requires_grad=True)
    s = legacy.normal(m1, 0.001)
    s.reinforce(3)
    s.backward()
    return m1.grad.data.dist((m1.data - s.data) / (1e-6 + 1e-6)
        * 3) < 1e-2 * m1.grad.data.norm(), abs(s.data[0]
        - 1) < 0.01, legacy.normal(Variable(float_range(2))).data.type()

legacy.normal(Variable(float_range(2)), 0)
legacy.normal(Variable(float_range(2)), -1)
legacy.normal(Variable(float_range(2)), float_range(2))
legacy.normal(float_range(2), Variable(float_range(2)))
legacy.autograd._functions.Normal(2)(Variable(float_range(2)), Variable(float_range(2)))
legacy.autograd._functions.Normal()(Variable(float_range(2)))

def bernoulli_float_tensor():
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

def reinforce_double():
    s = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True).bernoulli()
    return [error_name(s.reinforce, x) for x in ("a", Variable(float_range(2)),
        float_range(2).double(), float_range(3), torch.ones(2))]

def reinforce_long():
    s = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True).bernoulli()
    return s.reinforce(float_range(2).long())

def bernoulli_reinforce_2():
    s = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True).bernoulli()
    return s.reinforce(float_range(2, 1))

def bernoulli_reinforce_3():
    s = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True).bernoulli()
    return s.reinforce("a")

Variable(float_range(2)).reinforce(1)
(Variable(float_range(2), requires_grad=True) * 2).reinforce(1)

def bernoulli_reinforce_4():
    p = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True)
    s = p.bernoulli()
    t1 = (s * 2).add(p)
    s.reinforce(1)
    t1.backward(float_range(2))
    return p.grad is None, p.grad.data.abs().gt(1.5).all()

def bernoulli_reinforce_5():
    p = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True)
    s = p.bernoulli()
    u = s * 2 + p
    r = error_name(u.backward, float_range(2))
    g = p.grad
    s.reinforce(0)
    u.backward(float_range(2))
    return r, g, p.grad.data

# checks of gradients
legacy.gradcheck(lambda a: a * a, [Variable(float_range(3).double(), requires_grad=True)])
legacy.gradcheck(lambda a, b: (a * b, a + 1),
    (Variable(float_range(2).double(), requires_grad=True), Variable(float_range(2).double())))
legacy.gradcheck(lambda a: a.detach() * 2, [Variable(float_range(2).double(), requires_grad=True)])
legacy.gradcheck(lambda a: [a * 2], [Variable(float_range(2).double(), requires_grad=True)])

def wrong_rtol():
    class Wrong(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            return g * 2.01
    x = [Variable(float_range(2).double(), requires_grad=True)]
    return legacy.gradcheck(Wrong(), x), legacy.gradcheck(Wrong(), x,
        rtol=0.01), legacy.gradcheck(Wrong(), x, atol=0.02, rtol=0), legacy.gradcheck(Wrong(), x,
        1e-6, 0.005, 0), legacy.gradcheck(lambda a: (a * 2, Wrong()(a)),
        x), legacy.gradcheck(Wrong(), [Variable(float_range(2).double())])

def shifted_gradcheck():
    class Shifted(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            return g * 2 + 1e-7
    return legacy.gradcheck(Shifted(), [Variable(float_range(2).double(), requires_grad=True)])

def turns_count():
    class Turns(legacy.Function):
        count = 0
        def forward(self, x):
            return x * 2
        def backward(self, g):
            Turns.count += 1
            return g * (2 + 1e-9 * Turns.count)
    return legacy.gradcheck(Turns(), [Variable(float_range(2).double(), requires_grad=True)])

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
def creator_weakref():
    import weakref
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    f = weakref.ref(u.creator)
    del u
    return f() is None

def live_ver():
    v = Variable(float_range(2))
    a, b = v.view(2), v.view(2)
    s = v._ver.live()
    del a
    return s, v._ver.live(), [error_name(v.add_, 1)], (lambda: v._ver is b._ver)()

def ver_sharers():
    v = Variable(float_range(2))
    kept = [v.view(2) for _ in range(40)]
    del kept[5:]
    more = [v.view(2) for _ in range(40)]
    return v._ver.live(), len(v._ver._sharers) <= 128

def ver_live():
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
def names_getattr():
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

def plain_trusted():
    class Own(legacy.autograd._functions.Exp):
        def __call__(self, *x):
            return super().__call__(*x), "mine"
    class Plain(legacy.autograd._functions.Exp):
        def forward(self, x):
            return x * 3
    class Counted(legacy.Function):
        def __init_subclass__(cls, kind, **more):
            super().__init_subclass__(**more)
            cls.kind = kind
    class Third(Counted, kind=3):
        pass
    return (Own()(Variable(legacy.zeros(1)))[0].data, Own()(Variable(legacy.zeros(1)))[1],
        Plain()(Variable(legacy.ones(1))).data, Own._trusted, Plain._trusted,
        legacy.autograd._functions.Exp._trusted, Third.kind,
        error_name(type, "A", (legacy.Function,), {}) is None,
        [error_name(lambda: type("A", (legacy.Function,), {}, kind=3))],)

def creator_volatile():
    v = Variable(float_range(3))
    v.detach_()
    u = Variable(float_range(2), requires_grad=True) * 2
    u.detach_()
    a = u.detach()
    return v.creator, u.creator, u.requires_grad, a.creator, a.requires_grad, a.data, u.output_nr, (
        Variable(float_range(2), volatile=True).detach()).volatile

def grad_backward_hooks():
    v = Variable(float_range(2, 3))
    v._grad = None
    v._backward_hooks = None
    return v.grad, v._backward_hooks, error_name(lambda: v[torch.tensor([1.0])])

legacy.backward([Variable(float_range(1), requires_grad=True)], None)
legacy.backward([Variable(float_range(1), requires_grad=True)], float_range(1))
legacy.backward(Variable(float_range(1), requires_grad=True), Variable(float_range(1)))

def data_float_range_3():
    v = Variable(float_range(1), requires_grad=True)
    legacy.backward(v * 2, [float_range(1)])
    return v.grad.data

def live_ver_2():
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

def argmax_array():
    x = float_range(2)
    x.data = float_range(3)
    return x, np.asarray(x, dtype="float32") is not None, np.array(x,
        dtype="int32").tolist(), x.argmax() if hasattr(x,
        "argmax") else 0, type(x.flatten()).__name__

def share_memory_is_shared():
    x = float_range(2, 2).t()
    x.share_memory_()
    return x, x.is_shared(), float_range(2).is_shared(), x.share_memory_() is x, x.stride()
