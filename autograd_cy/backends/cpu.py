"""The abilities of the processor."""

from autograd_cy._C import cpu

__all__ = ["get_cpu_capability"]

_NAMES = {"avx512": "AVX512", "avx2": "AVX2"}


def get_cpu_capability() -> str:
    """
    Return the instruction set that kernels are using.

    Returns
    -------
    str
        ``"AVX512"``, ``"AVX2"`` or ``"DEFAULT"``.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
    True
    """
    return _NAMES.get(cpu.selected_target(), "DEFAULT")
