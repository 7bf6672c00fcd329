"""Steps for which there is no memory, or whose tensors share some: an error, and then on."""

import pytest

import autograd_cy as ag
from autograd_cy._C import storage

NAMES = (
    "SGD",
    "Adam",
    "AdamW",
    "Adagrad",
    "Adadelta",
    "Adamax",
    "RMSprop",
    "Rprop",
    "ASGD",
    "NAdam",
    "RAdam",
)


def made(name):
    options = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}
    params = [ag.ones(3, requires_grad=True) for _ in range(3)]
    for p in params:
        p.grad = ag.full((3,), 0.5)
    return params, getattr(ag.optim, name)(params, lr=0.1, **options)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_without_memory_changes_nothing_and_the_next_one_is_the_first(name):
    expected, optimizer = made(name)
    for _ in range(2):
        optimizer.step()
    after = 0
    while True:
        params, optimizer = made(name)
        storage._fail_allocation_after(after)
        try:
            optimizer.step()
        except MemoryError:
            after += 1
        else:
            break
        finally:
            storage._fail_allocation_after(-1)
        assert all(p.tolist() == [1.0] * 3 for p in params)
        for _ in range(2):
            optimizer.step()
        assert [p.tolist() for p in params] == [p.tolist() for p in expected]
    assert after > 0 or name == "Adagrad"  # which makes its state before


@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_a_parameter_without_memory_for_its_step_stays_as_it_is(name):
    """These step one parameter after the other: those before it have made their step."""

    def matrices():
        params = [ag.arange(6.0).reshape(2, 3).requires_grad_() for _ in range(2)]
        for p in params:
            p.grad = ag.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
        return params, getattr(ag.optim, name)(params, lr=0.1, weight_decay=0.1)

    (first, _), optimizer = matrices()
    expected = [first.tolist()]  # after each step
    for _ in range(2):
        optimizer.step()
        expected.append(first.tolist())
    after, torn = 0, True
    while torn:
        params, optimizer = matrices()
        storage._fail_allocation_after(after)
        try:
            optimizer.step()
            torn = False
        except MemoryError:
            after += 1
        finally:
            storage._fail_allocation_after(-1)
        steps = [expected.index(p.tolist()) for p in params]
        assert steps in ([0, 0], [1, 0], [1, 1])
        optimizer.step()
        assert [expected.index(p.tolist()) for p in params] == [n + 1 for n in steps]
    assert after > 10


@pytest.mark.parametrize("name", ["SGD", "Adam"])
@pytest.mark.parametrize("shown", [lambda x: x.data, lambda x: x.detach()], ids=["data", "detach"])
@pytest.mark.parametrize(("mine", "other"), [(0, 2), (2, 0)])
def test_a_gradient_elsewhere_in_the_memory_of_its_parameter_is_refused(name, shown, mine, other):
    memory = ag.arange(8.0)
    p = memory[mine : mine + 4].requires_grad_()
    p.grad = shown(memory)[other : other + 4]
    optimizer = getattr(ag.optim, name)([p], lr=0.1)
    with pytest.raises(RuntimeError, match="refer to a single memory location at different places"):
        optimizer.step()
    assert memory.tolist() == list(range(8))


def test_a_gradient_in_the_same_places_or_beside_them_is_none_of_these():
    memory = ag.arange(8.0)
    p = memory.data[:4].requires_grad_()
    p.grad = p.detach()
    ag.optim.SGD([p], lr=0.5).step()
    assert memory.tolist() == [0.0, 0.5, 1.0, 1.5, 4.0, 5.0, 6.0, 7.0]
    p.grad = memory[4:]
    ag.optim.SGD([p], lr=1.0).step()
    assert memory.tolist() == [-4.0, -4.5, -5.0, -5.5, 4.0, 5.0, 6.0, 7.0]
    table = ag.arange(8.0).reshape(4, 2)
    column = table.data[:, 0].requires_grad_()
    column.grad = table[:, 1]
    ag.optim.SGD([column], lr=1.0).step()
    assert table.tolist() == [[-1.0, 1.0], [-1.0, 3.0], [-1.0, 5.0], [-1.0, 7.0]]
