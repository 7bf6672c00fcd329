"""A hook raises: its exception comes out, and graph, engine and modes are as they were."""

import threading

import pytest
from failures import Planned, are_gone, assert_engine_works, fail, nothing_stays_behind, weak

import autograd_cy as torch
from autograd_cy.autograd.variable import Variable


def queue_a_failing_callback(grad):
    Variable._execution_engine.queue_callback(fail)


def accumulator(x):
    return torch.autograd.graph.get_gradient_edge(x).node


def of_several(mode):
    def register(x, y):
        return torch.autograd.graph.register_multi_grad_hook([y, x], fail, mode=mode)

    return register


# Where a hook is put: a function of a leaf x and y = x * 2, and whether x.grad is there afterwards.
HOOKS = {
    "on a leaf": (lambda x, y: x.register_hook(fail), False),
    "on a result": (lambda x, y: y.register_hook(fail), False),
    "before a node": (lambda x, y: y.grad_fn.register_prehook(fail), False),
    "after a node": (lambda x, y: y.grad_fn.register_hook(fail), False),
    "before the accumulator": (lambda x, y: accumulator(x).register_prehook(fail), False),
    "after the accumulator": (lambda x, y: accumulator(x).register_hook(fail), True),
    "after accumulation": (lambda x, y: x.register_post_accumulate_grad_hook(fail), True),
    "on all of several": (of_several("all"), False),
    "on any of several": (of_several("any"), False),
    "a callback at the end": (lambda x, y: y.register_hook(queue_a_failing_callback), True),
}


def values(tensor):
    return None if tensor is None else tensor.tolist()


@pytest.mark.parametrize("where", HOOKS)
def test_the_exception_comes_out_and_the_rest_is_untouched(where):
    register, added = HOOKS[where]
    x, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with nothing_stays_behind():
        y = x * 2
        handle = register(x, y)
        # `other` is used last, so its part runs first and is done when the hook fails.
        loss = (y * 3).sum() + (other * 5).sum()
        with pytest.raises(Planned, match="on purpose"):
            loss.backward(retain_graph=True)
        assert values(x.grad) == ([6.0, 6.0] if added else None)
        assert values(other.grad) == [5.0, 5.0]
        assert x._version == y._version == 0
        x.grad = other.grad = None
        assert_engine_works()
        handle.remove()
        loss.backward()
        assert values(x.grad) == [6.0, 6.0] and values(other.grad) == [5.0, 5.0]
        x.grad = other.grad = None
        del y, handle, loss


@pytest.mark.parametrize("where", HOOKS)
def test_the_next_backward_fails_in_the_same_way(where):
    register, added = HOOKS[where]
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    register(x, y)
    for count in (1, 2, 3):
        with pytest.raises(Planned):
            y.sum().backward(retain_graph=True)
        assert values(x.grad) == ([2.0 * count] * 2 if added else None)


@pytest.mark.parametrize("where", HOOKS)
def test_nothing_holds_the_graph_afterwards(where):
    register, _ = HOOKS[where]
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    register(x, y)
    loss = y.exp().sum()
    references = weak(x, y, loss, y.grad_fn, loss.grad_fn)
    with pytest.raises(Planned):
        loss.backward()
    del x, y, loss
    assert are_gone(references)


@pytest.mark.parametrize("where", HOOKS)
def test_modes_come_back(where):
    register, _ = HOOKS[where]
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    register(x, y)
    with torch.no_grad():
        with pytest.raises(Planned):
            y.backward(torch.ones(2))
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("where", HOOKS)
def test_in_a_thread(where):
    register, _ = HOOKS[where]
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    register(x, y)
    caught = []

    def work():
        try:
            y.sum().backward()
        except Planned as error:
            caught.append(error)
        assert_engine_works()
        caught.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert [type(c) for c in caught] == [Planned, str]


@pytest.mark.parametrize("where", HOOKS)
def test_inside_another_backward(where):
    register, _ = HOOKS[where]
    x, outer = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = x * 2
    register(x, y)

    def hook(grad):
        with torch.enable_grad(), pytest.raises(Planned):
            y.sum().backward()

    outer.register_hook(hook)
    (outer * 4).sum().backward()
    assert outer.grad.tolist() == [4.0, 4.0]
    assert_engine_works()


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError, StopIteration])
def test_every_kind_of_exception_comes_out(kind):
    x = torch.ones(2, requires_grad=True)
    error = kind("text")

    def hook(grad):
        raise error

    handle = x.register_hook(hook)
    with pytest.raises(kind) as caught:
        (x * 2).sum().backward()
    assert caught.value is error
    assert caught.traceback[-1].name == "hook"
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_the_hooks_before_a_failing_one_have_run_and_those_after_have_not():
    x, seen = torch.ones(1, requires_grad=True), []
    x.register_hook(lambda grad: seen.append("first"))
    x.register_hook(fail)
    x.register_hook(lambda grad: seen.append("third"))
    x.register_post_accumulate_grad_hook(lambda t: seen.append("accumulated"))
    with pytest.raises(Planned):
        x.sum().backward()
    assert seen == ["first"] and x.grad is None


@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        ("text", TypeError, "hook returned 'str'"),
        (torch.ones(3), RuntimeError, "has changed the size of value"),
        (torch.ones(2).double(), RuntimeError, "has changed the type of value"),
    ],
)
def test_a_wrong_result_is_an_error_that_changes_nothing(result, error, text):
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2)
    for tensor in (x, x * 2):
        handle = tensor.register_hook(lambda grad: result)
        with pytest.raises(error, match=text):
            tensor.sum().backward()
        handle.remove()
    assert x.grad.tolist() == [1.0, 1.0] and x.grad._version == 0
    assert_engine_works()


def test_a_post_accumulate_hook_that_returns_something():
    x = torch.ones(2, requires_grad=True)
    handle = x.register_post_accumulate_grad_hook(lambda t: t * 2)
    with pytest.raises((RuntimeError, TypeError), match="should return None"):
        x.sum().backward()
    handle.remove()
    x.grad = None
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_failure_while_a_long_gradient_is_added_lets_the_leaf_go():
    x = torch.ones(90_000, requires_grad=True)
    x.register_post_accumulate_grad_hook(fail)
    for _ in range(2):
        with pytest.raises(Planned):
            x.sum().backward()
    found = []

    def work():
        with pytest.raises(Planned):
            x.sum().backward()
        found.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert found == ["done"] and set(x.grad.tolist()) == {3.0}


# --- hooks on saved tensors -----------------------------------------------------------------------


def saved_hooks(pack, unpack):
    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)


def same(value):
    return value


def test_a_failing_pack_hook_fails_the_operation():
    x = torch.ones(2, requires_grad=True)
    with nothing_stays_behind():
        with saved_hooks(fail, same):
            with pytest.raises(Planned):
                x.exp()
            y = x + 1  # saves nothing
        z = (y * y).sum()
        z.backward()
        assert values(x.grad) == [4.0, 4.0]
        x.grad = None
        del y, z


def test_a_failing_pack_hook_leaves_an_in_place_operation_undone_or_whole():
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    before, fn = y.tolist(), y.grad_fn
    with saved_hooks(fail, same), pytest.raises(Planned):
        y.mul_(torch.ones(2, requires_grad=True) * 2)
    assert y.tolist() == before and y._version == 0 and y.grad_fn is fn
    y.sum().backward()
    assert values(x.grad) == [3.0, 3.0]


def test_a_failing_unpack_hook_fails_backward_alone():
    x = torch.ones(2, requires_grad=True)
    failing = [True]

    def unpack(value):
        if failing:
            fail()
        return value

    with nothing_stays_behind():
        with saved_hooks(torch.Tensor.detach, unpack):
            y = (x.exp() * 2).sum()
        for _ in range(2):
            with pytest.raises(Planned):
                y.backward(retain_graph=True)
            assert x.grad is None
        assert_engine_works()
        failing.clear()
        y.backward()
        assert torch.allclose(x.grad, 2 * x.exp())
        x.grad = None
        del y


@pytest.mark.parametrize(
    ("pack", "unpack", "error"),
    [(same, lambda value: "text", TypeError), (lambda t: t.add_(1), same, RuntimeError)],
)
def test_a_saved_tensor_hook_that_breaks_the_rules(pack, unpack, error):
    x = torch.ones(2, requires_grad=True)
    hidden = x * 1

    def run():
        with saved_hooks(pack, unpack):
            y = hidden.sin().sum()
        y.backward()

    with pytest.raises(error):
        run()
    assert x.grad is None
    assert_engine_works()


def test_hooks_are_off_again_after_a_failure_in_their_block():
    x, packed = torch.ones(2, requires_grad=True), []
    with pytest.raises(Planned):
        with saved_hooks(packed.append, same):
            fail()
    x.exp()
    assert packed == []


def test_nothing_holds_a_graph_whose_saved_tensors_fail():
    x = torch.ones(2, requires_grad=True)
    with saved_hooks(same, fail):
        y = x.exp()
    references = weak(x, y, y.grad_fn)
    with pytest.raises(Planned):
        y.sum().backward()
    del x, y
    assert are_gone(references)
