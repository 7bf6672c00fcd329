"""Checkpoints that keep the results of some operations: what is computed again, and the numbers."""

import contextlib
import functools
import weakref

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy.func import grad, jacfwd, jacrev, vmap
from autograd_cy.nn import functional as F
from autograd_cy.overrides import TorchFunctionMode
from autograd_cy.utils.checkpoint import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    checkpoint,
    create_selective_checkpoint_contexts,
    get_device_states,
    set_device_states,
)


def leaf(*shape, seed=0):
    torch.manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def keeping(policy, **options):
    return functools.partial(create_selective_checkpoint_contexts, policy, **options)


def selective(f, policy, *args, early=True, **options):
    context = keeping(policy, **options)
    return checkpoint(f, *args, use_reentrant=False, context_fn=context, early_stop=early)


class Counting(TorchFunctionMode):
    """Know which functions are called below."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


def layers(x, w):
    h = (x @ w).sin()
    h = F.linear(h.exp(), w, w[0])
    return F.layer_norm(h, (3,)).pow(2) * torch.softmax(h, 0)


def called_again(policy):
    counting = Counting()

    @contextlib.contextmanager
    def both(again):
        with counting, again:
            yield

    def contexts():
        first, again = create_selective_checkpoint_contexts(policy)
        return first, both(again)

    x, w = leaf(3, 3), leaf(3, 3, seed=1)
    y = checkpoint(layers, x, w, use_reentrant=False, context_fn=contexts, early_stop=False)
    y.sum().backward()
    return counting.names


def test_kept_results_are_not_computed_again():
    names = ["matmul", "sin", "exp", "linear", "layer_norm", "pow", "softmax", "mul"]
    assert [n for n in called_again([]) if n in names] == names
    rest = [n for n in names if n not in ("matmul", "linear")]
    assert [n for n in called_again([torch.matmul, F.linear]) if n in names] == rest


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize(
    "policy",
    [
        [],
        [torch.matmul, F.linear],
        [torch.sin, torch.exp, torch.softmax],
        lambda context, op, *args, **kwargs: CheckpointPolicy.MUST_SAVE,
        lambda context, op, *args, **kwargs: CheckpointPolicy.PREFER_RECOMPUTE,
        lambda context, op, *args, **kwargs: op is not torch.matmul,
        lambda context, op, *args, **kwargs: None,
    ],
)
def test_derivatives_are_those_without_it(policy, early):
    def to_second_order(call):
        x, w = leaf(3, 3), leaf(3, 3, seed=1)
        y = call(x, w)
        firsts = torch.autograd.grad(y.sum(), (x, w), create_graph=True)
        seconds = torch.autograd.grad(sum(g.pow(2).sum() for g in firsts), (x, w))
        return [y, *firsts, *seconds]

    found = to_second_order(lambda x, w: selective(layers, policy, x, w, early=early))
    for one, other in zip(found, to_second_order(layers)):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_what_a_kept_operation_was_computed_from_is_not_kept():
    seen = []

    def f(x, w):
        memory = np.arange(9.0)
        seen.append(weakref.ref(memory))
        h = torch.from_numpy(memory)
        return torch.matmul(h.view(1, 3, 3), w).exp() * x  # saves a view

    x, w = leaf(3, 3), leaf(3, 3, seed=1)
    y = selective(f, [torch.matmul], x, w)
    assert seen[0]() is None
    y.sum().backward()
    (expected,) = torch.autograd.grad(f(x, w).sum(), w)
    torch.testing.assert_close(w.grad, expected)


def test_policies_are_asked_in_the_first_run_with_the_operation_and_its_arguments():
    seen = []

    def policy(context, op, *args, **kwargs):
        assert isinstance(context, SelectiveCheckpointContext) and not context.is_recompute
        seen.append((op, len(args), dict(kwargs), tuple(context.op_output.shape)))
        return CheckpointPolicy.PREFER_SAVE

    x = leaf(3, 3)
    y = selective(lambda x: torch.sum(x.mm(x) + 1, dim=0), policy, x)
    expected = [
        (torch.mm, 2, {}, (3, 3)),
        (torch.add, 2, {}, (3, 3)),
        (torch.sum, 1, {"dim": 0}, (3,)),
    ]
    assert seen == expected
    y.sum().backward()
    assert seen == expected


@pytest.mark.parametrize("preserve", [True, False])
def test_kept_random_numbers_are_those_of_the_first_run_and_later_ones_too(preserve):
    def f(x):
        return F.dropout(x, 0.5) * F.dropout(x, 0.3)

    def first(context, op, *args, **kwargs):
        return op is F.dropout and 0.5 in (*args[1:], *kwargs.values())

    chosen = first if preserve else [F.dropout]
    x = leaf(200)
    y = checkpoint(
        f, x, use_reentrant=False, context_fn=keeping(chosen), preserve_rng_state=preserve
    )
    torch.rand(3)
    y.sum().backward()
    torch.testing.assert_close(x.grad, 2 * y.detach() / x.detach())


def test_running_statistics_are_updated_once():
    norm = torch.nn.BatchNorm1d(3).double()
    selective(norm, [F.batch_norm], leaf(4, 3)).sum().backward()
    assert norm.num_batches_tracked.item() == 2  # an operation in place is done again
    once = torch.nn.BatchNorm1d(3).double()
    once(leaf(4, 3))
    torch.testing.assert_close(norm.running_mean, once.running_mean)


def test_a_kept_graph_can_be_gone_through_again():
    x, w = leaf(3, 3), leaf(3, 3, seed=1)
    y = selective(layers, [torch.matmul], x, w).sum()
    first = torch.autograd.grad(y, x, retain_graph=True)[0]
    torch.testing.assert_close(torch.autograd.grad(y, x)[0], first)


@pytest.mark.parametrize("early", [True, False])
def test_where_the_function_takes_derivatives_all_is_computed_again(early):
    def f(x, w):
        with torch.enable_grad():
            h = (x @ w).sin() + x
            (g,) = torch.autograd.grad((h * x).sum(), x, create_graph=True)
        return g @ w

    def linear(x, w):  # a derivative that needs no saved tensor
        with torch.enable_grad():
            (g,) = torch.autograd.grad((x + w).sum(), x, create_graph=True)
        return g * x.exp() * w

    for function in (f, linear):
        x, w = leaf(3, 3), leaf(3, 3, seed=1)
        save = lambda *args, **kwargs: CheckpointPolicy.MUST_SAVE  # noqa: E731
        y = selective(function, save, x, w, early=early)
        found = torch.autograd.grad(y.pow(2).sum(), (x, w))
        for one, other in zip(
            found, torch.autograd.grad(function(x, w).pow(2).sum(), (x, w)), strict=True
        ):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_in_and_around_transformations():
    def call(f):
        return lambda x, w: selective(f, lambda *args, **kwargs: True, x, w)

    x, w = leaf(3, 3).detach(), leaf(3, 3, seed=1).detach()
    ways = (
        lambda f: jacrev(jacfwd(f))(x, w),
        lambda f: vmap(grad(lambda x, w: f(x, w).sum()), (0, None))(torch.stack([x, w]), w),
        lambda f: grad(lambda x: vmap(f, (0, None))(torch.stack([x, w]), w).sum())(x),
    )
    for way in ways:
        torch.testing.assert_close(way(call(layers)), way(layers), rtol=1e-11, atol=1e-11)


def test_inside_of_another_checkpoint_and_around_one():
    def save(f):
        return lambda x, w: selective(f, [torch.matmul, torch.sin], x, w)

    def plain(f):
        return lambda x, w: checkpoint(f, x, w, use_reentrant=False)

    x, w = leaf(3, 3), leaf(3, 3, seed=1)
    (expected,) = torch.autograd.grad(layers(x, w).sum(), x)
    for f in (save(plain(layers)), plain(save(layers)), save(save(layers))):
        torch.testing.assert_close(torch.autograd.grad(f(x, w).sum(), x)[0], expected)


# --- what is refused ------------------------------------------------------------------------------


def changed(x):
    y = x.sin()
    z = y.clone()
    with torch.no_grad():
        y.mul_(2)
    return (z * y).sum()


def test_a_kept_result_that_was_changed_is_an_error_unless_it_may_be():
    y = selective(changed, [torch.sin], leaf(3))
    with pytest.raises(RuntimeError, match="has been mutated: a result of torch.sin was changed"):
        y.backward()
    x = leaf(3)
    selective(lambda x: changed(x) + x.sum(), [torch.clone], x).backward()
    y = selective(changed, [torch.sin], leaf(3), allow_cache_entry_mutation=True)
    y.backward()


def test_another_function_in_the_recomputation_is_an_error():
    calls = []

    def f(x):
        calls.append(x)
        return (x.sin() if len(calls) == 1 else x.cos()).exp()

    y = selective(f, [torch.sin], leaf(3))
    with pytest.raises(RuntimeError, match=r"torch.cos encountered during backward, but torch.sin"):
        y.sum().backward()


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (3, TypeError, "policy_fn_or_list must be either a function or a list of ops"),
        ("mm", TypeError, "policy_fn_or_list must be either a function or a list of ops"),
        ([3], ValueError, "Expected op in `op_list` to be .* but got: 3 of type <class 'int'>"),
        ([torch.Tensor.mul_], ValueError, "to return new tensors but got: torch.Tensor.mul_"),
    ],
)
def test_what_can_be_no_policy(given, error, words):
    with pytest.raises(error, match=words):
        create_selective_checkpoint_contexts(given)


def test_a_policy_that_returns_something_else_is_an_error():
    with pytest.raises(TypeError, match="must return a CheckpointPolicy or a bool, but returned 3"):
        selective(torch.sin, lambda *args, **kwargs: 3, leaf(3))


def test_there_are_no_states_of_devices():
    assert get_device_states(torch.ones(2), "text") == ([], [])
    set_device_states([], [], device_type="cuda")
    with pytest.raises(RuntimeError, match="no devices"):
        set_device_states([0], [torch.get_rng_state()])
