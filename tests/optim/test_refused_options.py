"""Options of optimizers, schedules and averages that mean nothing: their errors, a line each."""

from call_tables import assert_refused

import autograd_cy as torch
from autograd_cy import nn, optim
from autograd_cy.optim import lr_scheduler as schedules
from autograd_cy.optim import swa_utils

leaf = torch.ones(2, requires_grad=True)
linear = nn.Linear(2, 2)
rate = optim.SGD([leaf], lr=0.1)

NAMES = globals() | {"nn": nn, "schedules": schedules, "swa_utils": swa_utils}

# call: (type of error, words of its message)
REFUSED = {
    "optim.LBFGS([{'params': [leaf]}, {'params': []}])": (ValueError, "parameter groups"),
    "optim.LBFGS([leaf]).step()": (TypeError, "closure"),
    "rate.add_param_group(5)": (TypeError, "param_group must be a dict"),
    "rate.load_state_dict({'state': {}, 'param_groups': []})": (
        ValueError,
        "different number of parameter groups",
    ),
    "swa_utils.get_ema_multi_avg_fn(1.5)": (ValueError, "Invalid decay value 1.5"),
    "swa_utils.get_ema_multi_avg_fn(-0.5)": (ValueError, "Invalid decay value -0.5"),
    "swa_utils.AveragedModel(linear, avg_fn=min, multi_avg_fn=min)": (AssertionError, "Only one"),
    "swa_utils.SWALR(rate, 0.1, anneal_epochs=-1)": (ValueError, "greater than 0, got -1"),
    "schedules.ChainedScheduler([])": (
        ValueError,
        "ChainedScheduler expects at least one scheduler to be chained, but",
    ),
    "schedules.ChainedScheduler([5])": (TypeError, "should have `optimizer`"),
    "schedules.OneCycleLR(rate, 0.1, epochs=-1, steps_per_epoch=2)": (
        ValueError,
        "positive integer epochs, but got -1",
    ),
    "schedules.OneCycleLR(rate, 0.1, epochs=2, steps_per_epoch=0)": (
        ValueError,
        "positive integer steps_per_epoch, but got 0",
    ),
    "schedules.OneCycleLR(rate, 0.1, epochs=2.0, steps_per_epoch=2)": (ValueError, "epochs"),
    "torch.optim.Optimizer([leaf], {}).step()": (NotImplementedError, "Optimizer defines no step."),
    "optim.lr_scheduler.LRScheduler(optim.SGD([leaf], lr=0.1))": (
        NotImplementedError,
        "LRScheduler defines no get_lr.",
    ),
    "schedules.SequentialLR(rate, [], [])": (
        ValueError,
        "SequentialLR expects at least one scheduler, but got no scheduler.",
    ),
    "schedules.ChainedScheduler([], rate)": (
        ValueError,
        "ChainedScheduler expects at least one scheduler to be chained, but",
    ),
}


def test_options_that_mean_nothing_are_refused():
    assert_refused(REFUSED, NAMES)
