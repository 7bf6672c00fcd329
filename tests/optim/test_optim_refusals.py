"""Errors and limits of optimizers: memory of parameters, leaves, saved options."""

import re
import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.autograd.graph import allow_mutation_on_saved_tensors

OPTIMIZERS = {
    "SGD": lambda params: ag.optim.SGD(params, lr=0.5),
    "SGD with momentum": lambda params: ag.optim.SGD(params, lr=0.5, momentum=0.9),
    "Adam": lambda params: ag.optim.Adam(params, lr=0.5),
    "Adam with amsgrad": lambda params: ag.optim.Adam(params, lr=0.5, amsgrad=True),
    "AdamW": lambda params: ag.optim.AdamW(params, lr=0.5),
}
each = pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)


def read_only(values=(1.0, 1.0, 1.0)):
    values = np.array(values, dtype=np.float32)
    values.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # given once: the memory isn't writable
        return ag.from_numpy(values)


@each
@pytest.mark.parametrize(
    ("values", "text"),
    [
        (lambda: ag.ones(1).expand(3), "more than one element of the written-to tensor"),
        (read_only, "shows read-only memory"),
    ],
    ids=["overlap", "read-only"],
)
def test_a_step_refuses_parameters_that_cannot_be_written(make, values, text):
    good = ag.ones(3, requires_grad=True)
    bad = values().requires_grad_()
    good.grad, bad.grad = ag.ones(3), ag.ones(3)
    versions = good._version, bad._version
    optimizer = make([good, bad])
    with pytest.raises(RuntimeError, match=text):
        optimizer.step()
    assert good.tolist() == bad.tolist() == [1.0] * 3
    assert (good._version, bad._version) == versions


STATEFUL = {
    **{name: {} for name in ("Adagrad", "Adadelta", "Adamax", "Rprop", "ASGD", "NAdam", "RAdam")},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "SGD": {"momentum": 0.9},
    "RMSprop": {"momentum": 0.9, "centered": True},
}


@pytest.mark.parametrize("name", STATEFUL)
def test_a_step_refuses_state_that_cannot_be_written(name):
    def stepped():
        param = ag.ones(2, requires_grad=True)
        optimizer = getattr(ag.optim, name)([param], lr=0.5, **STATEFUL[name])
        param.grad = ag.ones(2)
        optimizer.step()
        return param, optimizer, optimizer.state[param]

    # The average of ASGD is not written by the step that is tested.
    for key in stepped()[2]:
        param, optimizer, state = stepped()
        memory = read_only(state[key].tolist())
        state[key] = memory
        before = {k: t.clone() for k, t in state.items()}
        value, versions = param.tolist(), {k: t._version for k, t in state.items()}
        with pytest.raises(RuntimeError, match="shows read-only memory"):
            optimizer.step()
        assert param.tolist() == value
        assert all(ag.equal(state[k], t) for k, t in before.items()), key
        assert {k: t._version for k, t in state.items()} == versions


def test_a_number_of_another_dtype_is_refused_before_the_step_too():
    param = ag.ones(2, requires_grad=True)
    optimizer = ag.optim.Adam([param])
    param.grad = ag.ones(2)
    optimizer.step()
    value = param.tolist()
    optimizer.state[param]["step"] = read_only([1.0]).view(ag.int32).reshape(())
    with pytest.raises(RuntimeError, match="shows read-only memory"):
        optimizer.step()
    assert param.tolist() == value


@each
def test_a_step_tells_graphs_that_saved_the_parameter(make):
    p = ag.full((3,), 2.0, requires_grad=True)
    p.grad = ag.ones(3)
    optimizer = make([p])
    y = (p * p).sum()
    optimizer.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@each
def test_a_step_keeps_saved_values_where_mutation_is_allowed(make):
    p = ag.full((3,), 2.0, requires_grad=True)
    p.grad = ag.ones(3)
    with allow_mutation_on_saved_tensors():
        y = (p * p).sum()
        make([p]).step()
        assert p.tolist() != [2.0] * 3
        p.grad = None
        y.backward()
    assert p.grad.tolist() == [4.0] * 3


@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected in MulBackward0")
@each
def test_anomaly_mode_names_the_step_that_overwrote_a_saved_parameter(make):
    p = ag.full((3,), 2.0, requires_grad=True)
    p.grad = ag.ones(3)
    with ag.autograd.detect_anomaly(check_nan=False):
        y = (p * p).sum()
        make([p]).step()
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
            y.backward()
    assert re.search("_fused_(adamw?|sgd)_", str(caught.value))


@each
def test_only_leaves_and_tensors_that_retain_their_gradient_are_optimized(make):
    leaf = ag.ones(3, requires_grad=True)
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        make([leaf * 2])
    kept = leaf * 2
    kept.retain_grad()
    assert make([kept]).param_groups[0]["params"] == [kept]


@each
def test_loaded_options_are_copies(make):
    optimizer = make([ag.ones(1, requires_grad=True)])
    saved = optimizer.state_dict()
    saved["param_groups"][0]["schedule"] = [1, 2]
    optimizer.load_state_dict(saved)
    saved["param_groups"][0]["schedule"].append(3)
    saved["param_groups"][0]["lr"] = 7.0
    assert optimizer.param_groups[0]["schedule"] == [1, 2]
    assert optimizer.param_groups[0]["lr"] == 0.5
    optimizer.param_groups[0]["schedule"].append(4)
    assert saved["param_groups"][0]["schedule"] == [1, 2, 3]
