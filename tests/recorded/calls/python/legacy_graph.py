"""Legacy graph: calls of the Python layer (`autograd_cy`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import error_name, float_range

DIFFERS = "The namespace for programs of 2017: Functions that users write, and Variables. Torch has none of it today."

def volatile_variable():
    class Second(legacy.Function):
        def forward(self, x, y):
            return x + y
        def backward(self, g):
            return None, g
    v, w1 = Variable(float_range(2)), Variable(float_range(2), requires_grad=True)
    Second()(v, w1).backward(float_range(2))
    return v.grad, w1.grad.data, Second()(Variable(float_range(2), volatile=True),
        w1).volatile, Second()(w1, Variable(float_range(2), volatile=True)).volatile

def variable_requires_grad():
    class One(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            return ()
    return One()(Variable(float_range(2), requires_grad=True)).backward(float_range(2))

def variable_requires_grad_2():
    class One(legacy.Function):
        def forward(self, x, y):
            return x * 2
        def backward(self, g):
            return g, None
    return One()(Variable(float_range(2)), Variable(float_range(2),
        requires_grad=True)).backward(float_range(2))

def variable_requires_grad_3():
    class One(legacy.Function):
        def forward(self, x, y):
            return x * 2
        def backward(self, g):
            return g, "a"
    return One()(Variable(float_range(2), requires_grad=True),
        Variable(float_range(2))).backward(float_range(2))

def double_variable():
    class One(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            return g.double()
    return One()(Variable(float_range(2), requires_grad=True)).backward(float_range(2))

def variable_requires_grad_4():
    class One(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            return float_range(3)
    return One()(Variable(float_range(2), requires_grad=True)).backward(float_range(2))

def legacy_variable():
    class One(legacy.Function):
        def forward(self, x):
            return 3
    return One()(Variable(float_range(2)))

def legacy_variable_2():
    class One(legacy.Function):
        def forward(self, x):
            return x, Variable(x)
    return One()(Variable(float_range(2)))

def legacy_variable_3():
    class One(legacy.Function):
        pass
    return One()(Variable(float_range(2)))

class One(legacy.Function):
    def forward(self, x):
        return x * 2

One()(Variable(float_range(1), requires_grad=True)).backward()
One()(float_range(2))

def legacy_variable_4():
    class One(legacy.Function):
        def forward(self, x, y):
            return x * 2
    return One()(Variable(float_range(2)), 3)

def variable_save_for_backward():
    class One(legacy.Function):
        def forward(self, x):
            self.save_for_backward(float_range(2))
            return x * 2
    return One()(Variable(float_range(2), requires_grad=True))

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

def variable_mark_dirty():
    class One(legacy.Function):
        def forward(self, x):
            self.mark_dirty(float_range(2))
            return x
    return One()(Variable(float_range(2)))

def is_set_to_previous_functions():
    class One(legacy.Function):
        def forward(self, x):
            self.mark_dirty(x)
            return x.mul_(2)
        def backward(self, g):
            return g * 2
    v = Variable(float_range(2))
    u = v.view(2)
    w1 = Variable(float_range(2))
    f = One()
    r = f(w1)
    return error_name(One(), v), r is w1, f.previous_functions[0][0] is w1, f.previous_functions[0][
        0].data.is_set_to(w1.data), w1._version, One()(Variable(float_range(2), volatile=True,
        requires_grad=False)).data

def variable_mark_non_differentiable():
    class One(legacy.Function):
        def forward(self, x):
            self.mark_non_differentiable(float_range(2))
            return x * 2
    return One()(Variable(float_range(2), requires_grad=True))

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

def variable_mark_shared_storage_3():
    class One(legacy.Function):
        def forward(self, x):
            self.mark_shared_storage((x, float_range(2)))
            return x * 2
    return One()(Variable(float_range(2)))

def requires_grad_legacy():
    f = legacy.Function()
    f.requires_grad = 1
    return f

def function_inplace():
    f = legacy.Function()
    f.requires_grad = True
    return f.requires_grad, f.inplace, legacy.autograd.function.InplaceFunction().inplace, legacy.autograd.function.InplaceFunction(
        True).inplace

def retain_variables_kept():
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

def nested_iofunction_variable():
    class One(legacy.NestedIOFunction):
        def forward_extended(self, x):
            return {"a": x[0]}
    return One()([Variable(float_range(2))])

def nested_iofunction_variable_2():
    class One(legacy.NestedIOFunction):
        pass
    return One()([Variable(float_range(2)), float_range(2)])

def nested_iofunction_data():
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

def requires_grad_variable():
    v = Variable(float_range(2), requires_grad=True)
    u = v * 2
    u.requires_grad = False
    return u

def volatile_variable_2():
    u = Variable(float_range(2)) * 2
    u.volatile = True
    return u

def volatile_variable_3():
    v = Variable(float_range(2))
    v.volatile = 1
    return v

def requires_grad_variable_2():
    v = Variable(float_range(2))
    v.requires_grad = 1
    return v

def data_variable():
    v = Variable(float_range(2))
    v.data = 3
    return v

def variable():
    v = Variable(float_range(2))
    v._grad = 3
    return v

def creator_variable():
    b = Variable(float_range(4)) * 2
    b._creator = b.creator
    return b

def variable_2():
    v = Variable(float_range(2))
    v._backward_hooks = 3
    return v

def volatile_hash():
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

torch.add(Variable(float_range(2)), 1)
error_name(lambda: Variable(float_range(2)).reshape(2))
np.asarray(Variable(float_range(2)))
