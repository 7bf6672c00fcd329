"""Schedules: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from autograd_cy.optim import lr_scheduler
from tests.recorded.inputs import (
    differs,
    error_name,
    scheduled_rates,
    sgd_with_rates,
    with_warnings,
)

# Schedules by the number of the step; what they say, then what the groups have.
lr_scheduler.LambdaLR(sgd_with_rates(1.0, 0.5), [lambda n: 1])
lr_scheduler.LambdaLR(sgd_with_rates(1.0), 0.5)
lr_scheduler.ConstantLR(sgd_with_rates(1.0), 1.5)
lr_scheduler.ConstantLR(sgd_with_rates(1.0), -0.5)
scheduled_rates(lr_scheduler.LinearLR(sgd_with_rates(1.0), 0.5, 1.0, 2), 4)
scheduled_rates(lr_scheduler.LinearLR(sgd_with_rates(1.0), 1.0, 0.25, 3), 5)
lr_scheduler.LinearLR(sgd_with_rates(1.0), 0)
lr_scheduler.LinearLR(sgd_with_rates(1.0), 0.5, -0.5)
lr_scheduler.LinearLR(sgd_with_rates(1.0), 0.5, 1.5)
scheduled_rates(lr_scheduler.CosineAnnealingLR(sgd_with_rates(1.0), 3, 0.25), 9)
scheduled_rates(lr_scheduler.CosineAnnealingLR(sgd_with_rates(1.0), 2), 7)
scheduled_rates(lr_scheduler.CosineAnnealingLR(sgd_with_rates(1.0), 1, 0.5), 5)

# A run that is resumed.
lr_scheduler.StepLR(sgd_with_rates(1.0), 2, last_epoch=0)

# Steps to any epoch, with a warning.
def step_get_last_lr():
    schedule = lr_scheduler.StepLR(sgd_with_rates(1.0), 2, 0.5)
    schedule.optimizer.step()
    return [with_warnings(schedule.step, 5), schedule.last_epoch, schedule.get_last_lr(),
        with_warnings(schedule.step, 1), schedule.get_last_lr()]

scheduled_rates(lr_scheduler.LinearLR(sgd_with_rates(1.0), 0.5, 0.75, 2), [0, 1, 2, 3])
scheduled_rates(lr_scheduler.CosineAnnealingWarmRestarts(sgd_with_rates(1.0), 2, 1, 0.25),
    [0, 0.5, 1.75, 2, 3, 4.5])
scheduled_rates(lr_scheduler.CosineAnnealingWarmRestarts(sgd_with_rates(1.0), 2, 2),
    [0, 1, 2, 5.5, 6, 13, 14])
scheduled_rates(lr_scheduler.CosineAnnealingWarmRestarts(sgd_with_rates(1.0), 1, 3),
    [0.5, 1, 4, 12.5, 13])
lr_scheduler.CosineAnnealingWarmRestarts(sgd_with_rates(1.0), 2).step(-1)
lr_scheduler.CosineAnnealingWarmRestarts(sgd_with_rates(1.0), 0)
lr_scheduler.CosineAnnealingWarmRestarts(sgd_with_rates(1.0), 1, 1.0)
lr_scheduler.CosineAnnealingWarmRestarts(sgd_with_rates(1.0), 1, 1, "0")

# Cycles.
error_name(lambda: lr_scheduler.CyclicLR(sgd_with_rates(1.0), 0.25, 1.0, 0, 2,
    cycle_momentum=False))
scheduled_rates(lr_scheduler.CyclicLR(sgd_with_rates(1.0), 0.25, 1.0, 2, 0, cycle_momentum=False),
    4)
scheduled_rates(lr_scheduler.CyclicLR(torch.optim.Adam([torch.zeros(1)]), 0.25, 1.0, 2,
    mode="triangular2", base_momentum=0.5), 9)
scheduled_rates(lr_scheduler.CyclicLR(sgd_with_rates(1.0), 0.0, 1.0, 2, mode="exp_range", gamma=0.5,
    cycle_momentum=False), 6)
lr_scheduler.CyclicLR(sgd_with_rates(1.0), 0.0, 1.0, 2, mode="odd", cycle_momentum=False)
lr_scheduler.CyclicLR(torch.optim.Adagrad([torch.zeros(1)]), 0.0, 1.0)
error_name(lr_scheduler.CyclicLR, torch.optim.Adagrad([torch.zeros(1)]), 0.0, 1.0, 2, 2,
    "triangular", 1.0, None, "cycle", False)
lr_scheduler.CyclicLR(sgd_with_rates(1.0, 2.0), [0.0], 1.0)
lr_scheduler.CyclicLR(sgd_with_rates(1.0, 2.0), 0.0, [1.0])
lr_scheduler.CyclicLR(sgd_with_rates(1.0, 2.0), 0.0, 1.0, base_momentum=[0.5])
lr_scheduler.CyclicLR(sgd_with_rates(1.0, 2.0), 0.0, 1.0, max_momentum=[0.5])
lr_scheduler.CyclicLR(sgd_with_rates(1.0), 0.0, 1.0).step_ratio

# Rates are tensors where groups have tensors.
@differs("A state that is loaded is not changed, as it is by torch.")
def cyclic_lr_scale_fn():
    class Height:
        def __init__(self, n):
            self.n = n
        def __call__(self, x):
            return self.n
    one, other = (lr_scheduler.CyclicLR(sgd_with_rates(1.0), 0.0, 1.0, 2, scale_fn=Height(n))
        for n in (1, 0.5))
    state = other.state_dict()
    one.load_state_dict(state)
    return [one.scale_fn(3), "_scale_fn_custom" in state, state["_scale_fn_custom"]]

def cyclic_lr_scale_fn_2():
    one = lr_scheduler.CyclicLR(sgd_with_rates(1.0), 0.0, 1.0, 2, scale_fn=lambda x: 0.5)
    other = lr_scheduler.CyclicLR(sgd_with_rates(1.0), 0.0, 1.0, 2)
    other.load_state_dict(one.state_dict())
    one.load_state_dict(lr_scheduler.CyclicLR(sgd_with_rates(1.0), 0.0, 1.0, 2).state_dict())
    return [one.scale_fn(2), other.scale_fn(2)]

lr_scheduler.OneCycleLR(sgd_with_rates(1.0), 1.0)
lr_scheduler.OneCycleLR(sgd_with_rates(1.0), 1.0, 0)
lr_scheduler.OneCycleLR(sgd_with_rates(1.0), 1.0, None, 0, 1)
lr_scheduler.OneCycleLR(sgd_with_rates(1.0), 1.0, None, 1.0, 1)
lr_scheduler.OneCycleLR(sgd_with_rates(1.0), 1.0, None, 1, 0)
lr_scheduler.OneCycleLR(sgd_with_rates(1.0), 1.0, 3, 5, 7).total_steps
lr_scheduler.OneCycleLR(sgd_with_rates(1.0), 1.0, 4, pct_start=-0.5)
lr_scheduler.OneCycleLR(sgd_with_rates(1.0), 1.0, 4, pct_start=1)
lr_scheduler.OneCycleLR(sgd_with_rates(1.0), 1.0, 4, anneal_strategy="odd")
lr_scheduler.OneCycleLR(sgd_with_rates(1.0, 1.0), [1.0], 4)
lr_scheduler.OneCycleLR(sgd_with_rates(1.0, 1.0), 1.0, 4, max_momentum=[1.0])
lr_scheduler.OneCycleLR(sgd_with_rates(1.0, 1.0), 1.0, 4, base_momentum=[1.0])
lr_scheduler.OneCycleLR(torch.optim.Adagrad([torch.zeros(1)]), 1.0, 4)
scheduled_rates(lr_scheduler.OneCycleLR(sgd_with_rates(1.0), 1.0, 4, pct_start=1.0), 4)
scheduled_rates(lr_scheduler.OneCycleLR(sgd_with_rates(1.0), 1.0, 4, pct_start=0.5), 5)

# By a metric.
def patience_factor():
    def reduced(losses, rates=(1.0,), **options):
        schedule = lr_scheduler.ReduceLROnPlateau(sgd_with_rates(*rates), **options)
        return [(schedule.step(loss), schedule.get_last_lr()[0])[1] for loss in losses]
    return [reduced([1.0, 1.0], patience=0, eps=0.5, factor=0.5),
        reduced([1.0, 1.0], patience=0, eps=0.25, factor=0.5), reduced([1.0] * 12)]

def min_lrs_get_last_lr():
    schedule = lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0), patience=0)
    schedule.optimizer.add_param_group({"params": [torch.zeros(1)], "lr": 2.0})
    return [[(schedule.step(1.0), schedule.get_last_lr())[1] for _ in range(2)], schedule.min_lrs]

def min_lr_step():
    schedule = lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0), patience=0, min_lr=[0.5])
    schedule.optimizer.add_param_group({"params": [torch.zeros(1)], "lr": 2.0})
    r = schedule.step(1.0)
    return schedule.step(1.0)

lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0), factor=1.0)
lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0), min_lr=[0.5, 0.25])
lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0), "odd")
lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0), threshold_mode="odd")
lr_scheduler.ReduceLROnPlateau(None)

def last_epoch_step():
    schedule = lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0))
    return [with_warnings(schedule.step, 1.0, 7), schedule.last_epoch,
        with_warnings(schedule.step, 1.0), schedule.last_epoch]

lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0)).load_state_dict({"mode": "odd"})
lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0)).load_state_dict({"threshold_mode": "odd"})
lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0)).load_state_dict([1])

def mode_worse_in_cooldown():
    schedule = lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0), "max")
    return [schedule.mode_worse, schedule.best, schedule.last_epoch, schedule.in_cooldown,
        schedule.get_last_lr()]

def step_param_groups():
    optimizer = sgd_with_rates(torch.tensor(1.0))
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    return [schedule.step(1.0), schedule.step(1.0), optimizer.param_groups[0]["lr"]]

# Of others.
def chained_scheduler_exponential_lr():
    optimizer = sgd_with_rates(1.0, 0.5)
    return scheduled_rates(lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(optimizer, 0.5,
        2), lr_scheduler.ExponentialLR(optimizer, 0.5)]), 4)

def chained_scheduler_constant_lr():
    optimizer = sgd_with_rates(1.0)
    return lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(optimizer),
        lr_scheduler.ConstantLR(sgd_with_rates(1.0))])

def chained_scheduler_constant_lr_2():
    optimizer = sgd_with_rates(1.0)
    return error_name(lr_scheduler.ChainedScheduler, [lr_scheduler.ConstantLR(optimizer)],
        sgd_with_rates(1.0))

error_name(lr_scheduler.ChainedScheduler, [])
error_name(lr_scheduler.ChainedScheduler, [lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0))])

def step_size_step_lr():
    optimizer = sgd_with_rates(1.0)
    one, other = (lr_scheduler.ChainedScheduler([lr_scheduler.StepLR(optimizer, n, 0.5),
        lr_scheduler.StepLR(optimizer, 2 * n)]) for n in (3, 4))
    state = other.state_dict()
    one.load_state_dict(state)
    return [[x.step_size for x in one._schedulers], "_schedulers" in state]

def lr_scheduler_exponential_lr():
    optimizer = sgd_with_rates(1.0, 0.5)
    return scheduled_rates(lr_scheduler.SequentialLR(optimizer,
        [lr_scheduler.ConstantLR(optimizer, 0.5, 9), lr_scheduler.ExponentialLR(optimizer, 0.5),
        lr_scheduler.StepLR(optimizer, 1)], [2, 4]), 7)

def chained_scheduler_exponential_lr_2():
    optimizer = sgd_with_rates(1.0)
    return scheduled_rates(lr_scheduler.SequentialLR(optimizer,
        [lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(optimizer, 0.5, 9)]),
        lr_scheduler.ExponentialLR(optimizer, 0.5)], [2]), 5)

def sequential_lr_exponential_lr():
    optimizer = sgd_with_rates(1.0)
    return scheduled_rates(lr_scheduler.SequentialLR(optimizer,
        [lr_scheduler.ExponentialLR(optimizer, 0.5)], []), 3)

@differs("It begins with the one whose turn it is, torch with the first.")
def lr_scheduler_exponential_lr_2():
    optimizer = sgd_with_rates(1.0)
    return scheduled_rates(lr_scheduler.SequentialLR(optimizer,
        [lr_scheduler.ConstantLR(optimizer, 0.5, 9), lr_scheduler.ExponentialLR(optimizer, 0.5)],
        [2], 2), 3)

def sequential_lr_constant_lr():
    optimizer = sgd_with_rates(1.0)
    return lr_scheduler.SequentialLR(optimizer, [lr_scheduler.ConstantLR(optimizer)], [2])

def lr_scheduler_constant_lr():
    optimizer = sgd_with_rates(1.0)
    return lr_scheduler.SequentialLR(optimizer, [lr_scheduler.ConstantLR(optimizer),
        lr_scheduler.ConstantLR(optimizer)], [])

error_name(lr_scheduler.SequentialLR, sgd_with_rates(1.0),
    [lr_scheduler.ConstantLR(sgd_with_rates(1.0))], [])

def sequential_lr_reduce_lron_plateau():
    optimizer = sgd_with_rates(1.0)
    return error_name(lr_scheduler.SequentialLR, optimizer,
        [lr_scheduler.ReduceLROnPlateau(optimizer)], [])

def lr_scheduler_constant_lr_2():
    optimizer = sgd_with_rates(1.0)
    return error_name(lr_scheduler.SequentialLR, optimizer,
        [lr_scheduler.ConstantLR(optimizer), lr_scheduler.ConstantLR(optimizer)], ["2"])

# What schedules have in common.
lr_scheduler.StepLR(None, 1)

def lrscheduler_lr_scheduler():
    class None_(lr_scheduler.LRScheduler):
        pass
    return None_(sgd_with_rates(1.0))

def step_optimizer():
    schedule = lr_scheduler.StepLR(sgd_with_rates(1.0), 1, 0.5)
    schedule.optimizer.step = lambda: None
    return with_warnings(schedule.step)

lr_scheduler.StepLR(sgd_with_rates(1.0), 5).load_state_dict(None)

def step_lr_lr_scheduler():
    optimizer = sgd_with_rates(1.0)
    lr_scheduler.StepLR(optimizer, 1)
    step = optimizer.step
    lr_scheduler.StepLR(optimizer, 1)
    return [step == optimizer.step, optimizer.step.__name__]

# Schedules at their limits.
error_name(lr_scheduler.CyclicLR, 3, 0.1, 1.0)
error_name(lr_scheduler.OneCycleLR, 3, 0.1, 4)
error_name(lr_scheduler.ReduceLROnPlateau, 3)
error_name(lr_scheduler.StepLR, 3, 2)
error_name(lr_scheduler.CosineAnnealingWarmRestarts, 3, 2)
error_name(lr_scheduler.ChainedScheduler, [], 3)

# Rates that are asked for outside of a step come with a warning.
with_warnings(lr_scheduler.LambdaLR(sgd_with_rates(0.1), abs).get_lr)
with_warnings(lr_scheduler.MultiplicativeLR(sgd_with_rates(0.1), abs).get_lr)
with_warnings(lr_scheduler.StepLR(sgd_with_rates(0.1), 2).get_lr)
with_warnings(lr_scheduler.MultiStepLR(sgd_with_rates(0.1), [2]).get_lr)
with_warnings(lr_scheduler.ConstantLR(sgd_with_rates(0.1)).get_lr)
with_warnings(lr_scheduler.LinearLR(sgd_with_rates(0.1)).get_lr)
with_warnings(lr_scheduler.ExponentialLR(sgd_with_rates(0.1), 0.5).get_lr)
with_warnings(lr_scheduler.PolynomialLR(sgd_with_rates(0.1)).get_lr)
scheduled_rates(lr_scheduler.CyclicLR(sgd_with_rates(0.1, momentum=0.5), 0.1, 1.0, 2,
    mode="exp_range", gamma=0.5, scale_mode="cycle"), 7)
[x.param_groups[0]["momentum"] for x in [sgd_with_rates(0.1, momentum=0.5)]
    for s in [lr_scheduler.OneCycleLR(x, 1.0, 8, max_momentum=0.7)]]
lr_scheduler.CyclicLR(sgd_with_rates(0.1, momentum=0.5), 0.1, 1.0).load_state_dict([])
lr_scheduler.CyclicLR(sgd_with_rates(0.1, momentum=0.5), 0.1, 1.0).load_state_dict({})
lr_scheduler.LambdaLR(sgd_with_rates(0.1), abs).load_state_dict([])
with differs("A list without elements is taken for a dictionary by torch."):
    lr_scheduler.StepLR(sgd_with_rates(0.1), 2).load_state_dict([])
lr_scheduler.SequentialLR(sgd_with_rates(0.1), [lr_scheduler.ConstantLR(sgd_with_rates(0.1))],
    []).load_state_dict([])

def cyclic_lr_scale_fn_3():
    class Scale:
        def __init__(self, height):
            self.height = height
        def __call__(self, x):
            return self.height
    one, other = (lr_scheduler.CyclicLR(sgd_with_rates(0.1, momentum=0.5), 0.1, 1.0, 2,
        scale_fn=Scale(h)) for h in (1.0, 0.5))
    saved = other.state_dict()
    one.load_state_dict(dict(saved))
    return [saved["_scale_fn_custom"], one.scale_fn(1),
        lr_scheduler.CyclicLR(sgd_with_rates(0.1, momentum=0.5), 0.1,
        1.0).state_dict()["_scale_fn_custom"], lr_scheduler.CyclicLR(sgd_with_rates(0.1,
        momentum=0.5), 0.1, 1.0, scale_fn=lambda x: x).state_dict()["_scale_fn_custom"]]

lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0)).num_bad_epochs
lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0)).cooldown_counter
lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0)).best
lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0), "max").best
lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0)).last_epoch
lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0)).get_last_lr()

def num_bad_epochs_cooldown_counter():
    s = lr_scheduler.ReduceLROnPlateau(sgd_with_rates(1.0), patience=1, cooldown=2)
    found = []
    for metric in (math.inf, math.inf, math.nan, 3.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0):
        s.step(metric)
        found += [s.num_bad_epochs, s.cooldown_counter, s.get_last_lr()[0]]
    s._reset()
    return [found, s.num_bad_epochs, s.cooldown_counter, s.best, s.last_epoch]

def t_cur_get_last_lr():
    s = lr_scheduler.CosineAnnealingWarmRestarts(sgd_with_rates(1.0), 2)
    return [(s.step(e), s.T_cur, s.T_i, s.get_last_lr())[1:] for e in (0.5, 2, 5.5, 7)]

def t_cur_get_last_lr_2():
    s = lr_scheduler.CosineAnnealingWarmRestarts(sgd_with_rates(1.0), 2, 3)
    return [(s.step(e), s.T_cur, s.T_i, s.get_last_lr())[1:] for e in (0.5, 2, 5.5, 7.5, 8, 26)]

# Groups that are added later.
def multi_step_lr_linear_lr():
    def added(kind, *options):
        o = sgd_with_rates(1.0, momentum=0.5)
        schedule = kind(o, *options)
        o.add_param_group({"params": [torch.zeros(1, requires_grad=True)], "lr": 0.5})
        return schedule
    return [scheduled_rates(added(lr_scheduler.StepLR, 2, 0.5), 3),
        scheduled_rates(added(lr_scheduler.MultiStepLR, [1, 2], 0.5), 3),
        scheduled_rates(added(lr_scheduler.ExponentialLR, 0.5), 2),
        scheduled_rates(added(lr_scheduler.ConstantLR, 0.5, 2), 3),
        scheduled_rates(added(lr_scheduler.LinearLR, 0.5, 1.0, 2), 3),
        scheduled_rates(added(lr_scheduler.PolynomialLR, 4), 2),
        scheduled_rates(added(lr_scheduler.CosineAnnealingLR, 4), 2)]

# Bounds of momenta stand in the groups.
error_name(lambda: lr_scheduler.CyclicLR(sgd_with_rates(1.0), [0.25, 0.5], 1.0))
error_name(lambda: torch.optim.swa_utils.SWALR(sgd_with_rates(1.0), [0.25, 0.5]))
