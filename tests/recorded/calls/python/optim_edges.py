"""Optim edges: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, error_name, line_search_trials, sines

# Where the line search of LBFGS looks.
[line_search_trials(f, [a], max_iter=k) for k in (1, 4) for a in (-2.0, 0.3, 3.0)
    for f in (lambda x: (x**4).sum(), lambda x: (x**2 + x.cos() * 3).sum(),
    lambda x: (x.exp() - 2 * x).sum(), lambda x: (x * x + 1).log().sum(),
    lambda x: ((x * 3).sin() + x * x * 0.1).sum())]
[line_search_trials(f, [a], max_iter=1, lr=r) for r in (1e-3, 5.0, 100.0) for a in (-2.0, 0.7)
    for f in (lambda x: (x**4).sum(), lambda x: ((x * 5).sin() + x * x * 0.1).sum(),
    lambda x: (x * x).sqrt().sum(), lambda x: (x**2 - 1).abs().sum())]
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

# Without a search: what is remembered, and when it ends.
def state_history_size():
    def state(f, starts, n=1, **options):
        xs = [s.clone().requires_grad_() for s in starts]
        o = torch.optim.LBFGS(xs, **options)
        def closure():
            o.zero_grad()
            y = f(*xs)
            y.backward()
            return y
        found = [o.step(closure) for _ in range(n)]
        s = o.state[xs[0]]
        return [found, s["n_iter"], s["func_evals"], s["d"], float(s["t"]), len(s["old_dirs"]),
            len(s["old_stps"]), len(s["ro"]), [float(r) for r in s["ro"]], float(s["H_diag"]),
            s["prev_flat_grad"], s["prev_loss"], [x.detach() for x in xs]]
    return [state(lambda x, y: ((x - 1) ** 2).sum() + (y**4).sum() + (x[0] * y).sum(),
        [sines(2), sines(1, 2)], n, lr=0.3, max_iter=k, history_size=h) for n in (1, 3)
        for k in (1, 2, 5) for h in (1, 3)]

def state_starts():
    def state(f, starts, n=1, **options):
        xs = [s.clone().requires_grad_() for s in starts]
        o = torch.optim.LBFGS(xs, **options)
        def closure():
            o.zero_grad()
            y = f(*xs)
            y.backward()
            return y
        found = [o.step(closure) for _ in range(n)]
        s = o.state[xs[0]]
        return [found, s["n_iter"], s["func_evals"], float(s["t"]), len(s["old_dirs"]),
            [x.detach() for x in xs]]
    return [state(lambda x, y: (x.abs() ** 2).sum() + ((y - 1) ** 4).sum() + 0 * y.sum(),
        [complex_sines(2), sines(3)], n, **o) for n in (1, 2)
        for o in ({"max_eval": 3}, {"max_iter": 3, "max_eval": 2}, {"tolerance_grad": 0.5},
        {"tolerance_change": 0.05}, {"tolerance_change": 0.3, "lr": 0.2},
        {"line_search_fn": "strong_wolfe", "max_iter": 6})]

# Curvature that is negative isn't remembered; a parameter without a gradient has zeros.
def closure_state():
    x, y = torch.tensor([0.5], dtype=torch.float64, requires_grad=True), torch.ones(2,
        dtype=torch.float64, requires_grad=True)
    o = torch.optim.LBFGS([y, x], lr=0.1, max_iter=4)
    def closure():
        o.zero_grad()
        z = -(x * x).sum()
        z.backward()
        return z
    o.step(closure)
    return [x, y, len(o.state[y]["old_stps"]), float(o.state[y]["H_diag"]), o.state[y]["d"],
        len(o.state)]

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
def closure_line_search_fn():
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
def names_defaults():
    names = "Adadelta Adagrad Adam AdamW Adamax ASGD LBFGS NAdam RAdam RMSprop Rprop SGD".split()
    made = [getattr(torch.optim, n)([torch.zeros(1, requires_grad=True)], lr=0.5) for n in names]
    return [[repr(o), sorted(o.defaults), [(k, v)
        for k, v in sorted(o.state_dict()["param_groups"][0].items())]] for o in made]

def some_fused():
    some = [(n, k, v) for n in ("Adam", "SGD", "Adagrad", "Rprop", "Adamax")
        for k in ("foreach", "fused", "capturable")
        for v in (True, False) if (n, k) not in (("SGD", "capturable"), ("Adagrad", "capturable"),
        ("Rprop", "fused"), ("Adamax", "fused"))]
    return [repr(getattr(torch.optim, n)([torch.zeros(1, requires_grad=True)], lr=0.5, **{k: v}))
        for n, k, v in some], [error_name(lambda n=n: getattr(torch.optim,
        n)([torch.zeros(1, requires_grad=True)], foreach=True, fused=True))
        for n in ("Adam", "AdamW", "SGD", "Adagrad")]

def adam_foreach():
    o = torch.optim.Adam([torch.zeros(1, requires_grad=True)], foreach=False)
    p = torch.optim.Adam([torch.zeros(1, requires_grad=True)])
    p.load_state_dict(o.state_dict())
    return p.param_groups[0]["foreach"], p

# Groups, states and options of optimizers.
[x["sum"] for x in torch.optim.Adagrad([torch.ones(2, requires_grad=True)],
    initial_accumulator_value=0.5).state.values()]

@differs("Sums of a group that is added begin at once, too.")
def adagrad_values():
    x = torch.optim.Adagrad([torch.ones(2, requires_grad=True)])
    x.add_param_group({"params": [torch.ones(1, requires_grad=True)],
        "initial_accumulator_value": 2.0})
    return [(k["step"], k["sum"]) for k in x.state.values()]

with differs("No step of ours is differentiated."):
    torch.optim.Adam([torch.ones(1)], differentiable=True)

def mixin_given():
    class Mixin:
        def __init_subclass__(cls, **given):
            cls.given = given
    class Own(torch.optim.SGD, Mixin, word=3):
        pass
    return [Own.given, len(Own([torch.ones(1)], lr=0.1).state)]

def line_bowl():
    def searched(function, start, steps=1, **options):
        p = torch.tensor(start, dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.LBFGS([p], **options)
        def closure():
            optimizer.zero_grad()
            value = function(p)
            value.backward()
            return value
        values = [float(optimizer.step(closure)) for _ in range(steps)]
        state = optimizer.state[p]
        return [p.detach(), *values, state["func_evals"], state["n_iter"]]
    line = lambda p: p.sum()
    bowl = lambda p: (p * p).sum() / 2
    return [searched(line, [3.0], lr=1.0, tolerance_change=1.0),
        searched(line, [3.0], lr=1.0, tolerance_change=1.5),
        searched(line, [3.0], lr=0.5, tolerance_change=0.5),
        searched(line, [3.0], tolerance_grad=1.0),
        searched(bowl, [1.0], lr=0.5, tolerance_grad=0.25),
        searched(bowl, [1.0], lr=0.5, tolerance_grad=0.2),
        searched(bowl, [1.0], lr=0.5, max_iter=1), searched(bowl, [1.0], 2, lr=0.5, max_iter=2),
        searched(bowl, [1.0], lr=0.5, max_iter=3, max_eval=3),
        searched(bowl, [1.0], lr=0.5, tolerance_change=0.375),
        searched(bowl, [1.0], 3, lr=0.25, history_size=1, max_iter=4)]

# Pairs of Adam: both numbers, or both tensors.
[o([torch.zeros(1)], betas=betas).param_groups[0]["betas"]
    for o in (torch.optim.Adam, torch.optim.AdamW) for betas in ([0.5, 0.75], (0.5, 0.75))]
[error_name(lambda: o([torch.zeros(1)], betas=betas))
    for o in (torch.optim.Adam, torch.optim.AdamW, torch.optim.NAdam)
    for betas in ((0, 0.5), (0.5, torch.tensor(0.5)), (torch.tensor(0.5), torch.tensor(0.75)),
    [0.5, 0])]
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
