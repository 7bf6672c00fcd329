"""Products on NVIDIA's GPUs, which aren't used: switches are kept and change nothing.

So are those of the kernels of ``scaled_dot_product_attention``, which chooses its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autograd_cy._C._warned import warn as _warn

__all__ = [
    "cudnn_sdp_enabled",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "is_built",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "sdp_kernel",
]

_kernels = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


class _Products:
    """Whether products may be less precise."""

    allow_tf32: bool = False
    allow_fp16_reduced_precision_reduction: bool = True
    allow_bf16_reduced_precision_reduction: bool = True

    __slots__ = ()

    def __setattr__(self, name: str, value: bool) -> None:
        if not isinstance(getattr(type(self), name, None), bool):
            raise AttributeError(f"Unknown attribute {name}")
        if not isinstance(value, bool):
            raise RuntimeError(
                f"backends.cuda.matmul.{name} is bool, but got {type(value).__name__}"
            )
        setattr(type(self), name, value)


matmul = _Products()


def is_built() -> bool:
    """
    Whether this build computes on NVIDIA's GPUs: it doesn't.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cuda.is_built()
    False
    """
    return False


def flash_sdp_enabled() -> bool:
    """
    Whether the kernel of FlashAttention was left on.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cuda.flash_sdp_enabled()
    True
    """
    return _kernels["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """
    Switch the kernel of FlashAttention on or off, which changes nothing.

    Parameters
    ----------
    enabled : bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cuda.enable_flash_sdp(True)
    """
    _kernels["flash"] = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """
    Whether the kernel that saves memory was left on.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cuda.mem_efficient_sdp_enabled()
    True
    """
    return _kernels["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """
    Switch the kernel that saves memory on or off, which changes nothing.

    Parameters
    ----------
    enabled : bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cuda.enable_mem_efficient_sdp(True)
    """
    _kernels["mem_efficient"] = bool(enabled)


def math_sdp_enabled() -> bool:
    """
    Whether the plain kernel was left on.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cuda.math_sdp_enabled()
    True
    """
    return _kernels["math"]


def enable_math_sdp(enabled: bool) -> None:
    """
    Switch the plain kernel on or off, which changes nothing.

    Parameters
    ----------
    enabled : bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cuda.enable_math_sdp(True)
    """
    _kernels["math"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """
    Whether the kernel of cuDNN was left on.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cuda.cudnn_sdp_enabled()
    True
    """
    return _kernels["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """
    Switch the kernel of cuDNN on or off, which changes nothing.

    Parameters
    ----------
    enabled : bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cuda.enable_cudnn_sdp(True)
    """
    _kernels["cudnn"] = bool(enabled)


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[dict]:
    """
    A context in which kernels of attention are switched; nothing changes.

    Parameters
    ----------
    enable_flash, enable_math, enable_mem_efficient, enable_cudnn : bool, optional

    Yields
    ------
    dict
        Empty.

    Warns
    -----
    FutureWarning
        Always: `nn.attention.sdpa_kernel` took its place.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as ag
    >>> warnings.simplefilter("ignore")
    >>> with ag.backends.cuda.sdp_kernel(enable_flash=False):
    ...     ag.backends.cuda.flash_sdp_enabled()
    False
    """
    _warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager "
        "will be removed. Please see `torch.nn.attention.sdpa_kernel()` for the new context "
        "manager, with updated signature.",
        FutureWarning,
    )
    before = dict(_kernels)
    _kernels.update(
        flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient,
        cudnn=enable_cudnn,
    )  # fmt: skip
    try:
        yield {}
    finally:
        _kernels.update(before)
