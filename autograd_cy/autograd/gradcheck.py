"""Checks of gradients against finite differences: :func:`gradcheck` and :func:`gradgradcheck`.

The work is in ``_comparison.py``, which is loaded by the first check. The page
``docs/gradcheck.md`` derives what is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from autograd_cy._C.tensor import Tensor
from autograd_cy._lazy import attach as _attach

if TYPE_CHECKING:
    from autograd_cy.autograd._differences import GradcheckError as GradcheckError

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


def gradcheck(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: Tensor | Sequence[Tensor],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    r"""
    Check the gradients of a function against finite differences.

    Each derivative :math:`\partial y_j / \partial x_i` of an output by an input that requires grad
    is compared with :math:`(y_j(x + \epsilon e_i) - y_j(x - \epsilon e_i)) / 2 \epsilon`. A complex
    output counts as two real ones, its real and its imaginary part; the gradient of a real one by a
    complex input :math:`x = a + i b` is
    :math:`\partial y / \partial a + i\, \partial y / \partial b`.

    Parameters
    ----------
    func : callable
        Takes the inputs and returns a Tensor or a tuple of Tensors. Outputs without a graph aren't
        checked, unless no output has one: then all derivatives must be zero.
    inputs : Tensor or sequence
        Tensors, of which those of floating or complex dtype that require grad are checked, and
        anything else.
    eps : float, default 1e-6
        The step.
    atol, rtol : float, default 1e-5 and 1e-3
        Absolute and relative tolerance, as in :func:`autograd_cy.allclose`. In fast mode `atol`
        grows with the number of elements, so that what passes slowly passes fast.
    raise_exception : bool, default True
        Raise :class:`GradcheckError` if a check fails, instead of returning False. Errors of `func`
        itself are raised in any case.
    nondet_tol : float, default 0.0
        How far two runs of backward with the same gradients may differ.
    check_undefined_grad : bool, default True
        Check that a gradient that never arrives counts as zeros.
    check_grad_dtypes : bool, default False
        Check that gradients have the dtypes of the inputs, and tangents those of the outputs.
    check_batched_grad : bool, default False
        Check backward under vmap against a loop.
    check_batched_forward_grad : bool, default False
        Check forward mode under vmap against a loop; needs `check_forward_ad`.
    check_forward_ad : bool, default False
        Check forward mode too.
    check_backward_ad : bool, default True
        Check reverse mode.
    fast_mode : bool, default False
        Compare :math:`v^T J u` for random vectors instead of every element of the Jacobian. If that
        fails, the Jacobian is computed after all, for the message.
    masked : bool, optional
        How sparse tensors are treated; there are none here, so it changes nothing.

    Returns
    -------
    bool
        True if all agrees; False, only without `raise_exception`, if not.

    Raises
    ------
    GradcheckError
        If derivatives differ; it shows both Jacobians and the worst element.
    ValueError
        If no input requires grad.
    RuntimeError
        If an input has several elements in the same place of memory.
    TypeError
        If `func` returns anything but tensors.
    AssertionError
        If what is to be checked isn't consistent.

    Warns
    -----
    UserWarning
        For inputs in single or half precision, whose differences are too coarse for the defaults.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.tensor([0.5, 2.0], dtype=ag.float64, requires_grad=True)
    >>> ag.autograd.gradcheck(lambda x: x.log() * x, x)
    True
    """
    from autograd_cy.autograd._comparison import Options, check_first

    options = Options(
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_batched_forward_grad=check_batched_forward_grad,
        check_forward_ad=check_forward_ad,
        check_backward_ad=check_backward_ad,
        fast_mode=fast_mode,
    )
    return check_first(func, inputs, options)


def gradgradcheck(
    func: Callable[..., Tensor | Sequence[Tensor]],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """
    Check second derivatives: :func:`gradcheck` of the function that backward is.

    That function takes the inputs and the gradients of the outputs, and returns the gradients of
    the inputs.

    Parameters
    ----------
    func : callable
        As in :func:`gradcheck`.
    inputs : Tensor or sequence
        As in :func:`gradcheck`.
    grad_outputs : Tensor or sequence of (Tensor or None), optional
        The gradients of the differentiable outputs at which backward is checked; random ones that
        require grad by default. None leaves an output out.
    eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad
        As in :func:`gradcheck`.
    gen_non_contig_grad_outputs : bool, default False
        Make the random `grad_outputs` strided.
    check_grad_dtypes, check_batched_grad, fast_mode, masked
        As in :func:`gradcheck`.
    check_fwd_over_rev : bool, default False
        Check forward mode through backward; with `check_undefined_grad` it needs
        `check_rev_over_rev`.
    check_rev_over_rev : bool, default True
        Check backward through backward.

    Returns
    -------
    bool
        True if all agrees; False, only without `raise_exception`, if not.

    Raises
    ------
    GradcheckError, ValueError, RuntimeError, TypeError, AssertionError
        As in :func:`gradcheck`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.tensor([0.5, 2.0], dtype=ag.float64, requires_grad=True)
    >>> ag.autograd.gradgradcheck(lambda x: x.log() * x, x)
    True
    """
    from autograd_cy.autograd._comparison import Options, check_second

    options = Options(
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_batched_forward_grad=False,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
    )
    return check_second(func, inputs, grad_outputs, options, gen_non_contig_grad_outputs)


__getattr__, __dir__ = _attach(
    __name__,
    attributes={
        "autograd._differences": "GradcheckError",
        "autograd._old_jacobians": "get_analytical_jacobian get_numerical_jacobian",
    },
)
