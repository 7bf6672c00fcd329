"""Legacy tensors: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import float_range

DIFFERS = "The namespace for programs of 2017: tensors. Torch has none of it today."

# pointwise: numbers, tensors of as many elements, scales first
float_range(2).add("a")
float_range(2).add()
float_range(2).add(float_range(2).long())
float_range(2).add(float_range(3))
float_range(2).add(torch.ones(2).requires_grad_())
float_range(2).add(1j)
float_range(2).long().add(2.5)
(float_range(3).long() - 5).div(2)
(float_range(3).long() - 5).div_(2)
(float_range(3).long() - 5).div(float_range(3).long())
float_range(2).div(float_range(3))
float_range(2).div_("a")
float_range(2).long().round()
float_range(2).long().round_()
float_range(2).long().sqrt()
float_range(2).long().sqrt_()
float_range(2).atan2(float_range(2))
float_range(2).atan2_(legacy.ones(2))
float_range(2, 1).atan2(legacy.ones(2))
float_range(2).long().atan2(float_range(2).long())
float_range(2).atan2(float_range(2).double())
float_range(2).long().lerp(float_range(2).long(), 0.5)
float_range(3).clamp_min(2)
float_range(3).clamp_min_(2)
float_range(3).clamp_max(2)
float_range(3).clamp_max_(2)
float_range(2).addcdiv(float_range(2), float_range(2))
float_range(2).addcdiv(3, float_range(2), float_range(2))
float_range(2).addcdiv_(3, float_range(2), float_range(2))
float_range(2).addcmul(float_range(2))
float_range(2).addcmul(3, float_range(2))
float_range(2).addcmul(float_range(3), float_range(2))
float_range(2).cmax(1.5)
float_range(2).cmin(1.5)
float_range(2, 1).cmax(legacy.FloatTensor([0, 3]))
float_range(2).cmin(legacy.FloatTensor([0, 3]))
float_range(2).max(legacy.FloatTensor([0, 3]))
float_range(2).cmax(float_range(3))
float_range(2).equal(float_range(2).long())
float_range(3) > 2, float_range(3) == legacy.FloatTensor([0, 2, 3])
float_range(2) + "a"
float_range(2) + Variable(float_range(2))
3 / float_range(2).long()
7 / (float_range(2).long() - 3)
2 ** float_range(2).long()
3 - float_range(2).long()
"a" - float_range(2)
"a" / float_range(2)
"a" ** float_range(2)
2.5 - float_range(2).long()
float_range(2) // 2
float_range(2) << 1

def float_range_2():
    x = float_range(2)
    x **= 2
    return x

def float_range_3():
    x = float_range(2)
    x += 1
    x -= float_range(2)
    x *= 3
    x /= 2
    x %= 1
    return x

def byte_tensor_legacy():
    b = legacy.ByteTensor([0, 1, 1])
    b &= legacy.ByteTensor([1, 1, 0])
    return b

legacy.ByteTensor([0, 1]) & legacy.ByteTensor([[1], [1]])
legacy.ByteTensor([0, 1]) | float_range(2)
float_range(2) ^ float_range(2)
float_range(2) & legacy.ByteTensor([1, 1])
legacy.ByteTensor([0, 1]) & legacy.ByteTensor([0, 1, 1])
~float_range(2)
float_range(2) @ float_range(2)
float_range(2, 2) @ float_range(2)
float_range(2) @ float_range(2, 2)
float_range(2, 2) @ float_range(2, 2)
float_range(2, 2, 2) @ float_range(2)
float_range(2) @ 3

# types and memory
float_range(2).type("FloatTensor")
float_range(2).type(legacy.cuda.FloatTensor)
float_range(2).type(dict)
float_range(2).type(torch.bool)
float_range(2).cuda()
float_range(2).pin_memory()
float_range(2).is_pinned()
float_range(2).get_device()
float_range(2).is_signed()
float_range(2).byte().is_signed()
float_range(2).is_cuda
float_range(2).is_sparse
float_range(2).copy_(3)
float_range(2).copy_(float_range(3))

# other sizes on the same memory
def resize_data_ptr():
    x = float_range(2, 3)
    y = x.view(6)
    z = x.resize_(3, 2)
    return z is x, x, y.data_ptr() == x.data_ptr()

def resize_storage_offset():
    x = float_range(6)
    y = x[2:]
    r = y.resize_(5)
    y[0] = 9
    return x, y[:4], y.storage_offset()

float_range(2).resize_(-1)
float_range(2).resize_(2, 0).size()
float_range(2).resize_(0).numel()
legacy.FloatTensor().resize_(2).zero_()
float_range(2).set_(float_range(2).long())
float_range(2).set_(3)
int(float_range(1))

# sizes and views
legacy.FloatTensor().size(0)
float_range(2, 3).size(-3)
float_range(2, 3).is_same_size(float_range(2, 3)), float_range(2, 3).is_same_size(float_range(3, 2))
float_range(2, 3).t().view(6)
float_range(2).t()
float_range(2).t_()
float_range(2, 3).t(), float_range(2, 3).t_()
float_range(2, 3).transpose(-3, 0)
float_range(2).squeeze(1)
float_range(2).select(0, 1)
float_range(2, 3).narrow(1, -1, 2)
float_range(2, 3).narrow(1, 1, 0)
float_range(2, 3).narrow(1, 2, 2)
float_range(5).split(2, 1)
float_range(2, 3).unbind(), float_range(2, 3).unbind(1), legacy.unbind(float_range(2, 2))
float_range(5).unfold(1, 2, 1)

# keys
float_range(2, 3)[0, 1, 2]
float_range(2, 3)[True]
float_range(2, 3)[1.0]
float_range(2, 3)[[0, 1]]
float_range(2, 3)[legacy.LongTensor([1]), 0]
float_range(2, 3)[float_range(2)]

def long_tensor_byte_tensor():
    x = float_range(2, 3)
    x[legacy.LongTensor([1])] = legacy.zeros(1, 3)
    x[legacy.ByteTensor([[1, 0, 0], [0, 0, 0]])] = legacy.FloatTensor([-1])
    return x

def value_float_range():
    def put(x, key, value):
        x[key] = value
    return put(float_range(2), 0, "a")

def slice_program():
    def put(x, key, value):
        x[key] = value
    return put(float_range(2), slice(0, 2), float_range(3))

def slice_long():
    def put(x, key, value):
        x[key] = value
    return put(float_range(2), slice(0, 2), float_range(2).long())

def long():
    def put(x, key, value):
        x[key] = value
    return put(float_range(2).long(), 0, 1.5)

def value_float_range_2():
    def put(x, key, value):
        x[key] = value
    return put(float_range(2), float_range(2), 1)

float_range(2, 3).index((0, 1))
float_range(2, 3).index(0)
float_range(2, 3).index(legacy.LongTensor([1]))
len(float_range(2, 3))
list(float_range(2))
[x for x in reversed(float_range(2, 2))]
2 in float_range(3)
5 in float_range(3)
list(reversed(float_range(3)))
bool(float_range(2))
float_range(2, 3).index_select(1, legacy.LongTensor([2, 0]))
float_range(2, 3).gather(1, legacy.LongTensor([[0], [2]]))
float_range(2, 3).masked_select(legacy.ByteTensor([1, 0, 0, 0, 0, 1]))
float_range(2, 3).index_select(1, [0])
float_range(2, 3).gather(1, float_range(2, 1))
float_range(2, 3).masked_select(3)
float_range(2, 3).masked_select(legacy.ByteTensor([1, 0]))
float_range(3).index_add_(0, legacy.LongTensor([0, 0]), float_range(2))
float_range(3).index_copy_(0, legacy.LongTensor([2, 0]), float_range(2))
float_range(2, 2).index_copy_(1, legacy.LongTensor([1]), legacy.FloatTensor([8, 9]))
float_range(3).index_fill_(0, legacy.LongTensor([1]), 0)
float_range(3).index_add_(0, legacy.LongTensor([0]), float_range(1).long())
float_range(3).index_copy_(0, legacy.LongTensor([0]), float_range(2))
float_range(3).index_copy_(0, float_range(1), float_range(1))
float_range(3).index_fill_(0, float_range(1), 0)
float_range(3).index_fill_(0, legacy.LongTensor([0]), "a")
float_range(3).long().index_fill_(0, legacy.LongTensor([0]), 1.5)
float_range(2, 2).scatter_(1, legacy.LongTensor([[0], [1]]), 9)
float_range(2, 2).scatter_(1, legacy.LongTensor([[0], [1]]), legacy.FloatTensor([[7], [8]]))
float_range(2, 2).scatter_add_(1, legacy.LongTensor([[0], [1]]), legacy.FloatTensor([[7], [8]]))
float_range(2).scatter_(0, float_range(1), 9)
float_range(2).scatter_(0, legacy.LongTensor([0]), float_range(1).long())
float_range(2).scatter_add_(0, legacy.LongTensor([0]), float_range(1).long())
float_range(2).long().scatter_(0, legacy.LongTensor([0]), 1.5)
float_range(3).masked_fill_(legacy.ByteTensor([1, 0, 1]), 0)
float_range(3).masked_copy_(legacy.ByteTensor([1, 0, 1]), legacy.FloatTensor([7, 8]))
float_range(3).masked_copy_(legacy.ByteTensor([1, 0, 1]), float_range(5))
float_range(3).masked_scatter_(legacy.ByteTensor([1, 0, 1]), float_range(2))
float_range(3).masked_copy_(legacy.ByteTensor([1, 0, 1]), float_range(1))
float_range(3).masked_copy_(legacy.ByteTensor([1, 0, 1]), float_range(2).long())
float_range(3).long().masked_fill_(legacy.ByteTensor([1, 0, 1]), 1.5)

# filling
float_range(2).fill_(float_range(1))
float_range(2).long().fill_(1.5)
float_range(2).long().normal_()
float_range(2).long().uniform_()
float_range(2).long().exponential_()
float_range(2).long().cauchy_()
float_range(2).long().log_normal_()
float_range(2).long().bernoulli()
float_range(2).long().multinomial(1)

def mean_kthvalue():
    r = legacy.manual_seed(3)
    x, y, z, u = float_range(4000).exponential_(), float_range(4000).exponential_(4), float_range(
        4000).log_normal_(0.1, 0.25), float_range(4000).cauchy_(3, 0.5)
    return [abs(x.mean() - 1) < 0.1, abs(y.mean() - 0.25) < 0.03, abs(z.log().mean() - 0.1) < 0.02,
        abs(z.log().std() - 0.25) < 0.02, abs(u.kthvalue(2000)[0][0] - 3) < 0.1,
        abs(u.kthvalue(3000)[0][0] - 3.5) < 0.1]

float_range(2).geometric_(0)
float_range(2).geometric_(1)

def cauchy_geometric():
    g = legacy.Generator()
    def drawn(f):
        r = g.manual_seed(5)
        a = f()
        r = g.manual_seed(5)
        legacy.manual_seed(1)
        return a.equal(f())
    return [drawn(f) for f in (lambda: float_range(9).uniform_(generator=g),
        lambda: float_range(9).normal_(generator=g), lambda: float_range(9).random_(generator=g),
        lambda: float_range(9).exponential_(generator=g),
        lambda: float_range(9).bernoulli_(generator=g),
        lambda: (float_range(9) / 10).bernoulli(generator=g),
        lambda: float_range(9).cauchy_(generator=g),
        lambda: float_range(9).log_normal_(generator=g),
        lambda: float_range(9).geometric_(0.5, generator=g),
        lambda: float_range(9).multinomial(5, generator=g),
        lambda: float_range(9).multinomial(5, True, generator=g))]

legacy.FloatTensor().multinomial(1)
float_range(2).multinomial(0)
legacy.FloatTensor([[1, 1], [0, 1]]).multinomial(2)
legacy.FloatTensor([math.nan, 1]).multinomial(1)
legacy.FloatTensor([0, 0]).multinomial(1)
legacy.FloatTensor([[1, 0], [0, 0]]).multinomial(1, True)
float_range(3).apply_(lambda x: x * 2)
float_range(2, 2).map_(float_range(4), lambda a, b: 10 * a + b)
float_range(2, 2).map2_(float_range(4), legacy.zeros(2, 2), lambda a, b, c: 10 * a + b + c)
float_range(2, 2).t().map2_(float_range(4), float_range(4), lambda a, b, c: 100 * a + 10 * b + c)
float_range(2).map_(float_range(2).long(), max)
float_range(2).map_(float_range(3), max)
float_range(2).map2_(float_range(2), float_range(2).long(), max)
float_range(2).map2_(float_range(3), float_range(2), max)
