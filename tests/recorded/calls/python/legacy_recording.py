"""Legacy recording: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import error_name, float_range, legacy_gradients

DIFFERS = "The namespace for programs of 2017: what calls of Functions record. Torch has none of it today."

Variable(legacy.LongTensor([7, -7])).div(Variable(legacy.LongTensor([2, 2]))).data
Variable(legacy.LongTensor([7])).div(2).data

def ellipsis_slice():
    found = []
    for key in (-1, 0, slice(1), (0, slice(2)), Ellipsis, (Ellipsis, 0), None, (None, 1),
        (slice(1), -1)):
        v = Variable(float_range(2, 2))
        u = v[key]
        found.append((u.data, error_name(v.add_, 1)))
        del u
        found.append(error_name(v.add_, 1))
    return found

def index_functions():
    v = Variable(float_range(3))
    u, x = legacy.autograd._functions.Index(legacy.LongTensor([2,
        0]))(v), legacy.autograd._functions.Index(legacy.ByteTensor([1, 0, 1]))(v)
    return [u.data, x.data, error_name(v.add_, 1), v.data]

legacy_gradients(legacy.autograd._functions.Index(legacy.ByteTensor([1, 0, 1])), float_range(3))
legacy_gradients(legacy.autograd._functions.Index(legacy.LongTensor([2, 2])), float_range(3))
legacy_gradients(lambda v: v[(None, 1)], float_range(2, 2))
Variable(float_range(1, 2, 1)).squeeze(0).size()
Variable(float_range(1, 2, 1)).squeeze(2).size()
Variable(float_range(1, 2, 1)).squeeze().size()
Variable(float_range(1, 2, 1)).squeeze(None).size()
Variable(float_range(2)).cuda()
Variable(float_range(2)).cuda(0)
Variable(float_range(2)).clamp()
Variable(float_range(2, 2)).addmm(2, Variable(float_range(2, 2)), Variable(float_range(2, 2))).data
Variable(float_range(2, 2)).addmm(2, 3, Variable(float_range(2, 2)),
    Variable(float_range(2, 2))).data
Variable(float_range(2, 2)).addmm(Variable(float_range(2, 2)), Variable(float_range(2, 2))).data
error_name(Variable(float_range(2)).view)
error_name(Variable(float_range(2)).resize)
Variable(float_range(1)).view().size()
float_range(1).view().size()
error_name(float_range(2).view)

# A Function that is called again forgets the call before, also one that was refused.
def nested_keep():
    class Nested(legacy.NestedIOFunction):
        keep = True
        def forward_extended(self, x):
            if self.keep:
                self.save_for_backward(x)
            return x * 2
    f, v = Nested(), Variable(float_range(2), requires_grad=True)
    u = f(v)
    before = f.saved_tensors
    f.keep = False
    u = f(v)
    return [before, f.saved_tensors]

def regrouped_pair():
    class Regrouped(legacy.NestedIOFunction):
        def forward_extended(self, pair, x):
            return pair[0] + pair[1] + x
        def backward_extended(self, g):
            return self.given(g)
    def run(given):
        f = Regrouped()
        f.given = given
        v = [Variable(float_range(2), requires_grad=True) for _ in range(3)]
        f((v[0], v[1]), v[2]).backward(float_range(2))
        return [x.grad.data for x in v]
    return [run(lambda g: (g, (g * 2, g * 3))), run(lambda g: ((g, g * 2), g * 3)),
        run(lambda g: (g, g * 2, g * 3)), error_name(run, lambda g: ((g, g), g, g)),
        error_name(run, lambda g: (g, g)), error_name(run, lambda g: g)]

def failing_fails():
    class Failing(legacy.Function):
        fails = True
        def forward(self, x):
            if self.fails:
                self.mark_dirty(x)
                self.save_for_backward(float_range(5))
                self.mark_shared_storage((x, x))
                self.mark_non_differentiable(float_range(5))
                raise ValueError("not now")
            return x * 2
        def backward(self, g):
            return g * 2
    f, v = Failing(), Variable(float_range(2), requires_grad=True)
    r = error_name(f, v)
    f.fails = False
    u = f(v)
    u.backward(float_range(2))
    return [r, u is v, v.grad.data, u.requires_grad]

def previous_functions_mul_constant():
    f, v = legacy.autograd._functions.MulConstant(3), Variable(float_range(2), requires_grad=True)
    u = f(v)
    before = len(f.previous_functions)
    u = f(Variable(float_range(2), volatile=True))
    return [before, f.previous_functions, f.requires_grad, f.needs_input_grad, u.volatile]

# What a user's Function gets and leaves.
def seen_expand_as():
    seen = []
    class Seen(legacy.Function):
        def forward(self, x):
            return x * 2
        def backward(self, g):
            seen.append(type(g).__name__)
            return g.sum(1).expand_as(g)
    v = Variable(float_range(2, 2), requires_grad=True)
    u = (Seen()(v) * Variable(float_range(2, 2))).sum()
    u.backward()
    return [seen, v.grad.data]

def asked_volatile():
    class Asked(legacy.Function):
        def forward(self, x):
            self.requires_grad = True
            self.save_for_backward(x)
            return x * 2
    f, g = Asked(), Asked()
    u, x = f(Variable(float_range(2), volatile=True)), g(Variable(float_range(2)))
    return [f.saved_tensors, u.requires_grad, u.volatile, g.saved_tensors, x.requires_grad]

# Functions of the namespace, by the kinds of their operands.
error_name(legacy.add, 2, Variable(float_range(2)))
error_name(legacy.mul, 2, Variable(float_range(2)))
error_name(legacy.add, float_range(2), Variable(float_range(2)))
legacy.pow(2, Variable(float_range(2))).data
legacy.pow(Variable(float_range(2)), other=2).data
error_name(legacy.pow, float_range(2), Variable(float_range(2)))
error_name(legacy.pow, "a", Variable(float_range(2)))
legacy.cumsum(Variable(float_range(3)), 0).data
legacy.trace(Variable(float_range(2, 2))).data
legacy.atan2(Variable(float_range(2)), Variable(float_range(2))).data
legacy.cross(Variable(float_range(3)), Variable(float_range(3) * float_range(3))).data
legacy.cumprod(Variable(float_range(3)), 0).data
legacy.cross(Variable(float_range(3)), Variable(float_range(6)))
legacy.histc(Variable(float_range(3)))
legacy.add.__module__
legacy.add.__name__
legacy.numel.__name__
legacy.add.__doc__ == legacy.FloatTensor.add.__doc__
all(getattr(legacy, name).__doc__ for name in ("numel", "gesv", "mul", "cumsum"))

# Methods that came later.
float_range(2).logaddexp(torch.ones(2, requires_grad=True)).requires_grad
type(float_range(2).logaddexp(float_range(2))).__name__
float_range(2).logsumexp(0)
float_range(2, 2).T
float_range(2).real.type()
type(float_range(2).detach()).__name__
float_range(2).item.__name__
float_range(2).zero_().type()
[legacy.backends.cudnn.is_acceptable(float_range(1)), legacy.backends.cudnn.enabled]

# What is saved, hooks that are gone, gradients that are missing, and classes that are called in their own way.
def variable_float_range():
    a, b = Variable(float_range(2), requires_grad=True), Variable(float_range(2))
    u, x = a * b, (a + b) * b
    r = b.add_(1)
    return [error_name(u.backward, float_range(2)), error_name(x.backward, float_range(2)),
        error_name((a * Variable(float_range(2))).backward, float_range(2))]

def backward_hooks_calls():
    calls, x = [], Variable(float_range(2), requires_grad=True)
    y = x * 2
    r = y.register_hook(lambda g: calls.append(1))
    y._backward_hooks = None
    y.backward(float_range(2))
    return [calls, x.grad.data]

def missing_float_range():
    class Missing(legacy.Function):
        def forward(self, x, y):
            return x + y
        def backward(self, g):
            return None, None
    return Missing()(Variable(float_range(2)), Variable(float_range(2),
        requires_grad=True)).backward(float_range(2))

def missing_float_range_2():
    class Missing(legacy.Function):
        def forward(self, x, y):
            return x + y
        def backward(self, g):
            return g, None
    return Missing()(Variable(float_range(2), requires_grad=True),
        Variable(float_range(2), requires_grad=True)).backward(float_range(2))

def bernoulli_reinforce():
    p = Variable(legacy.FloatTensor([0.5, 0.5]), requires_grad=True)
    s = p.bernoulli()
    a = s * 2
    u = a + a + s
    s.reinforce(1)
    u.backward(float_range(2))
    return p.grad.data.abs()

def doubled_below():
    class Doubled(legacy.autograd._functions.Exp):
        def __call__(self, *x):
            return super().__call__(*x), "mine"
    class Below(Doubled):
        pass
    class Own(legacy.autograd._functions.Exp):
        def _do_forward(self, *x):
            return super()._do_forward(*x), "own"
    class Again(legacy.autograd._functions.Exp):
        __call__ = legacy.Function._do_forward
    v = Variable(legacy.zeros(1))
    return [Below()(v)[1], Doubled()(v)[1], Own()(v)[1], Again()(v).data]

def seen_creator():
    seen, n = [], legacy.nn.Linear(2, 2, bias=False)
    u = n(Variable(float_range(1, 2), requires_grad=True))
    r = u.creator.register_hook(lambda i, o: seen.append((len(i), len(o))))
    u.sum().backward()
    return seen

def values_places():
    x = Variable(float_range(2, 3), requires_grad=True)
    values, places = x.max(1)
    seen = []
    r = values.creator.register_hook(lambda i, o: seen.append([type(g).__name__ for g in (*i, *o)]))
    values.backward(float_range(2, 1))
    return [seen, x.grad.data]

def volatile_exp():
    v = Variable(float_range(2), requires_grad=True)
    v.volatile = True
    return [error_name(v.add_, 1), v.data, error_name(lambda: v.exp_()), v.volatile,
        v.requires_grad]
