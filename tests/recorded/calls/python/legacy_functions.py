"""Legacy functions: calls of the Python layer (`autograd_cy`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import error_name, float_range, legacy_gradients

DIFFERS = "The namespace for programs of 2017: functions, reductions, matrices. Torch has none of it today."

# what makes tensors
legacy.ones(2)
legacy.zeros((2, 1))
legacy.ones(legacy.Size([1]))
legacy.eye(2)
legacy.eye(2, 3)
legacy.range(1, 3)
legacy.range(0, 1, 0.5)
legacy.range(3, 1, -1)
legacy.range(1, 1)
legacy.range(0, 2.9)
legacy.linspace(0, 1, 3)
legacy.logspace(0, 1, 2)
legacy.linspace(0, 1).size()
legacy.logspace(0, 1).size()
legacy.range(1, 3, 0)
legacy.range(3, 1)
legacy.range(1, 3, -1)
legacy.range(0, math.inf)
legacy.range(0, math.nan)
legacy.range(0, 1e30)
legacy.rand(2, 3).size() == (2, 3)
legacy.randn(2).type()
legacy.randperm(5).sort()[0]
0 <= legacy.rand(50).min() < legacy.rand(50).max() < 1

def linspace_logspace():
    o = legacy.FloatTensor()
    return (legacy.ones(2, out=o) is o, o.clone(), legacy.zeros(3, out=o),
        legacy.eye(1, out=o) is o, legacy.range(1, 2, out=o).clone(),
        legacy.linspace(0, 1, 3, out=o).clone(), legacy.logspace(0, 1, 2, out=o).clone(),
        legacy.cat((float_range(1), float_range(1)), out=o).clone(),
        legacy.stack((float_range(1), float_range(1)), out=o) is o,
        legacy.add(float_range(2), 1, out=o) is o, o)

def size_randperm():
    o = legacy.LongTensor()
    return legacy.randperm(3, out=o) is o, o.size()

legacy.ones(2, out=legacy.DoubleTensor())
legacy.randperm(2, out=legacy.FloatTensor())
legacy.sum(float_range(2), out=legacy.FloatTensor())
legacy.max(float_range(2), 0, out=legacy.FloatTensor())
legacy.max(float_range(2), 0, out=(legacy.FloatTensor(),))
legacy.add(float_range(2), 1, out=(legacy.FloatTensor(), legacy.FloatTensor()))

def float_tensor_long_tensor():
    o = legacy.FloatTensor(), legacy.LongTensor()
    r = legacy.max(float_range(2, 2), 1, out=o)
    return r[0] is o[0], r[1] is o[1], o

legacy.from_numpy(np.arange(3.0))
legacy.from_numpy(np.arange(3)).type()
legacy.from_numpy(np.ones((1, 2), "uint8"))
legacy.from_numpy(np.array(1.0))
legacy.from_numpy(np.array([True]))
legacy.from_numpy(np.array([1j]))
legacy.cat((float_range(2), float_range(1)))
legacy.cat([float_range(2, 1), float_range(2, 1)], 1)
legacy.cat((float_range(1, 2), float_range(1, 2)), -1)
legacy.stack((float_range(2), float_range(2)))
legacy.stack((float_range(2), float_range(2)), 1)
legacy.cat(())
legacy.cat(float_range(2))
legacy.cat((float_range(2), 3))
legacy.cat((float_range(2), float_range(2).long()))
legacy.stack([])
legacy.cat((float_range(2), Variable(float_range(2))))
legacy.cat((Variable(float_range(2)), Variable(float_range(1)))).data
legacy.stack((Variable(float_range(2)), Variable(float_range(2))), 1).data
legacy.stack([Variable(float_range(2)), Variable(float_range(2))]).data
[x.data for x in legacy.split(Variable(float_range(3)), 2)]
[x.data for x in legacy.chunk(Variable(float_range(2, 2)), 2, 1)]
[x.data for x in legacy.unbind(Variable(float_range(2, 2)), 1)]
legacy.split(3, 1)
legacy.unbind(torch.ones(2).requires_grad_())

def normal_mean():
    r = legacy.manual_seed(2)
    x, y, z = legacy.normal(float_range(4000) * 0 + 5,
        2), legacy.normal(float_range(4000) * 0 + 5), legacy.normal(3, float_range(4000) * 0 + 2)
    return [abs(x.mean() - 5) < 0.2, abs(x.std() - 2) < 0.2, abs(y.mean() - 5) < 0.1,
        abs(y.std() - 1) < 0.1, abs(z.mean() - 3) < 0.2, abs(z.std() - 2) < 0.2]

legacy.normal(float_range(2, 2), legacy.zeros(4))
legacy.normal(float_range(2), legacy.zeros(2))
legacy.normal(3, legacy.zeros(2))
legacy.normal(1, 2)
legacy.normal(float_range(2), legacy.zeros(3))
legacy.normal(float_range(2), legacy.zeros(2).double())
legacy.Tensor().type(), legacy.Tensor is legacy.FloatTensor, legacy.Tensor([1, 2])

def set_default_tensor_type_float_tensor():
    legacy.set_default_tensor_type("torch.DoubleTensor")
    made = legacy.Tensor is legacy.DoubleTensor, legacy.ones(1).type(), torch.zeros(1).dtype
    legacy.set_default_tensor_type(legacy.FloatTensor)
    return made[:2], made[2] == torch.float64, legacy.Tensor is legacy.FloatTensor

legacy.set_default_tensor_type("torch.LongTensor")
legacy.set_default_tensor_type("LongTensor")

# functions of tensors and Variables
legacy.add(float_range(2), 1)
legacy.add(float_range(2), 2, float_range(2))
legacy.add(Variable(float_range(2)), 1).data
legacy.pow(2, float_range(2))
legacy.pow(2, Variable(float_range(2))).data
legacy.pow(float_range(2), 2)
legacy.addmm(float_range(2, 2), float_range(2, 2), float_range(2, 2))
legacy.addmm(2, float_range(2, 2), float_range(2, 2), float_range(2, 2))
legacy.addmm(2, float_range(2, 2), 3, float_range(2, 2), float_range(2, 2))
legacy.addmm(float_range(2, 2), 3, float_range(2, 2), float_range(2, 2))
legacy.addmm(2, Variable(float_range(2, 2)), 3, Variable(float_range(2, 2)),
    Variable(float_range(2, 2))).data
legacy.addmm(float_range(2, 2), float_range(2, 2), float_range(2, 2), beta=2, alpha=3)
legacy.addmv(2, float_range(2), 3, float_range(2, 2), float_range(2))
legacy.addr(2, float_range(2, 2), 3, float_range(2), float_range(2))
legacy.addbmm(2, float_range(2, 2), 3, float_range(1, 2, 2), float_range(1, 2, 2))
legacy.baddbmm(2, float_range(1, 2, 2), 3, float_range(1, 2, 2), float_range(1, 2, 2))
legacy.add()
legacy.addmm()
legacy.addmm(2)
legacy.add(3, 4)
legacy.add(Variable(float_range(2)), 1, out=legacy.FloatTensor())
legacy.add(float_range(2), Variable(float_range(2)))
error_name(lambda: legacy.histc(Variable(float_range(2))))
legacy.sign(torch.ones(2).requires_grad_())
legacy.abs.__name__
legacy.abs.__module__
legacy.abs.__doc__
legacy.addmm.__qualname__
legacy.ones.__name__
legacy.ones.__doc__
legacy_gradients(lambda a: legacy.cumsum(a, 0), float_range(3))
legacy_gradients(lambda a: legacy.cumprod(a, 0), float_range(3))
legacy_gradients(lambda a, b: legacy.atan2(a, b), float_range(2), float_range(2))
legacy_gradients(lambda a: legacy.trace(a), float_range(2, 2))
legacy_gradients(lambda a, b: legacy.cross(a, b), float_range(3), float_range(3) * float_range(3))
legacy.atan2(Variable(float_range(2)), Variable(float_range(3)))
legacy.cumsum(Variable(float_range(3)), 0).data
legacy.trace(Variable(float_range(2, 2))).data
type(legacy.cumsum(Variable(float_range(3), requires_grad=True), 0).creator).__name__
legacy.dist(float_range(2), float_range(2) * 2)
legacy.max(float_range(2))
legacy.max(float_range(2), legacy.FloatTensor([0, 3]))
legacy.numel(float_range(2, 3))
legacy.t(float_range(2, 3))
legacy.is_tensor(float_range(1))
legacy.is_tensor(Variable(float_range(1)))
legacy.is_storage(float_range(1).storage())
legacy.typename(float_range(1))

# reductions
float_range(2, 3).sum()
float_range(2, 3).long().sum()
(float_range(2).byte() + 254).sum()
(float_range(2).byte() + 254).sum(0)
float_range(2, 3).sum(1)
float_range(2, 3).sum(-2)
float_range(2, 3).prod()
float_range(2, 3).prod(0)
float_range(2, 3).byte().prod(0)
float_range(2, 3).mean()
float_range(2, 3).mean(1)
float_range(2).long().mean()
float_range(2).long().std()
float_range(2).long().var()
float_range(2).long().norm()
float_range(2).long().dist(float_range(2).long())
float_range(2).long().renorm(2, 0, 1)
float_range(2).long().histc()
float_range(2).dist(float_range(2).double())
float_range(2).max()
float_range(2, 3).min()
float_range(2, 3).max(1)
float_range(2, 3).min(0)
float_range(2).long().max(0)
float_range(2).long().max()
legacy.FloatTensor().max()
legacy.FloatTensor().min(0)
float_range(4).std()
float_range(4).var()
float_range(4).std(0)
float_range(2, 2).var(1)
float_range(2, 2).std(1, False)
float_range(4).var(unbiased=False)
float_range(4).var(0, False)
float_range(2, 2).norm()
float_range(2, 2).norm(1)
float_range(2, 2).norm(0)
float_range(2, 2).norm(2, 0)
float_range(2, 2).norm(1, 1)
float_range(2).dist(float_range(2) * 3)
float_range(2).dist(float_range(2) * 3, 1)
float_range(2, 1).dist(float_range(2) * 3)
float_range(2).dot(float_range(2))
float_range(2, 2).dot(float_range(4))
float_range(2, 2).trace()
float_range(2).long().dot(float_range(2).long())
float_range(2).dot(float_range(3))
float_range(2).dot(float_range(2).long())
float_range(2).trace()
legacy.ByteTensor([1, 1]).all()
legacy.ByteTensor([1, 0]).all()
legacy.ByteTensor([0, 0]).any()
legacy.ByteTensor([0, 1]).any()
float_range(2).all()
float_range(2).any()
float_range(3).cumsum(0)
float_range(3).cumprod(0)
float_range(3).byte().cumsum(0)
(float_range(3).byte() + 100).cumprod(0)
float_range(2, 2).cumsum(1)
float_range(2, 3).renorm(2, 0, 5)
float_range(2, 3).renorm(1, 1, 6)
float_range(2, 3).renorm_(2, 0, 5)
float_range(2, 3).renorm(2, 0, 100)
legacy.FloatTensor([[3, 4]]).renorm(2, 0, 5)
float_range(2).renorm(2, 0, 1)
float_range(4).histc(4)
float_range(4).histc(2, 1, 5)
float_range(4).histc(2, min=2, max=4)
float_range(4).histc().size()
float_range(4).mode()
float_range(2, 3).mode(0)
float_range(4).median()
float_range(4).kthvalue(2)
float_range(2, 3).kthvalue(1, 0)
(float_range(3) * -1).sort()
(float_range(3) * -1).sort(0, True)
float_range(3).topk(2)
float_range(3).topk(2, 0, False)
float_range(2, 3).topk(1, 0)

# products
float_range(2, 2).mm(float_range(2, 2))
float_range(1, 2, 2).bmm(float_range(1, 2, 2))
float_range(2, 2).mv(float_range(2))
float_range(2).ger(float_range(3))
float_range(2).mm(float_range(2, 2))
float_range(2, 2).mm(float_range(2))
float_range(2, 2).mv(float_range(2, 2))
float_range(2, 2).bmm(float_range(2, 2))
float_range(2, 2).ger(float_range(2))
float_range(2, 2).mm(float_range(2, 2).long())
float_range(2, 2).mm(float_range(3, 2))
[getattr(x, k)(*how, a, b) for how in ((), (2,), (2, 3))
    for k, x, a, b in (("addmm", float_range(2, 2), float_range(2, 3), float_range(3, 2)),
    ("addbmm", float_range(2, 2), float_range(2, 2, 3), float_range(2, 3, 2)),
    ("baddbmm", float_range(2, 2, 2), float_range(2, 2, 1), float_range(2, 1, 2)),
    ("addmv", float_range(2), float_range(2, 3), float_range(3)),
    ("addr", float_range(2, 3), float_range(2), float_range(3)),)]
[getattr(x, k + "_")(*how, a, b) is x for how in ((), (2,), (2, 3))
    for k, x, a, b in (("addmm", float_range(2, 2), float_range(2, 3), float_range(3, 2)),
    ("addbmm", float_range(2, 2), float_range(2, 2, 3), float_range(2, 3, 2)),
    ("baddbmm", float_range(2, 2, 2), float_range(2, 2, 1), float_range(2, 1, 2)),
    ("addmv", float_range(2), float_range(2, 3), float_range(3)),
    ("addr", float_range(2, 3), float_range(2), float_range(3)),)]
float_range(2, 2).addmm_(2, 3, float_range(2, 2), float_range(2, 2))
float_range(2).addmv_(2, 3, float_range(2, 2), float_range(2))
float_range(2, 2).addr_(2, 3, float_range(2), float_range(2))
float_range(2, 2).addbmm_(2, 3, float_range(1, 2, 2), float_range(1, 2, 2))
float_range(1, 2, 2).baddbmm_(2, 3, float_range(1, 2, 2), float_range(1, 2, 2))
float_range(2, 2).addmm(float_range(2, 2))
float_range(2, 2).addmm("a", float_range(2, 2), float_range(2, 2))
float_range(2, 2).addmm(1, 2, 3, float_range(2, 2), float_range(2, 2))
float_range(2, 2).addmm(float_range(2, 2), float_range(2))
float_range(2, 2).addmm(float_range(2, 2), float_range(2, 2).long())
float_range(2).addmm(float_range(2, 2), float_range(2, 2))
float_range(2, 2).long().addmm(1.5, float_range(2, 2).long(), float_range(2, 2).long())
float_range(2).addr(float_range(2), float_range(2))
float_range(2, 2).addbmm(float_range(2, 2), float_range(2, 2))
float_range(1, 2).baddbmm(float_range(1, 2, 2), float_range(1, 2, 2))
float_range(3).addmv(float_range(2, 2), float_range(2))
float_range(3).cross(legacy.FloatTensor([1, 0, 0]))
float_range(2, 3).cross(legacy.ones(2, 3))
float_range(3, 2).cross(legacy.ones(3, 2))
float_range(3, 3).cross(legacy.ones(3, 3), 1)
float_range(3, 3).cross(legacy.FloatTensor([[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
float_range(2, 3).cross(legacy.ones(2, 3), 1)
float_range(2).cross(float_range(2))
float_range(3).cross(float_range(3, 1))
float_range(2, 3).cross(float_range(2, 3), 0)
float_range(3).cross(float_range(3).double())

# matrices
def inverse_gesv():
    a = legacy.FloatTensor([[4, 1], [2, 3]])
    return a.inverse(), a.inverse().mm(a).round(), float_range(2,
        1).gesv(a)[0], float_range(2).gesv(a)[0], legacy.gesv(float_range(2, 1),
        a)[1], legacy.inverse(a.double())

float_range(2, 3).inverse()
float_range(2).inverse()
error_name(lambda: legacy.zeros(2, 2).inverse())
legacy.FloatTensor([[math.nan, 1], [1, 1]]).inverse()
float_range(2, 2).long().inverse()
float_range(2, 2).half().inverse().type()
float_range(2, 1).gesv(float_range(2, 3))
float_range(2, 1).gesv(legacy.zeros(2, 2))
float_range(2, 1).gesv(float_range(2, 2).double())
float_range(2, 1).gesv(3)
float_range(1, 2, 1).gesv(float_range(2, 2))
legacy.FloatTensor([[1], [2], [4]]).gels(legacy.FloatTensor([[1, 0], [1, 1], [1, 2]]))[0]
legacy.FloatTensor([1, 2, 4]).gels(legacy.FloatTensor([[1, 0], [1, 1], [1, 2]]))[0]
legacy.FloatTensor([[1], [2]]).gels(legacy.FloatTensor([[1, 0, 1], [0, 1, 1]]))[0]
legacy.FloatTensor([[1], [2], [4]]).gels(legacy.FloatTensor([[1, 0], [1, 1], [1, 2]]))[1].abs()
legacy.FloatTensor([[1], [2]]).gels(legacy.FloatTensor([[1, 0, 1], [0, 1, 1]]))[1].size()
error_name(lambda: legacy.FloatTensor([[1], [2]]).gels(legacy.zeros(2, 2)))

def trtrs_float_range():
    a = legacy.FloatTensor([[2, 1], [5, 4]])
    return float_range(2, 1).trtrs(a)[0], float_range(2, 1).trtrs(a, False)[0], float_range(2,
        1).trtrs(a, True, True)[0], float_range(2, 1).trtrs(a, True, False,
        True)[0], float_range(2).trtrs(a)[0], float_range(2, 1).trtrs(a)[1] is a

float_range(2, 1).trtrs(float_range(2, 3))
error_name(lambda: float_range(2, 1).trtrs(legacy.zeros(2, 2)))

def symeig_upper():
    a = legacy.FloatTensor([[2, 1], [5, 4]])
    return a.symeig()[0], a.symeig()[1], a.symeig(upper=False)[0], a.symeig(True)[0], a.symeig(
        True)[1].abs(), a.symeig(True, False)[0], a.symeig(True, False)[1].abs()

float_range(2, 3).symeig()

def float_tensor_numel():
    a = legacy.FloatTensor([[0, -1], [1, 0]])
    return a.eig()[0].abs(), a.eig()[1].numel(), legacy.FloatTensor([[2, 0],
        [0, 3]]).eig(True), legacy.FloatTensor([[2, 1], [0, 3]]).eig(True)[1].abs()

float_range(2, 3).eig()

def size_diag():
    u, s, v = float_range(3, 2).svd()
    return u.size(), v.size(), s, u.mm(legacy.diag(s)).mm(v.t()), [x.size()
        for x in float_range(3, 2).svd(False)]

def size_float_range():
    q, r = float_range(3, 2).qr()
    return q.size(), r.size(), q.mm(r), r[1, 0]

def triu_ormqr():
    p, tau = float_range(3, 2).geqrf()
    q = p.orgqr(tau)
    return q.mm(p[:2].triu()), p.ormqr(tau, legacy.eye(3))[:, :2].dist(q) < 1e-5, p.ormqr(tau, q,
        True, True).abs().round(), p.ormqr(tau, legacy.eye(3), False)[:,
        :2].dist(q) < 1e-5, p.ormqr(tau, legacy.eye(3)[:1], False).size(), p.ormqr(tau,
        legacy.eye(3)[:, :1].contiguous()).size()

def potrf_potrs():
    a = legacy.FloatTensor([[4, 2], [2, 5]])
    return a.potrf(), a.potrf(False), a.potrf().potri().mm(a), a.potrf(False).potri(False).mm(
        a), float_range(2, 1).potrs(a.potrf()), float_range(2).potrs(a.potrf(False),
        False), a.mm(float_range(2, 1).potrs(a.potrf()))

legacy.FloatTensor([[1, 2], [2, 1]]).potrf()
float_range(2, 3).potrf()
float_range(2, 3).potri()
float_range(2, 1).potrs(float_range(2, 3))
float_range(2, 3).pstrf()

def float_tensor_pstrf():
    a = legacy.FloatTensor([[4, 2], [2, 5]])
    return a.pstrf(), a.pstrf(False)

def float_tensor_pstrf_2():
    a = legacy.FloatTensor([[1, 1], [1, 1]])
    f, p = a.pstrf()
    return f[0], p

error_name(lambda: legacy.svd(Variable(float_range(2, 2))))

# printed
str(float_range(2))
str(float_range(2, 3))
str(legacy.FloatTensor())
str(legacy.LongTensor([1, 20]))
str(Variable(float_range(1)))
str(legacy.FloatTensor([1.5, math.nan, math.inf]))
str(legacy.FloatTensor([1e10, 1]))
str(legacy.FloatTensor([1e-5, 1]))
str(legacy.FloatTensor([0.5, 100]))
str(legacy.FloatTensor([0, 0]))
str(float_range(2, 2, 2))
str(float_range(3, 30))
str(legacy.ByteTensor([[1, 200]]))
str(legacy.HalfTensor([1.5]))
str(legacy.LongTensor([-5, 100]))
str(legacy.DoubleTensor([-0.5, 2]))
str(legacy.range(1, 2000))[:40]
str(legacy.range(1, 2000))[-60:]
len(str(legacy.range(1, 2000)).split())

# numbers of storages and of the module
def storage_tolist():
    s = float_range(3).storage()
    return len(s), s[1], s.tolist(), type(s).__name__

def float_storage_legacy():
    s = legacy.FloatStorage(3)
    return len(s), type(s).__name__

legacy.FloatStorage([1, 2]).tolist()
legacy.__version__
legacy.get_num_threads() > 0
legacy.cuda.is_available()
legacy.cuda.device_count()
