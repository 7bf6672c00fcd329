"""Backward that wants some gradients: what isn't wanted sees nothing of it."""

import threading

import pytest

import autograd_cy as torch
from autograd_cy.autograd import Function, graph


class Product(Function):
    """Compute both gradients, whoever wants them."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b, grad * a


class Within(Function):
    """Run another backward inside of its own."""

    @staticmethod
    def forward(ctx, t, work):
        ctx.work = work
        return t.clone()

    @staticmethod
    def backward(ctx, grad):
        ctx.work()
        return grad, None


def leaf():
    return torch.ones(2, requires_grad=True)


def by_function(work):
    work(Product.apply)


def inside_of_another_backward(work):
    t = leaf()
    Within.apply(t, lambda: work(torch.mul)).sum().backward()


PLACES = [by_function, inside_of_another_backward]


def selected(how, out, x):
    if how == "grad":
        assert torch.autograd.grad(out, x)[0].tolist() == [6.0, 6.0]
    else:
        out.backward(inputs=[x])
        assert x.grad.tolist() == [6.0, 6.0]


@pytest.mark.parametrize("how", ["grad", "backward"])
@pytest.mark.parametrize("place", PLACES)
def test_hooks_and_retained_gradients_of_unwanted_tensors_are_left_alone(place, how):
    seen, results = [], []

    def work(multiply):
        with torch.enable_grad():
            x, w = leaf(), leaf()
            u, v = x * 2, w * 3
            v.retain_grad()
            for name, t in (("x", x), ("w", w), ("u", u), ("v", v)):
                t.register_hook(lambda grad, name=name: seen.append(name))
            v.grad_fn.register_prehook(lambda grads: seen.append("before v"))
            w.register_post_accumulate_grad_hook(lambda t: seen.append("accumulated"))
            out = multiply(u, v).sum()
        selected(how, out, x)
        results.append((v.grad, w.grad))

    place(work)
    assert seen == ["u", "x"] and results == [(None, None)]


@pytest.mark.parametrize("mode", ["all", "any"])
@pytest.mark.parametrize("place", PLACES)
def test_a_hook_on_several_tensors_waits_for_wanted_ones_only(place, mode):
    seen = []

    def work(multiply):
        with torch.enable_grad():
            x, w = leaf(), leaf()
            u, v = x * 2, w * 3
            graph.register_multi_grad_hook([v, u], seen.append, mode=mode)
            out = multiply(u, v).sum()
        selected("grad", out, x)

    place(work)
    if mode == "all":
        ((of_v, of_u),) = seen
        assert of_v is None and of_u.tolist() == [3.0, 3.0]
    else:
        assert [grad.tolist() for grad in seen] == [[3.0, 3.0]]


def test_a_root_that_leads_to_nothing_wanted_is_not_run():
    x, w, seen = leaf(), leaf(), []
    u, v = (x * 2).sum(), (w * 3).sum()
    u.register_hook(lambda grad: seen.append("u"))
    v.register_hook(lambda grad: seen.append("v"))
    v.grad_fn.register_prehook(lambda grads: seen.append("before v"))
    v.retain_grad()
    assert torch.autograd.grad([u, v], [x])[0].tolist() == [2.0, 2.0]
    assert seen == ["u"] and v.grad is None


# --- while other backwards run --------------------------------------------------------------------


def shared_graph():
    """(x, w, their product squared): nodes that several backwards share."""
    x, w = leaf(), leaf()
    return x, w, ((x * 2) * (w * 3)) ** 2


def saved_by_a_gradient(out, wanted):
    """The result of ``grad``, and how many tensors the graph of it has saved."""
    saved = []
    hooks = graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t)
    with torch.enable_grad(), hooks:
        (found,) = torch.autograd.grad(out.sum(), wanted, create_graph=True)
    return found.tolist(), len(saved)


def alone(out, wanted, x, w):
    return saved_by_a_gradient(out, wanted)


def inside_of_a_backward_for_all(out, wanted, x, w):
    found = []
    about = Within.apply(out, lambda: found.append(saved_by_a_gradient(out, wanted)))
    about.sum().backward(retain_graph=True)
    return found[0]


def inside_of_a_gradient_of_the_other(out, wanted, x, w):
    found = []
    other = w if wanted is x else x
    about = Within.apply(out, lambda: found.append(saved_by_a_gradient(out, wanted)))
    assert torch.autograd.grad(about.sum(), other, retain_graph=True)[0].tolist() == [72.0, 72.0]
    return found[0]


def beside_a_gradient_of_the_other_in_a_thread(out, wanted, x, w):
    begun, done, others = threading.Event(), threading.Event(), []
    other = w if wanted is x else x

    def wait():
        begun.set()
        assert done.wait(20)

    def work():
        about = Within.apply(out, wait)
        others.append(torch.autograd.grad(about.sum(), other, retain_graph=True)[0].tolist())

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert begun.wait(20)
    try:
        return saved_by_a_gradient(out, wanted)
    finally:
        done.set()
        thread.join(20)
        assert others == [[72.0, 72.0]]


@pytest.mark.parametrize("which", ["x", "w"])
@pytest.mark.parametrize(
    "beside",
    [
        inside_of_a_backward_for_all,
        inside_of_a_gradient_of_the_other,
        beside_a_gradient_of_the_other_in_a_thread,
    ],
)
def test_a_gradient_computes_and_saves_the_same_whatever_else_runs(beside, which):
    x, w, out = shared_graph()
    wanted = x if which == "x" else w
    expected = alone(out, wanted, x, w)
    assert expected[0] == [72.0, 72.0]
    assert beside(out, wanted, x, w) == expected
    assert alone(out, wanted, x, w) == expected
    both = torch.autograd.grad(out.sum(), (x, w))
    assert [g.tolist() for g in both] == [[72.0, 72.0]] * 2


# --- accumulation into tensors that are no leaves ---------------------------------------------


def chain():
    x = leaf()
    b = x * 2
    seen = []
    b.register_hook(lambda grad: seen.append("hook") or grad * 2)
    b.grad_fn.register_prehook(lambda grads: seen.append("before") or (grads[0] * 5,))
    b.grad_fn.register_hook(lambda made, given: seen.append((made, given[0].tolist())))
    return x, b, seen


def test_backward_to_a_non_leaf_runs_its_node():
    x, b, seen = chain()
    (b * 3).sum().backward(inputs=(b,))
    assert seen == ["hook", "before", ((None, None), [30.0, 30.0])]
    assert b.grad.tolist() == [6.0, 6.0] and x.grad is None
    with pytest.raises(RuntimeError, match="second time"):
        b.sum().backward()


def test_grad_of_a_non_leaf_does_not_run_its_node():
    x, b, seen = chain()
    (made,) = torch.autograd.grad((b * 3).sum(), b)
    assert made.tolist() == [6.0, 6.0] and seen == ["hook"]
    b.sum().backward()
    assert x.grad is not None


# --- what hooks of an accumulator see ---------------------------------------------------------


def test_a_hook_after_accumulation_sees_the_memory_that_became_grad():
    x, seen = leaf(), []

    def after(made, given):
        seen.append((made, given[0].tolist(), given[0] is x.grad))
        given[0].add_(1)

    def double(t):
        t.grad.mul_(2)

    x.register_post_accumulate_grad_hook(double)
    node = graph.get_gradient_edge(x).node
    node.register_prehook(lambda grads: (grads[0] * 2,))
    node.register_hook(after)
    (x * 3).sum().backward()
    assert seen == [((), [12.0, 12.0], False)]
    assert x.grad.tolist() == [13.0, 13.0]
    # A second gradient is added to .grad; its own memory stays what it was.
    (x * 3).sum().backward()
    assert seen[1] == ((), [6.0, 6.0], False)
    assert x.grad.tolist() == [38.0, 38.0]


def test_a_gradient_that_others_hold_is_copied():
    x, kept = leaf(), []
    x.register_hook(lambda grad: kept.append(grad))
    (x * 3).sum().backward()
    assert x.grad is not kept[0] and x.grad.data_ptr() != kept[0].data_ptr()


class SavedResult(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        return ctx.saved_tensors[0]


def test_grad_does_not_take_over_memory_that_others_show():
    x = leaf()
    y = SavedResult.apply(x)
    y.sum().backward()
    y.detach().zero_()
    assert x.grad.tolist() == [2.0, 2.0]
