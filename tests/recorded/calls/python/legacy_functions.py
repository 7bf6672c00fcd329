"""Legacy functions: calls of the Python layer (`autograd_cy`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import error_name, float_range, legacy_gradients

DIFFERS = "The namespace for programs of 2017: functions, reductions, matrices. Torch has none of it today."

# what makes tensors
legacy.range(1, 3, 0)
legacy.range(3, 1)
legacy.range(1, 3, -1)
legacy.range(0, math.inf)
legacy.range(0, math.nan)
legacy.range(0, 1e30)
legacy.ones(2, out=legacy.DoubleTensor())
legacy.randperm(2, out=legacy.FloatTensor())
legacy.sum(float_range(2), out=legacy.FloatTensor())
legacy.max(float_range(2), 0, out=legacy.FloatTensor())
legacy.max(float_range(2), 0, out=(legacy.FloatTensor(),))
legacy.add(float_range(2), 1, out=(legacy.FloatTensor(), legacy.FloatTensor()))
legacy.from_numpy(np.array(1.0))
legacy.from_numpy(np.array([True]))
legacy.from_numpy(np.array([1j]))
legacy.cat(())
legacy.cat(float_range(2))
legacy.cat((float_range(2), 3))
legacy.cat((float_range(2), float_range(2).long()))
legacy.stack([])
legacy.cat((float_range(2), Variable(float_range(2))))
legacy.split(3, 1)
legacy.unbind(torch.ones(2).requires_grad_())
legacy.normal(1, 2)
legacy.normal(float_range(2), legacy.zeros(3))
legacy.normal(float_range(2), legacy.zeros(2).double())
legacy.set_default_tensor_type("torch.LongTensor")
legacy.set_default_tensor_type("LongTensor")

# functions of tensors and Variables
legacy.addmm(float_range(2, 2), float_range(2, 2), float_range(2, 2), beta=2, alpha=3)
legacy.addmv(2, float_range(2), 3, float_range(2, 2), float_range(2))
legacy.addr(2, float_range(2, 2), 3, float_range(2), float_range(2))
legacy.addbmm(2, float_range(2, 2), 3, float_range(1, 2, 2), float_range(1, 2, 2))
legacy.baddbmm(2, float_range(1, 2, 2), 3, float_range(1, 2, 2), float_range(1, 2, 2))
legacy.addmm(2)
legacy.add(3, 4)
legacy.add(Variable(float_range(2)), 1, out=legacy.FloatTensor())
legacy.add(float_range(2), Variable(float_range(2)))
error_name(lambda: legacy.histc(Variable(float_range(2))))
legacy.sign(torch.ones(2).requires_grad_())
legacy_gradients(lambda a: legacy.cumsum(a, 0), float_range(3))
legacy_gradients(lambda a: legacy.cumprod(a, 0), float_range(3))
legacy_gradients(lambda a, b: legacy.atan2(a, b), float_range(2), float_range(2))
legacy_gradients(lambda a: legacy.trace(a), float_range(2, 2))
legacy_gradients(lambda a, b: legacy.cross(a, b), float_range(3), float_range(3) * float_range(3))
legacy.atan2(Variable(float_range(2)), Variable(float_range(3)))

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
float_range(2).long().std()
float_range(2).long().var()
float_range(2).long().norm()
float_range(2).long().dist(float_range(2).long())
float_range(2).long().renorm(2, 0, 1)
float_range(2).long().histc()
float_range(2).dist(float_range(2).double())
float_range(2).dot(float_range(2))
float_range(2, 2).dot(float_range(4))
float_range(2, 2).trace()
float_range(2).long().dot(float_range(2).long())
float_range(2).dot(float_range(3))
float_range(2).dot(float_range(2).long())
float_range(2).trace()
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
float_range(2).mm(float_range(2, 2))
float_range(2, 2).mv(float_range(2, 2))
float_range(2, 2).bmm(float_range(2, 2))
float_range(2, 2).ger(float_range(2))
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
float_range(2, 2).addmm("a", float_range(2, 2), float_range(2, 2))
float_range(2, 2).addmm(float_range(2, 2), float_range(2))
float_range(2, 2).addmm(float_range(2, 2), float_range(2, 2).long())
float_range(2, 2).long().addmm(1.5, float_range(2, 2).long(), float_range(2, 2).long())
float_range(2).addr(float_range(2), float_range(2))
float_range(2, 2).addbmm(float_range(2, 2), float_range(2, 2))
float_range(1, 2).baddbmm(float_range(1, 2, 2), float_range(1, 2, 2))
float_range(3).addmv(float_range(2, 2), float_range(2))
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
error_name(lambda: legacy.FloatTensor([[1], [2]]).gels(legacy.zeros(2, 2)))
float_range(2, 1).trtrs(float_range(2, 3))
error_name(lambda: float_range(2, 1).trtrs(legacy.zeros(2, 2)))
float_range(2, 3).symeig()
float_range(2, 3).eig()

def triu_ormqr():
    p, tau = float_range(3, 2).geqrf()
    q = p.orgqr(tau)
    return q.mm(p[:2].triu()), p.ormqr(tau, legacy.eye(3))[:, :2].dist(q) < 1e-5, p.ormqr(tau, q,
        True, True).abs().round(), p.ormqr(tau, legacy.eye(3), False)[:,
        :2].dist(q) < 1e-5, p.ormqr(tau, legacy.eye(3)[:1], False).size(), p.ormqr(tau,
        legacy.eye(3)[:, :1].contiguous()).size()

legacy.FloatTensor([[1, 2], [2, 1]]).potrf()
float_range(2, 3).potrf()
float_range(2, 3).potri()
float_range(2, 1).potrs(float_range(2, 3))
float_range(2, 3).pstrf()

def float_tensor_pstrf():
    a = legacy.FloatTensor([[1, 1], [1, 1]])
    f, p = a.pstrf()
    return f[0], p

error_name(lambda: legacy.svd(Variable(float_range(2, 2))))

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
