"""Products on NVIDIA's GPUs: how precise they may be, and by which library.

Switches of the kernels of ``scaled_dot_product_attention``, which chooses its own, are kept and
change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from autograd_cy._C._warned import warn as _warn
from autograd_cy._environment.docstrings import described_like as _described_like
from autograd_cy._environment.settings import _products as _switches

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
    "preferred_blas_library",
    "sdp_kernel",
]

_kernels = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


_PRECISIONS = {"none": "highest", "ieee": "highest", "tf32": "high"}
_BOOLS = ("allow_fp16_accumulation",)
_REDUCTIONS = (
    "allow_fp16_reduced_precision_reduction",
    "allow_bf16_reduced_precision_reduction",
)


class _Products:
    """The precision of products, and the library that computes them."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name == "fp32_precision":
            if _switches.allow_tf32:
                return "tf32"
            return "ieee" if _switches.precision_was_set else "none"
        if name == "allow_tf32" or name in _BOOLS or name.removesuffix("_split_k") in _REDUCTIONS:
            return getattr(_switches, name)
        raise AttributeError(f"Unknown attribute {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "fp32_precision":
            if value not in _PRECISIONS:
                raise RuntimeError(f"Unknown precision: {value} (one of {list(_PRECISIONS)})")
            _switches.set_precision(_PRECISIONS[value])
        elif name == "allow_tf32":
            _need_bool(name, value)
            _switches.set_precision("high" if value else "highest")
        elif name in _BOOLS:
            _need_bool(name, value)
            setattr(_switches, name, value)
        elif name in _REDUCTIONS:
            reduced, split = _reductions(name, value)
            setattr(_switches, name, reduced)
            setattr(_switches, f"{name}_split_k", split)
            _switches.tell()
        else:
            raise AttributeError(f"Unknown attribute {name}")

    def _library(self) -> tuple[bool, str]:
        """Tell if cuBLAS makes products on GPUs, and where it is or why it doesn't."""
        from autograd_cy._C import cuda_blas

        return cuda_blas.library()


def _need_bool(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise RuntimeError(f"backends.cuda.matmul.{name} is bool, but got {type(value).__name__}")


def _reductions(name: str, value: Any) -> tuple[bool, bool]:
    """Read one bool, or two, as permissions for reductions and for those between parts of a
    product."""
    if isinstance(value, bool):
        return value, True
    if (
        isinstance(value, tuple | list)
        and 0 < len(value) <= 2
        and all(isinstance(one, bool) for one in value)
    ):
        reduced, split = value[0], value[-1] if len(value) == 2 else True
        if reduced and not split:
            raise RuntimeError(
                "allow_splitk=False is not supported when reduced precision reductions are enabled"
            )
        return reduced, split
    raise TypeError(
        f"{name} expects a bool or a tuple/list of bools, but got {type(value).__name__}"
    )


matmul = _Products()


class _BlasBackend(Enum):
    """Libraries that products may use."""

    Default = "default"
    Cublas = "cublas"
    Cublaslt = "cublaslt"
    Ck = "ck"


_BLAS_NAMES = {
    "default": _BlasBackend.Cublas,
    "cublas": _BlasBackend.Cublas,
    "hipblas": _BlasBackend.Cublas,
    "cublaslt": _BlasBackend.Cublaslt,
    "hipblaslt": _BlasBackend.Cublaslt,
    "ck": _BlasBackend.Ck,
}
_preferred = _BlasBackend.Cublas


def preferred_blas_library(backend: str | _BlasBackend | None = None) -> _BlasBackend:
    """
    Return the library that products use: always cuBLAS where it is found.

    Parameters
    ----------
    backend : str, optional
        ``"default"``, ``"cublas"``, ``"cublaslt"`` or ``"ck"``. It is kept and changes nothing.

    Returns
    -------
    enum
        What was set last.

    Raises
    ------
    RuntimeError
        Another word, or no word.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cuda.preferred_blas_library().name
    'Cublas'
    """
    global _preferred
    if isinstance(backend, str):
        if backend not in _BLAS_NAMES:
            raise RuntimeError(
                f"Unknown input value. Choose from: {', '.join(_BLAS_NAMES)}. (got {backend!r})"
            )
        _preferred = _BLAS_NAMES[backend]
    elif isinstance(backend, _BlasBackend):
        _preferred = backend
    elif backend is not None:
        raise RuntimeError(
            f"Unknown input value type: a str or an enum is taken, not {type(backend).__name__}"
        )
    return _preferred


def is_built() -> bool:
    """
    Return whether kernels for NVIDIA's GPUs were built.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cuda.is_built() in (False, True)
    True
    """
    from autograd_cy._C._build_info import BUILD

    return bool(BUILD.get("cuda", {}).get("images"))


def flash_sdp_enabled() -> bool:
    """
    Return whether the kernel of FlashAttention was left on.

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


@_described_like(
    flash_sdp_enabled,
    {"kernel of FlashAttention": "kernel that saves memory", "flash": "mem_efficient"},
)
def mem_efficient_sdp_enabled() -> bool:
    return _kernels["mem_efficient"]


@_described_like(
    enable_flash_sdp,
    {"kernel of FlashAttention": "kernel that saves memory", "flash": "mem_efficient"},
)
def enable_mem_efficient_sdp(enabled: bool) -> None:
    _kernels["mem_efficient"] = bool(enabled)


@_described_like(flash_sdp_enabled, {"kernel of FlashAttention": "plain kernel", "flash": "math"})
def math_sdp_enabled() -> bool:
    return _kernels["math"]


@_described_like(enable_flash_sdp, {"kernel of FlashAttention": "plain kernel", "flash": "math"})
def enable_math_sdp(enabled: bool) -> None:
    _kernels["math"] = bool(enabled)


@_described_like(
    flash_sdp_enabled, {"kernel of FlashAttention": "kernel of cuDNN", "flash": "cudnn"}
)
def cudnn_sdp_enabled() -> bool:
    return _kernels["cudnn"]


@_described_like(
    enable_flash_sdp, {"kernel of FlashAttention": "kernel of cuDNN", "flash": "cudnn"}
)
def enable_cudnn_sdp(enabled: bool) -> None:
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
