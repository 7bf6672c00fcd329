"""The graph module: edges, nodes, hooks of nodes and of several tensors, order of all hooks."""

import gc
import threading
import weakref

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy.autograd import graph


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


# --- nodes and edges --------------------------------------------------------------------------


def test_nodes_are_nodes_and_named_as_torch_names_them():
    x = leaf(1.0)
    y = (x * 2).exp()
    assert isinstance(y.grad_fn, graph.Node)
    assert y.grad_fn.name() == "ExpBackward0"
    (node, nr), *_ = y.grad_fn.next_functions
    assert (node.name(), nr) == ("MulBackward0", 0)
    (accumulate, _), (nothing, _) = node.next_functions
    assert isinstance(accumulate, graph.AccumulateGrad)
    assert accumulate.variable is x
    assert nothing is None
    y.grad_fn.metadata["key"] = 1
    assert y.grad_fn.metadata == {"key": 1}
    (meta,) = y.grad_fn._input_metadata
    assert (meta.shape, meta.dtype) == ((1,), torch.float64)


def test_gradient_edges_stand_for_tensors():
    x = leaf(1.0)
    y = x * 2
    z = y * 3
    edge = graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn
    assert edge.output_nr == 0
    assert torch.autograd.grad(z, edge, retain_graph=True)[0].item() == 3
    assert torch.autograd.grad(graph.get_gradient_edge(z), x)[0].item() == 6
    del y, z
    first = x.unbind()[0] * 5
    torch.autograd.backward(graph.get_gradient_edge(first))
    assert x.grad.item() == 5
    (x * 3).backward(inputs=[graph.get_gradient_edge(x)])
    assert x.grad.item() == 8
    other = graph.get_gradient_edge(leaf(1.0))
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        torch.autograd.grad(x * 2, other)
    with pytest.raises(RuntimeError, match="cannot be used when the given input is a Gradient"):
        torch.autograd.grad(x * 2, other, materialize_grads=True)


def test_gradient_edges_of_tensors_without_a_graph_or_scalars():
    with pytest.raises(RuntimeError, match="not possible to get the gradient edge"):
        graph.get_gradient_edge(torch.ones(1))
    y = leaf(1.0, 2.0) * 2
    with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
        torch.autograd.backward(graph.get_gradient_edge(y))


def test_output_numbers():
    x = leaf(1.0, 2.0, 3.0)
    parts = x.unbind()
    assert [p.output_nr for p in parts] == [0, 1, 2]
    edge = graph.get_gradient_edge(parts[1])
    assert edge.output_nr == 1
    (g,) = torch.autograd.grad(parts[0] * 2 + parts[1] * 5, edge)
    assert g.item() == 5


# --- inputs= ----------------------------------------------------------------------------------


def test_backward_with_inputs_fills_only_them():
    x, w = leaf(1.0), leaf(2.0)
    y = x * w
    z = y * 3
    z.backward(inputs=[x, y])
    assert (x.grad.item(), y.grad.item()) == (6, 3)
    assert w.grad is None
    assert y.retains_grad


def test_nodes_that_are_not_needed_do_not_run():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise AssertionError("must not run")

    x, w = leaf(1.0), leaf(2.0)
    failing = Fails.apply(w)
    failing.grad_fn.register_prehook(lambda g: pytest.fail("hook of a node that isn't needed"))
    w.register_hook(lambda g: pytest.fail("hook of a tensor that isn't needed"))
    z = x * 2 + failing
    (g,) = torch.autograd.grad(z, x, retain_graph=True)
    assert g.item() == 2
    z.backward(inputs=[x])
    assert x.grad.item() == 2
    assert w.grad is None


def test_marks_of_one_backward_do_not_show_in_another():
    # The outer call wants x only; inside of it a whole backward of the same graph runs.
    x, w = leaf(3.0), leaf(5.0)
    inner = x * w
    inner.register_hook(lambda g: shared.backward(retain_graph=True))
    shared = x * w * 1
    outer = inner + shared
    torch.autograd.grad(outer, x, retain_graph=True)
    assert w.grad.item() == 3
    assert x.grad.item() == 5


# --- hooks ------------------------------------------------------------------------------------


def test_order_of_hooks_of_an_inner_tensor():
    order = []
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: order.append(("tensor", g.item())) or g * 10)
    y.grad_fn.register_prehook(lambda g: order.append(("pre", g[0].item())) or (g[0] * 100,))
    y.grad_fn.register_hook(lambda i, o: order.append(("post", i[0].item(), o[0].item())))
    y.sum().backward()
    assert order == [("tensor", 1), ("pre", 10), ("post", 2000, 1000)]
    assert y.grad.item() == 10
    assert x.grad.item() == 2000


def test_order_of_hooks_of_a_leaf():
    order = []
    x = leaf(1.0)
    node = graph.get_gradient_edge(x).node
    node.register_prehook(lambda g: order.append(("pre", g[0].item())) or (g[0] * 3,))
    node.register_hook(lambda i, o: order.append(("post", i, o[0].item())))
    x.register_hook(lambda g: order.append(("tensor", g.item())))
    x.register_post_accumulate_grad_hook(lambda t: order.append(("accumulated", t.grad.item())))
    (x * 2).sum().backward()
    assert order == [("tensor", 2), ("pre", 2), ("accumulated", 6), ("post", (), 6)]
    order.clear()
    assert torch.autograd.grad((x * 2).sum(), x)[0].item() == 2
    assert order == [("tensor", 2)]


def test_captured_gradients_are_those_after_tensor_hooks():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.grad_fn.register_prehook(lambda g: (g[0] * 100,))
    gy, gx = torch.autograd.grad(y.sum(), [y, x])
    assert (gy.item(), gx.item()) == (10, 2000)


BAD_NODE_HOOKS = [
    (TypeError, "expected tuple, but hook returned 'int'", lambda gi, go: 3),
    (TypeError, "expected Variable, but hook returned 'int'", lambda gi, go: (3, 3)),
    (
        RuntimeError,
        r"incorrect number of values \(got 3, but expected 2\)",
        lambda gi, go: (None,) * 3,
    ),
    (RuntimeError, "has changed the size of value", lambda gi, go: (torch.ones(7).double(), None)),
    (RuntimeError, "has changed the type of value", lambda gi, go: (gi[0].float(), None)),
    (KeyError, "inside", lambda gi, go: {}["inside"]),
]


@pytest.mark.parametrize(
    ("error", "message", "hook"), BAD_NODE_HOOKS, ids=range(len(BAD_NODE_HOOKS))
)
def test_wrong_results_of_node_hooks(error, message, hook):
    x = leaf(1.0, 2.0)
    y = x * 2
    y.grad_fn.register_hook(hook)
    with pytest.raises(error, match=message):
        y.sum().backward()
    assert x.grad is None


def test_post_accumulate_hook_must_return_none_and_may_reset_grad():
    x = leaf(1.0)
    handle = x.register_post_accumulate_grad_hook(lambda t: t.grad * 2)
    with pytest.raises(RuntimeError, match="Tensor post accumulate grad hooks should return None"):
        x.sum().backward()
    handle.remove()
    with pytest.raises(RuntimeError, match="non-leaf"):
        (x * 2).register_post_accumulate_grad_hook(lambda t: None)
    seen = []

    def step(t):
        seen.append(t.grad.item())
        t.grad = None

    x.grad = None
    x.register_post_accumulate_grad_hook(step)
    (x * 4).backward()
    assert seen == [4]
    assert x.grad is None


def test_handles_are_removed_in_any_order():
    x = leaf(1.0)
    seen = []
    handles = [x.register_hook(lambda g, i=i: seen.append(i)) for i in range(4)]
    handles[1].remove()
    handles[3].remove()
    handles[1].remove()
    x.sum().backward()
    assert seen == [0, 2]
    with x.register_hook(lambda g: seen.append("with")):
        x.sum().backward()
    x.sum().backward()
    assert seen == [0, 2, 0, 2, "with", 0, 2]


def test_hook_may_remove_itself_and_others_while_it_runs():
    x = leaf(1.0)
    seen = []

    def first(g):
        seen.append(1)
        one.remove()

    one = x.register_hook(first)
    x.register_hook(lambda g: seen.append(2))
    x.sum().backward()
    x.sum().backward()
    assert seen == [1, 2, 2]


def test_cycles_through_hooks_are_collected():
    class Token:
        pass

    token = Token()
    alive = weakref.ref(token)
    x = leaf(1.0)
    y = x * 2
    for hooks in (y.register_hook, y.grad_fn.register_hook, y.grad_fn.register_prehook):
        hooks(lambda *a, keep=(y, token): None)
    x.register_hook(lambda g, keep=(x, token): None)
    x.register_post_accumulate_grad_hook(lambda t, keep=(x, token): None)
    del x, y, token, hooks
    gc.collect()
    assert alive() is None


# --- hooks on several tensors -----------------------------------------------------------------


def test_multi_grad_hook_all():
    a, b = leaf(1.0), leaf(1.0)
    c = a * 2
    seen = []
    handle = graph.register_multi_grad_hook([a, b, c], seen.append)
    c.sum().backward(retain_graph=True)
    assert [None if g is None else g.item() for g in seen[-1]] == [2, None, 1]
    (a * 2 + b).sum().backward()
    assert [None if g is None else g.item() for g in seen[-1]] == [2, 1, None]
    torch.autograd.grad((c * b).sum(), [b, a], retain_graph=True)
    assert [None if g is None else g.item() for g in seen[-1]] == [2, 2, 1]
    assert len(seen) == 3
    handle.remove()
    (a + b).sum().backward()
    assert len(seen) == 3


def test_multi_grad_hook_any():
    a, b = leaf(1.0), leaf(1.0)
    seen = []
    handle = graph.register_multi_grad_hook([a, b, torch.ones(1)], seen.append, mode="any")
    for _ in range(3):
        (a * 2 + b * 2).sum().backward()
    assert [g.item() for g in seen] == [2, 2, 2]
    handle.remove()
    (a * 2).sum().backward()
    assert len(seen) == 3


def test_multi_grad_hook_after_a_failing_backward():
    a, b = leaf(1.0), leaf(1.0)
    seen = []
    graph.register_multi_grad_hook([a, b], seen.append)
    y = b * 2

    def fail(g):
        raise ValueError("on the way")

    handle = y.register_hook(fail)
    z = (a * 3).exp() + y
    with pytest.raises(ValueError, match="on the way"):
        z.sum().backward(retain_graph=True)
    handle.remove()
    assert seen == []
    z.sum().backward()
    assert len(seen) == 1


def test_multi_grad_hook_from_several_threads():
    a, b = leaf(1.0), leaf(1.0)
    seen = []
    graph.register_multi_grad_hook([a, b], lambda g: seen.append(sum(x.item() for x in g)))

    def work(k):
        for _ in range(50):
            torch.autograd.grad((a * k + b * k).sum(), [a, b])

    threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(seen) == [2] * 50 + [4] * 50 + [6] * 50


def test_multi_grad_hook_misuse():
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        graph.register_multi_grad_hook([leaf(1.0)], print, mode="some")
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        graph.register_multi_grad_hook([torch.ones(1)], print)


# --- versions ---------------------------------------------------------------------------------


def test_increment_version():
    x = leaf(1.0, 2.0)
    y = x.exp()
    z = y * y
    y.detach().numpy()[0] = 7
    graph.increment_version(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    a = torch.ones(1)
    graph.increment_version([a, a])
    assert a._version == 2
    with pytest.raises(RuntimeError, match="increment_version expect"):
        graph.increment_version(3)
    with pytest.raises(RuntimeError, match="each element"):
        graph.increment_version([3])


def test_callbacks_run_at_the_end_and_may_queue_more():
    from autograd_cy._C import engine

    order = []
    x = leaf(1.0)

    def hook(g):
        engine.queue_callback(again)
        order.append("hook")

    def again():
        order.append("callback")
        if len(order) < 4:
            engine.queue_callback(again)

    x.register_hook(hook)
    y = x * 2
    y.register_hook(lambda g: order.append("inner"))
    y.sum().backward()
    assert order == ["inner", "hook", "callback", "callback"]
    with pytest.raises(RuntimeError, match="only be installed during backward"):
        engine.queue_callback(again)


def test_selective_backward_of_a_wide_graph():
    leaves = [leaf(float(i)) for i in range(200)]
    total = sum((x * (i + 1)).sum() for i, x in enumerate(leaves))
    grads = torch.autograd.grad(total, leaves[::3])
    np.testing.assert_array_equal([g.item() for g in grads], np.arange(200)[::3] + 1)
