"""Checks of autograd against itself, for gradcheck: zeros, undefined gradients, batches.

Nothing here takes differences; a mode is compared with what a plainer way of running it gives.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.creation import ones_like as _ones_like
from autograd_cy._C.creation import zeros_like as _zeros_like
from autograd_cy._C.ops_joining import stack as _stack
from autograd_cy._C.random import Generator as _Generator
from autograd_cy._C.random_operators import rand as _rand
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.comparison import allclose as _allclose
from autograd_cy._vmap import vmap
from autograd_cy.autograd._arguments import gradients
from autograd_cy.autograd._derivatives import tangents
from autograd_cy.autograd._differences import GradcheckError, Subject

_COUNT = 2
_HINT = (
    "\n\ngradcheck or gradgradcheck failed while testing batched {what} computation, which runs "
    "{how} under vmap. Something in it has no batching rule, or depends on values (.item(), an "
    "if). Call gradcheck or gradgradcheck with {option}=False to leave this out."
)
_BATCHED_GRADIENTS = _HINT.format(what="gradient", how="backward", option="check_batched_grad")
_BATCHED_TANGENTS = _HINT.format(
    what="forward gradient", how="forward mode", option="check_batched_forward_grad"
)


def _random_like(source: _Generator, t: Tensor) -> Tensor:
    """Uniform in [-1, 1), in both parts of a complex tensor."""
    values = 2 * _rand(t.numel(), generator=source, device="cpu") - 1
    if t.is_complex():
        values = values + 1j * (2 * _rand(t.numel(), generator=source, device="cpu") - 1)
    return values.to(t.dtype).to(t.device).reshape(t.shape)


def _plain(g: Tensor | None, like: Tensor) -> Tensor:
    return _zeros_like(like).detach() if g is None else g.detach()


def scales_with_gradient(outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> None:
    """A gradient of zeros gives zeros, of the right size and dtype class."""
    seeds = [_zeros_like(out) for out in outputs]
    for g, x in zip(gradients(outputs, inputs, seeds), inputs):
        if g is None:
            continue
        if g.shape != x.shape:
            raise GradcheckError(
                f"grad is incorrect size: {list(g.shape)} for an input of shape {list(x.shape)}"
            )
        if g.is_complex() != x.is_complex():
            raise GradcheckError(f"grad is incorrect type: {g.dtype} for an input of {x.dtype}")
        if bool((g != 0).any()):
            raise GradcheckError(
                "backward not multiplied by grad_output: incoming gradients of zeros give "
                f"gradients that aren't zero, up to {g.abs().max().item():.3g}"
            )


# --- gradients that never arrive ----------------------------------------------------------------


def _without_gradient(t: Tensor) -> Tensor:
    """`t`, but backward through it gives no gradient instead of one."""
    from autograd_cy.autograd.function import Function

    class Undefined(Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            return None

    return Undefined.apply(t)


_UNDEFINED = (
    "Expected all input grads to be undefined or zero when all output grads are undefined or "
    "zero. A backward function gets None for an output whose gradient never arrived (with "
    "set_materialize_grads(False)), and must treat it as zeros. Call with "
    "check_undefined_grad=False to leave this out."
)


def undefined_gradients(subject: Subject, wanted: Sequence[int], rtol: float, atol: float) -> None:
    """An output without a gradient counts as one with zeros."""
    try:
        _all_undefined(subject, wanted)
        if len(wanted) > 1:
            for j in wanted:
                _one_undefined(subject, wanted, j, rtol, atol)
    except GradcheckError:
        raise
    except RuntimeError as error:
        _warn(
            "Backwards compatibility: New undefined gradient support checking feature is enabled "
            "by default, but it may break existing callers of this function. If this is true for "
            'you, you can call this function with "check_undefined_grad=False" to disable the '
            "feature",
            UserWarning,
        )
        raise GradcheckError(
            "Expected backward function to handle undefined output grads: hooks and backward "
            f"functions get None for a gradient that never arrived. Got: {error}"
        ) from error


def _all_undefined(subject, wanted):
    outputs = subject.outputs()
    ends = [_without_gradient(outputs[j]) for j in wanted]
    for g in gradients(ends, subject.differentiable, [_ones_like(end) for end in ends]):
        if g is not None and bool((g != 0).any()):
            raise GradcheckError(_UNDEFINED)


def _one_undefined(subject, wanted, missing, rtol, atol):
    outputs = subject.outputs()
    ends = [_without_gradient(outputs[j]) if j == missing else outputs[j] for j in wanted]
    source = _Generator().manual_seed(0)
    seeds = [_random_like(source, end) for end in ends]
    zeroed = [_zeros_like(v) if j == missing else v for j, v in zip(wanted, seeds)]
    inputs = subject.differentiable
    grads = gradients(ends, inputs, seeds)
    expected = gradients([outputs[j] for j in wanted], inputs, zeroed)
    for g, e, x in zip(grads, expected, inputs):
        if not _allclose(_plain(g, x), _plain(e, x), rtol=rtol, atol=atol):
            raise GradcheckError(
                f"Mismatch in gradients when output {missing} has an undefined gradient: got {g} "
                f"but with zeros in its place {e}. " + _UNDEFINED
            )


def undefined_tangents(
    subject: Subject, wanted: Sequence[int], outputs: Sequence[Tensor], rtol: float, atol: float
) -> None:
    """An input without a tangent counts as one with zeros."""
    source = _Generator().manual_seed(0)
    directions = {place: _random_like(source, subject.inputs[place]) for place in subject.places}
    for missing in subject.places:
        others = {place: t for place, t in directions.items() if place != missing}
        if any(subject.inputs[p] is subject.inputs[missing] for p in others):
            continue
        zeroed = others | {missing: _zeros_like(directions[missing])}
        expected = tangents(subject, zeroed, wanted)
        results = tangents(subject, others, wanted)
        for j, out, t, e in zip(wanted, outputs, results, expected):
            if not _allclose(_plain(t, out), _plain(e, out), rtol=rtol, atol=atol):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index: {j} when input: {missing} "
                    f"has an undefined tangent value. Got: {t} but expected: {e}"
                )


# --- batches ------------------------------------------------------------------------------------


def _failed(error: Exception, hint: str) -> GradcheckError:
    reason = str(error)
    if "random operation" in reason:
        reason = (
            "vmap: We do not yet support calling random operations inside of vmap. Please perform "
            f"random operations outside of vmap as a workaround ({reason})"
        )
    return GradcheckError(f"While computing batched gradients, got: {reason}{hint}")


def batched_gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], rtol: float, atol: float
) -> None:
    """Backward of several gradients at once is that of each."""
    source = _Generator().manual_seed(0)
    for j, out in enumerate(outputs):
        vectors = [_random_like(source, out) for _ in range(_COUNT)]
        rows = [gradients([out], inputs, [v]) for v in vectors]
        expected = [_stack([_plain(g, x) for g in column]) for column, x in zip(zip(*rows), inputs)]
        try:
            results = gradients([out], inputs, [_stack(vectors)], batched=True)
        except (RuntimeError, NotImplementedError, ValueError) as error:
            raise _failed(error, _BATCHED_GRADIENTS) from error
        for k, (g, e) in enumerate(zip(results, expected)):
            g = _zeros_like(e) if g is None else g.detach()
            if not _allclose(g, e, rtol=rtol, atol=atol):
                raise GradcheckError(
                    f"For output {j} and input {k}, batched gradients differ from those of a "
                    f"loop:\nbatched: {g}\nloop: {e}{_BATCHED_GRADIENTS}"
                )


def batched_tangents(
    subject: Subject, wanted: Sequence[int], outputs: Sequence[Tensor], rtol: float, atol: float
) -> None:
    """Forward mode for several tangents at once is that of each."""
    source = _Generator().manual_seed(0)

    def one(place):
        def push(direction):
            results = tangents(subject, {place: direction}, wanted)
            return tuple(
                _zeros_like(out).detach() if t is None else t for t, out in zip(results, outputs)
            )

        return push

    for place in subject.places:
        push = one(place)
        directions = [_random_like(source, subject.inputs[place]) for _ in range(_COUNT)]
        expected = [_stack(list(column)) for column in zip(*[push(t) for t in directions])]
        try:
            results = vmap(push)(_stack(directions))
        except (RuntimeError, NotImplementedError, ValueError) as error:
            raise _failed(error, _BATCHED_TANGENTS) from error
        for j, t, e in zip(wanted, results, expected):
            if not _allclose(t.detach(), e.detach(), rtol=rtol, atol=atol):
                raise GradcheckError(
                    f"For input {place} and output {j}, batched tangents differ from those of a "
                    f"loop:\nbatched: {t}\nloop: {e}{_BATCHED_TANGENTS}"
                )
