"""Recurrent operators: values against NumPy, packed rows against sequences alone, derivatives."""

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy.autograd import forward_ad, gradcheck, gradgradcheck

GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}
KINDS = list(GATES)
STEPS, BATCH, INPUT, HIDDEN, PROJECTED = 4, 3, 2, 3, 2
BATCH_SIZES = (3, 2, 2, 1)


def normal(*shape, seed=0, scale=1.0):
    return np.random.default_rng([seed, *shape]).normal(size=shape) * scale


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def numpy_step(kind, x, h, c, w_ih, w_hh, b_ih=0.0, b_hh=0.0, w_hr=None):
    """A step of a cell as the papers write it."""
    gx, gh = x @ w_ih.T + b_ih, h @ w_hh.T + b_hh
    if kind == "rnn_tanh":
        return np.tanh(gx + gh), None
    if kind == "rnn_relu":
        return np.maximum(gx + gh, 0), None
    if kind == "lstm":
        i, f, g, o = np.split(gx + gh, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        return (h if w_hr is None else h @ w_hr.T), c
    (xr, xz, xn), (hr, hz, hn) = np.split(gx, 3, -1), np.split(gh, 3, -1)
    z = sigmoid(xz + hz)
    return (1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * h, None


def numpy_layer(kind, x, h, c, weights, reverse):
    outputs = [None] * len(x)
    for t in range(len(x))[:: -1 if reverse else 1]:
        h, c = numpy_step(kind, x[t], h, c, *weights)
        outputs[t] = h
    return np.stack(outputs), h, c


def arrays(kind, layers=1, directions=1, biases=True, projected=0, seed=0):
    """Weights by layer and direction."""
    rows, state = GATES[kind] * HIDDEN, projected or HIDDEN
    found = []
    for layer in range(layers):
        size = state * directions if layer else INPUT
        for d in range(directions):
            one = [normal(rows, size, seed=seed + d), normal(rows, state, seed=seed + 7 + layer)]
            if biases:
                one += [normal(rows, seed=seed + 1 + d), normal(rows, seed=seed + 9 + layer)]
            if projected:
                one.append(normal(projected, HIDDEN, seed=seed + layer))
            found.append(one)
    return found


def as_weights(one, biases, projected):
    """Return the parameters in the order of numpy_step."""
    one = list(one)
    w_hr = one.pop() if projected else None
    return (*one, w_hr) if biases else (*one, 0.0, 0.0, w_hr)


def states(kind, n, batch=BATCH, projected=0):
    h = normal(n, batch, projected or HIDDEN, seed=11)
    return (h, normal(n, batch, HIDDEN, seed=12)) if kind == "lstm" else (h,)


def call(kind, x, hx, weights, *rest, batch_sizes=None):
    """The operator on arrays or tensors."""

    def ready(a):
        return a if isinstance(a, torch.Tensor) else torch.tensor(a)

    params = [ready(w) for one in weights for w in one]
    hx = tuple(ready(h) for h in hx)
    given = hx if kind == "lstm" else hx[0]
    sizes = () if batch_sizes is None else (batch_sizes,)
    return getattr(torch, kind)(ready(x), *sizes, given, params, *rest)


def close(a, b, tolerance=1e-10):
    np.testing.assert_allclose(a.detach().double().numpy(), b, atol=tolerance, rtol=tolerance)


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_cells_are_their_formulas(kind, biases):
    (one,) = arrays(kind, biases=biases)
    hx = [h[0] for h in states(kind, 1)]
    x = normal(BATCH, INPUT)
    h, c = numpy_step(kind, x, hx[0], hx[-1], *one)
    tensors = [torch.tensor(w) for w in one]
    hx = tuple(torch.tensor(h) for h in hx)
    made = getattr(torch, f"{kind}_cell")(
        torch.tensor(x), hx if kind == "lstm" else hx[0], *tensors
    )
    if kind == "lstm":
        close(made[0], h)
        close(made[1], c)
    else:
        close(made, h)


@pytest.mark.parametrize(("layers", "directions"), [(1, 1), (2, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize(("kind", "projected"), [*[(k, 0) for k in KINDS], ("lstm", PROJECTED)])
def test_sequences_are_loops_over_cells(kind, biases, layers, directions, projected):
    weights = arrays(kind, layers, directions, biases, projected)
    hx = states(kind, layers * directions, projected=projected)
    out = x = normal(STEPS, BATCH, INPUT)
    last = []
    for layer in range(layers):
        made = []
        for d in range(directions):
            k = layer * directions + d
            one = as_weights(weights[k], biases, projected)
            made.append(numpy_layer(kind, out, hx[0][k], hx[-1][k], one, d))
            last.append(made[-1][1:])
        out = np.concatenate([m[0] for m in made], -1)
    rest = (biases, layers, 0.0, True, directions == 2)
    for first in (False, True):
        given = x.swapaxes(0, 1) if first else x
        found = call(kind, given, hx, weights, *rest, first)
        close(found[0].transpose(0, 1) if first else found[0], out)
        for k, state in enumerate(found[1:]):
            close(state, np.stack([one[k] for one in last]))


def packed_rows(x):
    """The rows of the sequences whose lengths give BATCH_SIZES."""
    return np.concatenate([x[t, :n] for t, n in enumerate(BATCH_SIZES)])


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_packed_sequences_are_sequences_alone(kind, directions):
    weights, hx = arrays(kind, 2, directions), states(kind, 2 * directions)
    x = normal(STEPS, BATCH, INPUT)
    rest = (True, 2, 0.0, False, directions == 2)
    made = call(kind, packed_rows(x), hx, weights, *rest, batch_sizes=torch.tensor(BATCH_SIZES))
    for b, length in enumerate((4, 3, 1)):
        alone = call(
            kind, x[:length, b : b + 1], [h[:, b : b + 1] for h in hx], weights, *rest, False
        )
        starts = np.cumsum((0, *BATCH_SIZES))[:length]
        close(made[0][torch.tensor(starts + b)], alone[0][:, 0].numpy())
        for state, other in zip(made[1:], alone[1:], strict=True):
            close(state[:, b], other[:, 0].numpy())


def test_data_by_keyword_is_packed():
    weights, (h,) = arrays("gru"), states("gru", 1)
    data, sizes = torch.tensor(packed_rows(normal(STEPS, BATCH, INPUT))), torch.tensor(BATCH_SIZES)
    params = [torch.tensor(w) for w in weights[0]]
    named = {
        "data": data,
        "batch_sizes": sizes,
        "hx": torch.tensor(h),
        "params": params,
        "has_biases": True,
        "num_layers": 1,
        "dropout": 0.0,
        "train": False,
        "bidirectional": False,
    }
    expected = torch.gru(data, sizes, torch.tensor(h), params, True, 1, 0.0, False, False)
    assert torch.equal(torch.gru(**named)[0], expected[0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_narrow_types_are_close_to_float64(kind, dtype):
    weights, hx = arrays(kind, 2, 2), states(kind, 4)
    x = normal(STEPS, BATCH, INPUT)
    rest = (True, 2, 0.0, False, True, False)
    wide = call(kind, x, hx, weights, *rest)
    narrow = call(
        kind,
        torch.tensor(x).to(dtype),
        [torch.tensor(h).to(dtype) for h in hx],
        [[torch.tensor(w).to(dtype) for w in one] for one in weights],
        *rest,
    )
    tolerance = {torch.float16: 0.03, torch.bfloat16: 0.2, torch.float32: 1e-5}[dtype]
    for a, b in zip(narrow, wide, strict=True):
        assert a.dtype is dtype
        close(a, b.numpy(), tolerance)


def test_dropout_between_layers_only_and_in_training():
    weights, hx = arrays("rnn_tanh", 2), states("rnn_tanh", 2)
    x = normal(STEPS, BATCH, INPUT)
    plain = call("rnn_tanh", x, hx, weights, True, 2, 0.0, True, False, False)
    kept = call("rnn_tanh", x, hx, weights, True, 2, 0.9, False, False, False)
    torch.manual_seed(0)
    dropped = call("rnn_tanh", x, hx, weights, True, 2, 0.9, True, False, False)
    assert torch.equal(plain[0], kept[0])
    assert not torch.equal(plain[0], dropped[0])
    assert torch.equal(plain[1][0], dropped[1][0])


def test_all_dropped_leaves_biases_to_the_second_layer():
    weights, hx = arrays("gru", 2), states("gru", 2)
    one, two = (
        call(
            "gru",
            normal(STEPS, BATCH, INPUT, seed=s),
            hx,
            weights,
            True,
            2,
            1.0,
            True,
            False,
            False,
        )
        for s in (0, 1)
    )
    assert torch.equal(one[0], two[0])


# --- derivatives ---------------------------------------------------------------------------------


def flat_call(kind, layers, directions, projected=0, batch_sizes=None):
    """A function of plain tensors, and its arguments."""
    weights = arrays(kind, layers, directions, projected=projected)
    hx = states(kind, layers * directions, projected=projected)
    x = normal(STEPS, BATCH, INPUT)
    if batch_sizes is not None:
        x = packed_rows(x)
    per, n = len(weights[0]), len(hx)
    rest = (True, layers, 0.0, False, directions == 2)
    if batch_sizes is None:
        rest = (*rest, False)

    def run(x, *others):
        params = others[n:]
        parts = [params[k : k + per] for k in range(0, len(params), per)]
        return call(kind, x, others[:n], parts, *rest, batch_sizes=batch_sizes)

    given = [x, *hx, *[w for one in weights for w in one]]
    return run, tuple(torch.tensor(a, requires_grad=True) for a in given)


SHAPES = [(1, 1, False), (1, 2, False), (2, 1, False), (1, 2, True)]


@pytest.mark.parametrize(("layers", "directions", "packed"), SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_gradients(kind, layers, directions, packed):
    sizes = torch.tensor(BATCH_SIZES) if packed else None
    run, given = flat_call(kind, layers, directions, batch_sizes=sizes)
    assert gradcheck(run, given, fast_mode=True)


@pytest.mark.parametrize("kind", KINDS)
def test_all_entries_of_the_jacobian(kind):
    run, given = flat_call(kind, 1, 1)
    assert gradcheck(run, given)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_second_derivatives(kind, packed):
    sizes = torch.tensor(BATCH_SIZES) if packed else None
    run, given = flat_call(kind, 1, 2 if packed else 1, batch_sizes=sizes)
    assert gradgradcheck(run, given, fast_mode=True)


def test_projections_have_both_derivatives():
    run, given = flat_call("lstm", 2, 2, PROJECTED)
    assert gradcheck(run, given, fast_mode=True)
    run, given = flat_call("lstm", 1, 1, PROJECTED)
    assert gradgradcheck(run, given, fast_mode=True)


@pytest.mark.parametrize("kind", KINDS)
def test_only_one_output_is_used(kind):
    run, given = flat_call(kind, 1, 1)
    for k in range(3 if kind == "lstm" else 2):
        assert gradcheck(lambda *a, k=k: run(*a)[k], given, fast_mode=True)


@pytest.mark.parametrize("kind", KINDS)
def test_only_some_gradients_are_wanted(kind):
    run, given = flat_call(kind, 1, 1)
    whole = torch.autograd.grad(run(*given)[0].sum(), given, allow_unused=True)
    for k, expected in enumerate(whole):
        some = [a.detach().requires_grad_(i == k) for i, a in enumerate(given)]
        (found,) = torch.autograd.grad(run(*some)[0].sum(), some[k])
        close(found, expected.numpy(), 1e-12)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_with_a_graph_are_those_without(kind, packed):
    sizes = torch.tensor(BATCH_SIZES) if packed else None
    for projected in (0, PROJECTED) if kind == "lstm" else (0,):
        run, given = flat_call(kind, 1, 2, projected, batch_sizes=sizes)
        seeds = [torch.tensor(normal(*o.shape, seed=5)) for o in run(*given)]
        plain = torch.autograd.grad(run(*given), given, seeds)
        recorded = torch.autograd.grad(run(*given), given, seeds, create_graph=True)
        for a, b in zip(plain, recorded, strict=True):
            assert b.requires_grad
            close(a, b.detach().numpy(), 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_twice_with_one_graph(kind):
    run, given = flat_call(kind, 1, 1)
    loss = run(*given)[0].square().sum()
    first = torch.autograd.grad(loss, given, retain_graph=True, allow_unused=True)
    second = torch.autograd.grad(loss, given, allow_unused=True)
    for a, b in zip(first, second, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("kind", KINDS)
def test_forward_mode_is_the_other_product(kind):
    run, given = flat_call(kind, 1, 2)
    given = [g.detach() for g in given]
    moves = [torch.tensor(normal(*g.shape, seed=3)) for g in given]
    with forward_ad.dual_level():
        outs = run(*[forward_ad.make_dual(g, m) for g, m in zip(given, moves, strict=True)])
        tangents = [forward_ad.unpack_dual(o).tangent for o in outs]
    seeds = [torch.tensor(normal(*o.shape, seed=4)) for o in tangents]
    given = [g.requires_grad_() for g in given]
    grads = torch.autograd.grad(run(*given), given, seeds)
    one = sum(float((t * s).sum()) for t, s in zip(tangents, seeds, strict=True))
    other = sum(float((g * m).sum()) for g, m in zip(grads, moves, strict=True))
    assert one == pytest.approx(other, rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_vmap_over_inputs_and_over_weights(kind):
    weights, hx = arrays(kind, 1, 2), states(kind, 2)
    xs = torch.tensor(normal(5, STEPS, BATCH, INPUT))
    rest = (True, 1, 0.0, False, True, False)
    made = torch.func.vmap(lambda x: call(kind, x, hx, weights, *rest))(xs)
    for k in range(5):
        for a, b in zip(made, call(kind, xs[k], hx, weights, *rest), strict=True):
            close(a[k], b.numpy(), 1e-12)
    other = torch.tensor(normal(5, *weights[0][1].shape, seed=8))

    def with_weight(w):
        return call(kind, xs[0], hx, [[weights[0][0], w, *weights[0][2:]], weights[1]], *rest)

    made = torch.func.vmap(with_weight)(other)
    for k in range(5):
        close(made[0][k], with_weight(other[k])[0].numpy(), 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_each_example(kind):
    weights, hx = arrays(kind), states(kind, 1)
    xs = torch.tensor(normal(5, STEPS, BATCH, INPUT))
    rest = (True, 1, 0.0, False, False, False)

    def loss(x):
        return call(kind, x, hx, weights, *rest)[0].square().sum()

    made = torch.func.vmap(torch.func.grad(loss))(xs)
    for k in range(5):
        close(made[k], torch.func.grad(loss)(xs[k]).numpy(), 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hessian_by_forward_over_reverse(kind):
    weights, hx = arrays(kind), states(kind, 1)
    x = torch.tensor(normal(2, 1, INPUT))
    hx = [h[:, :1] for h in hx]

    def loss(x):
        return call(kind, x, hx, weights, True, 1, 0.0, False, False, False)[0].square().sum()

    one = torch.func.hessian(loss)(x)
    other = torch.func.jacrev(torch.func.jacrev(loss))(x)
    close(one, other.detach().numpy(), 1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_batched_gradients(kind):
    run, given = flat_call(kind, 1, 1)
    out = run(*given)[0]
    seeds = torch.tensor(normal(3, *out.shape, seed=5))
    together = torch.autograd.grad(
        out, given, seeds, is_grads_batched=True, retain_graph=True, allow_unused=True
    )
    for k in range(3):
        alone = torch.autograd.grad(out, given, seeds[k], retain_graph=True, allow_unused=True)
        for a, b in zip(together, alone, strict=True):
            close(a[k], b.numpy(), 1e-12)


# --- other tensors -------------------------------------------------------------------------------


def strided(a):
    """Return the values with gaps between them, and dimensions in another order."""
    a = np.asarray(a)
    wide = np.zeros((*a.shape[::-1], 2))
    wide[..., 0] = a.T
    return torch.tensor(wide)[..., 0].permute(*range(a.ndim - 1, -1, -1))


@pytest.mark.parametrize("kind", KINDS)
def test_strided_operands(kind):
    weights, hx = arrays(kind, 2, 2), states(kind, 4)
    x = normal(STEPS, BATCH, INPUT)
    rest = (True, 2, 0.0, False, True, False)
    plain = call(kind, x, hx, weights, *rest)
    made = call(
        kind,
        strided(x),
        [strided(h) for h in hx],
        [[strided(w) for w in one] for one in weights],
        *rest,
    )
    for a, b in zip(made, plain, strict=True):
        close(a, b.numpy(), 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_meta_tensors_have_the_shapes(kind):
    weights, hx = arrays(kind, 1, 2), states(kind, 2)
    rest = (True, 1, 0.0, False, True, False)
    real = call(kind, normal(STEPS, BATCH, INPUT), hx, weights, *rest)
    made = call(
        kind,
        torch.empty(STEPS, BATCH, INPUT, dtype=torch.float64, device="meta"),
        [torch.tensor(h).to("meta") for h in hx],
        [[torch.tensor(w).to("meta") for w in one] for one in weights],
        *rest,
    )
    for a, b in zip(made, real, strict=True):
        assert a.device.type == "meta"
        assert a.shape == b.shape


@pytest.mark.parametrize("kind", ["rnn_tanh", "gru", "lstm"])
def test_complex_networks(kind):
    rng = np.random.default_rng(1)

    def draw(a):
        return 0.3 * (a + 1j * rng.normal(size=a.shape))

    (one,) = arrays(kind)
    one = [draw(w) for w in one]
    hx = [draw(h) for h in states(kind, 1)]
    x = draw(normal(STEPS, BATCH, INPUT))
    out, _h, _c = numpy_layer(kind, x, hx[0][0], hx[-1][0], one, False)
    made = call(kind, x, hx, [one], True, 1, 0.0, False, False, False)[0]
    np.testing.assert_allclose(made.numpy(), out, rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_hidden_size_one_and_empty_batches(kind):
    g = GATES[kind]
    x = normal(STEPS, 0, 2)
    one = [normal(g, 2), normal(g, 1), normal(g), normal(g)]
    hx = [np.zeros((1, 0, 1))] * (2 if kind == "lstm" else 1)
    params = [[torch.tensor(w, requires_grad=True) for w in one]]
    made = call(kind, x, hx, params, True, 1, 0.0, False, False, False)
    assert made[0].shape == (STEPS, 0, 1)
    made[0].sum().backward()
    for w in params[0]:
        assert torch.equal(w.grad, torch.zeros_like(w))


# --- refusals ------------------------------------------------------------------------------------


def test_packed_rows_must_fit_their_sizes():
    weights, hx = arrays("gru"), states("gru", 1)
    x = packed_rows(normal(STEPS, BATCH, INPUT))
    rest = (True, 1, 0.0, False, False)
    for sizes, text in (
        ([3, 2, 2], "add up to 7"),
        ([2, 3, 2, 1], "must not grow"),
        ([3, 3, 2, 0], "positive"),
        ([[3, 2, 2, 1]], "1-D"),
    ):
        with pytest.raises(RuntimeError, match=text):
            call("gru", x, hx, weights, *rest, batch_sizes=torch.tensor(sizes))
    sizes = torch.tensor(BATCH_SIZES, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="Long but found Int"):
        call("gru", x, hx, weights, *rest, batch_sizes=sizes)
    with pytest.raises(RuntimeError, match="larger than 0"):
        call("gru", x[:0], hx, weights, *rest, batch_sizes=torch.tensor([], dtype=torch.int64))


@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_do_not_fit_are_refused(kind):
    x, hx = normal(STEPS, BATCH, INPUT), states(kind, 1)
    rest = (True, 1, 0.0, False, False, False)
    (good,) = arrays(kind)
    for place in range(4):
        bad = list(good)
        bad[place] = bad[place][:-1]
        with pytest.raises(RuntimeError):
            call(kind, x, hx, [bad], *rest)
        bad[place] = good[place].astype("f4")
        with pytest.raises(RuntimeError, match="dtype"):
            call(kind, x, hx, [bad], *rest)


@pytest.mark.parametrize("count", [0, -1])
def test_recurrent_layers_are_one_at_least(count):
    x, h, w = torch.ones(2, 1, 3), torch.zeros(1, 1, 3), [torch.ones(3, 3)] * 2
    options = (False, count, 0.0, False, False, False)
    for op in (torch.rnn_tanh, torch.rnn_relu, torch.gru):
        with pytest.raises(RuntimeError, match="num_layers must be greater than zero"):
            op(x, h, w, *options)
    with pytest.raises(RuntimeError, match="num_layers must be greater than zero"):
        torch.lstm(x, (h, h), w, *options)
