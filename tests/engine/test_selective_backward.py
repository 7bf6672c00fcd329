"""Backward that wants some gradients: what isn't wanted sees nothing of it."""

import pytest

import autograd_cy as torch
from autograd_cy.autograd import Function, graph


class Product(Function):
    """Computes both gradients, whoever wants them."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b, grad * a


class Within(Function):
    """Runs another backward inside of its own, so that operators don't know what is wanted."""

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
