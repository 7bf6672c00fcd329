"""Optim edges: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import differs, error_name, line_search_trials

# Where the line search of LBFGS looks.
[line_search_trials(f, [a], max_iter=k) for k in (1, 4) for a in (-2.0, 0.3, 3.0)
    for f in (lambda x: (x**4).sum(), lambda x: (x**2 + x.cos() * 3).sum(),
    lambda x: (x.exp() - 2 * x).sum(), lambda x: (x * x + 1).log().sum(),
    lambda x: ((x * 3).sin() + x * x * 0.1).sum())]
[line_search_trials(f, [-1.5, 0.5], n, max_iter=5, max_eval=e, history_size=h) for n in (1, 2)
    for e in (1, 2, 3, 4, 6, 9, 20) for h in (1, 2, 5)
    for f in (lambda x: (1 - x[0]) ** 2 + 20 * (x[1] - x[0] ** 2) ** 2,
    lambda x: (x[0] * 3).sin() + x[1].cos() + 0.05 * (x * x).sum())]

# A straight line goes on for ever, a flat place is the end.
([line_search_trials(lambda x: -x.sum(), [1.0], max_iter=1, max_eval=e)
    for e in (1, 2, 4, 6)] + [line_search_trials(lambda x: (x * 0).sum(), [1.0])]
    + [line_search_trials(lambda x: (x * 1e-8).sum(), [1.0])]
    + [line_search_trials(lambda x: (x * 1e-7).sum(), [1.0])]
    + [line_search_trials(lambda x: (x * 1e-6).sum(), [1.0], max_iter=2)]
    + [line_search_trials(lambda x: (x * 1e-4).sum(), [1.0], max_iter=2, tolerance_change=1e-8)])
with differs("Not finite beyond a wall: torch goes there or fails."):
    [line_search_trials(f, [0.5], max_iter=2, lr=r) for r in (1.0, 3.0, 10.0)
        for f in (lambda x: (x.log() - 4 * (1 - x).sqrt()).sum(),
        lambda x: x.sqrt().sum() + x.sum(), lambda x: (1 / x - x.log().neg()).sum())]

# Curvature that is negative isn't remembered; a parameter without a gradient has zeros.
def lbfgs_defaults():
    x = torch.tensor([0.5], requires_grad=True)
    o = torch.optim.LBFGS([x])
    return [o.param_groups[0]["max_eval"], o.defaults["max_iter"], o.defaults["history_size"],
        o.defaults["tolerance_grad"], o.defaults["tolerance_change"], o.defaults["lr"],
        o.defaults["line_search_fn"], torch.optim.LBFGS([x],
        max_iter=7).param_groups[0]["max_eval"], torch.optim.LBFGS([x], lr=0.0).defaults["lr"],
        error_name(lambda: torch.optim.LBFGS([x], lr=-1e-9)),
        o.step(lambda: 3.0 if x.sum().backward() is None else 0)]

@differs("A closure that fails leaves what was.")
def line_search_fn_state():
    x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    o = torch.optim.LBFGS([x], line_search_fn="strong_wolfe")
    seen = []
    def closure():
        seen.append(1)
        if len(seen) == 3:
            raise KeyError("third")
        o.zero_grad()
        z = (x**4).sum() * 5
        z.backward()
        return z
    return [error_name(o.step, closure), len(o.state), x, torch.is_grad_enabled(), o.step(closure),
        len(o.state)]

# What optimizers show and save of their groups.
def defaults_items():
    names = "Adadelta Adagrad Adam AdamW Adamax ASGD LBFGS NAdam RAdam RMSprop Rprop SGD".split()
    made = [getattr(torch.optim, n)([torch.zeros(1, requires_grad=True)], lr=0.5) for n in names]
    return [[repr(o), sorted(o.defaults), [(k, v)
        for k, v in sorted(o.state_dict()["param_groups"][0].items())]] for o in made]

def adam_foreach():
    o = torch.optim.Adam([torch.zeros(1, requires_grad=True)], foreach=False)
    p = torch.optim.Adam([torch.zeros(1, requires_grad=True)])
    p.load_state_dict(o.state_dict())
    return p.param_groups[0]["foreach"], p

# Groups, states and options of optimizers.
torch.optim.Adam([torch.ones(1)], differentiable=True)

# Pairs of Adam: both numbers, or both tensors.
[error_name(lambda: o([torch.zeros(1)], lr=torch.tensor(0.5), foreach=True))
    for o in (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD, torch.optim.NAdam)]

# The order of what states consist of.
def amsgrad_centered():
    def kept(name, **options):
        p = torch.ones(1, requires_grad=True)
        o = getattr(torch.optim, name)([p], **options)
        def closure():
            o.zero_grad()
            loss = (p * p).sum()
            loss.backward()
            return loss
        o.step(closure)
        o.step(closure)
        return [*o.state[p]]
    return [kept("NAdam"), kept("ASGD"), kept("RAdam"), kept("Adam", amsgrad=True),
        kept("RMSprop", momentum=0.5, centered=True), kept("LBFGS", max_iter=2)]
