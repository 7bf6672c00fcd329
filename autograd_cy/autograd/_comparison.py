"""The comparison of gradcheck: Jacobians by differences beside those of autograd, slow and fast.

Differences are in ``_differences.py``, what autograd computes is in ``_derivatives.py``, the checks
that compare autograd with itself (batches, undefined gradients) in ``_consistency.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograd_cy._C import dtypes as _dtypes
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.creation import empty as _empty
from autograd_cy._C.creation import zeros_like as _zeros_like
from autograd_cy._C.ops_complex import complex as _complex
from autograd_cy._C.random import Generator as _Generator
from autograd_cy._C.random_operators import rand as _rand
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.comparison import allclose as _allclose
from autograd_cy.autograd import _consistency
from autograd_cy.autograd._arguments import gradients
from autograd_cy.autograd._derivatives import (
    backward_rows,
    filled,
    forward_columns,
    pushed,
    vjp,
)
from autograd_cy.autograd._differences import (
    GradcheckError,
    Subject,
    as_outputs,
    derivatives_along,
    is_smooth,
    jacobian_columns,
)
from autograd_cy.autograd.grad_mode import enable_grad

# Names what is compared, in front of a message; the real part of a real thing needs no name.
_REAL = "While considering the real part of complex {} only, "
_IMAG = "While considering the imaginary part of complex {} only, "


@dataclass(frozen=True)
class Options:
    """The options of a check; the names are those of gradcheck, which explains them."""

    eps: float
    atol: float
    rtol: float
    raise_exception: bool
    nondet_tol: float
    check_undefined_grad: bool
    check_grad_dtypes: bool
    check_batched_grad: bool
    check_batched_forward_grad: bool
    check_forward_ad: bool
    check_backward_ad: bool
    fast_mode: bool


def check_first(func, inputs, options: Options) -> bool:
    """See :func:`autograd_cy.autograd.gradcheck.gradcheck`."""
    if not (options.check_forward_ad or options.check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if options.check_batched_grad and not options.check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if options.check_batched_forward_grad and not options.check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )
    subject = Subject(func, _as_tuple(inputs))
    rtol, atol = options.rtol, options.atol
    try:
        _check_inputs(subject)
        outputs = subject.outputs()
        wanted = [j for j, out in enumerate(outputs) if is_smooth(out) and out.requires_grad]
        checked = [outputs[j] for j in wanted]
        if not wanted:
            _check_gradients_are_zero(subject, outputs, options)
            return True
        check = _fast if options.fast_mode else _slow
        check(subject, wanted, checked, options)
        if options.check_batched_forward_grad:
            _consistency.batched_tangents(subject, wanted, checked, rtol, atol)
        if options.check_forward_ad and options.check_undefined_grad:
            _consistency.undefined_tangents(subject, wanted, checked, rtol, atol)
        if options.check_backward_ad:
            _consistency.scales_with_gradient(checked, subject.differentiable)
            if options.check_batched_grad:
                _consistency.batched_gradients(checked, subject.differentiable, rtol, atol)
            if options.check_undefined_grad:
                _consistency.undefined_gradients(subject, wanted, rtol, atol)
    except GradcheckError:
        if options.raise_exception:
            raise
        return False
    return True


def check_second(func, inputs, grad_outputs, options: Options, strided: bool) -> bool:
    """
    See :func:`autograd_cy.autograd.gradcheck.gradgradcheck`.

    The modes of `options` are those of differentiating backward.
    """
    if not (options.check_forward_ad or options.check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    if options.check_undefined_grad and not options.check_backward_ad:
        raise AssertionError(
            "Setting check_undefined_grad=True requires check_rev_over_rev to be True"
        )
    if options.check_batched_grad and not options.check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_rev_over_rev to be True"
        )
    args = _as_tuple(inputs)
    if not Subject(func, args).places:
        raise ValueError(_NOTHING)
    with enable_grad():
        outputs = _differentiable(as_outputs(func(*args)))
    if not outputs:
        return True
    vectors = _vectors(outputs, grad_outputs, strided)
    used = [j for j, v in enumerate(vectors) if v is not None]

    def backward(*arguments):
        # In forward mode no input requires grad by itself.
        x = [
            t.requires_grad_() if is_smooth(old) and old.requires_grad else t
            for t, old in zip(arguments, args)
        ]
        v = arguments[len(args) :]
        outputs = _differentiable(as_outputs(func(*x)))
        leaves = [t for t in x if is_smooth(t) and t.requires_grad]
        grads = gradients([outputs[j] for j in used], leaves, v, create_graph=True)
        return tuple(g for g in grads if g is not None)

    return check_first(backward, (*args, *(vectors[j] for j in used)), options)


# --- arguments ----------------------------------------------------------------------------------

_NOTHING = (
    "gradcheck expects at least one input tensor to require gradient, but none of them have "
    "requires_grad=True."
)


def _as_tuple(x: Any) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _differentiable(outputs: Sequence[Tensor]) -> list[Tensor]:
    return [out for out in outputs if is_smooth(out) and out.requires_grad]


def _check_inputs(subject: Subject) -> None:
    if not subject.places:
        raise ValueError(_NOTHING)
    for place in subject.places:
        x = subject.inputs[place]
        if x.dtype not in (_dtypes.float64, _dtypes.complex128):
            _warn(
                f"Input #{place} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
                UserWarning,
            )
        _refuse_overlap(place, x)


def _refuse_overlap(place: int, x: Tensor) -> None:
    """A step of one element must leave the others alone."""
    wide = sorted((s, n) for s, n in zip(x.stride(), x.shape) if n > 1)
    if not x.numel() or not wide:
        return
    if wide[0][0] == 0:
        raise RuntimeError(
            f"The {place}th input has a dimension with stride 0. gradcheck only supports inputs "
            "that are non-overlapping to be able to compute the numerical gradients correctly. "
            "You should call .contiguous on the input before passing it to gradcheck."
        )
    reach = 0
    for stride, size in wide:
        if stride <= reach:
            break
        reach += stride * (size - 1)
    else:
        return
    # Strides that don't nest: count the places.
    places = {0}
    for stride, size in wide:
        places = {p + stride * k for p in places for k in range(size)}
    if len(places) != x.numel():
        raise RuntimeError(
            f"The {place}th input has overlapping memory: shape {list(x.shape)} with strides "
            f"{list(x.stride())}. gradcheck only supports inputs that are non-overlapping to be "
            "able to compute the numerical gradients correctly. You should call .contiguous on "
            "the input before passing it to gradcheck."
        )


def _vectors(outputs, grad_outputs, strided):
    """The incoming gradients of gradgradcheck, one per differentiable output."""
    if grad_outputs is not None:
        vectors = _as_tuple(grad_outputs)
        if len(vectors) != len(outputs):
            raise ValueError(
                f"gradgradcheck: got {len(vectors)} grad_outputs for {len(outputs)} differentiable "
                "outputs"
            )
        return vectors
    source = _Generator().manual_seed(0)
    result = []
    for out in outputs:
        v = 2 * _uniform(source, out.numel(), out.dtype).to(out.device).reshape(out.shape) - 1
        if strided:
            wide = _empty((*out.shape, 2), dtype=out.dtype, device=out.device)
            wide.select(-1, 0).copy_(v)
            v = wide.select(-1, 0)
        result.append(v.requires_grad_(True))
    return tuple(result)


# --- comparison ---------------------------------------------------------------------------------


def _close(a: Tensor, n: Tensor, rtol: float, atol: float) -> bool:
    return a.shape == n.shape and _allclose(a, n.to(a.dtype), rtol=rtol, atol=atol)


def _worst(numerical: Tensor, analytical: Tensor) -> tuple[str, float]:
    """A sentence on the element with the largest error, and that error."""
    difference = (analytical - numerical.to(analytical.dtype)).abs().reshape((-1,))
    broken = difference.isnan()
    at = int(broken.to(_dtypes.int64).argmax() if broken.any() else difference.argmax())
    row, column = divmod(at, numerical.shape[-1]) if numerical.ndim == 2 else (at, 0)
    n, a, d = (t.reshape((-1,))[at].item() for t in (numerical, analytical, difference))
    return (
        f"The worst element is [{row}, {column}] (element {row} of the input, {column} of the "
        f"output): numerical {n:.6g}, analytical {a:.6g}, difference {d:.3g}.",
        d,
    )


def _mismatch(
    what: str, j: int, place: int, numerical: Tensor, analytical: Tensor, prefix: str
) -> GradcheckError:
    sentence, _ = _worst(numerical, analytical)
    return GradcheckError(
        f"{prefix}{what} mismatch for output {j} with respect to input {place},\n"
        f"numerical:{numerical}\nanalytical:{analytical}\n{sentence}\n"
    )


def _fast_mismatch(
    what: str, j: int, place: int, scalars: tuple, slow: tuple[Tensor, Tensor], ok: bool, prefix
) -> GradcheckError:
    numerical, analytical = slow
    sentence, largest = _worst(numerical, analytical)
    hint = (
        "\nFast gradcheck failed but element-wise differences are small. This means that the test "
        "might've passed in slow_mode: try fast_mode=False, or a larger atol."
        if ok
        else ""
    )
    return GradcheckError(
        f"{prefix}{what} mismatch for output {j} with respect to input {place},\n"
        f"numerical:{scalars[0]}\nanalytical:{scalars[1]}\n\n"
        "The above quantities relating the numerical and analytical jacobians are computed in fast "
        "mode (products with random vectors). Below, we recompute numerical and analytical "
        f"jacobians in slow mode:\n\nNumerical:\n {numerical}\nAnalytical:\n{analytical}\n\n"
        f"The max per-element difference (slow mode) is: {largest}.\n{sentence}{hint}\n"
    )


def _parts(output: Tensor) -> list[tuple[str, complex]]:
    """The real functions that an output consists of: a prefix for messages, and the seed."""
    if not output.is_complex():
        return [("", 1.0)]
    return [(_IMAG.format("outputs"), 1.0j), (_REAL.format("outputs"), 1.0)]


def _part(derivative: Tensor, seed: complex) -> Tensor:
    """Return the derivative of the part of an output that `seed` stands for."""
    if not derivative.is_complex():
        return derivative
    return derivative.imag if seed == 1.0j else derivative.real


_BACKWARD, _FORWARD = "Jacobian", "Jacobian computed with forward mode"


def _gradient_of(real: Tensor, imag: Tensor | None, seed: complex) -> Tensor:
    """Return the gradient for the derivatives along both axes of an input."""
    real = _part(real, seed)
    return real if imag is None else _complex(real.contiguous(), _part(imag, seed).contiguous())


def _check_gradients_are_zero(subject, outputs, options):
    wanted = [j for j, out in enumerate(outputs) if is_smooth(out)]
    for place in subject.places:
        for columns in jacobian_columns(subject, place, wanted, options.eps):
            for derivatives in (columns.real, columns.imag):
                if derivatives is not None and bool((derivatives != 0).any()):
                    raise GradcheckError(
                        "Numerical gradient for function expected to be zero, as no output "
                        "requires grad: is something detached, or computed under no_grad?"
                    )


# --- every element ------------------------------------------------------------------------------


def _slow(subject, wanted, outputs, options):
    numerical = {
        place: jacobian_columns(subject, place, wanted, options.eps) for place in subject.places
    }
    if options.check_backward_ad:
        for number, (j, out) in enumerate(zip(wanted, outputs)):
            for prefix, seed in _parts(out):
                _compare_rows(subject, numerical, number, j, out, prefix, seed, options)
    if options.check_forward_ad:
        for place in subject.places:
            columns = forward_columns(subject, place, wanted, outputs)
            for j, n, a in zip(wanted, numerical[place], columns):
                _compare_columns(place, j, n, a, options)
                _check_tangent_dtypes(subject, place, wanted, outputs, options)


def _compare_rows(subject, numerical, number, j, out, prefix, seed, options):
    rows = backward_rows(out, subject.differentiable, seed)
    for place, a in zip(subject.places, rows):
        columns = numerical[place][number]
        n = _gradient_of(columns.real, columns.imag, seed)
        if not _close(a, n, options.rtol, options.atol):
            raise _mismatch(_BACKWARD, j, place, n, a, prefix)
    for a, again in zip(rows, backward_rows(out, subject.differentiable, seed)):
        _check_repeats(a, again, options)
    if options.check_grad_dtypes:
        _check_gradient_dtypes(out, subject.differentiable, seed)


def _compare_columns(place, j, n, a, options):
    halves = [("", n.real, a.real)]
    if n.imag is not None:
        halves = [
            (_IMAG.format("inputs"), n.imag, a.imag),
            (_REAL.format("inputs"), n.real, a.real),
        ]
    for prefix, expected, value in halves:
        if not _close(value, expected, options.rtol, options.atol):
            raise _mismatch(_FORWARD, j, place, expected, value, prefix)


def _check_repeats(a: Tensor, again: Tensor, options: Options) -> None:
    if not a.numel():
        return
    distance = (a - again).abs().max().item()
    if not distance <= options.nondet_tol:
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output "
            "multiple times gives different values, although analytical gradient matches numerical "
            f"gradient. The tolerance for nondeterminism was {options.nondet_tol}, the largest "
            f"difference {distance:.3g}. If the operation is nondeterministic by nature, set "
            "nondet_tol."
        )


def _check_gradient_dtypes(out, inputs, seed):
    vector = _zeros_like(out) + seed
    for g, x in zip(vjp(out, inputs, vector), inputs):
        if g is not None and g.dtype != x.dtype:
            raise GradcheckError(
                f"Gradient has dtype mismatch: {g.dtype} for an input of {x.dtype}"
            )


def _check_tangent_dtypes(subject, place, wanted, outputs, options):
    if not options.check_grad_dtypes:
        return
    direction = _zeros_like(subject.inputs[place]).detach()
    for t, out in zip(pushed(subject, {place: direction}, wanted, outputs), outputs):
        if t.dtype != out.dtype:
            raise GradcheckError(
                f"Gradient has dtype mismatch: tangent of {t.dtype} for an output of {out.dtype}"
            )


# --- products with random vectors ---------------------------------------------------------------


def _uniform(source: _Generator, count: int, dtype) -> Tensor:
    """Random numbers in [0, 1), in both parts of a complex dtype."""
    real = _rand(count, generator=source, device="cpu", dtype=_dtypes.float64)
    if dtype.is_complex:
        real = _complex(real, _rand(count, generator=source, device="cpu", dtype=_dtypes.float64))
    return real.to(dtype)


def _unit_vector(source: _Generator, like: Tensor) -> Tensor:
    """
    A random real vector of length one, with as many elements as a tensor has.

    All elements are positive: a product with a nearly diagonal Jacobian then doesn't cancel, and
    stays above the tolerance, which grows with the sums of both vectors.
    """
    vector = _rand(like.numel(), generator=source, device="cpu", dtype=_dtypes.float64)
    norm = (vector * vector).sum().sqrt()
    vector = (vector / norm) if like.numel() else vector
    return vector.to(_real_dtype(like)).to(like.device)


def _real_dtype(t: Tensor):
    return {_dtypes.complex64: _dtypes.float32, _dtypes.complex128: _dtypes.float64}.get(
        t.dtype, t.dtype
    )


def _fast(subject, wanted, outputs, options):
    source = _Generator().manual_seed(0)
    left = [_unit_vector(source, out) for out in outputs]
    analytical: dict[tuple[int, complex], list[Tensor]] = {}
    if options.check_backward_ad:
        for number, out in enumerate(outputs):
            for _, seed in _parts(out):
                vector = left[number].to(out.dtype) * seed
                grads = filled(vjp(out, subject.differentiable, vector), subject.differentiable)
                analytical[number, seed] = grads
    directions = []
    for place in subject.places:
        x = subject.inputs[place]
        axes = (1.0, 1.0j) if x.is_complex() else (1.0,)
        right = [_unit_vector(source, x) for _ in axes]
        steps = [u.to(x.dtype) * axis for u, axis in zip(right, axes)]
        derivatives = [
            derivatives_along(subject, place, step, wanted, options.eps) for step in steps
        ]
        directions.append((right, steps, derivatives))
    if options.check_backward_ad:
        for k, (right, _, derivatives) in enumerate(directions):
            _compare_products(
                subject, wanted, outputs, k, left, right, derivatives, analytical, options
            )
        for number, out in enumerate(outputs):
            for _, seed in _parts(out):
                vector = left[number].to(out.dtype) * seed
                again = filled(vjp(out, subject.differentiable, vector), subject.differentiable)
                for a, b in zip(analytical[number, seed], again):
                    _check_repeats(a, b, options)
                if options.check_grad_dtypes:
                    _check_gradient_dtypes(out, subject.differentiable, seed)
    if options.check_forward_ad:
        for place, (right, steps, derivatives) in zip(subject.places, directions):
            _compare_pushed(subject, wanted, outputs, place, right, steps, derivatives, options)


def _compare_products(subject, wanted, outputs, k, left, right, derivatives, analytical, options):
    """v^T J u, where the imaginary axis of an input makes the imaginary part."""
    place = subject.places[k]
    for number, (j, out) in enumerate(zip(wanted, outputs)):
        v = left[number]
        # An error of atol in each element of the Jacobian may add up to this.
        bound = options.atol * v.sum().item() * max(u.sum().item() for u in right)
        for prefix, seed in _parts(out):
            gradient = analytical[number, seed][k]
            halves = (gradient.real, gradient.imag) if len(right) == 2 else (gradient,)
            n = [
                (_part(s[number], seed) * v.to(_real_dtype(out))).sum().item() for s in derivatives
            ]
            a = [(half * u).sum().item() for half, u in zip(halves, right)]
            if _near(n, a, options.rtol, bound):
                continue
            columns = jacobian_columns(subject, place, [j], options.eps)[0]
            expected = _gradient_of(columns.real, columns.imag, seed)
            value = backward_rows(out, subject.differentiable, seed)[k]
            raise _fast_mismatch(
                _BACKWARD,
                j,
                place,
                (complex(*n), complex(*a)) if len(n) == 2 else (n[0], a[0]),
                (expected, value),
                _close(value, expected, options.rtol, options.atol),
                prefix,
            )


def _near(n: list[float], a: list[float], rtol: float, bound: float) -> bool:
    numerical, analytical = (complex(*x) for x in (n, a))
    return abs(analytical - numerical) <= bound + rtol * abs(numerical)


def _compare_pushed(subject, wanted, outputs, place, right, steps, derivatives, options):
    """J u for each axis of an input."""
    prefixes = [""] if len(steps) == 1 else [_REAL.format("inputs"), _IMAG.format("inputs")]
    axes = list(enumerate(zip(prefixes, right, steps, derivatives)))
    for axis, (prefix, u, step, derivative) in reversed(axes):
        bound = options.atol * u.sum().item()
        results = pushed(subject, {place: step}, wanted, outputs)
        for number, (j, n, a) in enumerate(zip(wanted, derivative, results)):
            if _close(a, n, options.rtol, bound):
                continue
            columns = jacobian_columns(subject, place, [j], options.eps)[0]
            tangents = forward_columns(subject, place, [j], [outputs[number]])[0]
            expected = columns.imag if axis else columns.real
            pushed_all = tangents.imag if axis else tangents.real
            raise _fast_mismatch(
                _FORWARD,
                j,
                place,
                (n, a),
                (expected, pushed_all),
                _close(pushed_all, expected, options.rtol, options.atol),
                prefix,
            )
    _check_tangent_dtypes(subject, place, wanted, outputs, options)
