"""Half types are computed in float32: only results are rounded, and only they may overflow.

Operators are called with values so large or small that squares, sums or exponentials of them leave
the range of the half type, and with numbers that are outside of it. The reference is the same
call on the same values in float32. Gradients of formulas that have several operators round in
between, as torch's do: their reference rounds what they save, and FORMULAS lists what overflows.
"""

from dataclasses import replace

import numpy as np
import pytest
from calls import EVALUATOR, NUMPY, cases, dtype_name, few, make, outputs, to_array
from derivatives import differentiable_outputs, random_like
from expected import HALVES
from grouping import each
from test_op_inplace_and_out import inplace_form, keeps_itself

import autograd_cy as ag
from autograd_cy.ops import _schema as schema

DIGITS = {"float16": 10, "bfloat16": 7}
LEAST = {"float16": -14, "bfloat16": -126}
SCALES = {
    "float16": (2.0**8, 2.0**14, 2.0**-13),
    "bfloat16": (2.0**62, 2.0**-40),
}
SEVERAL = "made of operators that round their results, as torch's is"
# Values that differ from those of float32 by more than the last rounding.
ROUNDED = {
    "mse_loss": "differences are rounded before they are squared, as in torch",
    "_mse_loss": "differences are rounded before they are squared, as in torch",
    "_binary_cross_entropy": "probabilities can't be scaled",
    **dict.fromkeys(
        ("margin_ranking_loss", "hinge_embedding_loss", "cosine_embedding_loss"), SEVERAL
    ),
    **dict.fromkeys(("triplet_margin_loss", "poisson_nll_loss"), SEVERAL),
    "logit": "eps is rounded to the dtype of the tensor, as in torch",
    "nanmean": SEVERAL,
    "dist": SEVERAL,
    "_pow_backward_self": SEVERAL,
    "_pow_backward_exponent": SEVERAL,
}
# Gradients of formulas that round large or small numbers in between, as torch's do.
FORMULAS = {
    *("div reciprocal pow rsqrt xlogy addcdiv lerp log10 logaddexp erf erfc sinh asinh").split(),
    *("atan atanh atan2 digamma igamma igammac std std_all std_unbiased std_mean").split(),
    *("prod_dim matmul").split(),
    *("_binary_cross_entropy _logit_cross_entropy binary_cross_entropy_with_logits").split(),
    *("_kl_div kl_div cosine_similarity pairwise_distance cosine_embedding_loss").split(),
    *("margin_ranking_loss hinge_embedding_loss triplet_margin_loss poisson_nll_loss").split(),
    *("_kl_div kl_div").split(),
    # Derivatives of derivatives.
    *("_binary_cross_entropy_backward _logit_cross_entropy_backward").split(),
    *("_weighted_logit_cross_entropy_backward _kl_div_log_backward").split(),
    *("_soft_margin_loss_backward").split(),
    *("_pow_backward_self _pow_backward_exponent _polygamma tanh_backward").split(),
    *("sigmoid_backward gelu_backward gelu_tanh_backward").split(),
    *("softmax_backward log_softmax_backward").split(),
    *("logcumsumexp special_i0e special_i1e mvlgamma").split(),
    *("_softplus_backward _log_sigmoid_backward _mish_backward _glu_backward").split(),
}


def takes_halves(record):
    return "h" in record.call.dtypes and not isinstance(record.batching.vmap, schema.randomly)


def is_half(array, name):
    return array.dtype == NUMPY[name]


def scaled(call, name):
    """(scale, call) with all tensors scaled, and where that is far, with one after the other."""
    places = [i for i, leaf in enumerate(call.leaves) if is_half(leaf.array, name)]
    for scale in SCALES[name]:
        far = len(places) > 1 and not 2**-9 < scale < 2**5
        for chosen in [places, *([i] for i in places)] if far else [places]:
            arrays = [times(a, scale) if i in chosen else a for i, a in enumerate(call.arrays)]
            yield f"{name}, {scale} times arguments {chosen}", call.with_arrays(arrays)


def times(array, scale):
    with np.errstate(over="ignore"):
        return (array.astype(np.float64) * scale).astype(array.dtype)


def wide(call, name, dtype=np.float32):
    """The call with the same values in a wider dtype."""
    arrays = [a.astype(dtype) if is_half(a, name) else a for a in call.arrays]
    return call.with_arrays(arrays)


def units(x, name):
    """The distance of neighbours at x."""
    exponent = np.floor(np.log2(np.maximum(np.abs(x), 1e-300)))
    return np.exp2(np.maximum(exponent, LEAST[name]) - DIGITS[name])


def doubles(t):
    return np.asarray(to_array(t)).astype(np.float64)


def assert_rounded(found, expected, exact, name, what, allowed=1.0, of_largest=False):
    """
    `found` is `expected` within `allowed` units of the half type, wherever that is finite.

    `exact()` has the result in float64: what float32 itself is off by is allowed, too.
    """
    assert found.shape == expected.shape, what
    with np.errstate(all="ignore"):
        fits = np.isfinite(expected.astype(NUMPY[name]).astype(np.float64))
        assert np.isfinite(found[fits]).all(), (
            f"{what}: {found[fits & ~np.isfinite(found)][0]} instead of "
            f"{expected[fits & ~np.isfinite(found)][0]}"
        )
        size = np.abs(expected[fits]).max() if of_largest and fits.any() else expected
        bound = (allowed + 0.01) * units(size, name)
        far = fits & (np.abs(found - expected) > bound)
        if far.any():
            far &= np.abs(found - expected) > bound + 4 * np.abs(expected - exact())
    assert not far.any(), f"{what}: {found[far][0]} instead of {expected[far][0]}"


def value_of(call, name, dtype, i):
    other = wide(call, name, dtype)
    return doubles(outputs(other(other.tensors()))[i])


@each("case", few(cases(lambda r: takes_halves(r) and r.key not in ROUNDED)))
def test_values_are_those_of_float32(case):
    for name in HALVES:
        for what, call in scaled(make(case, name), name):
            other = wide(call, name)
            expected = outputs(other(other.tensors()))
            for i, x in enumerate(outputs(call(call.tensors()))):
                if dtype_name(x) == name:
                    assert_rounded(
                        doubles(x), doubles(expected[i]),
                        lambda call=call, i=i: value_of(call, name, np.float64, i),
                        name, what,
                    )  # fmt: skip


def rounded_gradients(call, weights, name):
    """Compute gradients in a wider dtype, with saved tensors rounded to the half type `name`."""
    half = getattr(ag, name)

    def pack(t):
        return (t.to(half), t.dtype) if t.dtype.is_floating_point else (t, t.dtype)

    def unpack(saved):
        return saved[0].to(saved[1])

    with ag.autograd.graph.saved_tensors_hooks(pack, unpack):
        return gradients(call, weights)


def gradients(call, weights):
    """Return the gradients of all differentiable arguments, for given gradients of the results."""
    inputs = call.tensors(grad=True)
    results = differentiable_outputs(call, call(inputs))
    pairs = [(r, ag.from_numpy(w).to(r.dtype)) for r, w in zip(results, weights) if r.requires_grad]
    if not pairs:
        return []
    wanted = [inputs[i] for i in call.moving]
    return ag.autograd.grad([r for r, _ in pairs], wanted, [w for _, w in pairs], allow_unused=True)


def weights_for(call):
    rng = np.random.default_rng(1)
    results = [to_array(r) for r in differentiable_outputs(call, call(call.tensors()))]
    return [random_like(r.astype(np.float32), rng).astype(r.dtype) for r in results]


def has_gradients_of_halves(record):
    # float_power computes in float64, in which a gradient may be beyond the half type.
    wide = record.name == "float_power"
    return (
        takes_halves(record) and not wide and not isinstance(record.derivatives.vjp, schema.nondiff)
    )


@each("case", few(cases(lambda r: has_gradients_of_halves(r) and r.key not in FORMULAS), 1))
def test_gradients_are_those_of_float32(case):
    """Saved tensors may be rounded, as results are, or not, as in composites."""
    for name in HALVES:
        base = make(case, name)
        if not base.moving:
            continue
        weights = weights_for(base)
        for what, call in scaled(base, name):
            found = gradients(call, weights)
            try:
                check_gradients(found, call, weights, name, what, rounded_gradients)
            except AssertionError:
                check_gradients(found, call, weights, name, what, lambda c, w, _: gradients(c, w))


def check_gradients(found, call, weights, name, what, reference):
    expected = reference(wide(call, name), weights, name)
    for i, g in enumerate(found):
        if g is not None:
            assert_rounded(
                doubles(g), doubles(expected[i]),
                lambda i=i: doubles(reference(wide(call, name, np.float64), weights, name)[i]),
                name, f"gradient {i}, {what}", 4.0, True,
            )  # fmt: skip


def torch_gradients(torch, call, weights, name):
    """Return torch's gradients of the same call, or None if it hasn't this form."""
    record = call.record
    homes = (torch, torch.Tensor, torch.special, torch.nn.functional)
    function = next((getattr(h, record.name) for h in homes if hasattr(h, record.name)), None)
    if function is None:
        return None
    half = getattr(torch, name)

    def as_torch(array):
        return torch.tensor(array.astype(np.float32) if is_half(array, name) else array)

    inputs = []
    for leaf in call.leaves:
        t = as_torch(leaf.array)
        t = t.to(half) if is_half(leaf.array, name) else t
        inputs.append(t.requires_grad_(leaf.differentiable))
    args, kwargs = call.arguments(inputs)
    results = function(*args, **kwargs)
    results = results if isinstance(results, (tuple, list)) else (results,)
    pairs = [(r, as_torch(w).to(half)) for r, w in zip(results, weights) if r.requires_grad]
    wanted = [inputs[i] for i in call.moving if inputs[i].requires_grad]
    found = torch.autograd.grad(
        [r for r, _ in pairs], wanted, [w for _, w in pairs], allow_unused=True
    )
    return [np.zeros(()) if g is None else g.double().numpy() for g in found]


def of_torch(record):
    # igamma: differences of logarithms, of which torch's bits differ
    return record.key in FORMULAS and record.name[0] != "_" and record.name[:6] != "igamma"


@each("case", cases(of_torch))
def test_gradients_are_finite_where_those_of_torch_are(case):
    torch = pytest.importorskip("torch")
    for name in HALVES:
        for what, call in scaled(make(case, name), name):
            weights = weights_for(call)
            try:
                expected = torch_gradients(torch, call, weights, name)
            except NotImplementedError:  # a value without its derivative
                expected = None
            if expected is None:
                pytest.skip("torch has no such function")
            for i, (g, e) in enumerate(zip(gradients(call, weights), expected)):
                lost = np.isfinite(e) & ~np.isfinite(doubles(g))
                assert not lost.any(), f"gradient {i}, {what}: {doubles(g)[lost]}, {e[lost]}"


def same_bits(a, b):
    a, b = (np.asarray(to_array(t)) for t in (a, b))
    return a.dtype == b.dtype and a.shape == b.shape and (a.tobytes() == b.tobytes())


def written(record):
    return takes_halves(record) and (
        record.call.inplace or (record.call.out and not record.name.startswith("_"))
    )


@each("case", cases(written))
def test_other_forms_give_the_same_bits(case):
    record = case.record
    for name in HALVES:
        for what, call in scaled(make(case, name), name):
            expected = call(call.tensors())
            if (
                record.call.inplace
                and keeps_itself(call)
                and expected.dtype == call.tensors()[0].dtype
            ):
                assert same_bits(call(call.tensors(), inplace_form(record)), expected), what
            if record.call.out and not record.name.startswith("_"):
                args, kwargs = call.arguments(call.tensors())
                out = ag.empty(expected.shape, dtype=expected.dtype)
                assert same_bits(EVALUATOR.form(record)(*args, **kwargs, out=out), expected), what


@each("case", cases(lambda r: takes_halves(r) and r.call.wide_out))
def test_reductions_into_a_wider_out_are_computed_in_it(case):
    for name in HALVES:
        for what, call in scaled(make(case, name), name):
            for dtype in (ag.float32, ag.float64):
                args, kwargs = call.arguments(call.tensors())
                other = wide(call, name, NUMPY[str(dtype).rpartition(".")[2]])
                expected = other(other.tensors())
                out = ag.empty(expected.shape, dtype=dtype)
                assert same_bits(EVALUATOR.form(case.record)(*args, **kwargs, out=out), expected), (
                    f"{what}, {dtype}"
                )


# Where the number becomes one of the half type, as in torch.
CUT = {
    *("remainder fmod pow xlogy").split(),
    # The result may be that number; out of its range it is refused.
    *("clamp clamp_min clamp_max _clamp").split(),
    *("masked_fill constant_pad_nd").split(),
    "index_add",  # alpha times the source is a tensor of the half type
    "searchsorted",  # takes numbers for one dimension only
    # Numbers out of their order or out of the range of the dtype are refused.
    *("histc rrelu _rrelu_eval _rrelu_backward nn_functional_softshrink").split(),
    *("_hardtanh threshold").split(),
}
NUMBERS = (1e5, 3e-6, 0.7123456789123, 3)
FACTORS = (1e4, *NUMBERS[1:])  # those beyond the dtype's range are refused


def with_numbers():
    """Cases with a number in the place of a tensor, a factor or alpha."""
    for param in cases(lambda r: takes_halves(r) and r.key not in {*ROUNDED, *CUT}):
        (case,) = param.values
        sample, record = case.sample, case.record
        tensors = sum(isinstance(x, schema.arg) for x in sample.args)
        for place, argument in enumerate(record.args):
            given = place < len(sample.args) and isinstance(sample.args[place], schema.arg)
            if argument.type == "Scalar" or (argument.type == "operand" and given and tensors > 1):
                for number in FACTORS if argument.name == "alpha" else NUMBERS:
                    yield pytest.param(case, place, number, id=f"{param.id}-{place}-{number}")
        if record.call.alpha:
            for number in FACTORS:
                yield pytest.param(case, "alpha", number, id=f"{param.id}-alpha-{number}")


def with_number(call, place, number):
    args, kwargs, leaves = list(call.sample.args), dict(call.sample.kwargs), call.leaves
    if place == "alpha":
        kwargs["alpha"] = number
    elif place >= len(args):
        kwargs[call.record.args[place].name] = number
    else:
        if isinstance(args[place], schema.arg):
            at = sum(isinstance(x, schema.arg) for x in args[:place])
            leaves = leaves[:at] + leaves[at + 1 :]
        args[place] = number
    return replace(
        call, sample=replace(call.sample, args=tuple(args), kwargs=kwargs), leaves=leaves
    )


@each("case, place, number", with_numbers())
def test_numbers_are_not_rounded_to_the_half_type(case, place, number):
    for name in HALVES:
        call = with_number(make(case, name), place, number)
        for scale in (1.0, SCALES[name][1], SCALES[name][-1]):
            arrays = [times(a, scale) if is_half(a, name) else a for a in call.arrays]
            scaled_call = call.with_arrays(arrays)
            other = wide(scaled_call, name)
            result = scaled_call(scaled_call.tensors())
            if dtype_name(result) == name:
                assert_rounded(
                    doubles(result), doubles(other(other.tensors())),
                    lambda call=scaled_call: value_of(call, name, np.float64, 0),
                    name, f"{name} times {scale}",
                )  # fmt: skip


def near(tensor, expected, dtype=ag.float16):
    assert tensor.dtype == dtype
    assert tensor.tolist() == ag.tensor(expected, dtype=dtype).tolist()


def test_norms_of_large_halves():
    x = ag.tensor([300.0, 400.0], dtype=ag.float16, requires_grad=True)
    near(x.norm(), 500.0)
    near(x.norm(3), (300.0**3 + 400.0**3) ** (1 / 3))
    near(ag.linalg.vector_norm(x, 2), 500.0)
    x.norm().backward()
    near(x.grad, [0.6, 0.8])


def test_deviations_of_large_halves():
    x = ag.tensor([2000.0, 3000.0, 1000.0], dtype=ag.float16)
    near(x.std(), 1000.0)
    near(ag.std_mean(x)[0], 1000.0)
    near(x.bfloat16().std(), x.bfloat16().float().std().item(), ag.bfloat16)


def test_running_products_come_back_into_the_range():
    x = ag.tensor([300.0, 300.0, 0.001, 2.0], dtype=ag.float16)
    near(x.cumprod(0), [300.0, float("inf"), 90.06, 180.12])
    near(x.prod(), 180.12)
    near(ag.full((40,), 1.01, dtype=ag.bfloat16).cumprod(0)[-1], 1.3671875, ag.bfloat16)


def test_lerp_takes_its_weight_unrounded():
    start, end = ag.tensor([-2.0], dtype=ag.float16), ag.tensor([0.858], dtype=ag.float16)
    near(ag.lerp(start, end, 0.7), ag.lerp(start.float(), end.float(), 0.7).tolist())


@pytest.mark.parametrize("dtype", [ag.float16, ag.bfloat16])
@pytest.mark.parametrize("name", ["sum", "mean", "logsumexp", "cumsum", "cumprod", "var", "std"])
def test_out_of_a_wider_dtype_is_computed_in_it(name, dtype):
    x = ag.linspace(0.9, 1.1, 200).to(dtype)
    expected = getattr(ag, name)(x.float(), 0)
    out = ag.empty(expected.shape)
    getattr(ag, name)(x, 0, out=out)
    assert out.tolist() == expected.tolist()
    assert expected.to(dtype).float().tolist() != expected.tolist()


def test_sums_of_products_are_rounded_once():
    x = ag.full((1, 2, 2), 200.0, dtype=ag.float16)
    minus = ag.full((1, 2, 2), -60000.0, dtype=ag.float16)
    near(ag.baddbmm(minus, x, x), [[[20000.0] * 2] * 2])
    near(ag.addbmm(minus[0], x, x), [[20000.0] * 2] * 2)
    near(ag.addmm(minus[0], x[0], x[0]), [[20000.0] * 2] * 2)
    near(ag.addmv(minus[0, 0], x[0], x[0, 0]), [20000.0] * 2)
    near(ag.addr(minus[0], 2 * x[0, 0], x[0, 0]), [[20000.0] * 2] * 2)
    grad = ag.baddbmm(minus, x.requires_grad_(), x, alpha=1e-4).sum()
    grad.backward()
    near(x.grad, [[[0.08] * 2] * 2])


@pytest.mark.parametrize("factor", [1e5, ag.tensor(1e5), ag.tensor(1e5, dtype=ag.float64)])
def test_factors_out_of_range_are_taken_as_they_are(factor):
    x = ag.tensor([0.1, -0.2], dtype=ag.float16)
    near(x * factor, (x.float() * 1e5).tolist())
    near(x.clone().mul_(factor), (x.float() * 1e5).tolist())
    near(x * 100 / (factor * 1e-10), (x * 100).float().div(1e-5).tolist())
    near(x // (factor * 3e-11), (x.float() // 3e-6).tolist())
    for mode in ("floor", "trunc"):
        expected = x.float().div(3e-6, rounding_mode=mode)
        near(x.div(factor * 3e-11, rounding_mode=mode), expected.tolist())


@pytest.mark.parametrize("dtype", [ag.float16, ag.bfloat16])
def test_a_mask_of_large_numbers_is_infinite(dtype):
    x = ag.tensor([1.0, 2.0], dtype=dtype)
    low = -1e9 if dtype == ag.float16 else -1e300
    near(ag.where(x > 1, x, low), [-float("inf"), 2.0], dtype)
    near(ag.where(x > 1, low, x), [1.0, -float("inf")], dtype)
    with pytest.raises(RuntimeError, match="without overflow"):
        ag.where(x > 1, x.float(), 1e300)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_thresholds_are_not_rounded_to_the_half_type(name):
    torch = pytest.importorskip("torch")
    for threshold in (0.3, 0.1, 1e5, 7e-9, float("inf")):
        seen = []
        for package in (ag, torch):
            values = package.tensor([0.3, 0.1, float("inf"), 1e-7, 65504.0, -0.0])
            x = values.to(getattr(package, name)).requires_grad_()
            y = package.threshold(x, threshold, 7.0)
            y.sum().backward()
            seen.append((y.tolist(), x.grad.tolist()))
        assert seen[0] == seen[1], threshold
    x = ag.ones(2, dtype=getattr(ag, name))
    with pytest.raises(RuntimeError, match="without overflow"):
        ag.threshold(x, 1e39, 0.0)
