"""Legacy layers: calls of the Python layer (`autograd_cy`)."""

import math

from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import error_name, float_range

DIFFERS = "The namespace for programs of 2017: layers where a bound is. Torch has none of it today."

def relu_hardtanh():
    F2, x = legacy.nn.functional, Variable(legacy.FloatTensor([-2, 0, 0.5, 1, 1.5, 5.5, 6, 7]))
    return [F2.relu(x).data, F2.relu6(x).data, F2.relu(x, True).data, F2.hardtanh(x).data,
        F2.threshold(x, 1, -1).data]

legacy.nn.functional.multi_margin_loss(Variable(float_range(2, 3)),
    Variable(legacy.LongTensor([0, 1])), p=3)

def diag_sign():
    def orthogonal(*size):
        r = legacy.manual_seed(1)
        found = legacy.nn.init.orthogonal(legacy.DoubleTensor(*size))
        r = legacy.manual_seed(1)
        drawn = legacy.DoubleTensor(*size).normal_()
        tall = drawn if size[0] >= size[1] else drawn.t()
        q, r = tall.contiguous().qr()
        q = q.mm(legacy.diag(r.diag().sign()))
        return found.dist(q if tall is drawn else q.t()) < 1e-9
    return [orthogonal(2, 2), orthogonal(3, 2), orthogonal(2, 3), orthogonal(1, 1)]

def double_gradcheck():
    x = Variable(float_range(2).double(), requires_grad=True)
    y = Variable(float_range(2, 3).t().double(), requires_grad=True)
    return [legacy.gradcheck(lambda a: a * 2, [x], 0.5, 0, 0),
        legacy.gradcheck(lambda a: (a * 2, float_range(2)), [x]),
        legacy.gradcheck(lambda a: (a * 2, float_range(2), Variable(float_range(2))), [x]),
        legacy.gradcheck(lambda a: a * a, [y]), y.data]

repr(legacy.nn.Conv2d(2, 4, 3))
repr(legacy.nn.Conv2d(2, 4, 3, dilation=2, groups=2, padding=1, bias=False))
repr(legacy.nn.Conv1d(2, 4, 3, dilation=(2,)))
repr(legacy.nn.ConvTranspose2d(2, 4, 3, output_padding=(0, 1), stride=2))
legacy.nn.Dropout(0)(Variable(float_range(2))).data
legacy.nn.Dropout(1)(Variable(float_range(2))).data
error_name(legacy.nn.Dropout, -0.1)
error_name(legacy.nn.Dropout, 1.1)
legacy.nn.Dropout2d(0)(Variable(float_range(1, 1, 1, 2))).data
legacy.nn.Dropout3d(1)(Variable(float_range(1, 1, 1, 1, 2))).data

def tanh_register_backward_hook():
    def wrong_hook(module, i, o):
        return 3
    n = legacy.nn.Tanh()
    h = n.register_backward_hook(wrong_hook)
    return n(Variable(float_range(1), requires_grad=True)).backward()

def clip_grad_norm_double_tensor():
    def clipped(grads, *limits):
        ps = [Variable(legacy.DoubleTensor(g), requires_grad=True) for g in grads]
        for p, g in zip(ps, grads):
            p._grad = Variable(legacy.DoubleTensor(g))
        return legacy.nn.utils.clip_grad_norm(ps, *limits), [p.grad.data for p in ps]
    found = clipped([[1, -3], [2]], 1.5, math.inf), clipped([[3], [4]], 6), clipped([[3], [4]], 9,
        1), clipped([[3], [4]], 5), clipped([[0]], 1), clipped([], 1)
    return [found, clipped([[2]], 1)[1][0][0] < 1, 1 - clipped([[2]], 1)[1][0][0] < 1e-6]

def save_load():
    import io
    import types
    other, file = types.ModuleType("other"), io.BytesIO()
    legacy.save(float_range(2), file)
    r = file.seek(0)
    return [error_name(lambda: legacy.save(float_range(1), io.BytesIO(), other)),
        error_name(lambda: legacy.load(file, None, other)), legacy.load(file)]
