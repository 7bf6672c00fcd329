"""Legacy variables: calls of the Python layer (`autograd_cy`)."""

import math

from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import error_name, float_range, legacy_gradients

DIFFERS = "The namespace for programs of 2017: Variables and Functions. Torch has none of it today."

# gradients of products of numbers and tensors, also of operands in other shapes
legacy_gradients(lambda a, b: a**b, legacy.FloatTensor([0, 0, 0, 1, 2]),
    legacy.FloatTensor([0, 1, 2, 0, 0]))
legacy_gradients(lambda a, b: a**b, legacy.FloatTensor([1, -1, 0.5]),
    legacy.FloatTensor([2, 2, -1]))
legacy_gradients(lambda a, b: a**b, legacy.FloatTensor([0]), legacy.FloatTensor([-1]))
legacy_gradients(lambda a: a + 3, float_range(2))
legacy_gradients(lambda a: 3 - a, float_range(2))
legacy_gradients(lambda a: a - 3, float_range(2))
legacy_gradients(lambda a: a * 3, float_range(2))
legacy_gradients(lambda a: a / 4, float_range(2))
legacy_gradients(lambda a: 4 / a, float_range(2))
legacy_gradients(lambda a: a**3, float_range(2))
legacy_gradients(lambda a: 3**a, float_range(2))
legacy_gradients(lambda a: a**0, legacy.FloatTensor([0, 2]))
legacy_gradients(lambda a: 0 / a, float_range(2))
legacy_gradients(lambda a: 0**a, float_range(2))
legacy_gradients(lambda a: a**1, legacy.FloatTensor([0, 2]))
Variable(float_range(2)).addcmul(Variable(float_range(2)))
Variable(float_range(2)).addcmul("a", Variable(float_range(2)), Variable(float_range(2)))
Variable(float_range(2)).addcdiv(1, 2, Variable(float_range(2)), Variable(float_range(2)))
Variable(float_range(3)).max(Variable(legacy.FloatTensor([[2], [2], [2]]))).data
legacy.autograd._functions.CmaxConstant(2)(Variable(float_range(3))).data
legacy.autograd._functions.CminConstant(2)(Variable(float_range(3))).data

# numbers, tensors, others
Variable(float_range(2)) + float_range(2)
Variable(float_range(2)) + "a"
Variable(float_range(2)) + None
Variable(float_range(2)) < float_range(2)
Variable(float_range(2)).sub(float_range(2))
Variable(float_range(2)).mul("a")
Variable(float_range(2)).div("a")
Variable(float_range(2)).pow("a")
Variable(float_range(2)).add_("a")
Variable(float_range(2)).sub_("a")
Variable(float_range(2)).mul_(Variable(float_range(2)))
Variable(float_range(2)).mul_("a")
Variable(float_range(2)).div_(Variable(float_range(2)))
Variable(float_range(2)).div_("a")
Variable(float_range(2)).clamp("a")
Variable(float_range(2)).clamp()
Variable(float_range(2)).fmod("a")
Variable(float_range(2)).remainder(Variable(float_range(2)))
Variable(float_range(2)).lerp(Variable(float_range(2)), "a")
"a" - Variable(float_range(2))
"a" / Variable(float_range(2))
"a" ** Variable(float_range(2))

def variable():
    v = Variable(float_range(2))
    v **= 2
    return v

(Variable(float_range(2)) < 2).data
(Variable(float_range(2)) == Variable(float_range(2))).data
(Variable(float_range(2)) >= 2).requires_grad
Variable(float_range(2)).ne(2).data
(Variable(float_range(2), requires_grad=True) > 1).requires_grad
abs(Variable(-float_range(2))).data
(3 - Variable(float_range(2))).data
(3 / Variable(float_range(2))).data
(3 ** Variable(float_range(2))).data
(Variable(float_range(3)) % 2).data
Variable(float_range(3)).fmod(2).data
Variable(float_range(2)).clamp(1.5).data
Variable(float_range(2)).clamp(max=1.5).data

# in place
legacy_gradients(lambda a, b: (a * 1).add_(b), float_range(2, 1), float_range(2))
legacy_gradients(lambda a, b: (a * 1).sub_(b), float_range(2, 1), float_range(2))
legacy_gradients(lambda a: legacy.autograd._functions.SubConstant(5, True, True)(a * 1),
    float_range(2))
legacy_gradients(lambda a: legacy.autograd._functions.DivConstant(5, True, True)(a * 1),
    float_range(2))
legacy.autograd._functions.SubConstant(5, True, True)(Variable(float_range(2))).data
legacy.autograd._functions.DivConstant(5, True, True)(Variable(float_range(2))).data
Variable(float_range(2), requires_grad=True).add_(1)

def view_add():
    v = Variable(float_range(2))
    u = v.view(2)
    v.add_(1)
    return v

def add_variable():
    v = Variable(float_range(2), requires_grad=True) * 2
    u = v * v
    r = v.add_(1)
    return u.backward(float_range(2))

# products
[legacy_gradients(lambda x, a, b: getattr(x, k)(2, 3, a, b), *xs)
    for k, xs in {"addmm": (float_range(2, 2), float_range(2, 3), float_range(3, 2)),
    "addbmm": (float_range(2, 2), float_range(2, 2, 3), float_range(2, 3, 2)),
    "baddbmm": (float_range(2, 2, 2), float_range(2, 2, 1), float_range(2, 1, 2)),
    "addmv": (float_range(2), float_range(2, 3), float_range(3)),
    "addr": (float_range(2, 3), float_range(2), float_range(3))}.items()]
[legacy_gradients(lambda x, a, b: getattr(x * 1, k)(2, 3, a, b), *xs)
    for k, xs in {"addmm_": (float_range(2, 2), float_range(2, 3), float_range(3, 2)),
    "addbmm_": (float_range(2, 2), float_range(2, 2, 3), float_range(2, 3, 2)),
    "baddbmm_": (float_range(2, 2, 2), float_range(2, 2, 1), float_range(2, 1, 2)),
    "addmv_": (float_range(2), float_range(2, 3), float_range(3)),
    "addr_": (float_range(2, 3), float_range(2), float_range(3))}.items()]
[legacy_gradients(f, float_range(2, 2)) for f in (
    lambda x: x.addmm(Variable(float_range(2, 2).double()), Variable(float_range(2, 2).double())),
    lambda x: Variable(float_range(2, 2).double()).addmm(x, Variable(float_range(2, 2).double())),
    lambda x: Variable(float_range(2, 2).double()).addmm(Variable(float_range(2, 2).double()), x),
    lambda x: Variable(float_range(4).double().view(2, 2)).addmm(2, x,
    Variable(float_range(2, 2).double())), lambda x: x.addmm(3,
    Variable(float_range(2, 2).double()), Variable(float_range(2, 2).double())))]
Variable(float_range(2, 2)).addmm("a", Variable(float_range(2, 2)), Variable(float_range(2, 2)))
Variable(float_range(2, 2)).addmm_(Variable(float_range(2, 2)))
Variable(float_range(2)).addmm(Variable(float_range(2, 2)), Variable(float_range(2, 2)))
Variable(float_range(2, 2)).mm(Variable(float_range(2, 2).long()))
Variable(float_range(2, 2, 2)).bmm(Variable(float_range(2, 2, 2).long()))
Variable(float_range(2, 2)).mv(Variable(float_range(2).long()))
(Variable(float_range(2)) @ Variable(float_range(2))).data
(Variable(float_range(2, 2)) @ Variable(float_range(2))).data
(Variable(float_range(2)) @ Variable(float_range(2, 2))).data
(Variable(float_range(2, 2)) @ Variable(float_range(2, 2))).data
Variable(float_range(2, 2, 2)) @ Variable(float_range(2))
Variable(float_range(2, 2)) @ 3
legacy_gradients(lambda a, b: a @ b, float_range(2), float_range(2, 2))

# reductions
[legacy_gradients(f, float_range(2, 3)) for f in (lambda x: x.sum(), lambda x: x.sum(0),
    lambda x: x.sum(1), lambda x: x.mean(), lambda x: x.mean(1), lambda x: x.mean(-2),
    lambda x: x.prod(), lambda x: x.prod(1), lambda x: x.prod(0))]
legacy_gradients(lambda x: x.prod(), legacy.FloatTensor([0, 2, 3]))
legacy_gradients(lambda x: x.prod(1), legacy.FloatTensor([[0, 2, 0], [4, 0, 5]]))
legacy_gradients(lambda x: x.prod(), float_range(1))
legacy_gradients(lambda x: x.prod(), legacy.FloatTensor([[0, 2], [3, 4]]))
Variable(float_range(2, 3)).sum().data
Variable(float_range(2, 3)).sum(0).data
Variable(float_range(2, 3).long()).sum().data
Variable(float_range(2, 3)).mean(1).data
Variable(float_range(2, 3)).prod(1).data
Variable(float_range(2, 3).long()).prod().data
Variable(float_range(2, 3).byte() * 60).sum().data
Variable(float_range(2, 3).long()).mean()
[legacy_gradients(f, legacy.FloatTensor([[1, 4, 4], [6, 3, 5]]))
    for f in (lambda x: x.max(), lambda x: x.min(), lambda x: x.max(1)[0], lambda x: x.min(0)[0],
    lambda x: x.max(-1)[0], lambda x: x.median()[0], lambda x: x.median(0)[0],
    lambda x: x.mode()[0], lambda x: x.mode(0)[0], lambda x: x.kthvalue(2)[0],
    lambda x: x.kthvalue(1, 0)[0], lambda x: x.sort()[0], lambda x: x.sort(0)[0],
    lambda x: x.sort(1, True)[0], lambda x: x.topk(2)[0], lambda x: x.topk(1, 0)[0],
    lambda x: x.topk(2, 1, False)[0])]

def non_differentiable_creator():
    v, i = Variable(legacy.FloatTensor([[1, 4, 4], [6, 3, 5]])).max(1)
    return v.requires_grad, v.creator is i.creator, v.creator.to_save, v.creator.non_differentiable, v.creator.saved_tensors

def add_float_tensor():
    v, i = Variable(legacy.FloatTensor([[1, 4, 4], [6, 3, 5]]), requires_grad=True).max(1)
    r = i.add_(1)
    return v.backward(float_range(2, 1))

Variable(legacy.FloatTensor()).max()
Variable(legacy.FloatTensor()).min(0)
[legacy_gradients(lambda x: x.norm(p), legacy.FloatTensor([[3, -4], [0, 1]]))
    for p in (2, 1, 0, math.inf, -math.inf, 3, 0.5)]
[legacy_gradients(lambda x: x.norm(p, 1), legacy.FloatTensor([[3, -4], [2, 2]]))
    for p in (2, 1, 0, math.inf, -math.inf, 3)]
Variable(float_range(2, 3)).renorm(2, 0, 5).data
Variable(float_range(2, 3)).renorm(1, 1, 6).data
Variable(float_range(2, 2, 2)).renorm(2, 1, 5).data
legacy_gradients(lambda a: a.renorm(2, 0, 5), float_range(2, 3))
legacy_gradients(lambda a: a.renorm(1, 1, 6), float_range(2, 3))

# shapes
[legacy_gradients(f, float_range(2, 3)) for f in (lambda x: x.view(3, 2), lambda x: x.view((6,)),
    lambda x: x.view_as(Variable(float_range(3, 2))), lambda x: x.t(), lambda x: x.transpose(0, 1),
    lambda x: x.transpose(-1, 0), lambda x: x.permute(1, 0), lambda x: x.permute((-1, 0)),
    lambda x: x.unsqueeze(1), lambda x: x.unsqueeze(0).squeeze(0), lambda x: x.resize(6),
    lambda x: x.t().resize(6), lambda x: x.resize_as(Variable(float_range(6))),
    lambda x: x.expand(2, 2, 3), lambda x: x.unsqueeze(1).expand(2, 4, 3),
    lambda x: x.expand_as(Variable(float_range(1, 2, 3))), lambda x: x.repeat(2, 1),
    lambda x: x.repeat(2, 1, 2), lambda x: x.repeat((1, 2)), lambda x: x.clone(),
    lambda x: x.diag(), lambda x: x.diag(1), lambda x: x.diag(-1), lambda x: x.tril(),
    lambda x: x.tril(1), lambda x: x.triu(), lambda x: x.triu(-1),)]
[legacy_gradients(f, float_range(2)) for f in (lambda x: x.diag(), lambda x: x.diag(1),
    lambda x: x.diag(-1), lambda x: x.expand(3, 2), lambda x: x.repeat(2, 2))]
[legacy_gradients(lambda x: x.permute(2, 0, 1), float_range(2, 1, 3)),
    legacy_gradients(lambda x: x.permute(1, 2, 0), float_range(2, 1, 3)),
    legacy_gradients(lambda x: x.expand(2, 3, 2), float_range(1, 3, 1))]
[legacy_gradients(lambda x: x.chunk(2, 1)[k], float_range(2, 3)) for k in (0, 1)]
[legacy_gradients(lambda x: x.split(2)[k], float_range(5)) for k in (0, 1, 2)]
[legacy_gradients(lambda x: x.unbind(1)[k], float_range(2, 2)) for k in (0, 1)]
legacy_gradients(lambda x: x.select(1, -1), float_range(2, 2))
legacy_gradients(lambda x: x.narrow(1, 1, 2), float_range(2, 3))
legacy_gradients(lambda x: legacy.cat((x, x * 2), 1), float_range(2, 2))
legacy_gradients(lambda x: legacy.stack((x, x * 2), 1), float_range(2))
legacy_gradients(lambda x: legacy.cat((x, x * 2)), float_range(2))
Variable(float_range(2)).t()
Variable(float_range(2, 3)).t().resize(5)
Variable(float_range(2, 3)).split(0)
Variable(float_range(2, 3)).narrow(1, 2, 2)
Variable(float_range(2, 3)).narrow(1, 0, 0)
Variable(float_range(2, 3)).select(-3, 0)
Variable(float_range(2, 3)).chunk(0)
Variable(float_range(2, 3)).select(-2, 1).data
Variable(float_range(2, 3)).narrow(-1, 0, 3).data
Variable(float_range(2, 3)).narrow(0, 1, 1).data
[x.data for x in Variable(float_range(2, 3)).split(2, 1)]
[x.data for x in Variable(float_range(2, 3)).unbind(1)]
[x.data for x in Variable(float_range(5)).chunk(2)]
Variable(float_range(2, 3)).size(1)
Variable(float_range(2, 3)).stride()
Variable(float_range(2, 3)).nelement()
Variable(float_range(2, 3)).numel()
Variable(float_range(2, 3)).ndimension()
Variable(float_range(2, 3)).dim()
Variable(float_range(2, 3)).element_size()
Variable(float_range(2, 3)).is_contiguous()
Variable(float_range(2, 3)).is_signed()
Variable(float_range(2, 3)).get_device()
Variable(float_range(2, 3)).is_cuda
len(Variable(float_range(2, 3)))
[x.data for x in Variable(float_range(2))]

def is_set_to_is_same_size():
    x = float_range(2)
    return Variable(x).is_set_to(Variable(x)), Variable(x).is_set_to(x), Variable(x).is_set_to(
        float_range(2)), Variable(x).is_same_size(float_range(2)), Variable(x).is_same_size(
        Variable(float_range(3)))

def stride_is_contiguous():
    v = Variable(float_range(2, 3).t())
    u = v.contiguous()
    return u is v, v.data.stride(), v.is_contiguous()

Variable(float_range(2)).type()
Variable(float_range(2)).type(legacy.LongTensor).data
Variable(float_range(2)).type_as(Variable(float_range(1).double())).data
Variable(float_range(2)).type_as(float_range(1).int()).data
Variable(float_range(2)).double().data
Variable(float_range(2)).byte().data
Variable(float_range(2)).half().data
Variable(float_range(2)).cpu().data
legacy_gradients(lambda x: x.float(), float_range(2))

def resize_repeat():
    v = Variable(float_range(2, 3))
    found = []
    for f in (lambda x: x.view(6), lambda x: x.t(), lambda x: x.unsqueeze(0), lambda x: x.squeeze(),
        lambda x: x.expand(2, 3), lambda x: x[0], lambda x: x.chunk(2)[1],
        lambda x: x.permute(1, 0), lambda x: x.resize(6), lambda x: x.t().resize(6),
        lambda x: x.clone(), lambda x: x.repeat(1, 1), lambda x: x.detach(), lambda x: x[0, 1],
        lambda x: x[:, 1:]):
        u = f(v)
        found.append(error_name(lambda: u.add_(1)))
    return found

# keys
[legacy_gradients(f, float_range(2, 3)) for f in (lambda x: x[1], lambda x: x[-1],
    lambda x: x[0, 1], lambda x: x[:, 1], lambda x: x[:, 1:], lambda x: x[1:], lambda x: x[..., 0],
    lambda x: x[legacy.LongTensor([1, 1])], lambda x: x[Variable(legacy.LongTensor([1, 0]))],
    lambda x: x[legacy.ByteTensor([[1, 0, 0], [0, 1, 0]])],
    lambda x: x.masked_select(Variable(legacy.ByteTensor([[1, 0, 0], [0, 1, 0]]))))]
Variable(float_range(2, 3))["a"]
Variable(float_range(2, 3))[float_range(2)]

def slice_byte_tensor():
    def put(key, value):
        def f(x, *rest):
            y = x * 1
            y[key] = rest[0] if rest else value
            return y
        return f
    return [legacy_gradients(put(k, 7), float_range(2, 3))
        for k in (0, (1, 2), slice(0, 1), legacy.ByteTensor([[1, 0, 0], [0, 1, 0]]),
        legacy.LongTensor([1]))], [legacy_gradients(put(k, None), float_range(2, 3), x)
        for k, x in ((0, float_range(3)), ((1, 2), float_range(1)), (0, float_range(3, 1)),
        (legacy.ByteTensor([[1, 0, 0], [0, 1, 0]]), float_range(2)),
        (legacy.ByteTensor([[1, 0, 0], [0, 1, 0]]), float_range(3)))]

def variable_byte_tensor():
    v = Variable(float_range(2, 3))
    v[0] = 9
    v[1, 1] = Variable(float_range(1))
    v[Variable(legacy.ByteTensor([[0, 0, 0], [1, 0, 1]]))] = 5
    return v.data, v._version

def variable_2():
    v = Variable(float_range(2))
    v[0] = "a"
    return v

def variable_3():
    v = Variable(float_range(2))
    v[0] = float_range(1)
    return v

def variable_4():
    v = Variable(float_range(2))
    v[float_range(2)] = 1
    return v

def data_creator():
    x = Variable(float_range(2))
    x[0] = Variable(float_range(1), requires_grad=True)
    return x.requires_grad, x.data, type(x.creator).__name__

[legacy_gradients(f, float_range(3)) for f in (lambda x: x.index_fill(0,
    Variable(legacy.LongTensor([1])), 5), lambda x: (x * 1).index_fill_(0,
    Variable(legacy.LongTensor([1])), 5), lambda x: x.masked_fill(
    Variable(legacy.ByteTensor([0, 1, 1])), 5), lambda x: (x
    * 1).masked_fill_(Variable(legacy.ByteTensor([[0], [1], [1]])), 5))]
[f(v := Variable(float_range(3)), Variable(legacy.LongTensor([1, 0]))) is v
    for f in (lambda x, i: x.index_add_(0, i, Variable(float_range(2))), lambda x,
    i: x.index_copy_(0, i, Variable(float_range(2))), lambda x, i: x.index_fill_(0, i, 9), lambda x,
    i: x.scatter_(0, i, Variable(float_range(2))))]

def masked_copy_index_fill():
    v = Variable(float_range(3))
    u = [v.index_add(0, Variable(legacy.LongTensor([1])), Variable(float_range(1))),
        v.masked_fill(Variable(legacy.ByteTensor([1, 0, 0])), 9),
        v.masked_copy(Variable(legacy.ByteTensor([1, 0, 0])), Variable(float_range(1) * 5)),
        v.index_fill(0, Variable(legacy.LongTensor([1])), 5),
        v.scatter(0, Variable(legacy.LongTensor([1])), Variable(float_range(1)))]
    return v.data, v._version, [x.data for x in u]

Variable(float_range(3)).index_fill(0, Variable(legacy.LongTensor([1])), "a")
Variable(float_range(3)).masked_fill(Variable(legacy.ByteTensor([1, 1, 1])), "a")
Variable(float_range(3)).index_fill_(0, Variable(legacy.LongTensor([1])), "a")
Variable(float_range(3)).masked_fill_(Variable(legacy.ByteTensor([1, 1, 1])), "a")

# elementary functions, at places that tell
[legacy_gradients(lambda x: getattr(x, k)(), legacy.FloatTensor([0.3, 4]))
    for k in "log sqrt rsqrt".split()]
legacy_gradients(lambda x: x.clamp(0, 1), legacy.FloatTensor([-1, 0, 0.5, 1, 2]))
legacy_gradients(lambda x: x.clamp(min=0), legacy.FloatTensor([-1, 0, 0.5]))
legacy_gradients(lambda x: x.clamp(max=0), legacy.FloatTensor([-1, 0, 0.5]))
legacy_gradients(lambda x: x.fmod(2), float_range(3))
legacy_gradients(lambda x: x.remainder(2), float_range(3))
legacy_gradients(lambda x: x.abs(), legacy.FloatTensor([-1, 0, 2]))

# hooks of one Function that runs twice, and samples
def normal_reinforce():
    p, m = Variable(float_range(2) / 4, requires_grad=True), Variable(float_range(2),
        requires_grad=True)
    samples = [p.bernoulli(), p.multinomial(2, True), legacy.normal(m, 1.0), legacy.normal(m, p)]
    return [[x.requires_grad for x in samples], [error_name(x.reinforce, r)
        for x, r in zip(samples, (p, "a", None, float_range(3)))],
        [error_name(x.backward) for x in samples]]
