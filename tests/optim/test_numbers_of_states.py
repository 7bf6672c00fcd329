"""Numbers of states, such as that of the step: tensors without dimensions, as in torch."""

import copy
import io

import pytest

import autograd_cy as ag

NUMBERS = {
    "Adam": ("step",),
    "AdamW": ("step",),
    "Adamax": ("step",),
    "NAdam": ("step", "mu_product"),
    "RAdam": ("step",),
    "Adagrad": ("step",),
    "Adadelta": ("step",),
    "ASGD": ("step", "eta", "mu"),
    "RMSprop": ("step",),
    "Rprop": ("step",),
}


def leaf(dtype=ag.float32):
    x = ag.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    x.grad = ag.ones(2, dtype=dtype)
    return x


def made(name, x, steps=2):
    optimizer = getattr(ag.optim, name)([x])
    for _ in range(steps):
        optimizer.step()
    return optimizer


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.bfloat16])
def test_they_are_tensors_of_float32_that_are_advanced_in_place(name, dtype):
    x = leaf(dtype)
    optimizer = made(name, x, 1)
    state = optimizer.state[x]
    assert {k for k, v in state.items() if v.ndim == 0} == set(NUMBERS[name])
    before = {k: (state[k], state[k]._version) for k in NUMBERS[name]}
    assert all(t.dtype is ag.float32 and t.device.type == "cpu" for t, _ in before.values())
    assert state["step"].item() == 1.0
    optimizer.step()
    assert all(state[k] is t and t._version > version for k, (t, version) in before.items())
    assert state["step"].item() == 2.0


@pytest.mark.parametrize("name", NUMBERS)
def test_a_file_may_have_plain_numbers_in_their_place(name):
    x, y = leaf(), leaf()
    saved = copy.deepcopy(made(name, x).state_dict())
    plain = copy.deepcopy(saved)
    for key in NUMBERS[name]:
        number = plain["state"][0][key].item()
        plain["state"][0][key] = int(number) if key == "step" else number
    with ag.no_grad():
        y.copy_(x)
    for p, state in ((x, saved), (y, plain)):
        optimizer = getattr(ag.optim, name)([p])
        optimizer.load_state_dict(state)
        assert all(isinstance(optimizer.state[p][key], ag.Tensor) for key in NUMBERS[name])
        optimizer.step()
        assert optimizer.state[p]["step"].item() == 3.0
    assert ag.equal(x, y)


@pytest.mark.parametrize("name", NUMBERS)
def test_what_a_program_puts_there_is_counted_on(name):
    steps = (4, 4.0, ag.tensor(4), ag.tensor(4.0, dtype=ag.float64), ag.tensor([4.0])[0])
    places = []
    for step in steps:
        x = leaf()
        optimizer = made(name, x, 1)
        optimizer.state[x]["step"] = step
        optimizer.step()
        assert optimizer.state[x]["step"] == 5
        assert isinstance(optimizer.state[x]["step"], ag.Tensor) == isinstance(step, ag.Tensor)
        places.append(x)
    assert all(ag.equal(x, places[0]) for x in places)


def test_a_refused_step_advances_nothing():
    x = leaf()
    optimizer = made("NAdam", x, 1)
    state = optimizer.state[x]
    kept = {name: state[name].item() for name in NUMBERS["NAdam"]}
    state["exp_avg"] = ag.zeros(3)
    with pytest.raises(RuntimeError):
        optimizer.step()
    assert {name: state[name].item() for name in NUMBERS["NAdam"]} == kept


def test_no_number_of_a_step_is_an_error():
    x = leaf()
    optimizer = made("Adam", x, 1)
    optimizer.state[x]["step"] = ag.tensor(float("nan"))
    with pytest.raises(ValueError, match="NaN"):
        optimizer.step()


def test_a_default_of_float64_is_theirs():
    ag.set_default_dtype(ag.float64)
    try:
        x = leaf()
        assert made("Adam", x).state[x]["step"].dtype is ag.float64
    finally:
        ag.set_default_dtype(ag.float32)


def test_files_hold_them():
    x = leaf()
    file = io.BytesIO()
    ag.save(made("Adam", x).state_dict(), file)
    file.seek(0)
    assert ag.equal(ag.load(file)["state"][0]["step"], ag.tensor(2.0))


def test_a_state_of_an_own_class_keeps_its_numbers():
    class Counting(ag.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {})

        def _update(self, group):
            for p in group["params"]:
                self.state[p]["step"] = self.state[p].get("step", 0) + 1

    x = leaf()
    optimizer = Counting([x])
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    assert type(optimizer.state[x]["step"]) is int
