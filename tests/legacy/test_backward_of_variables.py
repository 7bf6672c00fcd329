"""Backward of Variables: roots, what is kept, hooks, gradcheck, deep graphs."""

import gc
import signal
import threading
import weakref

import programs
import pytest

import autograd_cy.legacy as torch
from autograd_cy.legacy.autograd import Function, Variable, backward, gradcheck
from autograd_cy.legacy.autograd.engine import ImperativeEngine
from autograd_cy.legacy.autograd.gradcheck import (
    contiguous,
    get_numerical_jacobian,
    iter_tensors,
)
from autograd_cy.utils.hooks import RemovableHandle


def ones(*size, **flags):
    return Variable(torch.ones(*size), **flags)


def leaf(*values):
    return Variable(torch.Tensor(list(values)), requires_grad=True)


# Roots ----------------------------------------------------------------------------------------


def test_roots_are_summed_and_may_occur_twice():
    x = leaf(1, 2)
    y = x * 3
    backward([y, y, x * 2], [torch.ones(2), ones(2), torch.ones(2)])
    assert x.grad.data.tolist() == [8, 8]
    backward((x, x), (torch.ones(2), torch.ones(2)))
    assert x.grad.data.tolist() == [10, 10]


def test_sequences_are_of_equal_length_and_hold_variables():
    x = leaf(1)
    for variables, grads in (([x, x], [None]), ([x], []), ([], [None])):
        with pytest.raises(RuntimeError, match="gradient"):
            backward(variables, grads)
    for variables, grads in (([3], [None]), ([torch.ones(1)], [None]), ([x], [3]), ([x], None)):
        with pytest.raises(TypeError):
            backward(variables, grads)
    with pytest.raises(TypeError):
        x.backward(3)


def test_none_stands_for_one_or_is_skipped():
    x = leaf(1)
    backward([x * 2, ones(3)], [None, None])
    assert x.grad.data[0] == 2
    (x * 2).backward(None)
    assert x.grad.data[0] == 4
    for call in (lambda: leaf(1, 2).backward(), lambda: backward([leaf(1, 2) * 1], [None])):
        with pytest.raises(RuntimeError, match="scalar"):
            call()


def test_nothing_that_requires_grad_is_an_error():
    for call in (
        lambda: ones(1).backward(),
        lambda: (ones(1) + 1).backward(torch.ones(1)),
        lambda: backward([ones(1)], [None]),
        lambda: backward([], []),
    ):
        with pytest.raises(RuntimeError, match="no graph nodes"):
            call()


def test_gradients_fit_their_roots():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="size"):
        x.backward(torch.ones(3))
    with pytest.raises(TypeError, match="DoubleTensor"):
        (x * 1).backward(torch.ones(2).double())
    x.backward(torch.ones(2))
    (x * 2).backward(ones(2))
    assert x.grad.data.tolist() == [3, 3]


def test_backward_on_a_leaf_adds_the_gradient_through_hooks():
    x = leaf(1, 2)
    given = torch.ones(2)
    x.backward(given)
    assert x.grad.data is not given
    x.register_hook(lambda g: g * 10)
    x.backward(given)
    assert x.grad.data.tolist() == [11, 11] and given.tolist() == [1, 1]


def test_a_first_gradient_is_a_copy():
    x, y = leaf(1, 2), leaf(3, 4)
    given = torch.ones(2)
    (x + y).backward(given)
    assert not x.grad.data.is_set_to(y.grad.data)
    x.grad.data.fill_(9)
    assert y.grad.data.tolist() == given.tolist() == [1, 1]
    z = Variable(torch.zeros(2, 2), requires_grad=True)
    z.sum().backward()
    assert z.grad.data.is_contiguous()
    z.t().sum().backward()


def test_a_gradient_has_no_history_and_no_second_order():
    x = leaf(2)
    (x * x).backward()
    assert x.grad.creator is None and x.grad.volatile
    with pytest.raises(TypeError):
        x.backward(create_graph=True)


def test_both_forms_call_the_engine_which_may_be_replaced(monkeypatch):
    assert isinstance(Variable._execution_engine, ImperativeEngine)
    calls = []

    class Recorder:
        def run_backward(self, *args):
            calls.append(args)

    monkeypatch.setattr(Variable, "_execution_engine", Recorder())
    x = leaf(1)
    x.backward(retain_variables=True)
    backward([x], [ones(1)])
    for variables, grads, retain in calls:
        assert type(variables) is tuple and type(grads) is tuple and type(retain) is bool
        assert variables == (x,) and torch.is_tensor(grads[0])
    assert [call[2] for call in calls] == [True, False]


def test_the_engine_checks_what_it_is_given():
    engine, x = ImperativeEngine(), leaf(1)
    for wrong in (([x], (None,)), ((x,), [None]), ((3,), (None,)), ((x,), (3,))):
        with pytest.raises(TypeError):
            engine.run_backward(*wrong, False)
    with pytest.raises(RuntimeError):
        engine.run_backward((x, x), (None,), False)


def test_a_diamond_runs_each_function_once():
    runs = []

    class Count(Function):
        def forward(self, x):
            return x * 2

        def backward(self, grad):
            runs.append(grad.tolist())
            return grad * 2

    x = leaf(1)
    y = Count()(x)
    (y * 3 + y * y + y).backward()
    assert runs == [[3 + 4 + 1]] and x.grad.data[0] == 16


# Hooks ----------------------------------------------------------------------------------------


def test_a_hook_sees_the_complete_gradient_as_a_variable():
    seen = []
    x = leaf(1, 2)
    y = x * 2
    y.register_hook(seen.append)
    x.register_hook(seen.append)
    (y * 3 + y).sum().backward()
    assert [type(g) for g in seen] == [Variable] * 2 and all(g.volatile for g in seen)
    assert [g.data.tolist() for g in seen] == [[4, 4], [8, 8]]


def test_each_hook_sees_what_the_one_before_returned():
    x = leaf(1)
    seen = []
    x.register_hook(lambda g: g * 2)
    x.register_hook(lambda g: seen.append(g.data[0]))
    x.register_hook(lambda g: g + 1)
    (x * 5).backward()
    assert seen == [10] and x.grad.data[0] == 11


def test_hooks_fire_where_backward_passes_only():
    fired = []
    x = leaf(1)
    unused = x * 2
    unused.register_hook(fired.append)
    (x * 3).backward()
    assert fired == []


def test_a_hook_outlives_its_variable():
    fired = []
    x = leaf(1)
    y = x * 2
    y.register_hook(fired.append)
    z = y * 3
    del y
    z.backward()
    assert fired[0].data[0] == 3


def test_hooks_return_fitting_variables():
    def wrong(returned):
        x = leaf(1, 2)

        def hook_of_mine(grad):
            return returned

        x.register_hook(hook_of_mine)
        (x * 1).sum().backward()

    for returned in (3, torch.ones(2)):
        with pytest.raises(TypeError, match="hook_of_mine"):
            wrong(returned)
    for returned in (ones(3), Variable(torch.ones(2).double())):
        with pytest.raises(RuntimeError, match="hook_of_mine"):
            wrong(returned)


def test_hooks_of_functions_return_fitting_variables():
    def run(returned):
        x = leaf(1, 2)
        y = x * 1

        def hook_of_mine(inputs, outputs):
            return returned

        y.creator.register_hook(hook_of_mine)
        y.sum().backward()
        return x.grad

    assert run((ones(2) * 3,)).data.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="missing gradient"):
        run((None,))
    for returned in (3, (3,), (torch.ones(2),)):
        with pytest.raises(TypeError, match="hook_of_mine|hook 'hook_of_mine'"):
            run(returned)
    for returned in ((ones(3),), (Variable(torch.ones(2).double()),), (), (ones(2), ones(2))):
        with pytest.raises(RuntimeError, match="hook_of_mine"):
            run(returned)


def test_hooks_of_functions_see_none_where_no_gradient_is_needed():
    def run(returned):
        x = leaf(1, 2)
        y = x * ones(2)
        y.creator.register_hook(lambda inputs, outputs: (inputs[0] * 2, returned))
        y.sum().backward()
        return x.grad.data.tolist()

    for returned in (None, ones(2), ones(3)):
        assert run(returned) == [2, 2]
    for returned in (3, torch.ones(2)):
        with pytest.raises(TypeError, match="expected Variable, but hook '<lambda>' returned"):
            run(returned)


def test_registering_needs_requires_grad():
    for v in (ones(1), ones(1) + 1):
        with pytest.raises(RuntimeError, match="gradient"):
            v.register_hook(print)


def test_handles_remove_and_are_contexts():
    x = leaf(1)
    handle = x.register_hook(lambda g: g * 2)
    assert isinstance(handle, RemovableHandle)
    with x.register_hook(lambda g: g * 3):
        (x * 1).backward()
    assert x.grad.data[0] == 6
    handle.remove()
    handle.remove()
    (x * 1).backward()
    assert x.grad.data[0] == 7
    f = (x * 1).creator
    with f.register_hook(print):
        assert len(f._backward_hooks) == 1
    assert not f._backward_hooks


def test_a_hook_may_remove_itself():
    x = leaf(1)
    handles = []

    def once(grad):
        handles[0].remove()
        return grad * 2

    handles.append(x.register_hook(once))
    (x * 1).backward()
    (x * 1).backward()
    assert x.grad.data[0] == 3


def test_the_dict_of_hooks_may_be_replaced_or_added_to():
    x = leaf(1)
    for v in (x, x * 2):
        assert v._backward_hooks is None
        v._backward_hooks = hooks = {0: lambda g: g * 2}
        assert v._backward_hooks is hooks
        hooks["mine"] = lambda g: g + 1
        x._grad = None
        (v * 1).backward()
        assert x.grad.data[0] in (3, 6)
        v._backward_hooks = None
    y = x * 2
    y.register_hook(lambda g: g * 2)
    y._backward_hooks = {}
    x._grad = None
    y.backward()
    assert x.grad.data[0] == 2
    with pytest.raises(TypeError, match="dict"):
        x._backward_hooks = 3


def test_hooks_belong_to_the_value_before_an_in_place_operation():
    seen = []
    x = leaf(1)
    y = x * 1
    y.register_hook(lambda g: seen.append(("before", g.data[0])))
    y.mul_(5)
    y.register_hook(lambda g: seen.append(("after", g.data[0])))
    y.backward()
    assert seen == [("after", 1), ("before", 5)]


def test_function_hooks_see_and_replace_gradients():
    x, c = leaf(1, 2), ones(2)
    y = x * c
    seen = []

    def hook(grad_inputs, grad_outputs):
        seen.append((grad_inputs, grad_outputs))
        return grad_inputs[0] * 10, None

    y.creator.register_hook(hook)
    (y * 3).sum().backward()
    ((of_x, of_c), (of_y,)) = seen[0]
    assert type(seen[0][0]) is tuple and of_c is None
    assert of_x.data.tolist() == of_y.data.tolist() == [3, 3] and of_x.volatile
    assert x.grad.data.tolist() == [30, 30]


def test_function_hooks_return_tuples_of_the_same_length():
    def returning(returned):
        x = leaf(1)
        y = x * 2
        y.creator.register_hook(lambda inputs, outputs: returned)
        y.backward()

    for returned in (ones(1), [ones(1)], (torch.ones(1),), (3,)):
        with pytest.raises(TypeError):
            returning(returned)
    for returned in ((), (ones(1), None)):
        with pytest.raises(RuntimeError, match="number of values"):
            returning(returned)
    with pytest.raises(RuntimeError, match="missing gradient"):
        returning((None,))


def test_a_hook_may_run_backward_itself():
    x, w = leaf(1), leaf(1)
    x.register_hook(lambda g: (w * 2).backward())
    (x * 1).backward()
    assert w.grad.data[0] == 2 and x.grad.data[0] == 1


# Memory ---------------------------------------------------------------------------------------


def test_a_graph_is_freed_at_once_and_cycles_are_collected():
    class Owner:
        def __del__(self):
            gc.collect()

    class Scale(Function):
        def forward(self, x):
            return x * 2

        def backward(self, grad):
            return grad * 2

    gc.collect()
    gc.disable()
    try:
        x = leaf(1)
        f = Scale()
        y = f(x)
        gone = weakref.ref(f)
        del f, y
        assert gone() is None, "kept without a cycle"
    finally:
        gc.enable()
    x, f = leaf(1), Scale()
    y = f(x)
    f.output, f.owner = y, Owner()
    x.owner = Owner()
    x.register_hook(lambda g, x=x: None)
    y.register_hook(lambda g, y=y: y.data)
    f.register_hook(lambda a, b, f=f: None)
    refs = [weakref.ref(o) for o in (x, y, f, x.owner, f.owner)]
    del x, y, f
    gc.collect()
    gc.collect()
    assert [r() for r in refs] == [None] * 5


def test_saved_tensors_go_when_backward_has_run():
    x = leaf(1, 2)
    y = x * 2
    gone = weakref.ref(y.data)
    z = y * y
    del y
    assert gone() is not None
    z.sum().backward()
    assert gone() is None


DEEP = """
import sys, threading
import autograd_cy.legacy as torch
from autograd_cy.legacy.autograd import Variable
sys.setrecursionlimit(200)

def run():
    for step in (lambda y: y + 1, lambda y: y.mul_(1), lambda y: y * y, lambda y: y.view(1)):
        x = Variable(torch.zeros(1), requires_grad=True)
        y = x * 1
        for _ in range(100000):
            y = step(y)
        z = y * 1
        y.backward() if step(x * 1).requires_grad else None
        del y, z
    print("done")

threading.stack_size(512 * 1024)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


@pytest.mark.slow
def test_a_chain_may_be_deep_in_backward_and_when_it_goes():
    run = programs.run("-c", DEEP, timeout=600)
    assert run.returncode == 0 and run.stdout == "done\n", run.stderr


# A chain of plain objects: Python 3.13.0 crashes by itself where it goes.
PLAIN = """
import threading

class Link:
    pass

def run():
    last = None
    for _ in range(10000):
        link = Link()
        link.before = ((last, 0),)
        last = link

threading.stack_size(256 * 1024)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


def test_a_chain_of_ten_thousand_in_a_small_stack():
    plain = programs.run("-c", PLAIN)
    if plain.returncode == -signal.SIGSEGV:
        pytest.skip("this Python frees no chain of its own objects in a small stack")
    assert plain.returncode == 0, plain.stderr
    results = []

    def run():
        x = leaf(1)
        y = x * 1
        for _ in range(10000):
            y = y + x
        y.backward()
        results.append(x.grad.data[0])
        del y

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert results == [10001]


def test_two_threads_run_backward_at_once():
    shared = leaf(1, 2)

    def work():
        for _ in range(50):
            x = Variable(torch.ones(2), requires_grad=True)
            (x * x * 3).sum().backward()
            assert x.grad.data.tolist() == [6, 6]
            (shared * 1).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.grad is not None


# gradcheck ------------------------------------------------------------------------------------


class Wrong(Function):
    def forward(self, x):
        return x * 2

    def backward(self, grad):
        return grad * 3


def double(*size):
    return Variable(torch.rand(*size).double(), requires_grad=True)


def test_gradcheck_tells_right_from_wrong_and_never_raises_for_it():
    x, y = double(3, 2), double(3, 2)
    assert gradcheck(lambda x, y: (x * y, x.sum()), (x, y)) is True
    assert gradcheck(Wrong(), (x,)) is False
    assert gradcheck(lambda x: (x * 1, Wrong()(x)), [x]) is False

    class Constant(Function):
        def forward(self, x):
            return x * 2

        def backward(self, grad):
            return grad * 0 + 2

    assert gradcheck(lambda x: Constant()(x), (double(1),)) is False


def test_gradcheck_puts_data_back_and_makes_it_contiguous():
    x = Variable(torch.rand(2, 3).double().t(), requires_grad=True)
    before = x.data.clone()
    c = Variable(torch.rand(3, 2).double())
    assert gradcheck(lambda x, c: x * c, (x, c))
    assert x.data.equal(before) and x.data.is_contiguous()
    assert gradcheck(lambda x: x > 0, (x,))


def test_tolerances_are_used():
    x = double(2)

    class Nearly(Function):
        def forward(self, x):
            return x * 2

        def backward(self, grad):
            return grad * 2.01

    assert not gradcheck(lambda x: Nearly()(x), (x,))
    assert gradcheck(lambda x: Nearly()(x), (x,), rtol=0.1)
    assert gradcheck(lambda x: Nearly()(x), (x,), 1e-6, 0.1, 0)


def test_its_parts():
    x, y = double(2), double(3)
    jacobian = get_numerical_jacobian(lambda v: v[0].sum().expand(3) * v[1], (x, y), y, 1e-6)
    assert jacobian.size() == (3, 3)
    assert jacobian.sub(torch.eye(3).double() * x.data.sum()).abs().max() < 1e-6
    plain = torch.rand(2).double()
    jacobian = get_numerical_jacobian(lambda t: t * 3, plain, plain, 1e-6)
    assert jacobian.sub(torch.eye(2).double() * 3).abs().max() < 1e-6
    assert [t is u for t, u in zip(iter_tensors([x, (plain, y)]), (x.data, plain, y.data))] == [
        True
    ] * 3
    (only,) = iter_tensors([ones(1), torch.ones(1)], only_requiring_grad=True)
    assert torch.is_tensor(only)
    turned = Variable(torch.rand(2, 3).t())
    assert contiguous([turned])[0] is turned and turned.is_contiguous()
    assert contiguous(torch.rand(2, 3).t()).is_contiguous()
