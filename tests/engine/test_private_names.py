"""Names with an underscore, of ``torch._C`` and others, that programs use all the same."""

import gc

import pytest

import autograd_cy as torch
from autograd_cy.autograd import Function, graph
from autograd_cy.autograd import forward_ad as fw


def leaf():
    return torch.ones(2, requires_grad=True)


# --- the running backward ---------------------------------------------------------------------


def during(question, run=lambda u, x: u.backward(), where="u"):
    """Return `question(nodes)`, called in a hook on u = (x * 2 * (w * 3)).sum()."""
    x, w = leaf(), leaf()
    y, v = x * 2, w * 3
    u = (y * v).sum()
    nodes = {"u": u.grad_fn, "y": y.grad_fn, "v": v.grad_fn}
    nodes["x"] = graph.get_gradient_edge(x).node
    answers = []
    {"u": u, "y": y}[where].register_hook(lambda grad: answers.append(question(nodes)) or None)
    run(u, {"x": x, "y": y})
    return answers[0]


def test_task_ids_count_up_and_are_minus_one_outside():
    ask = torch._C._current_graph_task_id
    first, second = during(lambda nodes: ask()), during(lambda nodes: ask())
    assert ask() == -1 and second == first + 1 >= 1


def test_whether_the_running_backward_keeps_its_graph():
    ask = torch._C._autograd._get_current_graph_task_keep_graph
    assert during(lambda nodes: ask()) is False
    assert during(lambda nodes: ask(), lambda u, t: u.backward(retain_graph=True)) is True
    assert ask() is True


def executed(nodes):
    return [name for name in "yvx" if torch._C._will_engine_execute_node(nodes[name])]


def test_which_nodes_the_running_backward_executes():
    assert during(executed) == ["y", "v", "x"]
    assert during(executed, lambda u, t: u.backward(inputs=[t["x"]])) == ["y", "x"]
    assert during(executed, lambda u, t: u.backward(inputs=[t["y"]])) == ["y"]
    ask = torch._C._will_engine_execute_node
    assert during(lambda nodes: ask(nodes["y"]), lambda u, t: torch.autograd.grad(u, t["x"]))
    # Also where grad() wants the gradient alone, as in torch.
    assert during(lambda nodes: ask(nodes["y"]), lambda u, t: torch.autograd.grad(u, t["y"]))
    with pytest.raises(RuntimeError, match="during the backward pass"):
        ask(leaf().sum().grad_fn)
    with pytest.raises(RuntimeError, match="expects an grad_fn, but got int"):
        during(lambda nodes: ask(3))
    with pytest.raises(RuntimeError, match="currently running autograd.grad()"):
        during(lambda nodes: ask(nodes["x"]), lambda u, t: torch.autograd.grad(u, t["x"]))


def test_the_order_in_which_nodes_will_run():
    ask = torch._C._current_graph_task_execution_order
    with torch.autograd.set_multithreading_enabled(False):
        names = during(lambda nodes: [type(n).__name__ for n in ask()])
        rest = during(lambda nodes: [type(n).__name__ for n in ask()], where="y")
        wanted = during(
            lambda nodes: [n is nodes["y"] for n in ask()],
            lambda u, t: u.backward(inputs=[t["x"]]),
        )
    assert names == [
        "SumBackward0",
        "MulBackward0",
        "MulBackward0",
        "AccumulateGrad",
        "MulBackward0",
        "AccumulateGrad",
    ]
    assert rest == ["MulBackward0", "AccumulateGrad"]
    assert wanted == [False, False, True, False]
    with pytest.raises(RuntimeError, match="only be called during the backward pass"):
        ask()
    with pytest.raises(RuntimeError, match="executed with multithreading disabled"):
        during(lambda nodes: ask())


def order_of_run(prepare=lambda first, second: None):
    x, seen = leaf(), []
    first, second = x * 2, x.exp()
    first.register_hook(lambda grad: seen.append("first"))
    second.register_hook(lambda grad: seen.append("second"))
    prepare(first.grad_fn, second.grad_fn)
    (first + second).sum().backward()
    return seen


def test_ready_nodes_run_newest_first_and_numbers_may_be_set():
    assert order_of_run() == ["second", "first"]

    def exchange(first, second):
        a, b = first._sequence_nr(), second._sequence_nr()
        first._set_sequence_nr(b)
        second._set_sequence_nr(a)
        assert (first._sequence_nr(), second._sequence_nr()) == (b, a)

    assert order_of_run(exchange) == ["first", "second"]


def test_many_ready_nodes_run_newest_first():
    x, seen = leaf(), []
    made = [x * (i + 1) for i in range(9)]
    for i, y in enumerate(made):
        y.register_hook(lambda grad, i=i: seen.append(i))
    # Arrival in another order than that of age.
    torch.stack([made[i] for i in (4, 0, 8, 2, 6, 1, 7, 3, 5)]).sum().backward()
    assert seen == list(range(8, -1, -1))


# --- the engine -------------------------------------------------------------------------------

engine = torch.autograd.Variable._execution_engine


def test_the_engine_by_keywords():
    x = leaf()
    y = (x * 2).sum()
    one = torch.ones(())
    assert engine.run_backward((y,), (one,), True, False, (), accumulate_grad=True) is None
    assert x.grad.tolist() == [2.0, 2.0]
    made = engine.run_backward((y,), (one,), True, False, (x,), accumulate_grad=False)
    assert [g.tolist() for g in made] == [[2.0, 2.0]] and x.grad.tolist() == [2.0, 2.0]
    assert engine.run_backward((y,), (one,), True, False, (x,))[0].tolist() == [2.0, 2.0]
    assert engine.run_backward((y,), (one,), True, False, (leaf(),), allow_unreachable=True) == (
        None,
    )
    with pytest.raises(RuntimeError, match="Tensor at index 1 appears to not have been used"):
        engine.run_backward((y,), (one,), True, False, (x, leaf()))


def test_checkpoints_are_invalid_while_some_gradients_are_wanted():
    def ask(nodes):
        return engine.is_checkpoint_valid()

    assert engine.is_checkpoint_valid() and during(ask)
    assert not during(ask, lambda u, t: torch.autograd.grad(u, t["x"]))
    assert not during(ask, lambda u, t: u.backward(inputs=[t["x"]]))


# --- functions of torch._C --------------------------------------------------------------------


def test_a_delayed_error_comes_when_its_result_is_differentiated():
    make = torch._C._functions.DelayedError
    x, y = leaf() * 1, leaf()
    a, none, b, c = make("not twice", 4)(x, None, y, torch.ones(1))
    assert none is None and a.grad_fn is b.grad_fn is c.grad_fn and b.output_nr == 2
    assert a.tolist() == [1.0, 1.0] and a.data_ptr() == x.data_ptr()
    assert type(a.grad_fn).__name__ == "Error" and a.grad_fn.name() == "torch::autograd::Error"
    assert [n for n, _ in a.grad_fn.next_functions] == [
        x.grad_fn,
        None,
        graph.get_gradient_edge(y).node,
        None,
    ]
    with pytest.raises(RuntimeError, match="not twice"):
        b.sum().backward()
    assert not make("no", 1)(torch.ones(1)).requires_grad
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        make("no", 1)(x, y)


class Twice(Function):
    @staticmethod
    def forward(ctx, x, factor, y):
        return x * y * factor

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * 2, None, grad * 3


def test_a_once_differentiable_function_leaves_a_node_with_an_edge_for_each_input():
    x, y = leaf(), leaf()
    made = torch.autograd.grad((Twice.apply(x, 2, y) ** 2).sum(), (x, y), create_graph=True)
    node = made[0].grad_fn
    assert type(node).__name__ == "Error" and made[1].grad_fn is node
    assert [n is None for n, _ in node.next_functions] == [False, True, False]
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        made[0].sum().backward()


@pytest.mark.parametrize("materialize", [True, False])
def test_an_undefined_gradient_reaches_a_function_as_zeros_or_none(materialize):
    seen = []

    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            seen.append(None if grad is None else grad.tolist())
            return grad

    x = leaf()
    y = torch._C._functions.UndefinedGrad()(Double.apply(x))
    assert y.tolist() == [2.0, 2.0]
    y.sum().backward()
    assert seen == [[0.0, 0.0] if materialize else None]
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        torch._C._functions.UndefinedGrad()(x, x)


def test_version_counters_can_be_set_and_kept():
    t, u = torch.ones(2), torch.ones(2)
    put = torch._C._autograd._unsafe_set_version_counter
    put((t, u), (5, 7))
    assert (t._version, u._version, t[:1]._version) == (5, 7, 5)
    with pytest.raises(RuntimeError, match="Cannot set a version_counter to a value below 0: -1"):
        put((t, u), (3, -1))
    with pytest.raises(RuntimeError, match="tensors_len=1, versions_len=2"):
        put((t,), (1, 2))
    assert t._version == 5
    for kept in (t, (t, u)):
        with torch.autograd._unsafe_preserve_version_counter(kept):
            t.add_(1)
        assert t._version == 5
    with pytest.raises(AssertionError, match="Expected tensors to be a tuple"):
        torch.autograd._unsafe_preserve_version_counter(3)


def test_weak_references_and_cached_tensors():
    t = torch.ones(2)
    ref = torch._C._WeakTensorRef(t)
    assert not ref.expired() and not torch._C._is_cached_tensor(t)
    torch._C._add_cached_tensor(t)
    assert torch._C._is_cached_tensor(t) and not torch._C._is_cached_tensor(torch.ones(2))
    torch._C._remove_cached_tensor(t)
    assert not torch._C._is_cached_tensor(t)
    del t
    assert ref.expired()


def test_forward_mode_is_switched_by_name():
    assert torch._C._is_fwd_grad_enabled() and fw._is_fwd_grad_enabled()
    torch._C._set_fwd_grad_enabled(False)
    try:
        assert not torch._C._is_fwd_grad_enabled() and not fw._is_fwd_grad_enabled()
        with fw._set_fwd_grad_enabled(True):
            assert fw._is_fwd_grad_enabled()
    finally:
        torch._C._set_fwd_grad_enabled(True)


def test_whether_saved_tensor_hooks_may_be_used():
    ask = torch._C._autograd._saved_tensors_hooks_is_enabled
    assert ask()
    with graph.disable_saved_tensors_hooks("not here"):
        assert not ask()
    assert ask()


def test_forbidden_saved_tensor_hooks_are_allowed_again_after_an_exception():
    with pytest.raises(KeyError), graph.disable_saved_tensors_hooks("not here"):
        raise KeyError
    assert torch._C._autograd._saved_tensors_hooks_is_enabled()
    with graph.save_on_cpu():
        pass


def test_the_older_vmap():
    vmap = torch._vmap_internals._vmap
    x = torch.arange(6.0).view(2, 3)
    assert vmap(lambda row: row.sum())(x).tolist() == [3.0, 12.0]
    assert vmap(lambda row: row * 2, 0, 1)(x).tolist() == (x * 2).t().tolist()
    made = vmap(lambda row: (row, None), allow_none_pass_through=True)(x)
    assert made[1] is None and torch.equal(made[0], x)


def test_names_that_do_not_exist():
    with pytest.raises(AttributeError, match="has no attribute '_nothing'"):
        torch._C._nothing


# --- classes ----------------------------------------------------------------------------------


def test_every_node_is_a_node_without_node_among_its_bases():
    x = leaf() * 1
    x[:1].mul_(2)
    nodes = [x.grad_fn, leaf().exp().grad_fn, graph.get_gradient_edge(leaf()).node]
    nodes.append(Twice.apply(leaf(), 2, leaf()).grad_fn)
    for node in nodes:
        assert isinstance(node, graph.Node) and issubclass(type(node), graph.Node)
        assert graph.Node not in type(node).__mro__
    assert not isinstance(x, graph.Node)
    with pytest.raises(TypeError, match="abstract"):
        graph.Node()


def test_saved_tensors_cannot_be_made_by_hand():
    message = "Trying to create a SavedTensor object from Python is forbidden"
    for cls in (torch.autograd.SavedTensor, torch._C._autograd.SavedTensor):
        with pytest.raises(RuntimeError, match=message):
            cls()


def test_grad_fn_and_hooks_under_their_private_names():
    x = leaf()
    y = x * 2
    assert x._grad_fn is None and y._grad_fn is y.grad_fn
    assert x._backward_hooks is None and y._backward_hooks is None
    for t in (x, y):
        handle = t.register_hook(lambda grad: grad)
        assert list(t._backward_hooks) == [handle.id]
        with pytest.raises(RuntimeError, match="Deletion of _grad_fn not allowed. Detach tensor"):
            del t._grad_fn
        with pytest.raises(RuntimeError, match="Deletion of _backwards_hooks not allowed"):
            del t._backward_hooks
        t._backward_hooks = {1: lambda grad: grad * 10}
    y.sum().backward()
    assert x.grad.tolist() == [200.0, 200.0]
    x._backward_hooks = None
    assert x._backward_hooks is None


@pytest.mark.parametrize(
    "register",
    [
        lambda x: x.register_hook,
        lambda x: x.register_post_accumulate_grad_hook,
        lambda x: graph.get_gradient_edge(x).node.register_prehook,
        lambda x: graph.get_gradient_edge(x).node.register_hook,
    ],
)
def test_a_hook_that_cannot_be_called_fails_when_it_is_called(register):
    x = leaf()
    accumulator = graph.get_gradient_edge(x).node
    handle = register(x)(3)
    with pytest.raises(TypeError, match="'int' object is not callable"):
        x.sum().backward()
    handle.remove()
    x.grad = None
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0] and accumulator.variable is x


def test_the_first_accumulation_of_a_graph_is_a_copy():
    x = leaf()
    with pytest.warns(UserWarning, match="create_graph=True"):
        (x**2).sum().backward(create_graph=True)
    node = x.grad.grad_fn
    assert type(node).__name__ == "CopyBackwards"
    (none, _), (source, _) = node.next_functions
    assert none is None and type(source).__name__ == "MulBackward0"
    assert torch.autograd.grad(x.grad.sum(), x)[0].tolist() == [2.0, 2.0]
    x.grad = None
    gc.collect()


def test_zeros_for_outputs_without_a_derivative_can_be_left_out():
    seen = []

    class Three(Function):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx._materialize_non_diff_grads = materialize
            y, z, w = x * 2, x * 3, x * 4
            ctx.mark_non_differentiable(z)
            return y, z, w

        @staticmethod
        def backward(ctx, *grads):
            seen.append([None if g is None else g.tolist() for g in grads])
            return grads[0], None

    for materialize in (True, False):
        Three.apply(leaf(), materialize)[0].sum().backward()
    assert seen == [
        [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]],
        [[1.0, 1.0], None, [0.0, 0.0]],
    ]


def test_views_may_tell_how_they_were_made():
    def changed(mode):
        with torch.autograd._force_original_view_tracking(mode):
            assert torch.autograd.is_view_replay_enabled() is mode
            x = leaf()
            y = x * 1
            view = y.view(1, 2)
        view.mul_(3)
        name = type(view.grad_fn).__name__
        (view * 2).sum().backward()
        return name, x.grad.tolist()

    assert changed(True) == ("ViewBackward0", [6.0, 6.0])
    assert changed(False) == ("AsStridedBackward0", [6.0, 6.0])
    assert not torch.autograd.is_view_replay_enabled()
    with torch.autograd._force_original_view_tracking(True):
        for take in (lambda y: y[1:], lambda y: y.expand(2, 2), lambda y: y.view(2, 1).t()[:, :1]):
            x = leaf()
            y = x * 1
            view = take(y)  # shows a part of y, or more than all: no shape of it
            y.mul_(3)
            assert type(view.grad_fn).__name__ == "AsStridedBackward0"
            view.sum().backward()
            again = leaf()
            take(again * 3).sum().backward()
            assert x.grad.tolist() == again.grad.tolist()
    torch.autograd._force_original_view_tracking(True)
    try:
        assert torch.autograd.is_view_replay_enabled()
    finally:
        torch.autograd._force_original_view_tracking(False)


def test_multithreading_is_switched_by_a_call_and_restored_after_a_block():
    ask, put = torch.autograd.is_multithreading_enabled, torch.autograd.set_multithreading_enabled
    assert ask()
    with put(False):
        assert not ask()
        put(True)
        assert ask()
    assert ask()
    put(False)
    assert not ask()
    put(True)


def test_older_functions():
    x = torch.arange(6.0, requires_grad=True)
    y = torch.autograd._functions.Resize.apply(x, (2, 3))
    y.sum().backward()
    assert y.shape == (2, 3) and x.grad.tolist() == [1.0] * 6
    with pytest.raises(RuntimeError, match="requested resize to 2x4"):
        torch.autograd._functions.Resize.apply(x, (2, 4))
    edge = graph.get_gradient_edge(x * 2)
    for output in (x, edge):
        assert torch.autograd._calculate_shape(output, torch.ones(3, 2), True) == ((6,), (2,))
        assert torch.autograd._calculate_shape(output, torch.ones(3), False) == ((6,), (3,))
    rows = torch.autograd.functional._construct_standard_basis_for(
        (torch.ones(1, dtype=torch.float64), torch.ones(2)), (1, 2)
    )
    assert [r.dtype for r in rows] == [torch.float64, torch.float32]
    assert torch.equal(torch.cat([r.float() for r in rows], 1), torch.eye(3))


def test_a_switch_for_streams_exists():
    assert graph.set_warn_on_accumulate_grad_stream_mismatch(True) is None
