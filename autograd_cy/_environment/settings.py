"""Settings of torch that ask for what is always so here: kept, checked, and without effect.

Only `set_float32_matmul_precision` changes something: products on a GPU.
"""

from __future__ import annotations

import sys
from typing import Literal

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.tensor import _must_be_bool

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "use_deterministic_algorithms",
]

_PRECISIONS = ("highest", "high", "medium")
_DEBUG_MODES = ("default", "warn", "error")
_deterministic = _warn_only = False
_interop_threads: int | None = None


class _Products:
    """The precision of products of matrices on a GPU, with torch's defaults.

    ``backends.cuda.matmul`` reads and sets it, too.
    """

    precision: str = "highest"  # of float32: below it, TF32 is allowed
    precision_was_set: bool = False
    allow_fp16_reduced_precision_reduction: bool = True
    allow_fp16_reduced_precision_reduction_split_k: bool = True
    allow_bf16_reduced_precision_reduction: bool = True
    allow_bf16_reduced_precision_reduction_split_k: bool = True
    allow_fp16_accumulation: bool = False  # kept: sums of half types are always float32

    @property
    def allow_tf32(self) -> bool:
        """Tell if float32 matrices may be rounded to TF32, which has 10 bits of mantissa."""
        return self.precision != "highest"

    def set_precision(self, precision: str) -> None:
        """Set that of float32."""
        self.precision, self.precision_was_set = precision, True
        self.tell()

    def tell(self) -> None:
        """Let the calls of cuBLAS know, if there are any in this process."""
        blas = sys.modules.get("autograd_cy._C.cuda_blas")
        if blas is not None:
            blas.set_precision(
                self.allow_tf32,
                self.allow_fp16_reduced_precision_reduction,
                self.allow_bf16_reduced_precision_reduction,
            )


_products = _Products()


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """
    Ask for equal results in every run, which all operators here give anyway.

    Results are the same bits in every run and for any number of threads, whether this is on or
    not. The setting is kept for :func:`are_deterministic_algorithms_enabled`.

    Parameters
    ----------
    mode : bool
        Whether to ask.
    warn_only : bool, optional
        In torch, warn instead of raising for an operator without such an algorithm.

    Raises
    ------
    TypeError
        `mode` or `warn_only` is not a bool.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.use_deterministic_algorithms(True)
    >>> ag.are_deterministic_algorithms_enabled()
    True
    >>> ag.use_deterministic_algorithms(False)
    """
    global _deterministic, _warn_only
    for name, value in (("mode", mode), ("warn_only", warn_only)):
        _must_be_bool("use_deterministic_algorithms", name, value)
    _deterministic, _warn_only = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """
    Return whether :func:`use_deterministic_algorithms` is on.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.are_deterministic_algorithms_enabled()
    False
    """
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """
    Return whether :func:`use_deterministic_algorithms` was given ``warn_only=True``.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """
    Say :func:`use_deterministic_algorithms` by one word.

    Parameters
    ----------
    debug_mode : {"default", "warn", "error"} or {0, 1, 2}

    Raises
    ------
    TypeError
        Neither a word nor a number.
    RuntimeError
        Another word or number.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_deterministic_debug_mode("warn")
    >>> ag.get_deterministic_debug_mode()
    1
    >>> ag.set_deterministic_debug_mode(0)
    """
    if isinstance(debug_mode, bool) or not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode).__name__}")
    if isinstance(debug_mode, str):
        if debug_mode not in _DEBUG_MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                f"{debug_mode}"
            )
        debug_mode = _DEBUG_MODES.index(debug_mode)
    if not 0 <= debug_mode <= 2:
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """
    Return the number of the word of :func:`set_deterministic_debug_mode`.

    Returns
    -------
    {0, 1, 2}
        For "default", "warn" and "error".

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.get_deterministic_debug_mode()
    0
    """
    return (1 if _warn_only else 2) if _deterministic else 0


def set_float32_matmul_precision(precision: Literal["highest", "high", "medium"] | str, /) -> None:
    """
    Allow products of float32 matrices to be less precise on a GPU; on the CPU they never are.

    Parameters
    ----------
    precision : {"highest", "high", "medium"}
        The last two let cuBLAS round float32 matrices to TF32, as
        ``backends.cuda.matmul.allow_tf32 = True`` does. Another word is warned of, as in torch.

    Raises
    ------
    RuntimeError
        Not a str.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_float32_matmul_precision("high")
    >>> ag.get_float32_matmul_precision()
    'high'
    >>> ag.set_float32_matmul_precision("highest")
    """
    if not isinstance(precision, str):
        raise RuntimeError(
            f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}"
        )
    if precision not in _PRECISIONS:
        _warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current "
            "set_float32_matmul_precision call has no effect.",
        )
        return
    _products.set_precision(precision)


def get_float32_matmul_precision() -> str:
    """
    Return the word given to :func:`set_float32_matmul_precision`.

    Returns
    -------
    {"highest", "high", "medium"}

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.get_float32_matmul_precision()
    'highest'
    """
    return _products.precision


def set_flush_denormal(mode: bool, /) -> bool:
    """
    Take denormal numbers for zero, which operators here don't do.

    Parameters
    ----------
    mode : bool

    Returns
    -------
    bool
        False: this isn't supported, as torch answers on machines that can't.

    Raises
    ------
    RuntimeError
        Not a bool.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_flush_denormal(True)
    False
    """
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return False


def get_num_interop_threads() -> int:
    """
    Return the number of threads that run operations beside each other: one, or the number that was
    set.

    Returns
    -------
    int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.get_num_interop_threads()
    1
    """
    return 1 if _interop_threads is None else _interop_threads


def set_num_interop_threads(num: int, /) -> None:
    """
    Ask for threads that run operations beside each other, which the thread that calls them does.

    Parameters
    ----------
    num : int
        Kept for :func:`get_num_interop_threads`.

    Raises
    ------
    RuntimeError
        Not a positive int; or asked before: torch takes it once.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_num_interop_threads(0)
    Traceback (most recent call last):
    RuntimeError: set_num_interop_threads expects a positive integer
    """
    global _interop_threads
    if type(num) is not int:
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(num).__name__}")
    if num <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    if _interop_threads is not None:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or "
            "set_num_interop_threads called"
        )
    _interop_threads = num
