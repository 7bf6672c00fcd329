"""Legacy optim: calls of the Python layer (`autograd_cy`)."""

from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import float_range

DIFFERS = "The namespace for programs of 2017: optimizers at their limits. Torch has none of it today."

def asgd_lambd():
    p = Variable(legacy.FloatTensor([1]), requires_grad=True)
    o = legacy.optim.ASGD([p], lambd=0)
    p._grad = Variable(legacy.zeros(1))
    found = []
    for x in (1e8, 0.1, 3e7, 0.3):
        p.data.fill_(x)
        o.step()
        found.append(o.state[p]["ax"].equal(p.data))
    return found

def max_iter_tolerance_change():
    def lbfgs(grads, **options):
        p = Variable(legacy.DoubleTensor([1]), requires_grad=True)
        o, rest = legacy.optim.LBFGS([p], **options), list(grads)
        def closure():
            p._grad = Variable(legacy.DoubleTensor([rest.pop(0) if len(rest) > 1 else rest[0]]))
            return 5.0
        r = o.step(closure)
        state = o.state[p]
        return r, p.data, state["func_evals"], state["n_iter"], len(state["old_stps"])
    return (lbfgs([2, 1, 0.5], lr=1e-10, max_iter=3, max_eval=10, tolerance_change=0),
        lbfgs([2, 0.5, 0.5], lr=1e-10, max_iter=3, max_eval=10, tolerance_change=0),
        lbfgs([0.5], tolerance_grad=0.5), lbfgs([0.75], tolerance_grad=0.5, max_iter=1),
        lbfgs([1], max_iter=0), lbfgs([1], max_iter=1), lbfgs([1, 0.5], max_iter=2),
        lbfgs([0.5], tolerance_change=0.25, max_iter=1),
        lbfgs([0.5], tolerance_change=0.26, max_iter=1))

def variable_optim():
    p = Variable(float_range(1), requires_grad=True)
    return legacy.optim.SGD([{"params": [p], "lr": 0.5},
        {"params": [Variable(float_range(1), requires_grad=True)]}])
