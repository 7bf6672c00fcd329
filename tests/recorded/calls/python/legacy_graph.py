"""Legacy graph: calls of the Python layer (`autograd_cy`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import error_name, float_range

DIFFERS = "The namespace for programs of 2017: Functions that users write, and Variables. Torch has none of it today."

def num_inputs_previous_functions():
    class Twice(legacy.Function):
        def forward(self, x):
            self.save_for_backward(x, None)
            return x * 2
        def backward(self, g):
            return g * 2
    f = Twice()
    v = Variable(float_range(2), requires_grad=True)
    u = f(v)
    return f.num_inputs, f.num_outputs, f.needs_input_grad, f.requires_grad, f.to_save, f.dirty_tensors, f.shared_pairs, f.non_differentiable, f.previous_functions[
        0][0] is v, f.previous_functions[0][1], len(f.saved_tensors), f.saved_tensors[
        1], u.creator is f, u.output_nr, u.requires_grad

def to_save_non_differentiable():
    class Twice(legacy.Function):
        def forward(self, x):
            self.save_for_backward(x)
            self.mark_non_differentiable()
            return x * 2
    f = Twice()
    u = f(Variable(float_range(2)))
    return f.needs_input_grad, f.requires_grad, f.to_save, f.non_differentiable, f.saved_tensors, u.requires_grad, u.creator is f

def to_save_volatile():
    class Twice(legacy.Function):
        def forward(self, x):
            self.save_for_backward(x)
            return x * 2
    f = Twice()
    u = f(Variable(float_range(2), volatile=True))
    return f.needs_input_grad, f.to_save, f.saved_tensors, f.previous_functions, u.volatile, u.creator, u.requires_grad, u.output_nr

def both_num_inputs():
    class Both(legacy.Function):
        def forward(self, x, y):
            return x + y, x - y
        def backward(self, g, h):
            self.seen = g, h
            return g + h, g - h
    f = Both()
    v, w1 = Variable(float_range(2), requires_grad=True), Variable(float_range(2))
    a, b = f(v, w1)
    b.backward(float_range(2))
    return f.seen, v.grad.data, w1.grad, f.needs_input_grad, f.num_inputs, f.num_outputs, b.output_nr, [
        n for _, n in f.previous_functions]

def second_volatile():
    class Second(legacy.Function):
        def forward(self, x, y):
            return x + y
        def backward(self, g):
            return None, g
    v, w1 = Variable(float_range(2)), Variable(float_range(2), requires_grad=True)
    Second()(v, w1).backward(float_range(2))
    return v.grad, w1.grad.data, Second()(Variable(float_range(2), volatile=True),
        w1).volatile, Second()(w1, Variable(float_range(2), volatile=True)).volatile

def back_given():
    class One(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            return self.given
    def back(given):
        f = One()
        f.given = given
        f(Variable(float_range(2), requires_grad=True)).backward(float_range(2))
    return [(error_name(back, x)) for x in (float_range(2), (float_range(2),),
        (float_range(2), None), (float_range(2), None, None), (), None,
        (float_range(2), float_range(2)), 3, float_range(3), float_range(2).double(),
        float_range(2, 1), torch.ones(2))]

def float_range_variable():
    class One(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            return ()
    return One()(Variable(float_range(2), requires_grad=True)).backward(float_range(2))

def float_range_variable_2():
    class One(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            return g, g
    return One()(Variable(float_range(2), requires_grad=True)).backward(float_range(2))

def float_range_variable_3():
    class One(legacy.Function):
        def forward(self, x, y):
            return x * 2
        def backward(self, g):
            return g, None
    return One()(Variable(float_range(2)), Variable(float_range(2),
        requires_grad=True)).backward(float_range(2))

def float_range_variable_4():
    class One(legacy.Function):
        def forward(self, x, y):
            return x * 2
        def backward(self, g):
            return g, "a"
    return One()(Variable(float_range(2), requires_grad=True),
        Variable(float_range(2))).backward(float_range(2))

def float_range_double():
    class One(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            return g.double()
    return One()(Variable(float_range(2), requires_grad=True)).backward(float_range(2))

def float_range_variable_5():
    class One(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            return float_range(3)
    return One()(Variable(float_range(2), requires_grad=True)).backward(float_range(2))

def data_float_range():
    class One(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            return float_range(2, 1)
    v = Variable(float_range(2), requires_grad=True)
    One()(v).backward(float_range(2))
    return v.grad.data

def variable_float_range():
    class One(legacy.Function):
        def forward(self, x):
            return 3
    return One()(Variable(float_range(2)))

def variable_float_range_2():
    class One(legacy.Function):
        def forward(self, x):
            return x, Variable(x)
    return One()(Variable(float_range(2)))

def variable_float_range_3():
    class One(legacy.Function):
        pass
    return One()(Variable(float_range(2)))

def variable_float_range_4():
    class One(legacy.Function):
        def forward(self, x):
            return x * 2
    return One()(Variable(float_range(1), requires_grad=True)).backward()

def legacy_float_range():
    class One(legacy.Function):
        def forward(self, x):
            return x * 2
    return One()(float_range(2))

def variable_float_range_5():
    class One(legacy.Function):
        def forward(self, x, y):
            return x * 2
    return One()(Variable(float_range(2)), 3)

def save_for_backward_float_range():
    class One(legacy.Function):
        def forward(self, x):
            self.save_for_backward(float_range(2))
            return x * 2
    return One()(Variable(float_range(2), requires_grad=True))

def kept_saved_tensors():
    class One(legacy.Function):
        def forward(self, x, y, z):
            self.kept = x * 2, y * 2, z * 2
            self.save_for_backward(z, y, x, *self.kept)
            return self.kept
        def backward(self, a, b, c):
            return self.saved_tensors[:3]
    v = [Variable(float_range(2) * k, requires_grad=True) for k in (1, 2, 3)]
    f = One()
    u = f(*v)
    u[0].backward(float_range(2))
    return [x.grad.data for x in v], [x._version for x in u], error_name(lambda: f.saved_tensors)

def kept_saved_tensors_2():
    class One(legacy.Function):
        def forward(self, x, y, z):
            self.kept = x * 2, y * 2, z * 2
            self.save_for_backward(z, y, x, *self.kept)
            return self.kept
    f, g, h, k = (One() for _ in range(4))
    v = [Variable(float_range(2) * k, requires_grad=False)
        for k in (1, 2, 3)] + [Variable(float_range(2), requires_grad=True)]
    u = [q(v[3], v[1], v[2]) for q in (f, g, h, k)]
    r = u[0][1].add_(1), u[1][2].add_(1), u[2][0].add_(1)
    return [error_name(lambda: q.saved_tensors) for q in (f, g, h, k)]

def saved_tensors_save_for_backward():
    class One(legacy.Function):
        def forward(self, x, y, z):
            self.save_for_backward(x, y, z)
            return x * 2
    f = One()
    v = Variable(float_range(2)), Variable(float_range(2)), Variable(float_range(2),
        requires_grad=True)
    u = f(*v)
    r = v[1].add_(1)
    return f.saved_tensors

def mark_dirty_float_range():
    class One(legacy.Function):
        def forward(self, x):
            self.mark_dirty(float_range(2))
            return x
    return One()(Variable(float_range(2)))

class One(legacy.Function):
    def forward(self, x):
        self.mark_dirty(x)
        return x.mul_(2)
    def backward(self, g):
        return g * 2

def previous_functions_creator():
    v = Variable(float_range(2), requires_grad=True)
    w1 = v * 3
    u = One()(w1)
    u.backward(float_range(2))
    return u is w1, v.grad.data, w1._version, u.creator.previous_functions[0][
        0] is v * 1, error_name(One(), v), v.data

def is_set_to_previous_functions():
    v = Variable(float_range(2))
    u = v.view(2)
    w1 = Variable(float_range(2))
    f = One()
    r = f(w1)
    return error_name(One(), v), r is w1, f.previous_functions[0][0] is w1, f.previous_functions[0][
        0].data.is_set_to(w1.data), w1._version, One()(Variable(float_range(2), volatile=True,
        requires_grad=False)).data

def backward_hooks_print():
    class One(legacy.Function):
        def forward(self, x, y):
            self.mark_dirty(x)
            return x.mul_(y)
        def backward(self, g):
            return g, g
    v = Variable(float_range(2))
    v._backward_hooks = {1: print}
    u = One()(v, Variable(float_range(2), requires_grad=True))
    return u is v, v.requires_grad, v._backward_hooks

def mark_non_differentiable_float_range():
    class One(legacy.Function):
        def forward(self, x):
            self.mark_non_differentiable(float_range(2))
            return x * 2
    return One()(Variable(float_range(2), requires_grad=True))

def creator_mark_non_differentiable():
    class One(legacy.Function):
        def forward(self, x):
            a, b = x * 2, x * 3
            self.mark_non_differentiable(b)
            return a, b
        def backward(self, g, h):
            self.seen = g, h
            return g * 2
    f = One()
    v = Variable(float_range(2), requires_grad=True)
    a, b = f(v)
    a.backward(float_range(2))
    return a.requires_grad, b.requires_grad, f.seen[1], v.grad.data, b.creator is f

def mark_shared_storage_add():
    class One(legacy.Function):
        def forward(self, x):
            y = x.view(2)
            self.mark_shared_storage((x, y))
            return y
    v = Variable(float_range(2))
    u = One()(v)
    return error_name(lambda: v.add_(1)), error_name(lambda: u.add_(1))

def variable_mark_shared_storage():
    class One(legacy.Function):
        def forward(self, x):
            self.mark_shared_storage(x)
            return x * 2
    return One()(Variable(float_range(2)))

def variable_mark_shared_storage_2():
    class One(legacy.Function):
        def forward(self, x):
            self.mark_shared_storage((x, x, x))
            return x * 2
    return One()(Variable(float_range(2)))

def mark_shared_storage_float_range():
    class One(legacy.Function):
        def forward(self, x):
            self.mark_shared_storage((x, float_range(2)))
            return x * 2
    return One()(Variable(float_range(2)))

def mark_shared_storage_float_range_2():
    class One(legacy.Function):
        def forward(self, x):
            y = x * 2
            self.mark_shared_storage((float_range(2), y))
            return y
    return One()(Variable(float_range(2)))

def previous_functions_creator_2():
    class One(legacy.Function):
        def forward(self, x):
            return x, x
    v = Variable(float_range(2))
    a, b = One()(v)
    return a is v, a is b, error_name(lambda: v.add_(1)), error_name(lambda: a.add_(1)), len(
        a.creator.previous_functions)

def variable_add():
    class One(legacy.Function):
        def forward(self, x):
            y = x * 2
            return y, y
    a, b = One()(Variable(float_range(2)))
    return error_name(lambda: b.add_(1))

def needs_input_grad_variable():
    class One(legacy.Function):
        def forward(self, x):
            self.save_for_backward(x)
            return x * 2
        def backward(self, g):
            return g * self.saved_tensors[0]
    f = One()
    v, w1 = Variable(float_range(2), requires_grad=True), Variable(float_range(2) * 3,
        requires_grad=True)
    a = f(v)
    b = f(w1)
    b.backward(float_range(2))
    return v.grad, w1.grad.data, f(Variable(float_range(
        2))).requires_grad, f.requires_grad, f.needs_input_grad

def requires_grad_legacy():
    f = legacy.Function()
    f.requires_grad = 1
    return f

def function_inplace():
    f = legacy.Function()
    f.requires_grad = True
    return f.requires_grad, f.inplace, legacy.autograd.function.InplaceFunction().inplace, legacy.autograd.function.InplaceFunction(
        True).inplace

def pair_retain_variables():
    class Pair(legacy.NestedIOFunction):
        def forward_extended(self, pair, x):
            self.save_for_backward(pair, x)
            return [pair[0] * 2, (pair[1] * 3, None)], x * 4
        def backward_extended(self, first, last):
            self.kept, self.got = self.saved_tensors, (first, last)
            return (first[0] * 2, first[1][0] * 3), last * 4
    a, b, c = (Variable(float_range(2) * k, requires_grad=True) for k in (1, 2, 3))
    f = Pair()
    (p, (q, n)), r = f((a, b), c)
    (p + q + r).backward(float_range(2), retain_variables=True)
    return a.grad.data, b.grad.data, c.grad.data, n, type(
        f.kept[0]).__name__, f.kept, f.got, f.retain_variables

def pair_retain_variables_2():
    class Pair(legacy.NestedIOFunction):
        def forward_extended(self, pair, x):
            return pair[0] + pair[1] + x
        def backward_extended(self, g):
            return None, g
    a, b, c = (Variable(float_range(2) * k) for k in (1, 2, 3))
    c.requires_grad = True
    f = Pair()
    u = f((a, [b][0]), c)
    u.backward(float_range(2))
    return u.data, c.grad.data, a.grad, f.saved_tensors, f.retain_variables

def dirty_pair():
    class Dirty(legacy.NestedIOFunction):
        def forward_extended(self, pair):
            self.mark_dirty(pair)
            self.mark_non_differentiable(pair[1])
            return pair[0].mul_(2), pair[1].mul_(3)
    a, b = Variable(float_range(2)), Variable(float_range(2))
    p, q = Dirty()((a, b))
    return p is a, q is b, a.data, b.data, a._version

def nested_iofunction_forward_extended():
    class One(legacy.NestedIOFunction):
        def forward_extended(self, x):
            return {"a": x[0]}
    return One()([Variable(float_range(2))])

def nested_iofunction_float_range():
    class One(legacy.NestedIOFunction):
        pass
    return One()([Variable(float_range(2)), float_range(2)])

def forward_extended_backward_extended():
    class One(legacy.NestedIOFunction):
        def forward_extended(self, *x):
            return x[0]
        def backward_extended(self, g):
            return g
    v = Variable(float_range(2), requires_grad=True)
    u = One()(v, None)
    u.backward(float_range(2))
    return v.grad.data, u.data

# Variables
Variable(3)
Variable(torch.ones(2).requires_grad_())
Variable(float_range(2), requires_grad=1)
Variable(float_range(2), volatile=0)
Variable(float_range(2), requires_grad=True, volatile=True)
Variable(float_range(2), creator=3)
Variable(float_range(2), True)

def creator_grad():
    f = legacy.Function()
    return Variable(float_range(2), creator=f).creator is f, Variable(
        float_range(2)).creator, Variable(float_range(2)).grad, Variable(
        float_range(2))._grad, Variable(float_range(2)).output_nr, Variable(
        float_range(2))._version, Variable(float_range(2))._backward_hooks

def requires_grad_variable():
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    u.requires_grad = False
    return u

def variable_float_range_6():
    u = Variable(float_range(2)) * 2
    u.requires_grad = True
    return u

def volatile_variable():
    u = Variable(float_range(2)) * 2
    u.volatile = True
    return u

def volatile_variable_2():
    v = Variable(float_range(2))
    v.volatile = 1
    return v

def variable_float_range_7():
    v = Variable(float_range(2))
    v.requires_grad = 1
    return v

def data_volatile():
    v = Variable(float_range(2))
    v.data = float_range(3)
    v.requires_grad = True
    v.volatile = True
    return v.data, v.requires_grad, v.volatile

def data_variable():
    v = Variable(float_range(2))
    v.data = 3
    return v

def grad_variable():
    v = Variable(float_range(2))
    v._grad = 3
    return v

error_name(setattr, Variable(float_range(2)), "grad", None)

def grad_data():
    v = Variable(float_range(2))
    v._grad = Variable(float_range(2))
    return v.grad.data

def output_nr_creator():
    a, b = Variable(float_range(4)).chunk(2)
    n = b.output_nr
    b._creator = None
    return n, b.creator, b.output_nr

def creator_variable():
    b = Variable(float_range(4)) * 2
    b._creator = b.creator
    return b

def backward_hooks_variable():
    v = Variable(float_range(2))
    v._backward_hooks = 3
    return v

def deepcopy_volatile():
    import copy
    v = Variable(float_range(2), requires_grad=True)
    u = copy.deepcopy([v, v])
    return u[0] is u[1], u[0].requires_grad, u[0].data, u[0].data is v.data, copy.deepcopy(
        Variable(float_range(2), volatile=True)).volatile, type(u[0]) is Variable, copy.deepcopy(
        Variable(float_range(2, 2).t())).data.stride(), error_name(copy.deepcopy, v * 2)

def backward_hooks_hash():
    import pickle
    v = Variable(float_range(2), requires_grad=True)
    v._backward_hooks = {3: print}
    u = [pickle.loads(pickle.dumps(x, k)) for x in (v, Variable(float_range(2), volatile=True))
        for k in range(6)]
    return [(x.requires_grad, x.volatile, x._backward_hooks)
        for x in u[::5]], u[0].data, error_name(lambda: np.asarray(v)), error_name(
        lambda: np.ones(2) + v), error_name(lambda: torch.add(v,
        v)), error_name(lambda: v.reshape(2)), "reshape" in dir(v), "view" in dir(v), hash(
        v) == hash(v), repr(v) == str(v)

(np.float64(2) * Variable(float_range(2))).data
torch.add(Variable(float_range(2)), 1)
error_name(lambda: Variable(float_range(2)).reshape(2))
np.asarray(Variable(float_range(2)))
