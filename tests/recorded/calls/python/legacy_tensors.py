"""Legacy tensors: calls of the Python layer (`autograd_cy`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import float_range

DIFFERS = "The namespace for programs of 2017: tensors. Torch has none of it today."

# pointwise: numbers, tensors of as many elements, scales first
float_range(2, 2).add(2)
float_range(2, 2).add(float_range(4))
float_range(2, 2).add(10, float_range(4))
float_range(2).add(2, 3)
float_range(2).add("a")
float_range(2).add()
float_range(2).add(1, 2, float_range(2))
float_range(2).add(float_range(2).long())
float_range(2).add(float_range(3))
float_range(2).add(torch.ones(2).requires_grad_())
float_range(2).add(Variable(float_range(2)))
float_range(2).sub(3)
float_range(2).sub(2, float_range(2))
float_range(2).add_(3)
float_range(2).sub_(2, float_range(2))
float_range(2).sub_(1)
float_range(2).add_(float_range(2))
float_range(2).add(np.float32(2))
float_range(2).add(np.int64(2))
float_range(2).mul(np.float64(0.5))
float_range(2).add(np.ones(2))
float_range(2).add(1j)
float_range(2).long().add(2.0), float_range(2).long().add(3), float_range(2).long().add(True)
float_range(2).long().add(2.5)
float_range(2).add(True)
float_range(2, 2).mul(float_range(4))
float_range(2, 2).mul_(float_range(4))
float_range(2).div(2)
float_range(2).div_(float_range(2))
float_range(4).view(2, 2).div_(float_range(4))
(float_range(3).long() - 5).div(2)
(float_range(3).long() - 5).div_(2)
(float_range(3).long() - 5).div(float_range(3).long())
float_range(2).div(float_range(3))
float_range(2).div_("a")
float_range(3).pow(2)
float_range(3).pow_(2)
float_range(3).fmod(2)
float_range(3).fmod_(2)
(float_range(3) - 3).remainder(2)
(float_range(3) - 3).remainder_(2)
(float_range(6) / 2 - 1.75).round()
torch.tensor([-2.5, -0.5, 0.5, 1.5, 2.4]).type(torch.float32).data.abs()
legacy.FloatTensor([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.4, -0.6]).round()
legacy.FloatTensor([-2.5, 0.5]).round_()
float_range(2).long().round()
float_range(2).long().round_()
float_range(2).long().sqrt()
float_range(2).long().sqrt_()
float_range(2).long().abs()
float_range(2).long().neg()
float_range(2).long().sign()
float_range(2).long().neg_()
float_range(2).abs.__name__
float_range(2).abs_.__name__
float_range(2).eq_.__name__
legacy.FloatTensor.add_.__doc__
legacy.FloatTensor.sin.__doc__
legacy.FloatTensor.sin_.__doc__
legacy.FloatTensor.eq.__doc__
legacy.FloatTensor.eq_.__doc__
legacy.FloatTensor.mul.__doc__
legacy.FloatTensor.mul_.__doc__
float_range(2).atan2(float_range(2))
float_range(2).atan2_(legacy.ones(2))
float_range(2, 1).atan2(legacy.ones(2))
float_range(2).long().atan2(float_range(2).long())
float_range(2).atan2(float_range(2).double())
float_range(2).lerp(float_range(2) + 4, 0.25)
float_range(2).lerp_(float_range(2) + 4, 0.25)
float_range(2, 1).lerp(float_range(2) + 4, 0.25)
float_range(2).long().lerp(float_range(2).long(), 0.5)
float_range(3).clamp(2)
float_range(3).clamp(max=2)
float_range(3).clamp(1.5, 2.5)
float_range(3).clamp_(2)
float_range(3).clamp_(max=2)
float_range(3).clamp()
float_range(3).clamp_min(2)
float_range(3).clamp_min_(2)
float_range(3).clamp_max(2)
float_range(3).clamp_max_(2)
float_range(2).addcmul(float_range(2), float_range(2))
float_range(2).addcmul(3, float_range(2), float_range(2))
float_range(2).addcmul_(3, float_range(2), float_range(2))
float_range(2, 1).addcmul(float_range(2), float_range(1, 2))
float_range(2).addcdiv(float_range(2), float_range(2))
float_range(2).addcdiv(3, float_range(2), float_range(2))
float_range(2).addcdiv_(3, float_range(2), float_range(2))
float_range(2).addcmul(float_range(2))
float_range(2).addcmul(3, float_range(2))
float_range(2).addcmul(float_range(2), float_range(2), float_range(2))
float_range(2).addcmul(1, 2, float_range(2), float_range(2))
float_range(2).addcmul(float_range(2).long(), float_range(2))
float_range(2).addcmul(float_range(3), float_range(2))
float_range(2).cmax(1.5)
float_range(2).cmin(1.5)
float_range(2, 1).cmax(legacy.FloatTensor([0, 3]))
float_range(2).cmin(legacy.FloatTensor([0, 3]))
float_range(2).max(legacy.FloatTensor([0, 3]))
float_range(2).cmax(float_range(3))
float_range(2).equal(float_range(2))
float_range(2).equal(float_range(2, 1))
float_range(2).equal(float_range(2) + 1)
float_range(2).equal(float_range(2).long())
float_range(3).eq(2)
float_range(3).ge(float_range(3))
float_range(3).lt(2)
float_range(3).eq_(2)
float_range(3).le_(legacy.FloatTensor([0, 2, 3]))
float_range(3, 1).ne(legacy.FloatTensor([0, 2, 3]))
float_range(3) > 2, float_range(3) == legacy.FloatTensor([0, 2, 3])
float_range(2) == "a", float_range(2) != None
float_range(2) + "a"
float_range(2) + Variable(float_range(2))
3 - float_range(2)
3 / float_range(2)
2 ** float_range(2)
3 + float_range(2)
3 * float_range(2)
float_range(2) % 2
float_range(2) ** 2
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
-float_range(2), +float_range(2), abs(-float_range(2))

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
    return b & legacy.ByteTensor([1, 1, 0]), b | legacy.ByteTensor([1, 1,
        0]), b ^ legacy.ByteTensor([1, 1, 0]), ~b

def byte_tensor_legacy_2():
    b = legacy.ByteTensor([0, 1, 1])
    b &= legacy.ByteTensor([1, 1, 0])
    return b

legacy.ByteTensor([0, 1]) & legacy.ByteTensor([[1], [1]])
legacy.ByteTensor([0, 1]) & 1
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
float_range(2).type()
float_range(2).long().type()
str(float_range(2).new().size())
float_range(2).new(2, 3).size() == (2, 3)
float_range(2).new([5])
float_range(2).type("torch.DoubleTensor")
float_range(2).type(legacy.LongTensor)
float_range(2).type(torch.int32)
float_range(2).type("autograd_cy.legacy.HalfTensor")
float_range(2).type("autograd_cy.ByteTensor")

def type_as_contiguous():
    x = float_range(2)
    return x.type("torch.FloatTensor") is x, x.type(
        legacy.FloatTensor) is x, x.float() is x, x.type_as(
        float_range(1)) is x, x.cpu() is x, x.contiguous() is x

float_range(2).type("FloatTensor")
float_range(2).type("torch.NoTensor")
float_range(2).type("other.FloatTensor")
float_range(2).type("torch.cuda.FloatTensor")
float_range(2).type(legacy.cuda.FloatTensor)
float_range(2).type(dict)
float_range(2).type(torch.bool)
float_range(2).type_as(float_range(1).long())
float_range(2).double()
float_range(2).half()
float_range(2).int()
float_range(2).short()
float_range(2).char()
float_range(2).byte()
float_range(2).cuda()
float_range(2).pin_memory()
float_range(2).is_pinned()
float_range(2).get_device()
float_range(2).is_signed()
float_range(2).byte().is_signed()
float_range(2).is_cuda
float_range(2).is_sparse
float_range(2, 3).t().clone().stride()
float_range(2, 3).t().contiguous().stride()
float_range(2, 3).t().contiguous()
float_range(2, 2).copy_(legacy.LongTensor([5, 6, 7, 8]))
float_range(2).copy_(3)
float_range(2).copy_(float_range(3))

# other sizes on the same memory
def resize_data_ptr():
    x = float_range(2, 3)
    y = x.view(6)
    z = x.resize_(3, 2)
    return z is x, x, y.data_ptr() == x.data_ptr()

def float_range_resize():
    x = float_range(2, 3)
    y = x.resize_(2)
    return x, x.resize_(2, 3)

def data_ptr_size():
    x = float_range(2, 3)
    p = x.data_ptr()
    x.resize_(2, 3)
    return x.data_ptr() == p, x.resize_(legacy.Size([6])).data_ptr() == p, x.resize_(
        7).data_ptr() == p, x[:6]

def resize_float_range():
    x = float_range(2, 3).t()
    return x.resize_(3, 2)

def resize_storage_offset():
    x = float_range(6)[2:]
    y = x.resize_(4)
    x[0] = 9
    return y, x.storage_offset()

def resize_storage_offset_2():
    x = float_range(6)
    y = x[2:]
    r = y.resize_(5)
    y[0] = 9
    return x, y[:4], y.storage_offset()

def storage_offset_stride():
    x = float_range(6)
    y = x[2:].resize_(2, 2)
    return y, y.storage_offset(), y.stride()

float_range(2).resize_(-1)
float_range(2).resize_(2, 0).size()
float_range(2).resize_(0).numel()
legacy.FloatTensor().resize_(2).zero_()
legacy.FloatTensor().resize_(2, 3, 4).stride()
legacy.LongTensor().resize_as_(float_range(2, 1)).size()

def set_float_tensor():
    x = legacy.FloatTensor().set_(float_range(4))
    return x

def numel_set():
    s = float_range(6).storage()
    x = legacy.FloatTensor()
    return [x.set_(s, *how).clone() for how in ((), (2,), (1, (2, 2)), (1, (2, 2), (1, 2)),
        (1, (2,), (3,)))], x.set_().numel()

float_range(2).set_(float_range(2).long())
float_range(2).set_(float_range(2).long().storage())
float_range(2).set_(3)

def is_set_to_view():
    x = float_range(4)
    return x.is_set_to(x.view(4)), x.is_set_to(x.view(2,
        2)), x.is_set_to(float_range(4)), x[1:].is_set_to(x[1:]), x.view(2,
        2).is_set_to(legacy.FloatTensor().set_(x.storage(), 0, (2, 2)))

def data_ptr_pickle():
    import copy
    import pickle
    x = float_range(2, 3).t()
    y, z = copy.deepcopy([x, x.t()])
    return x.equal(
        y), y.stride(), y.data_ptr() == z.data_ptr(), y.data_ptr() == x.data_ptr(), pickle.loads(
        pickle.dumps(x)), pickle.loads(pickle.dumps(x)).stride()

def float_range_deepcopy():
    import copy
    x = float_range(2)
    y, z = copy.deepcopy([x, x])
    return y is z, y

np.asarray(float_range(2)).dtype.name
np.asarray(float_range(2), dtype="int64").tolist()
np.add(float_range(2), 1)
np.array(float_range(2)).tolist()
float(float_range(1))
int(float_range(1))
f"{float_range(2)}".split()[0], format(float_range(2), "").split()[-1]

# sizes and views
legacy.FloatTensor().dim()
legacy.FloatTensor().ndimension()
str(legacy.FloatTensor().size())
float_range(2, 3).dim()
float_range(2, 3).size(1)
float_range(2, 3).size(-1)
float_range(2, 3).stride(0)
float_range(2, 3).stride()
legacy.FloatTensor().size(0)
float_range(2, 3).size(2)
float_range(2, 3).size(-3)
float_range(2, 3).stride(2)
float_range(2, 3).is_same_size(float_range(2, 3)), float_range(2, 3).is_same_size(float_range(3, 2))
float_range(2, 3).view(3, -1)
float_range(2, 3).view((6,))
float_range(2, 3).view_as(float_range(3, 2))
float_range(2, 3).t().resize(6)
float_range(2, 3).t().resize_as(float_range(6))
float_range(2, 3).t().view(6)
float_range(2, 1).expand(2, 3)
float_range(2).expand_as(float_range(3, 2))
float_range(2).repeat(2, 2)
float_range(2).repeat((1, 2))
float_range(2).t()
float_range(2).t_()
float_range(2, 3).t(), float_range(2, 3).t_()
float_range(2, 3).transpose(0, -1)
float_range(2, 3).transpose_(0, 1)
float_range(1, 2, 3).permute(2, 0, 1)
float_range(1, 2, 3).permute((2, 0, 1)).stride()
float_range(2, 3).transpose(0, 2)
float_range(2, 3).transpose(-3, 0)
float_range(2, 3).transpose_(2, 0)
float_range(1, 2, 1).squeeze()
float_range(1, 2, 1).squeeze(0)
float_range(1, 2, 1).squeeze(1)
float_range(1).squeeze()
float_range(1).squeeze(0)
float_range(1, 1).squeeze()
float_range(2).squeeze(1)
float_range(2, 1).squeeze(2)

def float_range_squeeze():
    x, y, z, u = float_range(1, 2, 1), float_range(1, 1), float_range(1), float_range(1, 2)
    return x.squeeze_(), y.squeeze_(), z.squeeze_(0), u.squeeze_(1), u.squeeze_(0), float_range(1,
        1).squeeze_(0)

float_range(1, 2).squeeze_(2)
float_range(2).unsqueeze(0)
float_range(2).unsqueeze(1)
float_range(2).unsqueeze_(0)
float_range(2).unsqueeze(-1)
legacy.FloatTensor().unsqueeze(0)
legacy.FloatTensor().unsqueeze_(0)
float_range(2, 3).select(1, 2), float_range(2, 3).select(-2, -1)
float_range(2).select(0, 1)
float_range(2, 3).select(2, 0)
float_range(2, 3).narrow(1, 1, 2)
float_range(2, 3).narrow(0, 0, 2)
float_range(2, 3).narrow(-1, 2, 1)
float_range(2, 3).narrow(1, -1, 2)
float_range(2, 3).narrow(1, 1, 0)
float_range(2, 3).narrow(1, 2, 2)
float_range(2, 3).narrow(2, 0, 1)
float_range(5).chunk(2)
float_range(5).chunk(3)
float_range(5).chunk(1)
float_range(2, 3).chunk(2, 1)
float_range(5).chunk(9)
float_range(5).chunk(0)
float_range(5).split(2)
float_range(2, 3).split(2, 1)
legacy.split(float_range(3), 2)
legacy.chunk(float_range(2, 2), 2, 1)
float_range(5).split(2, 1)
float_range(2, 3).unbind(), float_range(2, 3).unbind(1), legacy.unbind(float_range(2, 2))
float_range(5).unfold(0, 3, 2), float_range(2, 3).unfold(-1, 2, 1)
float_range(5).unfold(1, 2, 1)
float_range(2).diag()
float_range(2).diag(1)
float_range(2, 2).diag()
float_range(2, 2).diag(1)
float_range(2, 2).tril()
float_range(2, 2).tril(-1)
float_range(2, 2).tril_()
float_range(2, 2).triu(1)
float_range(2, 2).triu()
float_range(2, 2).triu_()
float_range(2, 2).triu_(1)

# keys
float_range(2, 3)[1]
float_range(2, 3)[1, 2]
float_range(2, 3)[1, -1]
float_range(2, 3)[-2]
float_range(2)[-1]
float_range(2, 3)[:, 1]
float_range(2, 3)[..., 1]
float_range(2, 3)[None, 1]
float_range(2, 3)[1:]
float_range(2, 3)[1][None]
float_range(2, 3)[0, ..., 2:]
float_range(2, 3)[2]
float_range(2, 3)[-3]
float_range(2, 3)[0, 3]
float_range(2, 3)[0, 1, 2]
float_range(2, 3)[..., 3]
float_range(2, 3)[True]
float_range(2, 3)["a"]
float_range(2, 3)[1.0]
float_range(2, 3)[[0, 1]]
float_range(2, 3)[legacy.LongTensor([1]), 0]
float_range(2, 3)[2:]
legacy.FloatTensor()[0]
float_range(2, 3)[float_range(2)]
float_range(2, 3)[legacy.LongTensor([1, 0, 1])]
float_range(3)[legacy.ByteTensor([1, 0, 1])]
float_range(2, 2)[legacy.ByteTensor([[1, 0], [0, 1]])]
float_range(3)[torch.tensor([True, False, True])]
float_range(2, 3)[np.int64(1)]

def float_tensor_legacy():
    x = float_range(2, 3)
    x[0] = 9
    x[1, 2] = 8
    x[1, :2] = legacy.FloatTensor([[5], [6]])
    return x

def long_tensor_byte_tensor():
    x = float_range(2, 3)
    x[legacy.LongTensor([1])] = 7
    x[legacy.ByteTensor([[1, 0, 0], [0, 0, 1]])] = 0
    return x

def long_tensor_byte_tensor_2():
    x = float_range(2, 3)
    x[legacy.LongTensor([1])] = legacy.zeros(1, 3)
    x[legacy.ByteTensor([[1, 0, 0], [0, 0, 0]])] = legacy.FloatTensor([-1])
    return x

def value_float_range():
    def put(x, key, value):
        x[key] = value
    return put(float_range(2), 0, "a")

def value_slice():
    def put(x, key, value):
        x[key] = value
    return put(float_range(2), slice(0, 2), float_range(3))

def slice_long():
    def put(x, key, value):
        x[key] = value
    return put(float_range(2), slice(0, 2), float_range(2).long())

def value_long():
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
bool(legacy.FloatTensor()), not legacy.FloatTensor()
legacy.FloatTensor([0, 2, 0, 1]).nonzero(), legacy.FloatTensor([[0, 2], [3, 0]]).nonzero()
float_range(2, 3).index_select(1, legacy.LongTensor([2, 0]))
float_range(2, 3).gather(1, legacy.LongTensor([[0], [2]]))
float_range(2, 3).masked_select(legacy.ByteTensor([1, 0, 0, 0, 0, 1]))
float_range(2, 3).index_select(1, float_range(2))
float_range(2, 3).index_select(1, [0])
float_range(2, 3).gather(1, float_range(2, 1))
float_range(2, 3).masked_select(float_range(2, 3))
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
float_range(2).fill_(3), float_range(2).zero_()
float_range(2).fill_(float_range(1))
float_range(2).long().fill_(1.5)
float_range(2).long().normal_()
float_range(2).long().uniform_()
float_range(2).long().exponential_()
float_range(2).long().cauchy_()
float_range(2).long().log_normal_()
float_range(2).long().bernoulli()
float_range(2).long().multinomial(1)

def uniform_float_range():
    r = legacy.manual_seed(3)
    x, y, z = float_range(4000).uniform_(), float_range(4000).uniform_(2,
        4), float_range(4000).uniform_(**{"from": -1, "to": 0})
    return [0 <= x.min() < 0.05, 0.95 < x.max() <= 1, 2 <= y.min() < 2.1, 3.9 < y.max() <= 4,
        -1 <= z.min() < -0.95, -0.05 < z.max() <= 0]

def normal_mean():
    r = legacy.manual_seed(3)
    x, y, z = float_range(4000).uniform_(0.5), float_range(4000).normal_(), float_range(
        4000).normal_(5, 2)
    return [0.5 <= x.min(), abs(y.mean()) < 0.1, abs(y.std() - 1) < 0.1, abs(z.mean() - 5) < 0.2,
        abs(z.std() - 2) < 0.2]

def mean_kthvalue():
    r = legacy.manual_seed(3)
    x, y, z, u = float_range(4000).exponential_(), float_range(4000).exponential_(4), float_range(
        4000).log_normal_(0.1, 0.25), float_range(4000).cauchy_(3, 0.5)
    return [abs(x.mean() - 1) < 0.1, abs(y.mean() - 0.25) < 0.03, abs(z.log().mean() - 0.1) < 0.02,
        abs(z.log().std() - 0.25) < 0.02, abs(u.kthvalue(2000)[0][0] - 3) < 0.1,
        abs(u.kthvalue(3000)[0][0] - 3.5) < 0.1]

def log_normal_kthvalue():
    r = legacy.manual_seed(3)
    x, y = float_range(4000).log_normal_(), float_range(4000).cauchy_()
    return [abs(x.log().mean() - 1) < 0.15, abs(x.log().std() - 2) < 0.15,
        abs(y.kthvalue(2000)[0][0]) < 0.1, abs(y.kthvalue(3000)[0][0] - 1) < 0.1]

def bernoulli_mean():
    r = legacy.manual_seed(3)
    x, y, z, u = float_range(4000).bernoulli_(), float_range(4000).bernoulli_(0.25), (
        float_range(4000) * 0 + 0.25).bernoulli(), float_range(4000).bernoulli_(float_range(4000)
        * 0 + 0.25)
    return [abs(x.mean() - 0.5) < 0.05, abs(y.mean() - 0.25) < 0.05, abs(z.mean() - 0.25) < 0.05,
        abs(u.mean() - 0.25) < 0.05]

float_range(2, 2).bernoulli_(legacy.FloatTensor([0, 1, 1, 0]))

def random_sorted():
    r = legacy.manual_seed(3)
    x, y = float_range(4000).random_(3), float_range(4000).random_(2, 4)
    return sorted(set(x.tolist())), sorted(set(y.tolist())), float_range(9).random_().min() >= 0

def geometric_mean():
    r = legacy.manual_seed(3)
    x, y = float_range(4000).geometric_(0.25), float_range(4000).long().geometric_(0.5)
    return x.min(), abs(x.mean() - 4) < 0.3, y.min(), abs(y.float().mean() - 2) < 0.2

float_range(2).geometric_(0)
float_range(2).geometric_(1)
float_range(2).geometric_(1.5)

def drawn_geometric():
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

def multinomial_mean():
    r = legacy.manual_seed(3)
    x = legacy.FloatTensor([1, 0, 3]).multinomial(4000, True)
    return sorted(set(x.tolist())), abs(x.float().mean() - 1.5) < 0.05, x.type()

def size_mean():
    r = legacy.manual_seed(3)
    x = legacy.FloatTensor([[1, 0, 3]]).expand(4000, 3).multinomial(1)
    return sorted(set(x.view(-1).tolist())), abs(x.float().mean() - 1.5) < 0.05, x.size() == (4000,
        1)

legacy.FloatTensor([[0, 1], [1, 0]]).multinomial(3, True)
legacy.FloatTensor([0, 1]).multinomial(1)
legacy.FloatTensor([[0, 1, 0], [0, 0, 2]]).multinomial(1)
legacy.FloatTensor([1, 1, 1]).multinomial(3).sort()[0]
legacy.ones(1, 1, 2).multinomial(1)
legacy.FloatTensor().multinomial(1)
float_range(2).multinomial(0)
float_range(2).multinomial(-1)
float_range(2).multinomial(3)
legacy.FloatTensor([0, 1]).multinomial(2)
legacy.FloatTensor([[1, 1], [0, 1]]).multinomial(2)
legacy.FloatTensor([-1, 1]).multinomial(1)
legacy.FloatTensor([math.nan, 1]).multinomial(1)
legacy.FloatTensor([math.inf, 1]).multinomial(1)
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

# dims that are None, and arrays
def topk_kthvalue():
    x = legacy.FloatTensor([[3, 1, 2], [7, 9, 8]])
    return [x.topk(2, None), x.topk(1, None, False), x.sort(None), x.kthvalue(2, None),
        x.median(None), x.mode(None)]

def shares_memory_array():
    x = float_range(3)
    return [np.shares_memory(x.__array__(np.float32), x.numpy()),
        np.shares_memory(x.__array__(), x.numpy()),
        np.asarray(x, dtype=np.float64).dtype == np.float64]
