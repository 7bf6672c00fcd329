"""Calls under the recorder of profiles, and what its columns say."""

import numpy as np

import autograd_cy as ag
from autograd_cy._C.recorder import Recording
from autograd_cy.profiler._session import Session

started = []


def session(wanted=0, most=1 << 40):
    """A recording that has begun; what runs still at the end of a test is dropped (conftest.py)."""
    made = Recording(wanted, most)
    started.append(made)
    made.start()
    return made


class Exp(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y


class Fails(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise ValueError("in forward")


class FailsLater(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("in backward")


def recorded(call, **options):
    """The columns of a session around ``call()``."""
    session = Session(**options)
    session.start()
    try:
        call()
    finally:
        columns = session.stop()
    return columns


def names_of(columns):
    return [columns.names[i] for i in columns.name]


def tree_of(columns):
    """Names of all events, indented by the depth of their parents."""
    depths = []
    for parent in columns.parent:
        depths.append(0 if parent < 0 else depths[parent] + 1)
    return [(d, name) for d, name in zip(depths, names_of(columns), strict=True)]


def assert_nested(columns):
    """Each event lies inside of its parent and after those before it."""
    for i, parent in enumerate(columns.parent):
        assert columns.start[i] <= columns.end[i]
        if parent >= 0:
            assert columns.thread[i] == columns.thread[parent]
            assert columns.start[parent] <= columns.start[i]
            assert columns.end[i] <= columns.end[parent]
    for thread in np.unique(columns.thread):
        starts = columns.start[columns.thread == thread]
        assert (np.diff(starts) >= 0).all()
