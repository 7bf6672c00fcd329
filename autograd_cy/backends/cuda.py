"""Products on NVIDIA's GPUs, which aren't used: switches are kept and change nothing."""

__all__ = ["is_built", "matmul"]


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
