"""Legacy recording: calls of the Python layer (`autograd_cy`)."""

from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import error_name, float_range, legacy_gradients

DIFFERS = "The namespace for programs of 2017: what calls of Functions record. Torch has none of it today."

Variable(legacy.LongTensor([7, -7])).div(Variable(legacy.LongTensor([2, 2]))).data
Variable(legacy.LongTensor([7])).div(2).data
legacy_gradients(legacy.autograd._functions.Index(legacy.ByteTensor([1, 0, 1])), float_range(3))
legacy_gradients(legacy.autograd._functions.Index(legacy.LongTensor([2, 2])), float_range(3))
legacy_gradients(lambda v: v[(None, 1)], float_range(2, 2))
Variable(float_range(2)).clamp()
error_name(Variable(float_range(2)).view)
error_name(Variable(float_range(2)).resize)
Variable(float_range(1)).view().size()
float_range(1).view().size()
error_name(float_range(2).view)

# What a user's Function gets and leaves.
def saved_tensors_volatile():
    class Asked(legacy.Function):
        def forward(self, x):
            self.requires_grad = True
            self.save_for_backward(x)
            return x * 2
    f, g = Asked(), Asked()
    u, x = f(Variable(float_range(2), volatile=True)), g(Variable(float_range(2)))
    return [f.saved_tensors, u.requires_grad, u.volatile, g.saved_tensors, x.requires_grad]

# Functions of the namespace, by the kinds of their operands.
legacy.cross(Variable(float_range(3)), Variable(float_range(6)))
legacy.histc(Variable(float_range(3)))

# Methods that came later.
[legacy.backends.cudnn.is_acceptable(float_range(1)), legacy.backends.cudnn.enabled]

# What is saved, hooks that are gone, gradients that are missing, and classes that are called in their own way.
def add_variable():
    a, b = Variable(float_range(2), requires_grad=True), Variable(float_range(2))
    u, x = a * b, (a + b) * b
    r = b.add_(1)
    return [error_name(u.backward, float_range(2)), error_name(x.backward, float_range(2)),
        error_name((a * Variable(float_range(2))).backward, float_range(2))]

def variable_requires_grad():
    class Missing(legacy.Function):
        def forward(self, x, y):
            return x + y
        def backward(self, g):
            return g, None
    return Missing()(Variable(float_range(2), requires_grad=True),
        Variable(float_range(2), requires_grad=True)).backward(float_range(2))

def register_hook_creator():
    x = Variable(float_range(2, 3), requires_grad=True)
    values, places = x.max(1)
    seen = []
    r = values.creator.register_hook(lambda i, o: seen.append([type(g).__name__ for g in (*i, *o)]))
    values.backward(float_range(2, 1))
    return [seen, x.grad.data]
